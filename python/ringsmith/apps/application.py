"""What an application is, and its server; nothing here or in an application's module has secrets.

An application has one module: its data, its model in the clear, how numbers lie in slots, and the
encrypted programs. It never imports ``ringsmith.client``, and a test follows the imports to see
that nothing it uses does. ``session`` has the client, and runs any application.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from numpy.typing import NDArray
from rich.console import RenderableType

from ringsmith import runtime
from ringsmith.apps.conditions import ASSUMED_HZ
from ringsmith.backends.base import Design, Executable
from ringsmith.objects import Ciphertext
from ringsmith.program import ClientKit, Program

Numbers = Mapping[str, NDArray[Any]]
"""The numbers of a program's inputs or outputs, by name."""
Inputs = Mapping[str, Ciphertext]
"""The ciphertexts that one run of a program computes on, by the input's name."""
PIXELS = (0.0, 1.0)
"""The least and the greatest pixel of an image, as networks take them."""

Outcome = TypeVar("Outcome")
Each = TypeVar("Each")


def for_runs(items: Sequence[Each], runs: int) -> Sequence[Each]:
    """Returns an item for each run: the only one for all, or one for each."""
    return items if len(items) == runs else list(items) * runs


class Server:
    """Programs made ready to run for clients; there is no secret key."""

    def __init__(
        self, programs: Sequence[Program], design: str | Design | None, *, smallest: bool = False
    ) -> None:
        """Compiles.

        Raises ProgramError when the design is too small for a program.

        Args:
            programs: The planned programs.
            design: Accelerator to schedule for; None: none.
            smallest: Whether to schedule for the smallest accelerator where no design is given;
                else programs run on the ``cpu`` device only.
        """
        self.programs = tuple(programs)
        self.compiled = [
            runtime.compile_for_smallest_design(program)
            if smallest and design is None
            else runtime.compile_program(program, design)
            for program in self.programs
        ]

    @property
    def program(self) -> Program:
        """The first program."""
        return self.programs[0]

    @property
    def kits(self) -> Sequence[ClientKit]:
        """What clients must know of each program."""
        return [program.client_kit() for program in self.programs]

    @property
    def seeded(self) -> bool:
        """Whether clients make half of each key from a seed, which the device expands."""
        return any(compiled.compiled_graph.expands_keys for compiled in self.compiled)

    @property
    def executable(self) -> Executable | None:
        """The first program as it was scheduled for a design."""
        return self.compiled[0].compiled_graph.executable if self.compiled else None

    @property
    def design(self) -> Design | None:
        """The accelerator that programs are scheduled for."""
        return self.executable.design if self.executable else None

    @property
    def note(self) -> str:
        """How long the programs are, their parameters and what they were scheduled as."""
        of = self.kits[0].parameters
        count = f"{len(self.programs)} of " if len(self.programs) > 1 else ""
        found = f"{count}{len(self.program.nodes)} operations, N = {of.n}, {of.log_qp} bits"
        if self.executable is None:
            return found
        return f"{found}, {self.executable.instructions} instructions of {_name(self.design)}"

    def run(
        self, device: runtime.Device, inputs: Sequence[Inputs], keys: runtime.AnyKeys
    ) -> Sequence[runtime.RunResult]:
        """Returns the encrypted outputs of each run."""
        pairs = zip(for_runs(self.compiled, len(inputs)), inputs, strict=True)
        return [compiled.run(device, each, keys) for compiled, each in pairs]


def _name(design: Design | None) -> str:
    return design.name if design else ""


class Application(ABC, Generic[Outcome]):
    """An application with its data; models are trained when they are first asked for.

    Attributes:
        name: What ``ringsmith run`` calls it.
        hz: The clock at which cycles become seconds.
        encrypted: What the client encrypts.
        layers: Names of a network's layers: every second one is a square. Empty: it has none.
        preparation: The stage in which ``prepare`` works.
    """

    name: ClassVar[str]
    encrypted: ClassVar[str]
    hz: ClassVar[float] = ASSUMED_HZ
    layers: ClassVar[Sequence[str]] = ()
    preparation: ClassVar[str] = "Train the model in the clear"

    @abstractmethod
    def prepare(self) -> str:
        """Loads the data and trains the model in the clear; returns what they are.

        Raises ToolError when the package that carries the data is missing.
        """

    @abstractmethod
    def programs(self, design: str | Design | None, *, accelerated: bool) -> Sequence[Program]:
        """Returns the encrypted programs, planned: one for all runs, or one for each.

        Raises ProgramError when the parameters do not bear a program.

        Args:
            design: The accelerator that they must suit; None: any.
            accelerated: Whether they are for an accelerator.
        """

    @abstractmethod
    def vectors(self, server: Server) -> Iterable[Numbers]:
        """Returns what the client encrypts for each run: every input's numbers.

        Raises ParameterError when they do not fit a ciphertext.
        """

    @abstractmethod
    def outcome(self, server: Server, decrypted: Sequence[Numbers]) -> Outcome:
        """Returns what the decrypted numbers of all runs say, compared with the clear model."""

    @abstractmethod
    def show(self, outcome: Outcome) -> Iterable[RenderableType]:
        """Returns what the command prints of an outcome."""

    @abstractmethod
    def numbers(self, outcome: Outcome) -> dict[str, object]:
        """Returns what the command writes of an outcome, as JSON values."""

    def check(self, outcome: Outcome) -> None:
        """Refuses an outcome that cannot be right; raises DeviceError."""

    def files(self) -> Sequence[Path | None]:
        """Returns the files that are read; None for one that was not given."""
        return []

    def typed(self) -> str:
        """Returns the application's own options as typed, with a space before each."""
        return ""

    def server(
        self, design: str | Design | None = None, *, accelerated: bool | None = None
    ) -> Server:
        """Returns the programs, made ready.

        Raises ProgramError when the parameters or the design are too small for a program.

        Args:
            design: The accelerator; None: the smallest that does, if they are for one.
            accelerated: Whether they are for an accelerator; None: where a design is given.
        """
        chosen = design is not None if accelerated is None else accelerated
        found = self.programs(design if chosen else None, accelerated=chosen)
        return Server(found, design if chosen else None, smallest=chosen)
