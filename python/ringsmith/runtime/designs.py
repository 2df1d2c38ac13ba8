"""Designs of every architecture, by name."""

from ringsmith.backends.rpau import limits as rpau_limits
from ringsmith.backends.rpau.design import RpauDesign, load_design
from ringsmith.backends.stream import limits as stream_limits
from ringsmith.backends.stream.design import StreamDesign
from ringsmith.backends.stream.named import ARCHITECTURE, load_stream_design
from ringsmith.design_files import architecture_of, named
from ringsmith.errors import ProgramError
from ringsmith.params import ParameterLimits
from ringsmith.program import Program
from ringsmith.program.fits import check_fits

Design = RpauDesign | StreamDesign
"""A design of any architecture."""


def named_design(design: str | Design) -> Design:
    """A design by its name or the path of its TOML file, or as it is given.

    Raises:
        ParameterError: If there is no design of that name, or the file is none of a design.
    """
    if not isinstance(design, str):
        return design
    stream = architecture_of(design) == ARCHITECTURE
    return load_stream_design(design) if stream else load_design(design)


def limits_of(design: str | Design) -> ParameterLimits:
    """Returns what parameters a design takes.

    Raises:
        ParameterError: If there is no design of that name.
    """
    point = named_design(design)
    if isinstance(point, StreamDesign):
        return stream_limits.parameter_limits(point)
    return rpau_limits.parameter_limits(point)


def check_runs(program: Program, design: Design) -> None:
    """Refuses a program whose parameters or operations a design does not take.

    Raises:
        ProgramError: Begins with the user's line; names the designs that take the program.
    """
    try:
        check_fits(program, limits_of(design))
    except ProgramError:
        check_fits(program, limits_of(design), [name for name in named() if _fits(program, name)])


def _fits(program: Program, design: str) -> bool:
    """Whether a named design takes a program."""
    try:
        check_fits(program, limits_of(design))
    except ProgramError:
        return False
    return True
