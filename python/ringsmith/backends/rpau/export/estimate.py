"""Resources of a whole design, counted from its parameters: no synthesis."""

from ringsmith.backends.exporter import Estimate
from ringsmith.backends.rpau.design.area import (
    OUTSIDE_RPAUS,
    key_rams,
    rpau_estimates,
    twiddle_rams,
    work_rams,
)
from ringsmith.backends.rpau.design.conversions import converter_of
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import host_words
from ringsmith.errors import ParameterError
from ringsmith.hdl.areas import total_area
from ringsmith.hdl.dsps import DspSlice, barrett_dsps, folded_dsps, product_dsps
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS, block_rams

_INSTRUCTION_BITS = 64

_FIFO_LINES = 512
"""Of a channel of a card's DMA: parameter LogDepth of ``rs_dma``."""


def estimated(design: RpauDesign) -> Estimate:
    """DSP slices of all multipliers, block RAMs and UltraRAMs of all memories, LUTs and flip-flops.

    The last two are left out where no RPAU of the design's kind was synthesized.
    """
    brams, urams, dsps = 0.0, 0, 0
    for rpau in range(design.rpaus):
        for rams in (kind(design, rpau) for kind in (work_rams, key_rams, twiddle_rams)):
            brams += rams.brams
            urams += rams.urams
        dsps += _unit_dsps(design, rpau)
    brams += block_rams(_INSTRUCTION_BITS, design.program_words)
    if design.converters:
        dsps += design.converters * converter_of(design).dsps
    if design.coprocessors > 1:
        brams += _channel_rams(design)
    found: dict[str, float] = {
        "dsps": dsps * design.coprocessors,
        "brams": brams * design.coprocessors,
        "urams": urams * design.coprocessors,
    }
    return Estimate(ULTRASCALE_PLUS, {**found, **_fabric(design)})


def _fabric(design: RpauDesign) -> dict[str, float]:
    """LUTs and flip-flops; nothing where they are not known."""
    try:
        area = total_area([*rpau_estimates(design), OUTSIDE_RPAUS])
    except ParameterError:
        return {}
    return {"luts": area.lut_sites, "flip_flops": area.fabric_flip_flops}


def _channel_rams(design: RpauDesign) -> float:
    """Block RAMs of a channel of a card's DMA: a FIFO each way, as wide as its wider port."""
    row = host_words(design) * (32 if design.word_bits <= 32 else 64)
    return 2 * block_rams(max(design.host_bits, row), _FIFO_LINES)


def _unit_dsps(design: RpauDesign, rpau: int) -> int:
    """DSP slices of an RPAU: its multipliers, and what shortens words that reach a narrow one."""
    width = design.bits_of(rpau)
    one = {
        "barrett": lambda: barrett_dsps(width, DspSlice.DSP48E2),
        "folded": lambda: folded_dsps(width, DspSlice.DSP48E2),
        "sparse": lambda: product_dsps(width, DspSlice.DSP48E2),
    }[design.reduction]()
    shortening = design.lanes if width < design.word_bits else 0
    multipliers = design.cores * design.core_multipliers + design.dyadic_cores
    return multipliers * one + shortening
