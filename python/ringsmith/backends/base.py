"""What every architecture is to the rest of Ringsmith, and what they all take and hand out.

A backend is a folder beside this file, or a package elsewhere with an entry point; only
:mod:`ringsmith.backends.registry` knows which there are.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NoReturn, Protocol

from ringsmith import _core
from ringsmith.backends.keys import AnyKey
from ringsmith.errors import DeviceError, ParameterError, ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.objects import Residues
from ringsmith.params import ParameterLimits

if TYPE_CHECKING:
    from ringsmith.backends.inspector import Inspector
    from ringsmith.backends.jobs import Job

PORTS, AXI_LITE = "ports", "axi-lite"
WAYS = (PORTS, AXI_LITE)
"""How the host may reach simulated RTL."""


class Design(Protocol):
    """A design point: a frozen dataclass with ``architecture`` as a class variable."""

    architecture: ClassVar[str]

    @property
    def name(self) -> str:
        """The design's name."""
        ...

    @property
    def n(self) -> int:
        """Degree N of the ring that it is built for."""
        ...


class Executable(Protocol):
    """A subroutine graph, compiled for a design."""

    @property
    def design(self) -> Design:
        """What it was compiled for."""
        ...

    @property
    def cycles(self) -> int:
        """Clock cycles from start to completion, data resident."""
        ...

    @property
    def host_transfers(self) -> int:
        """Limbs, and seeds, that cross to or from the host under way; see ``GraphResult``."""
        ...

    @property
    def spilled_words(self) -> int:
        """Words of these transfers, those of keys apart."""
        ...

    @property
    def instructions(self) -> int:
        """Instructions, or what a device counts in their place."""
        ...

    @property
    def spans(self) -> Sequence[tuple[str, int]]:
        """HE operations and their clock cycles, in turn: ``operation:node``; empty: not told."""
        ...

    @property
    def seeded(self) -> frozenset[str]:
        """Keys whose half 1 the device expands from their seeds."""
        ...


@dataclass(frozen=True)
class CompiledGraph:
    """A subroutine graph, and its executable for a design if it was compiled for one.

    An executable is made for keys of one kind: of those that it says are ``seeded`` the device
    expands half 1.
    """

    graph: SubroutineGraph
    executable: Executable | None = None
    for_seeds: dict[frozenset[str], "CompiledGraph"] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """The same graph, compiled for other choices of keys with seeds, as runs needed it."""

    @property
    def design(self) -> Design | None:
        """The design that the graph was compiled for."""
        return None if self.executable is None else self.executable.design

    def check_made_for(self, design: Design, device: str) -> None:
        """Refuses a device of another design than the graph was compiled for.

        Args:
            design: The device's design.
            device: What the device is called: ``model``, ``rtl``.

        Raises:
            DeviceError: If the graph was compiled for another design.
            ProgramError: If the graph was compiled for no design.
        """
        if self.design is None:
            raise ProgramError(
                f"the program was compiled for no design and this {device} device is a "
                f"{design.name}: compile it with design={design.name!r}, or run it on the cpu"
            )
        if self.design != design:
            raise DeviceError(
                f"the program was compiled for design {self.design.name} and this {device} device "
                f"is a {design.name}: compile for the device's design, or open another device"
            )

    @property
    def expands_keys(self) -> bool:
        """Whether the device expands half of a key: then make keys with seeds."""
        return self.executable is not None and bool(self.executable.seeded)

    @cached_property
    def core(self) -> _core.Graph:
        """The reference interpreter's copy of the graph."""
        return self.graph.to_core()


@dataclass(frozen=True)
class Capabilities:
    """What a backend can do.

    Attributes:
        designs: It has designs, and programs are compiled for one; without, a device runs the
            subroutine graph itself.
        cycles: Its devices count clock cycles.
        any_keys: Its devices take compact and prepared keys, too, and not whole ones alone.
        fits: It makes a design to fit a graph, where nobody names one.
    """

    designs: bool = False
    cycles: bool = False
    any_keys: bool = False
    fits: bool = False


@dataclass(frozen=True)
class Explanation:
    """What an executable costs, for people.

    Attributes:
        heading: Design and total, in words.
        by_node: Clock cycles by HE node, which together are the program's; None: not known.
    """

    heading: str
    by_node: Mapping[int, int] | None = None


@dataclass(frozen=True)
class GraphResult:
    """What a run handed out.

    Attributes:
        outputs: Output name -> residues (limbs, N).
        cycles: Clock cycles from start to completion, data resident; None on the CPU. Of a stream
            device those of its batches.
        instructions: Instructions issued; None on the CPU. Of a stream device products.
        host_transfers: Limbs of N words, and seeds, that crossed to or from the host while the
            program was under way, because it did not fit on the device at once; the inputs that
            the first run takes and the outputs of the last are not counted. Of a stream device
            all operands that are no key's, and all products.
        spilled_words: Words of these transfers, those of keys apart.
        key_words: Words of keys that the host wrote, before the program or under way: N for a
            limb, five for a seed; 0 where all keys were on the device already.
    """

    outputs: dict[str, Residues]
    cycles: int | None = None
    instructions: int | None = None
    host_transfers: int = 0
    spilled_words: int = 0
    key_words: int = 0


class Machine(Protocol):
    """Whatever can execute a compiled graph."""

    @property
    def name(self) -> str:
        """What ``open_device`` calls it: ``cpu``, ``model``, ``rtl``."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """Those of its backend."""
        ...

    def submit(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> "Job[GraphResult]":
        """Takes a graph to execute, and returns at once; arguments and errors of ``execute``.

        What can be told from the arguments alone is refused here, the rest by the job.
        """
        ...

    def execute(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> GraphResult:
        """Submits a graph and waits for it.

        Args:
            compiled: The graph.
            inputs: Input name -> residues (limbs, N), canonical, checked by the caller.
            keys: Key name -> key-switching key, checked by the caller; compact and prepared ones
                are handed to machines with the capability ``any_keys`` alone.
        """
        ...


class Backend(ABC):
    """An architecture: the questions that the rest of Ringsmith asks of one.

    A backend without designs implements ``open`` alone.
    """

    name: ClassVar[str]
    """The architecture's, as files of its designs say; without designs, also its device's."""

    capabilities: ClassVar[Capabilities]

    kinds: ClassVar[tuple[str, ...]]
    """Kinds of its devices, as ``open_device`` calls them."""

    field: ClassVar[str]
    """Where a compiled program's file has what ``write`` makes; needed with designs."""

    multiplies_by: ClassVar[tuple[str, ...]] = ()
    """Variants of BFV's multiplication that its designs impose on whoever has parameters of
    another; empty: they impose none."""

    @abstractmethod
    def open(self, kind: str, design: Design | None, via: str = PORTS) -> "Machine":
        """Opens a device.

        Args:
            kind: One of ``kinds``.
            design: What it is; None for a backend without designs.
            via: One of ``WAYS``.

        Raises:
            DeviceError: If there is no such way to it.
            ToolError: If it cannot be built.
        """

    def designs(self) -> list[str]:
        """Names of the designs that come with it."""
        return []

    def load_design(self, name: str) -> Design:
        """A design by its name or the path of its TOML file.

        Raises:
            ParameterError: If there is none, or it is of another architecture.
        """
        raise ParameterError(f"architecture {self.name} has no designs, and so none {name!r}")

    def limits(self, design: Design) -> ParameterLimits:
        """What HE parameters a design takes."""
        self._without_designs(design)

    def compile(
        self, graph: SubroutineGraph, design: Design, seeded: Collection[str] | None = None
    ) -> Executable:
        """Compiles a graph for a design, or finds what was made before.

        Args:
            graph: The graph.
            design: The design.
            seeded: Names of the keys that will have a seed; None: every key.

        Raises:
            ProgramError: If the graph does not fit the design; says what it needs.
        """
        self._without_designs(design)

    def fit(self, graph: SubroutineGraph, seeded: Collection[str] | None = None) -> Executable:
        """Compiles a graph for the smallest design that runs it; with capability ``fits``.

        Raises:
            ProgramError: If none does; says why.
        """
        raise ProgramError(f"architecture {self.name} makes no design to fit: name one")

    def explain(self, executable: Executable) -> Explanation:
        """What an executable costs."""
        design, cycles = executable.design.name, executable.cycles
        return Explanation(f"on design {design}: {cycles} cycles")

    def write(self, executable: Executable) -> object:
        """What a file of a compiled program holds of an executable.

        Text, which is kept as bytes, or a frozen dataclass of what
        :mod:`ringsmith.files.records` writes.
        """
        self._without_designs(executable.design)

    def read(self, content: object, graph: SubroutineGraph) -> Executable:
        """The executable that ``write`` made something of.

        Args:
            content: A text, or an object of class ``file_record``; from outside, so believe
                nothing of it.
            graph: The graph in the same file.

        Raises:
            RingsmithError: If it is none, or not of that graph.
        """
        raise ProgramError(f"architecture {self.name} has no executables in files")

    def inspector(self) -> "Inspector | None":
        """How it is looked into; None: not at all."""
        return None

    file_record: ClassVar[type] = str
    """What ``write`` returns an object of."""

    def _without_designs(self, design: Design) -> NoReturn:
        raise ProgramError(
            f"architecture {self.name} has no designs, and design {design.name} is not one of it"
        )
