"""Area and static timing of a cluster by Yosys, for UltraScale+.

:mod:`ringsmith.hdl.synthesis` says how far to trust the numbers, and
:mod:`ringsmith.backends.vector.design.area` estimates them.
"""

from ringsmith.backends.vector.design import package, rtl
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS, Area, synthesized
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


def cluster_timing(design: VectorDesign) -> Timing:
    """Synthesizes a unit, the network, and the cluster without both, and times them.

    Network and units begin and end with registers, or with the register of what drives them, so
    that no path is lost where the cluster is cut.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    own = {"Width": design.word_bits}
    sizes = {"LogLanes": design.log_lanes, "LogRadix": design.log_radix}
    values = rtl.parameters(design, package.BANK_ULTRA)
    return merged(
        [
            timed(_UNIT, rtl.FOLDERS, rtl.parameters(design)),
            timed(_NETWORK, rtl.FOLDERS, {**own, **sizes}),
            timed(rtl.TOP, rtl.FOLDERS, values, boxes=(_UNIT, _NETWORK)),
        ]
    )
