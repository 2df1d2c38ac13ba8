"""Static timing of one RPAU and of the program controller, for UltraScale+."""

from ringsmith.backends.rpau import rtl
from ringsmith.backends.rpau.debug.area import UNIT, unit_parameters
from ringsmith.backends.rpau.design import RpauDesign
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
        "Dyadic": int(design.dyadic_cores > 0),
        "Prng": int(design.prng != "none"),
        "Link": int(design.link),
        "Pieces": int(design.larger_rings > 0),
    }
