"""Area of an RPAU: synthesized, or estimated from a synthesized one of another size."""

from collections.abc import Iterator, Mapping, Sequence

from ringsmith.backends.rpau.debug.area import UNIT, rpau_areas
from ringsmith.backends.rpau.debug.area_in_part import area_times, part_of, scaled, total_area
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.bench.records import Found
from ringsmith.hdl.synthesis import Area
from ringsmith.platforms import Resources, load_platform, place

CARD = load_platform("u250")
"""The card of both papers."""

_METRICS = {
    "dsps": "dsp",
    "brams": "bram",
    "urams": "uram",
    "lut_sites": "lut",
    "fabric_flip_flops": "ff",
    "luts": "lut_unpacked",
    "flip_flops": "ff_unpacked",
}
"""Numbers of an ``Area`` -> metrics."""

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
    "Yosys, -family xcup, module by module; two LUTs that may share a site count once, and output "
    "registers of RAMs and DSPs do not count: *unpacked* has them; RAMs by their shapes; no place "
    "and route"
)

MANNERS = ("none", "scaled", "whole")
"""How areas are found: not at all; by synthesis of an RPAU with a quarter of the cores, minutes; or
of the whole, more than ten minutes and 3 GB of memory each."""


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
    areas, source, text = _areas(design, 0, manner)
    found: list[Found] = []
    for name, modules in _PARTS.items():
        those = [areas[module] for module in modules if module in areas]
        if those:
            found += area_rows(design.name, params, name, total_area(those), source, text)
    narrowest, _, words = _areas(design, design.rpaus - 1, manner)
    found += area_rows(design.name, params, "rpau_54_bits", narrowest[UNIT], source, words)
    lanes = f"a core's share of the lanes, its twiddle factors' multiplier included; {text}"
    butterfly = area_times(areas["rs_butterfly_lanes"], 1 / design.cores)
    found += area_rows(design.name, params, "butterfly", butterfly, source, lanes)
    by_width = {design.word_bits: areas[UNIT], design.bits_of(design.rpaus - 1): narrowest[UNIT]}
    units = [by_width[design.bits_of(rpau)] for rpau in range(design.rpaus)]
    if design.narrow_rpaus:
        text = f"{design.narrow_rpaus} RPAUs of {design.narrow_bits}-bit words, the others {text}"
    device = f"{design.rpaus} RPAUs; without controller, interconnect and host's side; {text}"
    found += area_rows(design.name, params, "device", total_area(units), source, device)
    found.append(_fit(design, params, units, source, text))
    return areas, found


def _areas(design: RpauDesign, rpau: int, manner: str) -> tuple[dict[str, Area], str, str]:
    """Area by module of an RPAU, how the numbers were found, and that in words."""
    text = f"{design.bits_of(rpau)}-bit words; {_BIAS}"
    if manner != "scaled":
        return rpau_areas(design, rpau), "synthesis", text
    part = part_of(design)
    text = f"from an RPAU of {part.cores} and {part.dyadic_cores} cores, in proportion; {text}"
    return scaled(design, part, rpau_areas(part, rpau), rpau), "estimate", text


def _fit(design: RpauDesign, params: str, units: Sequence[Area], source: str, text: str) -> Found:
    """Whether the design's RPAUs fit the papers' card, die by die."""
    placed = place(
        CARD,
        [Resources(u.lut_sites, u.fabric_flip_flops, u.dsps, u.brams, u.urams) for u in units],
    )
    dies = " + ".join(map(str, placed.units))
    judged = "fit" if placed.fits else f"do not fit, since {'; '.join(placed.excess)}"
    rule = f"at most {CARD.lut_share:.0%} of a die's LUTs, {CARD.reserved_luts:,} left in all"
    words = f"{dies} RPAUs on the dies of an {CARD.card} {judged} ({rule}); {text}"
    return Found(design.name, params, "device", "fits", float(placed.fits), source, words)


def area_rows(
    design: str, params: str, operation: str, area: Area, source: str, text: str
) -> Iterator[Found]:
    """An area's numbers, one a metric."""
    for field, metric in _METRICS.items():
        value = getattr(area, field)
        yield Found(design, params, operation, metric, value, source, text)
