"""Looking inside architecture ``stream``: its named designs."""

from typing import cast

from ringsmith.backends.inspector import Inspector, Survey, TimedDesign, Wanted, WriteOperation
from ringsmith.backends.stream.debug.area import stream_area, stream_timing
from ringsmith.backends.stream.debug.compare import DEVICES, RandomBatches, compare_products
from ringsmith.backends.stream.debug.designs import StreamRow, stream_section, stream_table
from ringsmith.backends.stream.design import rtl as sources
from ringsmith.backends.stream.design.design import (
    ARCHITECTURE,
    StreamDesign,
    load_stream_design,
    named_stream_designs,
)
from ringsmith.backends.stream.device import rtl
from ringsmith.backends.types import Design
from ringsmith.errors import ParameterError
from ringsmith.hdl.plain_verilog import plain_verilog


class StreamInspector(Inspector):
    """Named designs alone: there are no instructions to trace."""

    architecture = ARCHITECTURE
    verified = DEVICES

    def survey(self, wanted: Wanted) -> Survey:
        """Sizes and cycles, and areas and comparisons as is wanted."""
        rows = []
        for design in map(load_stream_design, named_stream_designs()):
            same = None
            if wanted.products and wanted.runs(design.name):
                same = compare_products(rtl.StreamRtl(design), design, wanted.products)
            area = stream_area(design) if design.name in wanted.area else None
            rows.append(StreamRow(design, same, area))
        return Survey(
            (stream_table(rows),),
            stream_section(rows),
            any(row.verified is not None for row in rows),
            any(row.area is not None for row in rows),
        )

    def verification(self, design: Design, device: str, write: WriteOperation) -> RandomBatches:
        """Products of mixed primes, back to back."""
        return RandomBatches(cast("StreamDesign", design))

    def timing(self, design: Design, *, in_part: bool) -> TimedDesign:
        """The whole device."""
        own = cast("StreamDesign", design)
        if in_part:
            raise ParameterError(
                f"design {own.name} is of architecture {ARCHITECTURE}, whose designs are timed "
                "whole: leave --in-part out"
            )
        what = f"the whole device, {own.lanes} words of {own.word_bits} bits a cycle"
        return TimedDesign(own.name, what, stream_timing(own))

    def verilog(self, design: Design) -> str:
        """The whole device."""
        return plain_verilog(
            sources.TOP, sources.FOLDERS, sources.parameters(cast("StreamDesign", design))
        )
