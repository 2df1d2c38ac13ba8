"""Static timing of a streaming multiplier, for UltraScale+."""

from ringsmith.backends.stream.design import rtl
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.hdl.timing.report import Timing
from ringsmith.hdl.timing.synthesis import timed


def stream_timing(design: StreamDesign) -> Timing:
    """Synthesizes a streaming multiplier and times it.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    return timed(rtl.TOP, rtl.ROOMS, rtl.parameters(design))
