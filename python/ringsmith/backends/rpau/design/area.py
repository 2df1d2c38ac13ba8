"""Area of RPAUs without synthesis: from RPAUs that Yosys synthesized, in proportion.

DSPs and RAMs are counted. LUTs and flip-flops grow with the cores, as :func:`scaled` says, and with
the width of a word between, or beyond, two widths that were synthesized.
``tests/backends/rpau/test_area_counts.py`` compares with RPAUs of other sizes that were
synthesized.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib import resources

from ringsmith.backends.rpau.design.conversions import converter_of
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.latency import host_words
from ringsmith.backends.rpau.design.rtl import UNIT
from ringsmith.caching import cached
from ringsmith.errors import ParameterError
from ringsmith.hdl.dsps import DspSlice, barrett_dsps, folded_dsps
from ringsmith.hdl.packages import ntt
from ringsmith.hdl.synthesis import Area, area_less, area_times, block_rams, total_area, ultra_rams

MEASURED = "area.toml"
"""The file of synthesized RPAUs, next to this one."""


_PRODUCT_DSPS = 9
"""Of a modular multiplier of 60-bit words with sparse reduction; tests/rtl/test_area.py."""

_BRAM_BITS, _URAM_BITS = 36 * 1024, 288 * 1024


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
    sets, width = design.modulus_banks, design.bits_of(rpau)
    if design.twiddles == "stored":
        return Rams(
            design.cores * block_rams(width, sets * (1 << design.max_log_n) // design.cores), 0
        )
    low, high = sets << design.twiddle_lo_bits, sets * design.twiddle_hi_words
    depths = [depth for depth in (low, *[high] * design.cores) if depth > ntt.LUT_RAM_WORDS]
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
    shared = area_times(row_parts, dyadic)
    others = area_less(grown["rs_rpau_work_memory"], area_times(row_parts, lanes))
    grown["rs_rpau_work_memory"] = total_area([others, shared])
    for name, rams in _COUNTED.items():
        grown[name] = replace(grown[name], **asdict(rams(design, rpau)))
    rest = area_less(areas[UNIT], *(areas[name] for name in grown))
    inner = {
        "rs_butterfly_lanes": area_times(areas["rs_butterfly_lanes"], lanes),
        "rs_rpau_row_parts": shared,
    }
    return {**areas, **grown, **inner, UNIT: total_area([rest, *grown.values()])}


@dataclass(frozen=True)
class _Measured:
    """An RPAU that was synthesized: its design, as far as the area depends on it, and its areas."""

    design: RpauDesign
    areas: Mapping[str, Area]


OUTSIDE_RPAUS = Area(0, 0, 0, luts=2108, flip_flops=2609)
"""LUTs and flip-flops of a device outside its RPAUs: program controller, registers, data path.
RAMs and DSPs are ``outside_area``'s.

What ``rpau-1`` of docs/results/estimates.md has beyond its RPAUs.
"""

_INSTRUCTION_BITS = 64

_FIFO_LINES = 512
"""Of a channel of a card's DMA: field LogDepth of ``rs_dma_pkg::dma_cfg_t``."""


def outside_area(design: RpauDesign) -> Area:
    """Area of a device outside its RPAUs: controller and program store, registers, host's side.

    Also the DSPs of base converters, and a card's channel of the DMA, of one coprocessor. LUTs and
    flip-flops of both are not counted.
    """
    brams = block_rams(_INSTRUCTION_BITS, design.program_words)
    if design.coprocessors > 1:
        row = host_words(design) * (32 if design.word_bits <= 32 else 64)
        brams += 2 * block_rams(max(design.host_bits, row), _FIFO_LINES)
    dsps = design.converters * converter_of(design).dsps if design.converters else 0
    return replace(OUTSIDE_RPAUS, brams=brams, dsps=dsps)


_ONE_CORE = (0.780, 0.944)
"""LUTs and flip-flops of an RPAU of one core, that of ``rpau-1``, by those in proportion to four:
what turns and selects a row's words grows faster than the row. Two cores are taken to lie halfway.
"""


def rpau_estimates(design: RpauDesign) -> tuple[Area, ...]:
    """Areas of all RPAUs; see ``rpau_estimate``."""
    by_width: dict[int, Area] = {}
    for rpau in range(design.rpaus):
        bits = design.bits_of(rpau)
        if bits not in by_width:
            by_width[bits] = rpau_estimate(design, rpau)
    return tuple(by_width[design.bits_of(rpau)] for rpau in range(design.rpaus))


def rpau_estimate(design: RpauDesign, rpau: int = 0) -> Area:
    """Area of an RPAU.

    Raises:
        ParameterError: If no RPAU of such a kind was synthesized; says what is known.
    """
    known = _measured().get(design.reduction)
    if known is None or not design.dyadic_cores or design.core_multipliers != 2:
        raise ParameterError(
            f"design {design.name}: areas are known of reduction {', '.join(sorted(_measured()))}, "
            "dyadic cores and two multipliers a core: choose them, or synthesize the design"
        )
    bits = design.bits_of(rpau)
    widths = sorted(known)
    above = next((i for i, width in enumerate(widths) if width >= bits), len(widths) - 1)
    low, high = widths[max(above, 1) - 1], widths[max(above, 1)]
    first, second = (_of(known[width], design, rpau) for width in (low, high))
    share = (bits - low) / (high - low)
    area = _of_few_cores(
        total_area([first, area_times(area_less(second, first), share)]), design.cores
    )
    product = folded_dsps if design.reduction == "folded" else barrett_dsps
    slices = product(bits, DspSlice.DSP48E2) * (design.lanes + design.dyadic_cores)
    shortening = design.lanes if bits < design.word_bits else 0
    counted = _of(known[low], design, rpau)
    return replace(area, dsps=slices + shortening, brams=counted.brams, urams=counted.urams)


def _of_few_cores(area: Area, cores: int) -> Area:
    """The area in proportion, corrected for one core or two."""
    share = max(0.0, 1 - (cores - 1).bit_length() / 2)
    luts, flip_flops = (1 - share * (1 - of_it) for of_it in _ONE_CORE)
    return replace(
        area,
        luts=round(area.luts * luts),
        lut_pairs=round(area.lut_pairs * luts),
        flip_flops=round(area.flip_flops * flip_flops),
        absorbed_flip_flops=round(area.absorbed_flip_flops * flip_flops),
    )


def _of(measured: _Measured, design: RpauDesign, rpau: int) -> Area:
    return scaled(design, measured.design, measured.areas, rpau)[UNIT]


@cached
def _measured() -> dict[str, dict[int, _Measured]]:
    """Synthesized RPAUs by reduction and bits of a word."""
    text = resources.files("ringsmith.backends.rpau.design").joinpath(MEASURED).read_text("utf-8")
    found: dict[str, dict[int, _Measured]] = {}
    for row in tomllib.loads(text)["measured"]:
        base = load_design("medha" if row["reduction"] == "folded" else "nano")
        base = replace(base, cores=row["cores"], dyadic_cores=row["dyadic_cores"])
        areas = {
            name: Area(brams=0, urams=0, **numbers)
            for name, numbers in row.items()
            if isinstance(numbers, dict)
        }
        found.setdefault(row["reduction"], {})[row["word_bits"]] = _Measured(base, areas)
    return found
