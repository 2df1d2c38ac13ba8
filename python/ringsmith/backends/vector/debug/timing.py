"""Static timing of a cluster, for UltraScale+."""

from typing import Any

from ringsmith.backends.vector.design import rtl
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.hdl.timing.report import Timing, merged
from ringsmith.hdl.timing.synthesis import timed

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
    values: dict[str, Any] = {**rtl.parameters(design), "BankStyle": '"ultra"'}
    return merged(
        [
            timed(_UNIT, rtl.FOLDERS, rtl.unit_parameters(design)),
            timed(_NETWORK, rtl.FOLDERS, {**own, **sizes}),
            timed(rtl.TOP, rtl.FOLDERS, values, boxes=(_UNIT, _NETWORK)),
        ]
    )
