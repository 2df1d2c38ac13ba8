"""What every architecture is to the rest of Ringsmith.

A backend is a folder beside this file, or a package elsewhere with an entry point; only
:mod:`ringsmith.backends.registry` knows which there are.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NoReturn, Protocol

from ringsmith.backends.cards.server import SimulatedCard
from ringsmith.backends.explorer import Explorer
from ringsmith.backends.exporter import Exporter
from ringsmith.backends.inspector import Inspector
from ringsmith.backends.jobs import Job
from ringsmith.backends.keys import AnyKey
from ringsmith.backends.types import (
    Capabilities,
    CompiledGraph,
    Design,
    Executable,
    Explanation,
    GraphResult,
    InputsOnDemand,
)
from ringsmith.errors import DeviceError, ParameterError, ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.objects import Residues
from ringsmith.params import ParameterLimits

__all__ = [
    "AXI_LITE",
    "CARD",
    "DEFAULT_BAUD",
    "PORTS",
    "WAYS",
    "Backend",
    "Capabilities",
    "CardFiles",
    "CompiledGraph",
    "Design",
    "Executable",
    "Explanation",
    "GraphResult",
    "InputsOnDemand",
    "Machine",
    "SerialPort",
    "card_port",
]

PORTS, AXI_LITE = "ports", "axi-lite"
WAYS = (PORTS, AXI_LITE)
"""How the host may reach simulated RTL."""

CARD = "card"
"""The kind of devices on a board, which the host reaches by a serial port."""

DEFAULT_BAUD = 1_000_000
"""Bits a second of a serial port, where nothing else is said."""


@dataclass(frozen=True)
class SerialPort:
    """A serial port that a board is connected to.

    Attributes:
        path: Its device file, such as ``/dev/ttyUSB0``.
        baud: Its rate in bits a second: the one that the board's bitstream was made with.
    """

    path: str
    baud: int = DEFAULT_BAUD


@dataclass(frozen=True)
class CardFiles:
    """Cards in this computer, or simulated ones (``ringsmith card``).

    Attributes:
        paths: Of each card the Unix socket at which a simulated one answers, or what the names of
            its device files begin with, such as ``/dev/xdma0``.
    """

    paths: tuple[str, ...]


def card_port(port: str, baud: int = DEFAULT_BAUD) -> SerialPort | CardFiles:
    """What a port is: a serial line, or cards, whose paths stand between commas.

    A path of a Unix socket, or one whose device files are there, is a card's.
    """
    paths = tuple(filter(None, port.split(",")))
    if len(paths) > 1 or any(_is_card(path) for path in paths):
        return CardFiles(paths)
    return SerialPort(port, baud)


def _is_card(path: str) -> bool:
    return Path(path).is_socket() or path.endswith(".sock") or Path(f"{path}_user").exists()


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

    @property
    def places(self) -> int | None:
        """How many jobs run in it at once; None: as many as there are."""
        ...

    def submit(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
        client: str = "",
    ) -> Job[GraphResult]:
        """Takes a graph to execute, and returns at once; arguments and errors of ``execute``.

        What can be told from the arguments alone is refused here, the rest by the job. Jobs of
        several clients take turns.
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
            inputs: Input name -> residues (limbs, N), canonical, checked by the caller;
                ``InputsOnDemand`` where not all are in memory.
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

    file_record: ClassVar[type] = str
    """The class of what ``write`` returns."""

    @abstractmethod
    def open(self, kind: str, design: Design | None, via: str = PORTS) -> Machine:
        """Opens a device.

        Args:
            kind: One of ``kinds`` but ``CARD``.
            design: What it is; None for a backend without designs.
            via: One of ``WAYS``.

        Raises:
            DeviceError: If there is no such way to it.
            ToolError: If it cannot be built.
        """

    def open_card(self, design: Design, port: SerialPort | CardFiles) -> Machine:
        """Opens the device on a board or cards, and checks its design; with kind ``CARD``.

        Raises:
            DeviceError: If nothing answers, or another device.
        """
        raise DeviceError(f"architecture {self.name} has no cards: open one of its other devices")

    def simulate_card(self, design: Design, kind: str, memory: int) -> SimulatedCard:
        """A simulated card of a design, for ``ringsmith card``.

        Args:
            design: The design of its coprocessors.
            kind: What is behind it: ``model`` or ``rtl``.
            memory: Bytes of its memory.

        Raises:
            DeviceError: If the architecture has none.
            ParameterError: If the design has no DMA, or the memory cannot have this size.
        """
        raise DeviceError(
            f"architecture {self.name} has no simulated cards: take a design of another, such as "
            "heaws6"
        )

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
        """Returns what a compiled program's file holds of an executable.

        It is a text, or a frozen dataclass that :mod:`ringsmith.files.records` can write.
        """
        self._without_designs(executable.design)

    def read(self, content: object, graph: SubroutineGraph) -> Executable:
        """Returns the executable that ``write`` described.

        Args:
            content: A text, or an object of class ``file_record``. It comes from a file: check it.
            graph: The graph in the same file.

        Raises:
            RingsmithError: If it is none, or not of that graph.
        """
        raise ProgramError(f"architecture {self.name} has no executables in files")

    def inspector(self) -> Inspector | None:
        """Returns what shows the inside of its programs and designs; None: there is nothing."""
        return None

    def explorer(self) -> Explorer | None:
        """Returns what its design points are, for a search; None: it is not explored."""
        return None

    def exporter(self) -> Exporter:
        """Returns what writes its designs out as folders of RTL, program and testbench.

        Raises:
            ProgramError: If that is not there for this architecture.
        """
        raise ProgramError(
            f"architecture {self.name} cannot be written out as a folder yet: choose a design of "
            "another"
        )

    def _without_designs(self, design: Design) -> NoReturn:
        raise ProgramError(
            f"architecture {self.name} has no designs, and design {design.name} is not one of it"
        )
