"""Static timing of RPAUs and of what joins them, for UltraScale+."""

from ringsmith.backends.rpau.debug.area import unit_parameters
from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.rtl import UNIT
from ringsmith.hdl.timing.report import Timing, merged
from ringsmith.hdl.timing.synthesis import timed


def rpau_timing(design: RpauDesign) -> Timing:
    """Synthesizes an RPAU of each width of a design, and the device without them, and times them.

    Without its RPAUs a device is the program controller, the interconnect, the commands' registers
    and the host's chain.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    units = [design.rpaus_of(width)[0] for width in design.widths]
    return merged(
        [
            *(timed(UNIT, rtl.ROOMS, unit_parameters(design, unit)) for unit in units),
            timed(rtl.TOP, rtl.ROOMS, rtl.parameters(design), boxes=(UNIT,)),
        ]
    )
