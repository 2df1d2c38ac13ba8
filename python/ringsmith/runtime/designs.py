"""Designs of every architecture, by name."""

from ringsmith.arch.rpau.design import RpauDesign, load_design
from ringsmith.arch.stream.design import StreamDesign
from ringsmith.arch.stream.named import ARCHITECTURE, load_stream_design
from ringsmith.design_files import architecture_of

Design = RpauDesign | StreamDesign
"""A design of any architecture."""


def named_design(design: str | Design) -> Design:
    """A design by its name, or as it is given.

    Raises:
        ParameterError: If there is no design of that name.
    """
    if not isinstance(design, str):
        return design
    stream = architecture_of(design) == ARCHITECTURE
    return load_stream_design(design) if stream else load_design(design)
