"""Looking inside architecture ``vector``."""

from dataclasses import replace
from typing import cast

from ringsmith import design_files
from ringsmith.backends.inspector import Inspector, Survey, TimedDesign, Wanted
from ringsmith.backends.types import Design
from ringsmith.backends.vector.debug import campaign, coverage_report
from ringsmith.backends.vector.debug.area import cluster_areas
from ringsmith.backends.vector.debug.designs import (
    VectorRow,
    vector_area_table,
    vector_section,
    vector_table,
)
from ringsmith.backends.vector.debug.timing import cluster_timing
from ringsmith.backends.vector.design import ARCHITECTURE, VectorDesign
from ringsmith.backends.vector.rtl import TOP
from ringsmith.hdl.coverage_report import CoverageReport

_LEAST_LOG_LANES = 4
"""log2 of the lanes of a cluster that is timed in part."""


class VectorInspector(Inspector):
    """Named designs and their timing."""

    architecture = ARCHITECTURE
    covers = True

    def survey(self, wanted: Wanted) -> Survey:
        """Sizes, and areas as is wanted."""
        rows = []
        for name in design_files.named(ARCHITECTURE):
            design = design_files.load(name, ARCHITECTURE, VectorDesign)
            area = cluster_areas(design)[TOP] if name in wanted.area else None
            rows.append(VectorRow(design, area))
        return Survey(
            (vector_table(rows), vector_area_table(rows)),
            vector_section(rows),
            simulated=False,
            synthesized=any(row.area is not None for row in rows),
        )

    def timing(self, design: Design, *, in_part: bool) -> TimedDesign:
        """A unit, the network, and a cluster without both; in part with fewer lanes."""
        own = cast("VectorDesign", design)
        timed = part_of(own) if in_part else own
        what = (
            f"a unit of {1 << own.log_radix} lanes, the network, and a cluster without both, with "
            f"{timed.lanes} of {own.lanes} lanes"
        )
        return TimedDesign(own.name, what, cluster_timing(timed))

    def coverage(self, *, quick: bool) -> CoverageReport:
        """Random programs until the goals are met, or two of them."""
        if quick:
            few = campaign.QUICK_CANDIDATES
            found = campaign.run_campaign(campaign.quick_design(), candidates=few, programs=few)
        else:
            found = campaign.run_campaign(campaign.campaign_design())
        return coverage_report.report(found)


def part_of(design: VectorDesign) -> VectorDesign:
    """The design with 16 lanes of a cluster, and memories of as many words."""
    longer = max(design.log_lanes - _LEAST_LOG_LANES, 0)
    return replace(
        design,
        log_lanes=design.log_lanes - longer,
        bank_rows=design.bank_rows << longer,
        table_rows=design.table_rows << longer,
        stream_rows=design.stream_rows << longer,
    )
