"""Looking inside architecture ``rpau``."""

from pathlib import Path
from typing import cast

from ringsmith.backends.base import Executable as AnyExecutable
from ringsmith.backends.inspector import Inspector, Survey, TimedDesign, Wanted, WriteOperation
from ringsmith.backends.rpau.compiler.executable import MAX_FILE_BYTES, Executable, read_executable
from ringsmith.backends.rpau.debug import campaign, waves
from ringsmith.backends.rpau.debug import designs as page
from ringsmith.backends.rpau.debug.area import area_from_part, part_of, rpau_area, rpau_timing
from ringsmith.backends.rpau.debug.compare import DEVICES, LENGTH, RandomPrograms, compare
from ringsmith.backends.rpau.debug.exclusions import EXCLUSIONS
from ringsmith.backends.rpau.debug.perfetto import perfetto_json
from ringsmith.backends.rpau.debug.picture import timeline_picture
from ringsmith.backends.rpau.debug.report import listing, tables
from ringsmith.backends.rpau.debug.trace import Trace
from ringsmith.backends.rpau.design import design as designs
from ringsmith.backends.rpau.design import rtl as sources
from ringsmith.backends.rpau.device import recording, rtl
from ringsmith.backends.timeline.views import DrawnTimeline
from ringsmith.backends.types import Design
from ringsmith.errors import ParameterError
from ringsmith.hdl.coverage import CoverageReport
from ringsmith.hdl.ecp5.boards import Board
from ringsmith.hdl.ecp5.flow import Hierarchy
from ringsmith.hdl.ecp5.pll import Pll
from ringsmith.hdl.plain_verilog import plain_verilog
from ringsmith.hdl.sources import ECP5, macros

_ALL_LEVELS = 99
"""More levels than there are instances within each other."""


class RpauInspector(Inspector):
    """Everything that can be looked at; see ``Inspector``."""

    architecture = designs.ARCHITECTURE
    traces = True
    covers = True
    verified = DEVICES
    max_file_bytes = MAX_FILE_BYTES

    def survey(self, wanted: Wanted) -> Survey:
        """Cycles of the main operations, and areas and comparisons as is wanted."""
        parts = {name: part_of(designs.load_design(name)) for name in wanted.area_in_part}
        rows = []
        for design in map(designs.load_design, designs.named_designs()):
            verified, areas, cores = None, {}, design.cores
            if wanted.programs and wanted.runs(design.name):
                verified = compare(
                    rtl.RtlCoprocessor(design), design, range(wanted.programs), LENGTH
                )
            one_each = {width: design.rpaus_of(width)[0] for width in design.widths}
            if design.name in wanted.area:
                areas = {width: rpau_area(design, rpau) for width, rpau in one_each.items()}
            elif design.name in parts:
                areas = {width: area_from_part(design, rpau) for width, rpau in one_each.items()}
                cores = parts[design.name].cores
            costs = page.operation_costs(design, wanted.write)
            found, narrow = areas.get(design.word_bits), areas.get(design.narrow_bits)
            rows.append(page.DesignRow(design, costs, verified, found, cores, narrow))
        return Survey(
            (page.size_table(rows), page.area_table(rows), page.cycles_table(rows)),
            page.section(rows),
            any(row.verified is not None for row in rows),
            any(row.area is not None for row in rows),
        )

    def verification(self, design: Design, device: str, write: WriteOperation) -> RandomPrograms:
        """Programs of the instruction set, every operation in each."""
        return RandomPrograms(cast("designs.RpauDesign", design), device)

    def timing(self, design: Design, *, in_part: bool) -> TimedDesign:
        """The whole device: an RPAU of each width, with all of its cores or a part."""
        own = cast("designs.RpauDesign", design)
        timed = part_of(own) if in_part else own
        widths = " and ".join(map(str, own.widths))
        around = (
            "registers, DMA and crossings" if own.coprocessors > 1 else "registers and data path"
        )
        fanout = f"; nets to {2 * timed.cores} lanes and more count for all" if in_part else ""
        what = (
            f"one RPAU with {timed.cores} of {own.cores} butterfly cores and "
            f"{timed.dyadic_cores} of {own.dyadic_cores} dyadic cores, for words of each width, "
            f"{widths} bits; what joins RPAUs: controller, interconnect and host's chain; and what "
            f"is around the device: {around}{fanout}"
        )
        return TimedDesign(own.name, what, rpau_timing(own, in_part=in_part))

    def verilog(self, design: Design) -> str:
        """The accelerator behind its register block; several of them behind a card's DMA."""
        own = cast("designs.RpauDesign", design)
        chosen = macros(own.target)
        if own.coprocessors > 1:
            values = sources.card_parameters(own)
            return plain_verilog(sources.CARD_TOP, sources.CARD_FOLDERS, values, chosen)
        return plain_verilog(sources.BUS_TOP, sources.BUS_FOLDERS, sources.parameters(own), chosen)

    def on_board(self, design: Design, board: Board, clock: Pll) -> Hierarchy:
        """The device behind its registers on a serial line."""
        own = cast("designs.RpauDesign", design)
        if own.target != ECP5:
            raise ParameterError(
                f"design {own.name}: target = {own.target!r}, and board {board.name} has an ECP5: "
                f"take a design whose file says target = {ECP5!r}, such as pico"
            )
        dividers = {
            "ClockHz": clock.hertz,
            "InputDivider": clock.input_divider,
            "FeedbackDivider": clock.feedback_divider,
            "OutputDivider": clock.output_divider,
        }
        return Hierarchy(board.top, sources.BOARD_FOLDERS, {**sources.parameters(own), **dividers})

    def read(self, text: str) -> Executable:
        """An executable from its file."""
        return read_executable(text)

    def text(self, executable: AnyExecutable) -> str:
        """An executable as its file has it."""
        return cast("Executable", executable).to_json()

    def timeline(self, executable: AnyExecutable, *, model: bool) -> DrawnTimeline[Trace]:
        """A program in time."""
        own = cast("Executable", executable)
        trace = Trace.of_model(own) if model else Trace.of_executable(own)
        return DrawnTimeline(trace, tables, listing, timeline_picture, perfetto_json)

    def waves(
        self,
        executable: AnyExecutable,
        path: Path,
        *,
        cycles: tuple[int, int] | None,
        instructions: tuple[int, int] | None,
        scope: str | None,
        depth: int | None,
    ) -> str:
        """Records a window; see ``Inspector.waves``."""
        own = cast("Executable", executable)
        if cycles is None:
            assert instructions is not None, "one of the two is given"
            cycles = waves.window_of(Trace.of_executable(own), *instructions)
        everything = scope is None and depth is None
        levels = 0 if everything else depth or _ALL_LEVELS
        top = scope or recording.TOP_SCOPE
        total = waves.record(own, path, cycles, scope=top, depth=levels)
        period = recording.WavesCoprocessor.PERIOD_NS
        return f"cycles {cycles[0]:,} to {cycles[1]:,} of {total:,}, {period} ns each"

    def coverage(self, *, quick: bool) -> CoverageReport:
        """Random programs until the goals are met, or two of them."""
        if quick:
            found = campaign.run_campaign(
                campaign.quick_design(), candidates=campaign.QUICK_CANDIDATES
            )
        else:
            found = campaign.run_campaign(campaign.campaign_design())
        return campaign.report(found, EXCLUSIONS)
