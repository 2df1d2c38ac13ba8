"""Area of an RPAU: synthesized, or estimated from a synthesized one of another size."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace

from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.bench.beside import Found
from ringsmith.bench.papers import AREA_TIMES_CYCLES
from ringsmith.debug.area import UNIT, Area, block_rams, rpau_areas, ultra_rams

_METRICS = {"dsps": "dsp", "brams": "bram", "urams": "uram", "luts": "lut", "flip_flops": "ff"}
"""Fields of ``Area`` -> metrics."""

_PARTS: Mapping[str, tuple[str, ...]] = {
    "rpau": (UNIT,),
    "memories": ("rs_rpau_work_memory", "rs_rpau_key_store"),
    "main_unit": ("rs_rpau_main",),
    "dyadic_unit": ("rs_rpau_dyadic",),
    "key_expander": ("rs_rpau_seeded",),
    "modular_multiplier": ("rs_mod_mul",),
}
"""Part, as the papers' facts call it -> our modules."""

_BIAS = (
    "Yosys, -family xcup, module by module; it packs no registers into DSPs and memories and no "
    "two LUTs into one, so LUT and FF are counted too high; RAMs by their shapes; no place and "
    "route"
)

_PRODUCT_DSPS = 9
"""Of a modular multiplier of 60-bit words with sparse reduction; tests/rtl/test_area.py."""

_BRAM_BITS, _URAM_BITS = 36 * 1024, 288 * 1024

_SHARE = 4
"""Of the cores, one in so many is synthesized where the whole RPAU is not."""

MANNERS = ("none", "scaled", "whole")
"""How areas are found: not at all; by synthesis of an RPAU with a quarter of the cores, minutes; or
of the whole, a quarter of an hour and 3 GB of memory each."""


def synthesized(
    design: RpauDesign, params: str, manner: str
) -> tuple[dict[str, Area], list[Found]]:
    """Synthesizes an RPAU of a design, or finds the result in the cache.

    Args:
        design: The design.
        params: The parameter set that the numbers are told with.
        manner: ``scaled`` or ``whole``.

    Returns:
        Area by module, and every part's numbers; a butterfly is a core's share of the lanes, and
        the device is its RPAUs, without program controller, interconnect and host's side.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    areas, source = rpau_areas(design), "synthesis"
    text = f"{design.word_bits}-bit words; {_BIAS}"
    if manner == "scaled":
        cores, dyadic = design.cores // _SHARE, design.dyadic_cores // _SHARE
        base = replace(design, name=f"{design.name} in part", cores=cores, dyadic_cores=dyadic)
        areas, source = scaled(design, base, rpau_areas(base)), "estimate"
        text = f"from an RPAU of {cores} and {dyadic} cores, in proportion; {text}"
    found: list[Found] = []
    for name, modules in _PARTS.items():
        those = [areas[module] for module in modules if module in areas]
        if those:
            found += area_rows(design.name, params, name, _total(those), source, text)
    whole = areas[UNIT]
    found += area_rows(design.name, params, "rpau_54_bits", whole, source, text)
    lanes = f"a core's share of the lanes, its twiddle factors' multiplier included; {text}"
    butterfly = _scaled(areas["rs_butterfly_lanes"], 1 / design.cores)
    found += area_rows(design.name, params, "butterfly", butterfly, source, lanes)
    device = f"{design.rpaus} RPAUs; without controller, interconnect and host's side; {text}"
    total = _scaled(whole, design.rpaus)
    found += area_rows(design.name, params, "device", total, source, device)
    return areas, found


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
        return (self.bram * _BRAM_BITS + self.uram * _URAM_BITS) / 1e6


def estimate(design: RpauDesign) -> Estimate:
    """Counts multipliers and memories of a design of 60-bit words with sparse reduction.

    What has one address is one memory: half a row of a bank of work polynomials, a row of keys.
    """
    rows, half = design.rows, design.cores * design.word_bits
    memories = 2 * [(half, rows, "block")] * (design.work_polys - design.work_uram_polys)
    for first in range(0, design.work_uram_polys, design.uram_bank_polys):
        held = min(design.uram_bank_polys, design.work_uram_polys - first)
        memories += 2 * [(half, held * rows, "ultra")]
    memories.append((2 * half, design.key_polys * rows, design.key_ram))
    return Estimate(
        dsp=(design.lanes + design.dyadic_cores) * _PRODUCT_DSPS,
        bram=sum(block_rams(width, depth) for width, depth, ram in memories if ram == "block"),
        uram=sum(ultra_rams(width, depth) for width, depth, ram in memories if ram == "ultra"),
    )


def times_cycles(design: RpauDesign, params: str, operation: str, cycles: float) -> Iterator[Found]:
    """What an RPAU takes, by counting, times an operation's cycles: what its speed is bought with.

    Args:
        design: The design; its own name tells the numbers.
        params: The parameter set.
        operation: What took the cycles.
        cycles: The cycles.
    """
    counted = estimate(design)
    text = (
        f"{cycles:,.0f} cycles; {counted.dsp} DSPs, {counted.bram:,.0f} BRAM and {counted.uram} "
        f"URAM of an RPAU: multipliers and polynomials, {counted.megabits:.1f} Mbit"
    )
    for metric, amount in zip(AREA_TIMES_CYCLES, (counted.dsp, counted.megabits), strict=True):
        value = amount * cycles / 1e6
        yield Found(design.name, params, operation, metric, value, "estimate", text)


def scaled(design: RpauDesign, base: RpauDesign, areas: Mapping[str, Area]) -> dict[str, Area]:
    """Areas of an RPAU that differs from a synthesized one in cores and memories alone.

    The main unit and the memories' logic grow with the butterfly cores, the dyadic unit and the key
    expander with the dyadic cores; polynomial memories are counted; the rest stays. A little too
    few LUTs for more cores, since the permutation of a row's words grows faster than its words.

    Args:
        design: The design, of the same words and reduction.
        base: The one that was synthesized; it has dyadic cores.
        areas: By module, of ``base``.
    """
    lanes = design.cores / base.cores
    dyadic = design.dyadic_cores / base.dyadic_cores
    growth = {
        "rs_rpau_main": lanes,
        "rs_rpau_dyadic": dyadic,
        "rs_rpau_seeded": dyadic if design.seeds else 0.0,
        "rs_rpau_work_memory": lanes,
        "rs_rpau_key_store": lanes,
    }
    ours, theirs, whole = estimate(design), estimate(base), areas[UNIT]
    grown = {name: _scaled(areas[name], by) for name, by in growth.items() if name in areas}
    more = [_total([area, _scaled(areas[name], -1)]) for name, area in grown.items()]
    unit = replace(_total([whole, *more]), urams=whole.urams - theirs.uram + ours.uram)
    tables = whole.brams - theirs.bram
    unit = replace(unit, brams=ours.bram + tables * lanes)
    lanes_of_main = {"rs_butterfly_lanes": _scaled(areas["rs_butterfly_lanes"], lanes)}
    return {**areas, **grown, **lanes_of_main, UNIT: unit}


def area_rows(
    design: str, params: str, operation: str, area: Area, source: str, text: str
) -> Iterator[Found]:
    """An area's numbers, one a metric."""
    for field, value in asdict(area).items():
        yield Found(design, params, operation, _METRICS[field], value, source, text)


def _total(areas: list[Area]) -> Area:
    """The sum of areas."""
    fields = [asdict(area) for area in areas]
    return Area(**{name: sum(each[name] for each in fields) for name in _METRICS})


def _scaled(area: Area, factor: float) -> Area:
    """An area a number of times, rounded."""
    return Area(**{name: round(value * factor) for name, value in asdict(area).items()})
