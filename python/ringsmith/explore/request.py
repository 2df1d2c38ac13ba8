"""What is explored for: operations or a program, a platform, architectures."""

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ringsmith.backends.explorer import Explorer, Task
from ringsmith.backends.exporter import assumed_mhz
from ringsmith.backends.registry import REFERENCE, backend, backends, source_files
from ringsmith.errors import ParameterError
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower, lower_operation
from ringsmith.params import RlweParameters, SecurityWarning, parameter_set
from ringsmith.platforms import load_platform
from ringsmith.program import Program
from ringsmith.short_repr import short_repr

PAPERS_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "ctctadd": "add",
        "ptctadd": "add_plain",
        "ptctmult": "multiply_plain",
        "ctctmult": "multiply_relinearize",
    }
)
"""The Framework paper's names of operations -> ours; ``rotate`` and ``rescale`` are the same."""

CPU = REFERENCE
"""The device that a host is, when it computes alone."""

PROGRAM = "program"
"""What a whole program is called where operations have names."""


@short_repr
@dataclass(frozen=True)
class Request:
    """A question to the search.

    Attributes:
        platform: The card: its name, or the path of its file.
        architectures: Architectures to search through.
        params: Parameter set, or its name; empty with a program.
        operations: HE operations of the set, by our names or the paper's; each counts once.
        program: The program's name, or the path of its file; empty with a set.
        megahertz: The clock of all designs; 0: what each architecture assumes.
        content: The program as the bytes of its file; empty: they are in the file ``program``.
    """

    platform: str
    architectures: tuple[str, ...]
    params: str | RlweParameters = ""
    operations: tuple[str, ...] = ()
    program: str = ""
    megahertz: float = 0
    content: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        if bool(self.params) == bool(self.program):
            raise ParameterError(
                "give either a program (--program FILE) or a parameter set with operations "
                "(--params NAME --ops …), and not both"
            )
        if self.program and self.operations:
            raise ParameterError(
                "--ops with --program: a program has its own operations; leave --ops out, or "
                "give --params in place of --program"
            )
        if self.params and not self.operations:
            raise ParameterError(
                f"no operations of {self._set}: name some, such as --ops "
                "multiply_relinearize,rotate"
            )
        if not self.architectures:
            raise ParameterError(f"no architecture: choose from {', '.join(architectures())}")
        for name in self.architectures:
            explorer(name)
        load_platform(self.platform)
        if self.megahertz < 0:
            raise ParameterError(f"a clock of {self.megahertz} MHz: give a positive one")

    @property
    def identity(self) -> str:
        """A digest of the request, a program's content included."""
        text = repr(sorted(self.recorded.items())).encode()
        return sha256(text + self.program_bytes).hexdigest()[:16]

    @property
    def recorded(self) -> dict[str, Any]:
        """The request as JSON values, without a program's content."""
        found = asdict(self)
        del found["content"]
        return found

    @property
    def program_bytes(self) -> bytes:
        """The program as the bytes of its file; empty without one."""
        return self.content or (Path(self.program).read_bytes() if self.program else b"")

    @property
    def sources(self) -> str:
        """A digest of the card and the architectures, on which results depend, too."""
        found = sha256(repr(asdict(load_platform(self.platform))).encode())
        for name in self.architectures:
            for path in source_files(name):
                found.update(path.read_bytes())
        return found.hexdigest()[:16]

    @property
    def subject(self) -> str:
        """What is explored for, in words."""
        if self.program:
            return Path(self.program).name
        return f"{', '.join(self.operations)} of {self._set}"

    @property
    def _set(self) -> str:
        """What the parameter set is called."""
        return self.params if isinstance(self.params, str) else self.params.name


def architectures() -> list[str]:
    """Architectures that can be explored."""
    return [each.name for each in backends() if each.explorer() is not None]


def explorer(name: str) -> Explorer:
    """How an architecture is explored.

    Raises:
        ParameterError: If there is no such architecture, or it cannot be.
    """
    found = backend(name).explorer()
    if found is None:
        raise ParameterError(
            f"architecture {name!r} is not explored: choose from {', '.join(architectures())}"
        )
    return found


def graphs_of(request: Request) -> dict[str, SubroutineGraph]:
    """The subroutine graph of each operation, or of the program.

    Raises:
        ParameterError: If there is no such parameter set.
        ProgramError: If there is no such operation, or the file is no program's.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        if request.program:
            return {PROGRAM: _program(request)}
        chosen = request.params
        parameters = parameter_set(chosen) if isinstance(chosen, str) else chosen
        return {name: _operation(name, parameters) for name in request.operations}


def _program(request: Request) -> SubroutineGraph:
    content = request.content
    program = Program.from_bytes(content) if content else Program.load(request.program)
    if not isinstance(program, Program):
        raise ParameterError(
            f"{request.program} is a client's kit, which has no operations: give the program's "
            "own file"
        )
    return lower(program, scalars=False).graph  # as every architecture takes it


def _operation(name: str, parameters: RlweParameters) -> SubroutineGraph:
    ours = PAPERS_NAMES.get(name.lower(), name)
    return lower_operation(ours, parameters, parameters.limbs)


def task_of(
    request: Request,
    architecture: str,
    graphs: Mapping[str, SubroutineGraph],
    host: Mapping[str, float],
) -> Task:
    """What an architecture's explorer is asked."""
    platform = load_platform(request.platform)
    return Task(graphs, platform, request.platform, clock_mhz(request, architecture), host)


def clock_mhz(request: Request, architecture: str) -> float:
    """The clock of an architecture's designs: that of the request, or the assumed one."""
    own = explorer(architecture).megahertz
    return request.megahertz or assumed_mhz(own, request.platform)
