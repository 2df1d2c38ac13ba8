"""Looking inside architecture ``vector``."""

from typing import cast

from ringsmith import design_files
from ringsmith.backends.inspector import Inspector, Survey, TimedDesign, Wanted, WriteOperation
from ringsmith.backends.timeline.views import DrawnTimeline
from ringsmith.backends.types import Design, Executable
from ringsmith.backends.vector.compiler.compile import (
    MAX_FILE_BYTES,
    executable_text,
    read_executable,
)
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.debug import campaign
from ringsmith.backends.vector.debug.area import cluster_areas, part_of, vector_timing
from ringsmith.backends.vector.debug.compare_operations import (
    DEVICES,
    RTL,
    RandomPrograms,
    compare_operations,
)
from ringsmith.backends.vector.debug.costs import operation_cycles
from ringsmith.backends.vector.debug.designs import (
    VectorRow,
    vector_area_table,
    vector_cycles_table,
    vector_section,
    vector_table,
)
from ringsmith.backends.vector.debug.exclusions import EXCLUSIONS
from ringsmith.backends.vector.debug.perfetto import perfetto_json
from ringsmith.backends.vector.debug.picture import timeline_picture
from ringsmith.backends.vector.debug.report import listing, tables
from ringsmith.backends.vector.debug.trace import Trace
from ringsmith.backends.vector.design.design import ARCHITECTURE, VectorDesign
from ringsmith.backends.vector.design.rtl import TOP
from ringsmith.backends.vector.device import rtl
from ringsmith.backends.vector.device.device import VectorDevice
from ringsmith.errors import DeviceError
from ringsmith.hdl.coverage import CoverageReport


class VectorInspector(Inspector):
    """Named designs, their timing, and programs in time."""

    architecture = ARCHITECTURE
    traces = True
    max_file_bytes = MAX_FILE_BYTES
    covers = True
    verified = DEVICES

    def survey(self, wanted: Wanted) -> Survey:
        """Sizes and cycles, and areas and comparisons as is wanted."""
        rows = []
        for name in design_files.named(ARCHITECTURE):
            design = design_files.load(name, ARCHITECTURE, VectorDesign)
            area = cluster_areas(design)[TOP] if name in wanted.area else None
            same = None
            if wanted.programs and wanted.runs(name) and not rtl.unsupported(design):
                device = VectorDevice(design, "rtl")
                same = compare_operations(device, design, wanted.write, wanted.programs)
            cycles = operation_cycles(design, wanted.write)
            rows.append(VectorRow(design, area, cycles, same))
        return Survey(
            (vector_table(rows), vector_area_table(rows), vector_cycles_table(rows)),
            vector_section(rows),
            simulated=any(row.verified is not None for row in rows),
            synthesized=any(row.area is not None for row in rows),
        )

    def verification(self, design: Design, device: str, write: WriteOperation) -> RandomPrograms:
        """Lists of instructions and HE operations.

        Raises:
            DeviceError: If the design has no simulated RTL.
        """
        own = cast("VectorDesign", design)
        if device == RTL and (reason := rtl.unsupported(own)):
            raise DeviceError(reason)
        return RandomPrograms(own, device, write)

    def timing(self, design: Design, *, in_part: bool) -> TimedDesign:
        """The whole device; in part with fewer lanes."""
        own = cast("VectorDesign", design)
        timed = part_of(own) if in_part else own
        around = "loads, stores, fetch and registers"
        around += ", crossings" if own.crossed_ports else ""
        fanout = f"; nets to {timed.lanes} lanes and more count for all" if in_part else ""
        what = (
            f"a unit of {1 << own.log_radix} lanes, the network, a cluster without both, and what "
            f"is around clusters: {around}; with {timed.lanes} of {own.lanes} lanes{fanout}"
        )
        return TimedDesign(own.name, what, vector_timing(own, in_part=in_part))

    def read(self, text: str) -> VectorExecutable:
        """An executable from its file."""
        return read_executable(text)

    def text(self, executable: Executable) -> str:
        """An executable as its file has it."""
        return executable_text(cast("VectorExecutable", executable))

    def timeline(self, executable: Executable, *, model: bool) -> DrawnTimeline[Trace]:
        """A program in time; the model keeps to the schedule, so that both are the same."""
        trace = Trace.of_executable(cast("VectorExecutable", executable))
        return DrawnTimeline(trace, tables, listing, timeline_picture, perfetto_json)

    def coverage(self, *, quick: bool) -> CoverageReport:
        """Random programs until the goals are met, or two of them."""
        if quick:
            few = campaign.QUICK_CANDIDATES
            found = campaign.run_campaign(campaign.quick_design(), candidates=few, programs=few)
        else:
            found = campaign.run_campaign(campaign.campaign_design())
        return campaign.report(found, EXCLUSIONS)
