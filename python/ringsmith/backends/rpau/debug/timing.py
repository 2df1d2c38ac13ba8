"""Static timing of one RPAU and of the program controller, for UltraScale+."""

from collections.abc import Iterable

from ringsmith.backends.rpau import rtl
from ringsmith.backends.rpau.debug.area import UNIT, unit_parameters
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.backends.rpau.isa.instruction_set import ISA, has_unit
from ringsmith.hdl.timing.report import Timing, merged
from ringsmith.hdl.timing.synthesis import timed

CONTROLLER = "rs_rpau_controller"


def rpau_timing(design: RpauDesign) -> Timing:
    """Synthesizes an RPAU and the controller of a design and times them.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    return merged(
        timed(top, rtl.ROOMS, values)
        for top, values in (
            (UNIT, unit_parameters(design)),
            (CONTROLLER, controller_parameters(design)),
        )
    )


def controller_parameters(design: RpauDesign) -> dict[str, int]:
    """Values of the controller's parameters, as ``rs_rpau_top`` gives them."""
    return {
        "Rpaus": design.rpaus,
        "ProgramWords": design.program_words,
        "HasUnits": _bits(has_unit(design, unit) for unit in ISA.execution_units),
        "HasFeatures": _bits(bool(getattr(design, feature)) for feature in ISA.features),
    }


def _bits(flags: Iterable[bool]) -> int:
    """A number with a bit for each flag, the first one lowest."""
    return sum(flag << i for i, flag in enumerate(flags))
