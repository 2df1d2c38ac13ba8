"""Resources of a whole design, counted from its parameters: no synthesis."""

from ringsmith.backends.exporter import Estimate
from ringsmith.backends.rpau.debug.area_in_part import key_rams, twiddle_rams, work_rams
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.hdl.dsps import DspSlice, barrett_dsps, folded_dsps, product_dsps
from ringsmith.hdl.memories import block_rams
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS

_INSTRUCTION_BITS = 64


def estimated(design: RpauDesign) -> Estimate:
    """DSP slices of all multipliers, block RAMs and UltraRAMs of all memories.

    Not counted: DSP slices of base converters, so none are told of a design that has them; and the
    FIFOs of a card's DMA.
    """
    brams, urams, dsps = 0.0, 0, 0
    for rpau in range(design.rpaus):
        for rams in (kind(design, rpau) for kind in (work_rams, key_rams, twiddle_rams)):
            brams += rams.brams
            urams += rams.urams
        dsps += _unit_dsps(design, rpau)
    brams += block_rams(_INSTRUCTION_BITS, design.program_words)
    found: dict[str, float] = {
        "brams": brams * design.coprocessors,
        "urams": urams * design.coprocessors,
    }
    if not design.converters:
        found["dsps"] = dsps * design.coprocessors
    return Estimate(ULTRASCALE_PLUS, found)


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
