"""The interface of an architecture to the rest of Ringsmith.

A backend is a folder next to this file, or another package with an entry point. Only
:mod:`ringsmith.backends.registry` lists them.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import ClassVar, NoReturn

from ringsmith.backends.cards.interface import Cards
from ringsmith.backends.explorer import Explorer
from ringsmith.backends.exporter import Exporter
from ringsmith.backends.inspector import Inspector
from ringsmith.backends.jobs import Device
from ringsmith.backends.types import (
    Capabilities,
    CompiledGraph,
    Design,
    Executable,
    Explanation,
    GraphResult,
    InputsOnDemand,
    RunReport,
)
from ringsmith.errors import DeviceError, ParameterError, ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.params import ParameterLimits

__all__ = [
    "AXI_LITE",
    "PORTS",
    "WAYS",
    "Backend",
    "Capabilities",
    "CompiledGraph",
    "Design",
    "Device",
    "Executable",
    "Explanation",
    "GraphResult",
    "InputsOnDemand",
    "RunReport",
]

PORTS, AXI_LITE = "ports", "axi-lite"
WAYS = (PORTS, AXI_LITE)
"""How the host may reach simulated RTL."""


class Backend(ABC):
    """An architecture, as the rest of Ringsmith uses it.

    A backend without designs implements only ``open``.
    """

    name: ClassVar[str]
    """The architecture's name in its design files; without designs, also its device's name."""

    capabilities: ClassVar[Capabilities]

    kinds: ClassVar[tuple[str, ...]]
    """Kinds of its devices, as ``open_device`` calls them."""

    field: ClassVar[str]
    """The field of a compiled program's file for the result of ``write``; needed with designs."""

    file_record: ClassVar[type]
    """The class of the result of ``write``: a frozen dataclass; needed with designs."""

    @abstractmethod
    def open(self, kind: str, design: Design | None, via: str = PORTS) -> Device:
        """Opens a device.

        Args:
            kind: One of ``kinds`` but ``CARD``.
            design: What it is; None for a backend without designs.
            via: One of ``WAYS``.

        Raises:
            DeviceError: If it does not support ``via``.
            ToolError: If it cannot be built.
        """

    def cards(self) -> Cards:
        """Returns what opens its devices on boards and cards, those of kind ``CARD``.

        Raises:
            DeviceError: If this architecture has none.
        """
        raise DeviceError(
            f"architecture {self.name} has no cards: open one of its other devices, or take a "
            "design of another, such as heaws6"
        )

    def designs(self) -> list[str]:
        """Returns the names of its built-in designs."""
        return []

    def load_design(self, name: str) -> Design:
        """Returns a design by its name or the path of its TOML file.

        Raises:
            ParameterError: If there is none, or it is of another architecture.
        """
        raise ParameterError(f"architecture {self.name} has no designs, and so none {name!r}")

    def limits(self, design: Design) -> ParameterLimits:
        """Returns the limits of the HE parameters that a design supports."""
        self._without_designs(design)

    def compile(
        self, graph: SubroutineGraph, design: Design, seeded: Collection[str] | None = None
    ) -> Executable:
        """Compiles a graph for a design, or finds it in the cache.

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
            ProgramError: If no design runs it; says why.
        """
        raise ProgramError(f"architecture {self.name} makes no design to fit: name one")

    def explain(self, executable: Executable) -> Explanation:
        """Returns the cost of an executable."""
        design, cycles = executable.design.name, executable.cycles
        return Explanation(f"on design {design}: {cycles} cycles")

    def write(self, executable: Executable) -> object:
        """Returns the contents of a compiled program's file for an executable.

        It is a frozen dataclass that :mod:`ringsmith.files.records` can write.
        """
        self._without_designs(executable.design)

    def read(self, content: object, graph: SubroutineGraph) -> Executable:
        """Returns the executable that ``write`` described.

        Args:
            content: An object of class ``file_record``. It is untrusted: check it.
            graph: The graph of the program in the same file.

        Raises:
            RingsmithError: If it is not valid, or not of that graph.
        """
        raise ProgramError(f"architecture {self.name} has no executables in files")

    def inspector(self) -> Inspector | None:
        """Returns the inspector of its programs and designs; None: it has none."""
        return None

    def explorer(self) -> Explorer | None:
        """Returns the explorer of its design points; None: it has none."""
        return None

    def exporter(self) -> Exporter:
        """Returns the exporter, which writes designs as folders of RTL, program and testbench.

        Raises:
            ProgramError: If this architecture has none.
        """
        raise ProgramError(
            f"architecture {self.name} cannot be written out as a folder yet: choose a design of "
            "another"
        )

    def _without_designs(self, design: Design) -> NoReturn:
        raise ProgramError(
            f"architecture {self.name} has no designs, and design {design.name} is not one of it"
        )
