"""The interface for inspecting an architecture.

These are ``trace``, ``waves``, ``coverage``, ``designs``, ``verify``, ``timing``, ``verilog`` and
``bitstream``.

An architecture implements the parts that it supports, and refuses the others by name.
"""

from abc import ABC
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from ringsmith.backends.types import Design, Executable
from ringsmith.errors import ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.hdl.ecp5.boards import Board
from ringsmith.hdl.ecp5.flow import Hierarchy
from ringsmith.hdl.ecp5.pll import Pll
from ringsmith.hdl.synthesis import SERIES_7
from ringsmith.hdl.timing.graph import Family
from ringsmith.hdl.timing.report import Timing
from ringsmith.params import RlweParameters
from ringsmith.platforms import NO_PLATFORM, load_platform


class Timeline(Protocol):
    """A program's timeline, in several formats."""

    def tables(self) -> Iterable[object]:
        """Tables for a terminal: anything that Rich prints."""
        ...

    def listing(self) -> Iterator[str]:
        """One line per instruction."""
        ...

    def html(self, title: str) -> str:
        """A page to zoom in."""
        ...

    def svg(self, title: str) -> str:
        """A picture."""
        ...

    def perfetto(self, title: str) -> str:
        """A file for ui.perfetto.dev."""
        ...


class Coverage(Protocol):
    """The coverage of the RTL by random programs."""

    @property
    def goals(self) -> Mapping[str, float]:
        """The least share by kind."""
        ...

    def shares(self) -> Mapping[str, float]:
        """Covered share by kind, 0 to 1."""
        ...

    def misses(self) -> Iterator[str]:
        """The uncovered points, one line each."""
        ...

    def section(self, command: str) -> str:
        """The section of the page of coverage; ``command`` is what was typed."""
        ...


class Verification(Protocol):
    """Random programs of a design, each on a new device and on what the device is compared with."""

    @property
    def programs(self) -> str:
        """What is drawn, in the plural: ``random programs``."""
        ...

    def run(self, seed: int) -> Mapping[str, int]:
        """Draws a program and its data, and runs it; equal seeds, equal programs.

        Returns:
            What was found equal: name in the plural -> how many.

        Raises:
            DeviceError: At the first difference; says what differs.
            ToolError: If the device cannot be built.
        """
        ...


class WriteOperation(Protocol):
    """Writes the graph of one HE operation, as ``lower.lower_operation`` does."""

    def __call__(self, name: str, parameters: RlweParameters, limbs: int) -> SubroutineGraph:
        """The graph of an operation on operands of this many limbs."""
        ...


@dataclass(frozen=True)
class Wanted:
    """The measurements to make of named designs.

    Attributes:
        write: Writes the graphs of the operations whose cycles are counted.
        programs: Random programs to run on the RTL of a design that has instructions.
        products: Random products through the RTL of a design that multiplies alone.
        verify: The designs whose RTL runs; empty: all.
        area: The designs that are synthesized.
        area_in_part: Designs that are synthesized in part, and counted in proportion.
    """

    write: WriteOperation
    programs: int = 0
    products: int = 0
    verify: Collection[str] = ()
    area: Collection[str] = ()
    area_in_part: Sequence[str] = ()

    def runs(self, name: str) -> bool:
        """Whether a design's RTL runs."""
        return not self.verify or name in self.verify


@dataclass(frozen=True)
class Survey:
    """The measurements of an architecture's named designs.

    Attributes:
        tables: For a terminal, in Markdown.
        section: For the page of designs.
        simulated: Whether any RTL ran.
        synthesized: Whether any was synthesized.
    """

    tables: Sequence[str]
    section: str
    simulated: bool
    synthesized: bool


@dataclass(frozen=True)
class TimedDesign:
    """Static timing of a design.

    Attributes:
        name: The design's name.
        what: What was synthesized of it, in words.
        timing: Its blocks and worst paths.
    """

    name: str
    what: str
    timing: Timing


class Inspector(ABC):
    """Inspects an architecture's programs and designs."""

    architecture: ClassVar[str]

    traces: ClassVar[bool] = False
    """Whether its programs have instructions, which are traced and recorded."""

    covers: ClassVar[bool] = False
    """Whether it counts what random programs cover."""

    verified: ClassVar[tuple[str, ...]] = ()
    """Devices that random programs verify, the usual one first; none: there are no programs."""

    max_file_bytes: ClassVar[int] = 0
    """The largest file of an executable; 0: there are none."""

    def survey(self, wanted: Wanted) -> Survey | None:
        """The named designs, measured as is wanted; None: nothing but their parameters is known.

        Raises:
            ParameterError: If ``area_in_part`` names a design that has no such part.
            DeviceError: If the RTL differs from the model.
            ToolError: If a tool is missing or fails.
        """
        return None

    def verification(self, design: Design, device: str, write: WriteOperation) -> Verification:
        """Random programs of a design.

        Args:
            design: The design, of this architecture.
            device: One of ``verified``.
            write: Writes the graphs of operations.

        Raises:
            DeviceError: If the design has no such device.
        """
        raise self._error("has no random programs")

    def timing(self, design: Design, *, in_part: bool) -> TimedDesign:
        """Logic levels and the worst paths between registers, by synthesis for UltraScale+.

        Args:
            design: The design, of this architecture.
            in_part: Whether a part of it that is synthesized sooner is enough.

        Raises:
            ParameterError: If ``in_part`` is asked of a design that has no such part.
            ToolError: If Yosys is not installed or fails.
        """
        raise self._error("is not timed")

    def verilog(self, design: Design) -> str:
        """The whole accelerator as plain Verilog; see :mod:`ringsmith.hdl.plain_verilog`.

        Raises:
            ToolError: If Yosys is not installed or fails.
        """
        raise self._error("is not written as Verilog")

    def on_board(self, design: Design, board: Board, clock: Pll) -> Hierarchy:
        """A design behind the host link of a board.

        Args:
            design: The design, of this architecture.
            board: The board.
            clock: The design's clock.

        Raises:
            ParameterError: If the design is not made for the board's FPGA.
        """
        raise self._error("is built for no board")

    def read(self, text: str) -> Executable:
        """An executable from its file.

        Raises:
            ProgramError: If the text is not valid.
        """
        raise self._error("has no files of executables")

    def text(self, executable: Executable) -> str:
        """An executable as its file has it."""
        raise self._error("has no files of executables")

    def timeline(self, executable: Executable, *, model: bool) -> Timeline:
        """A program in time: of the schedule, or of a run on the model."""
        raise self._error("has no instructions to trace")

    def waves(
        self,
        executable: Executable,
        path: Path,
        *,
        cycles: tuple[int, int] | None,
        instructions: tuple[int, int] | None,
        scope: str | None,
        depth: int | None,
    ) -> str:
        """Records the RTL's signals over a window of a program, on random data.

        Args:
            executable: The program.
            path: The VCD file.
            cycles: First and last cycle; None: the window is given in instructions.
            instructions: First and last instruction; None: the window is given in cycles.
            scope: The instance that is recorded; None: the top.
            depth: Levels of instances; None: all.

        Returns:
            What was recorded, in words.

        Raises:
            ProgramError: If the window is not of the program.
            DeviceError: If the window is empty, or the file cannot be written.
            ToolError: If Verilator or the compiler is missing or fails.
        """
        raise self._error("records no waves")

    def coverage(self, *, quick: bool) -> Coverage:
        """Runs random programs on RTL that counts."""
        raise self._error("counts no coverage")

    def _error(self, what: str) -> ProgramError:
        return ProgramError(f"architecture {self.architecture} {what}: choose a design of another")


def timing_family(platform: str) -> Family:
    """The family of a card's FPGA, whose delays count; UltraScale+ where no card is named."""
    if platform != NO_PLATFORM and load_platform(platform).family == SERIES_7:
        return Family.SERIES_7
    return Family.ULTRASCALE_PLUS
