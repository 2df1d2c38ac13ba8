"""Area of a streaming multiplier by Yosys, for the 7 series, as in its paper; its static timing.

:mod:`ringsmith.hdl.synthesis` says how far to trust the numbers.
"""

from ringsmith.backends.inspector import timing_family
from ringsmith.backends.stream.design import rtl
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.hdl.synthesis import SERIES_7, Area, synthesized
from ringsmith.hdl.timing.report import Timing
from ringsmith.hdl.timing.synthesis import timed

STREAM_PARTS = (
    "rs_stream_core",
    "rs_stream_transform",
    "rs_stream_product",
    "rs_stream_generator",
    "rs_stream_mul",
)
"""Modules of a streaming multiplier whose own area is told; of the transforms, the forward one, of
both operands."""


def stream_area(design: StreamDesign) -> Area:
    """Area of a streaming multiplier; see ``stream_areas``."""
    return stream_areas(design)[rtl.TOP]


def stream_areas(design: StreamDesign) -> dict[str, Area]:
    """Synthesizes a streaming multiplier for the 7 series, or finds the result in the cache.

    Returns:
        Area by module: the whole device, ``rs_stream_axis``, and ``STREAM_PARTS``.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    values = rtl.parameters(design)
    return synthesized(rtl.TOP, rtl.FOLDERS, values, STREAM_PARTS, SERIES_7)


def stream_timing(design: StreamDesign) -> Timing:
    """Synthesizes a streaming multiplier and times it, with the delays of its card's family.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    return timed(
        rtl.TOP, rtl.FOLDERS, rtl.parameters(design), family=timing_family(design.platform)
    )
