"""Area and static timing of a cluster by Yosys, for UltraScale+.

:mod:`ringsmith.hdl.synthesis` says how far to trust the numbers, and
:mod:`ringsmith.backends.vector.design.area` estimates them.
"""

from dataclasses import replace

from ringsmith.backends.vector.design import package, rtl
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS, Area, synthesized
from ringsmith.hdl.timing.graph import WHOLE, Wider
from ringsmith.hdl.timing.report import Timing, merged
from ringsmith.hdl.timing.synthesis import timed

CLUSTER_PARTS = (
    "rs_vector_array",
    "rs_vector_unit",
    "rs_vector_permute",
    "rs_vector_sequencer",
    "rs_vector_bank",
    "rs_vector_stream",
    "rs_vector_table",
)
"""Modules of a cluster whose area is reported separately, including everything below them."""


def cluster_areas(design: VectorDesign) -> dict[str, Area]:
    """Synthesizes a cluster of a design, or finds the result in the cache.

    Takes a minute with 16 lanes, and five with 256.

    Returns:
        Area by module: ``rtl.TOP``, and one instance of each of ``CLUSTER_PARTS``.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    values = rtl.parameters(design, package.BANK_ULTRA)
    return synthesized(rtl.TOP, rtl.FOLDERS, values, CLUSTER_PARTS, ULTRASCALE_PLUS)


_UNIT, _NETWORK = "rs_vector_unit", "rs_vector_permute"


LEAST_LOG_LANES = 4
"""log2 of the lanes of a cluster that is timed in part."""


def part_of(design: VectorDesign) -> VectorDesign:
    """The design with 16 lanes of a cluster, and memories of as many words."""
    longer = max(design.log_lanes - LEAST_LOG_LANES, 0)
    return replace(
        design,
        log_lanes=design.log_lanes - longer,
        bank_rows=design.bank_rows << longer,
        table_rows=design.table_rows << longer,
        stream_rows=design.stream_rows << longer,
        ports=max(design.ports >> longer, 1),
    )


def vector_timing(design: VectorDesign, *, in_part: bool = False) -> Timing:
    """Times a whole device: a unit, the network, a cluster without both, and what is around it.

    Network and units begin and end with registers, or with the register of what drives them, so
    that no path is lost where the cluster is cut. Around the clusters are loads, stores, the
    programs' fetch, registers and, where ports cross to the memory's clock, the crossings.

    Args:
        design: The design.
        in_part: Whether it is synthesized with 16 lanes of a cluster: what drives as many inputs is
            then taken for a net to all lanes.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    part = part_of(design) if in_part else design
    lanes = 1 << part.log_lanes
    wider = Wider(lanes, (1 << design.log_lanes) // lanes) if in_part else WHOLE
    own = {"Width": part.word_bits}
    sizes = {"LogLanes": part.log_lanes, "LogRadix": part.log_radix}
    values = rtl.parameters(part, package.BANK_ULTRA)
    whole = {**values, "Crossed": int(part.crossed_ports)}
    return merged(
        [
            timed(_UNIT, rtl.FOLDERS, rtl.parameters(part)),
            timed(_NETWORK, rtl.FOLDERS, {**own, **sizes}, wider=wider),
            timed(rtl.TOP, rtl.FOLDERS, values, boxes=(_UNIT, _NETWORK), wider=wider),
            timed(rtl.SHELL, rtl.SHELL_FOLDERS, whole, boxes=(rtl.TOP,), wider=wider),
        ]
    )
