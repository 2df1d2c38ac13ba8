"""Which programs the designs of each architecture accept."""

from ringsmith.backends.base import Design
from ringsmith.backends.registry import backend_of, design_names, named_design
from ringsmith.errors import ProgramError
from ringsmith.params import ParameterLimits
from ringsmith.program import Program
from ringsmith.schemes.fits import check_fits

__all__ = ["Design", "check_runs", "limits_of", "named_design"]


def limits_of(design: str | Design) -> ParameterLimits:
    """Returns the limits of the parameters that a design accepts.

    Raises:
        ParameterError: If there is no design of that name.
    """
    point = named_design(design)
    return backend_of(point).limits(point)


def check_runs(program: Program, design: Design) -> None:
    """Refuses a program whose parameters or operations a design does not support.

    Raises:
        ProgramError: Begins with the user's line; names the designs that accept the program.
    """
    check_fits(
        program,
        limits_of(design),
        lambda: [name for name in design_names() if _fits(program, name)],
    )


def _fits(program: Program, design: str) -> bool:
    """Returns whether a named design accepts a program."""
    try:
        check_fits(program, limits_of(design))
    except ProgramError:
        return False
    return True
