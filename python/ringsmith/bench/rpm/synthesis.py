"""Synthesized areas of stream designs, beside the paper's table 2."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ringsmith.backends.stream.debug.area import stream_areas
from ringsmith.backends.stream.design import area
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.bench.areas import PACKING, numbers
from ringsmith.bench.records import Found, Record
from ringsmith.bench.rpm.cases import PAPER
from ringsmith.hdl.areas import area_less

_BIAS = f"Yosys, -family xc7, {PACKING}"


def synthesized(params: str, design: StreamDesign) -> Iterator[Found]:
    """Synthesizes a design with its streams, or finds the result in the cache.

    Args:
        params: What records call the parameters.
        design: The design.

    Yields:
        The device's area, and those of table 2's parts.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    areas = stream_areas(design)
    whole, core = areas["rs_stream_axis"], areas["rs_stream_core"]
    product, generator = areas["rs_stream_product"], areas["rs_stream_generator"]
    found = {
        "rpm": (whole, "rs_stream_axis: the core with its buffers and streams"),
        "transforms": (area_less(core, product, generator), "the core without the two below"),
        "products": (product, "rs_stream_product: of both transforms, and by the scale"),
        "twiddle_generator": (generator, "rs_stream_generator"),
        "others": (area_less(whole, core), "frames that wait, descriptors, streams"),
    }
    for operation, (taken, what) in found.items():
        text = f"{what}; {_BIAS}"
        for metric, value in numbers(taken).items():
            if metric == "uram":
                continue  # the 7 series has none
            yield Found(PAPER, params, operation, metric, value, "synthesis", text)


def kept(params: str, design: StreamDesign, records: Sequence[Record]) -> Iterator[Found]:
    """Synthesized areas of an earlier run, if as many DSPs and block RAMs were counted then.

    Args:
        params: What records call the parameters.
        design: The design.
        records: The earlier run's.
    """
    then = {
        each.metric: each.value
        for each in records
        if (each.params, each.operation, each.source) == (params, "rpm", "estimate")
    }
    now = {"dsp": area.dsps(design), "bram": area.memories(design).total}
    if any(then.get(metric) != value for metric, value in now.items()):
        return
    rows = [each for each in records if each.params == params and each.source == "synthesis"]
    for each in dict.fromkeys(replace(row, paper="", paper_value=None, where="") for row in rows):
        what = (each.design, each.params, each.operation, each.metric)
        yield Found(*what, each.value, each.source, each.conditions)
