"""Area of one RPAU by Yosys, for UltraScale+.

:mod:`ringsmith.hdl.synthesis` says how far to trust the numbers.
"""

from ringsmith.backends.rpau import rtl
from ringsmith.backends.rpau.cost import interconnect_hops
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS, Area, synthesized

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
    return synthesized(UNIT, rtl.ROOMS, unit_parameters(design), _PARTS, ULTRASCALE_PLUS)


def unit_parameters(design: RpauDesign) -> dict[str, int]:
    """Values of the parameters of one RPAU for a design."""
    device = rtl.parameters(design)
    unit = {name: value for name, value in device.items() if name not in _OF_THE_DEVICE}
    return {**unit, "Hops": interconnect_hops(design)}
