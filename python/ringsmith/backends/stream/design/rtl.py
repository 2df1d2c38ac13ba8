"""The RTL of a stream design: its top modules, their sources, and what they are elaborated with."""

from ringsmith.backends.stream.design import package
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.hdl.record import Record, Values

CORE = "rs_stream_core"
"""The pipeline without its buffers: a frame's words come and leave without a pause."""

TOP = "rs_stream_axis"
"""The whole device, behind AXI4-Stream."""

FOLDERS = ("mem", "arith", "stream")
"""Folders of ``rtl/`` that it is made of, each before those that use it."""


def configuration(design: StreamDesign) -> Record:
    """A design's record, ``rs_stream_pkg::stream_cfg_t``."""
    return package.stream_cfg(**design.cfg._asdict(), slots=design.slots)


def parameters(design: StreamDesign) -> Values:
    """Values of the top's parameters for a design."""
    return {"Cfg": configuration(design)}


SIMULATION = ("-fno-dfg", "--unroll-count", "2")
"""Verilator's options: its C++ is a third as large, since stages of one kind then share code and
shift registers stay loops."""
