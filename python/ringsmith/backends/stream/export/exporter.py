"""Writing designs of architecture ``stream`` out: RTL with its streams, operands and testbench."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import chain
from string import Template
from typing import cast

from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.exporter import (
    Demonstration,
    Estimate,
    Exporter,
    Greeting,
    Hardware,
    assumed_mhz,
    hex_words,
)
from ringsmith.backends.stream.compiler.executable import StreamExecutable
from ringsmith.backends.stream.design import area, rtl
from ringsmith.backends.stream.design.design import ASSUMED_MHZ, BARRETT, StreamDesign
from ringsmith.backends.stream.device.device import StreamDevice
from ringsmith.backends.stream.device.interface import (
    ResidueProduct,
    StreamReport,
    checked_descriptors,
)
from ringsmith.backends.stream.device.model import StreamModel
from ringsmith.backends.stream.isa.descriptor import Descriptor, prime_error
from ringsmith.backends.stream.model.batch import own_descriptor
from ringsmith.backends.types import Design
from ringsmith.hdl import interfaces as buses
from ringsmith.hdl.synthesis import SERIES_7
from ringsmith.objects import KeySwitchKey, Residues
from ringsmith.params import CkksParameters, RlweParameters

_ANSWER_BITS = 8
_NARROW_BITS = 32
"""Words of more bits have 64 in a stream."""
_DATA_PRIMES = 2
_HEADROOM_BITS = 6
"""Bits of each data prime that CKKS's scale leaves to the message."""
_PATIENCE = 8
"""Times the cycles without pauses in which the testbench must be done."""


class StreamExporter(Exporter):
    """The multiplier behind its streams; see ``Exporter``."""

    def hardware(self, design: Design) -> Hardware:
        """The whole device."""
        own = cast("StreamDesign", design)
        return Hardware(
            top=rtl.TOP,
            folders=rtl.FOLDERS,
            parameters=rtl.parameters(own),
            interfaces=_interfaces(own),
            greeting=_greeting(own),
            clocks={"clk_i": _mhz(own)},
            platform=own.platform,
            simulation=rtl.SIMULATION,
            files={"registers/streams.md": _page(own), "registers/rs_design.h": _header(own)},
        )

    def parameters(self, design: Design) -> RlweParameters:
        """CKKS with two data primes and a special one, as wide as the design's words."""
        own = cast("StreamDesign", design)
        narrower = 0 if own.multiplier == BARRETT else 1
        bits = (own.word_bits - narrower,) * _DATA_PRIMES
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no data will ever be encrypted with these
            return CkksParameters.create(
                n=own.n,
                prime_bits=bits,
                special_bits=own.word_bits,
                scale_bits=bits[-1] - _HEADROOM_BITS,
                security=None,
                name=f"{own.name} demonstration",
            )

    def demonstrate(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, KeySwitchKey],
    ) -> tuple[Demonstration, Mapping[str, Residues]]:
        """All products of an operation, one after another; the CPU does the rest of it."""
        executable = cast("StreamExecutable", compiled.executable)
        design, recorder = executable.design, Recorder(executable.design)
        result = StreamDevice(recorder).execute(compiled, inputs, keys)
        made = recorder.made
        parts = {
            "descriptors.hex": [each.descriptor.words for each in made],
            "a.hex": [each.asked.a.tolist() for each in made],
            "b.hex": [each.asked.b.tolist() for each in made],
            "expected.hex": [each.product.tolist() for each in made],
        }
        values = {
            "products": len(made),
            "megahertz": f"{_mhz(design):g}",
            "half_period": f"{500 / _mhz(design):.3f}",
            "degree": design.n,
            "lanes": design.lanes,
            "period": design.period,
            "stream_word_bits": _word_bits(design),
            "patience": _PATIENCE * executable.cycles + 100_000,
        }
        files = {name: hex_words(list(chain(*words))) for name, words in parts.items()}
        figures = {"cycles": executable.cycles, "products": len(made)}
        found = Demonstration(files, _text("testbench.sv.in"), values, figures)
        return found, result.outputs

    def estimate(self, design: Design) -> Estimate:
        """What it takes of the 7 series."""
        own = cast("StreamDesign", design)
        luts, flip_flops = area.fabric(own)
        found: dict[str, float] = {
            "dsps": area.dsps(own),
            "brams": area.memories(own).total,
            "urams": 0,
            "luts": luts,
            "flip_flops": flip_flops,
        }
        return Estimate(SERIES_7, found)


def _mhz(design: StreamDesign) -> float:
    return assumed_mhz(ASSUMED_MHZ, design.platform)


def _word_bits(design: StreamDesign) -> int:
    """Bits of a word in a stream."""
    return 32 if design.word_bits <= _NARROW_BITS else 64


def _interfaces(design: StreamDesign) -> tuple[buses.Interface, ...]:
    word = _word_bits(design)

    def stream(name: str, bits: int, about: str, *, last: bool = True) -> buses.Interface:
        master = name.startswith("m_")
        return buses.axi_stream(
            name, master=master, data_bits=bits, last=last, of="clk_i", about=about
        )

    return (
        buses.clock("clk_i"),
        buses.reset("rst_ni", "clk_i", "may be short: the device prolongs it"),
        buses.plain("fault_o", buses.OUTPUT, 1, "clk_i", "a tlast stood in the wrong beat"),
        stream("s_axis_d", word, "descriptors, a word a beat"),
        stream("m_axis_s", _ANSWER_BITS, "an answer for each descriptor", last=False),
        stream("s_axis_a", word * design.lanes, "operands a"),
        stream("s_axis_b", word * design.lanes, "operands b"),
        stream("m_axis_p", word * design.lanes, "products"),
    )


def _greeting(design: StreamDesign) -> Greeting:
    """A descriptor of the largest prime, which the device takes."""
    step = 2 * design.n
    prime = (1 << design.word_bits) - step + 1
    while prime_error(prime, design):
        prime -= step
    words = own_descriptor(prime, design).words
    return Greeting("s_axis_d", words=words, answers="m_axis_s", answer=0)


def _header(design: StreamDesign) -> str:
    """The design as C constants."""
    figures = {
        "DEGREE": design.n,
        "LANES": design.lanes,
        "WORD_BITS": design.word_bits,
        "STREAM_WORD_BYTES": _word_bits(design) // 8,
        "DESCRIPTOR_WORDS": 3 + design.lanes,
        "BEATS": design.period,
        "BARRETT": int(design.multiplier == BARRETT),
        "ANSWER_TAKEN": 0,
        "ANSWER_NOT_FOR_RING": 1,
        "ANSWER_PRIME_SIZE": 2,
        "ANSWER_WORD_SIZE": 3,
        "ANSWER_LENGTH": 4,
    }
    lines = [f"#define RS_DESIGN_{name} {value}u" for name, value in figures.items()]
    head = [f"// What design {design.name} is, and its answers to descriptors."]
    head += ["#ifndef RS_DESIGN_H", "#define RS_DESIGN_H", ""]
    return "\n".join([*head, *lines, "", "#endif", ""])


def _page(design: StreamDesign) -> str:
    barrett = design.multiplier == BARRETT
    return Template(_text("streams.md")).substitute(
        name=design.name,
        degree=design.n,
        period=design.period,
        width=design.word_bits,
        words=_word_bits(design),
        beat=_word_bits(design) * design.lanes,
        answer=_ANSWER_BITS,
        lanes=design.lanes,
        last_word=2 + design.lanes,
        size=f"exactly {design.word_bits}" if barrett else f"at most {design.word_bits}",
        unit="floor(2^(2W) / q) - 2^W" if barrett else "2^(2W) mod q",
        scale="1 / N mod q" if barrett else "2^(2W) / N mod q",
    )


def _text(name: str) -> str:
    """A template of this package."""
    return (resources.files("ringsmith.backends.stream.export") / name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Made:
    """A product: what it is made from, and what must come out, (N,) words."""

    descriptor: Descriptor
    asked: ResidueProduct
    product: Residues


class Recorder:
    """The model of a stream device, which records its products; see ``StreamCoprocessor``.

    Attributes:
        made: The products so far.
    """

    name = "model"

    def __init__(self, design: StreamDesign) -> None:
        self._model = StreamModel(design)
        self.made: list[Made] = []

    @property
    def design(self) -> StreamDesign:
        """The design that the device was made for."""
        return self._model.design

    def multiply(self, batch: Sequence[ResidueProduct]) -> StreamReport:
        """Makes products."""
        report = self._model.multiply(batch)
        descriptors = checked_descriptors(batch, self.design)
        found = zip(descriptors, batch, report.products, strict=True)
        self.made += [Made(*each) for each in found]
        return report
