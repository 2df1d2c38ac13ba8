"""Area of an RPAU without its synthesis: memories and multipliers counted, the rest in proportion.

Synthesis of ``medha``'s RPAU, of 16 cores, takes more than ten minutes of processor time; with four
cores it takes three.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from ringsmith.backends.rpau.debug.area import UNIT, rpau_areas
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.errors import ParameterError
from ringsmith.hdl.areas import area_less, area_times, total_area
from ringsmith.hdl.dsps import DspSlice, folded_dsps
from ringsmith.hdl.memories import block_rams
from ringsmith.hdl.synthesis import Area, ultra_rams

SHARE = 4
"""Of the cores, one in so many is synthesized where the whole RPAU is not."""

_PRODUCT_DSPS = 9
"""Of a modular multiplier of 60-bit words with sparse reduction; tests/rtl/test_area.py."""

LUT_RAM_WORDS = 64
"""LutRamWords of ``rs_rpau_pkg``: a longer twiddle table is in block RAM."""

_BRAM_BITS, _URAM_BITS = 36 * 1024, 288 * 1024


def part_of(design: RpauDesign) -> RpauDesign:
    """Returns the design with one in ``SHARE`` of its cores.

    Raises:
        ParameterError: When it has too few cores; synthesize the whole then.
    """
    if design.cores < SHARE or design.dyadic_cores < SHARE:
        raise ParameterError(
            f"design {design.name} has cores = {design.cores} and dyadic_cores = "
            f"{design.dyadic_cores}, and a part of it one in {SHARE}: synthesize the whole, which "
            "takes minutes"
        )
    cores, dyadic = design.cores // SHARE, design.dyadic_cores // SHARE
    return replace(design, name=f"{design.name} in part", cores=cores, dyadic_cores=dyadic)


def area_from_part(design: RpauDesign, rpau: int = 0) -> Area:
    """Area of one RPAU, from the synthesis of one with a part of its cores; see ``scaled``.

    RPAUs with words of one width are alike.

    Raises:
        ParameterError: When it has too few cores.
        ToolError: If Yosys is not installed or fails.
    """
    part = part_of(design)
    return scaled(design, part, rpau_areas(part, rpau), rpau)[UNIT]


@dataclass(frozen=True)
class Estimate:
    """What an RPAU takes without synthesis: multipliers and polynomial memories.

    Attributes:
        dsp: DSPs of all multipliers.
        bram: 36 Kbit BRAMs of work polynomials and keys; tables and constants are not counted.
        uram: UltraRAMs of work polynomials and keys.
    """

    dsp: int
    bram: float
    uram: int

    @property
    def megabits(self) -> float:
        """What those BRAMs and UltraRAMs hold."""
        return megabits(self.bram, self.uram)


def megabits(brams: float, urams: float) -> float:
    """What BRAMs and UltraRAMs hold, in 10^6 bits."""
    return (brams * _BRAM_BITS + urams * _URAM_BITS) / 1e6


@dataclass(frozen=True)
class Rams:
    """What a memory is made of.

    Attributes:
        brams: 36 Kbit BRAMs; half of one is 18 Kbit.
        urams: UltraRAMs.
    """

    brams: float
    urams: int


def work_rams(design: RpauDesign, rpau: int = 0) -> Rams:
    """RAMs of the work polynomials; half a row of a bank has one address, and is one memory."""
    half = design.cores * design.bits_of(rpau)
    depths = [len(bank) * design.rows for bank in design.banks]
    ultra, block = depths[: design.uram_banks], depths[design.uram_banks :]
    return Rams(
        brams=2 * sum(block_rams(half, depth) for depth in block),
        urams=2 * sum(ultra_rams(half, depth) for depth in ultra),
    )


def key_rams(design: RpauDesign, rpau: int = 0) -> Rams:
    """RAMs of the key polynomials; a row has one address, and all rows are one memory."""
    width, depth = design.lanes * design.bits_of(rpau), design.key_polys * design.rows
    if design.key_ram == "block":
        return Rams(block_rams(width, depth), 0)
    return Rams(0, ultra_rams(width, depth))


def twiddle_rams(design: RpauDesign, rpau: int = 0) -> Rams:
    """RAMs of the twiddle tables: of all factors, a part for each core, or of two tables' words."""
    sets, width = design.prime_sets, design.bits_of(rpau)
    if design.twiddles == "stored":
        return Rams(
            design.cores * block_rams(width, sets * (1 << design.max_log_n) // design.cores), 0
        )
    low, high = sets << design.twiddle_lo_bits, sets * design.twiddle_hi_words
    depths = [depth for depth in (low, *[high] * design.cores) if depth > LUT_RAM_WORDS]
    return Rams(sum(block_rams(width, depth) for depth in depths), 0)


def multiplier_dsps(design: RpauDesign, rpau: int = 0) -> int:
    """DSPs of a modular multiplier, of folded reduction, or of sparse reduction of 60-bit words."""
    if design.reduction == "folded":
        return folded_dsps(design.bits_of(rpau), DspSlice.DSP48E2)
    return _PRODUCT_DSPS


def estimate(design: RpauDesign, rpau: int = 0) -> Estimate:
    """Counts an RPAU's multipliers and memories, by folded reduction, or sparse of 60-bit words.

    A narrow RPAU has a slice more for each lane, which shortens words that arrive.
    """
    work, keys = work_rams(design, rpau), key_rams(design, rpau)
    shortening = design.lanes if design.bits_of(rpau) < design.word_bits else 0
    return Estimate(
        dsp=(design.lanes + design.dyadic_cores) * multiplier_dsps(design, rpau) + shortening,
        bram=work.brams + keys.brams,
        uram=work.urams + keys.urams,
    )


_COUNTED = {
    "rs_rpau_main": twiddle_rams,
    "rs_rpau_work_memory": work_rams,
    "rs_rpau_key_store": key_rams,
}
"""Module -> its RAMs, whose number follows from a memory's width and depth, in no proportion."""


def scaled(
    design: RpauDesign, base: RpauDesign, areas: Mapping[str, Area], rpau: int = 0
) -> dict[str, Area]:
    """Areas of an RPAU that differs from a synthesized one in cores and memories alone.

    The main unit and the memories' logic grow with the butterfly cores, the dyadic unit, the key
    expander and what the work memory has for the dyadic unit with the dyadic cores; memories of
    polynomials and twiddle factors are counted; the rest stays. A little too few LUTs for more
    cores, since the permutation of a row's words grows faster than its words.

    Args:
        design: The design, of the same words and reduction.
        base: The one that was synthesized; it has dyadic cores.
        areas: By module, of ``base``.
        rpau: Which RPAU of both: those with words of one width are alike.
    """
    lanes = design.cores / base.cores
    dyadic = design.dyadic_cores / base.dyadic_cores
    growth = {
        "rs_rpau_arrival": lanes,
        "rs_rpau_dyadic": dyadic,
        "rs_rpau_seeded": dyadic if design.seeds else 0.0,
        **dict.fromkeys(_COUNTED, lanes),
    }
    grown = {name: area_times(areas[name], by) for name, by in growth.items() if name in areas}
    row_parts = areas["rs_rpau_row_parts"]  # in the work memory
    side = area_times(row_parts, dyadic)
    others = area_less(grown["rs_rpau_work_memory"], area_times(row_parts, lanes))
    grown["rs_rpau_work_memory"] = total_area([others, side])
    for name, rams in _COUNTED.items():
        grown[name] = replace(grown[name], **asdict(rams(design, rpau)))
    rest = area_less(areas[UNIT], *(areas[name] for name in grown))
    inner = {
        "rs_butterfly_lanes": area_times(areas["rs_butterfly_lanes"], lanes),
        "rs_rpau_row_parts": side,
    }
    return {**areas, **grown, **inner, UNIT: total_area([rest, *grown.values()])}
