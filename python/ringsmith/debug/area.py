"""Area of a design's hardware by Yosys.

One RPAU is synthesized for UltraScale+, a streaming multiplier for the 7 series, as in its paper.
:mod:`ringsmith.debug.synthesis` says how far to trust the numbers.
"""

from ringsmith.backends.rpau import rtl
from ringsmith.backends.rpau.cost import interconnect_hops
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.backends.stream import rtl as stream_rtl
from ringsmith.backends.stream.cost import block_rams
from ringsmith.backends.stream.design import StreamDesign
from ringsmith.debug.synthesis import (
    SERIES_7,
    ULTRASCALE_PLUS,
    Area,
    synthesized,
    ultra_rams,
)

__all__ = [
    "STREAM_PARTS",
    "UNIT",
    "Area",
    "block_rams",
    "rpau_area",
    "rpau_areas",
    "stream_area",
    "stream_areas",
    "ultra_rams",
]

UNIT = "rs_rpau"

_PARTS = (
    "rs_rpau_main",
    "rs_butterfly_lanes",
    "rs_rpau_dyadic",
    "rs_rpau_seeded",
    "rs_rpau_work_memory",
    "rs_rpau_row_parts",
    "rs_rpau_key_store",
    "rs_mod_mul",
)
"""Modules of an RPAU whose own area is told, everything below them included."""

_OF_THE_DEVICE = ("Rpaus", "ProgramWords", "Interconnect")
"""Parameters of the accelerator that an RPAU does not have."""

STREAM_PARTS = (
    "rs_stream_core",
    "rs_stream_transform",
    "rs_stream_product",
    "rs_stream_generator",
    "rs_stream_mul",
)
"""Modules of a streaming multiplier whose own area is told; of the transforms, the forward one, of
both operands."""


def rpau_area(design: RpauDesign) -> Area:
    """Area of one RPAU; see ``rpau_areas``."""
    return rpau_areas(design)[UNIT]


def rpau_areas(design: RpauDesign) -> dict[str, Area]:
    """Synthesizes one RPAU of a design for UltraScale+, or finds the result in the cache.

    Takes minutes of processor time, more than ten for an RPAU of 16 cores.

    Returns:
        Area by module: ``UNIT`` and its parts that the design has, one instance of each.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    device = rtl.parameters(design)
    unit = {name: value for name, value in device.items() if name not in _OF_THE_DEVICE}
    values = {**unit, "Hops": interconnect_hops(design)}
    return synthesized(UNIT, rtl.ROOMS, values, _PARTS, ULTRASCALE_PLUS)


def stream_area(design: StreamDesign) -> Area:
    """Area of a streaming multiplier; see ``stream_areas``."""
    return stream_areas(design)[stream_rtl.TOP]


def stream_areas(design: StreamDesign) -> dict[str, Area]:
    """Synthesizes a streaming multiplier for the 7 series, or finds the result in the cache.

    Returns:
        Area by module: the whole device, ``rs_stream_axis``, and ``STREAM_PARTS``.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    values = stream_rtl.parameters(design)
    return synthesized(stream_rtl.TOP, stream_rtl.ROOMS, values, STREAM_PARTS, SERIES_7)
