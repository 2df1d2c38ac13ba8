"""Area of a coprocessor: synthesized, all of it, and how many fit the paper's card."""

from collections.abc import Iterator

from ringsmith.backends.rpau.debug.area import card_areas, device_areas
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.rtl import CARD_TOP
from ringsmith.bench.areas import PACKING, numbers
from ringsmith.bench.heaws.cases import PARAMS, SEVERAL
from ringsmith.bench.records import Found
from ringsmith.hdl.areas import area_times, total_area
from ringsmith.hdl.synthesis import Area
from ringsmith.platforms import Resources, load_platform, place

CARD = load_platform("f1")
"""The paper's card."""

_TEXT = f"Yosys, -family xcup, {PACKING}"

CORES = "rpau_cores"
"""A core more in every RPAU."""

_PARTS = {
    "coprocessor": "rs_rpau_top",
    "rpau": "rs_rpau",
    "lift": "rs_base_convert",
    "butterfly_lanes": "rs_butterfly_lanes",
}
"""Part, by its name in the paper's records -> our module."""


def area_rows(design: RpauDesign) -> Iterator[Found]:
    """Every part's numbers, and whether six coprocessors fit the card.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    areas = device_areas(design)
    for part, module in _PARTS.items():
        for metric, value in numbers(areas[module]).items():
            yield Found(design.name, PARAMS, part, metric, value, "synthesis", _TEXT)
    lane = area_times(areas[_PARTS["butterfly_lanes"]], 1 / design.cores)
    text = f"a butterfly core in each of {design.rpaus} RPAUs; {_TEXT}"
    for metric, value in numbers(area_times(lane, design.rpaus)).items():
        yield Found(design.name, PARAMS, CORES, metric, value, "synthesis", text)
    several = load_design(SEVERAL)
    joins, one = card_areas(several)[CARD_TOP], areas[_PARTS["coprocessor"]]
    text = f"{several.coprocessors} times the coprocessor, and the DMA and registers before them"
    whole = total_area([area_times(one, several.coprocessors), joins])
    for metric, value in numbers(whole).items():
        yield Found(
            several.name, PARAMS, "six_coprocessors", metric, value, "synthesis", f"{text}; {_TEXT}"
        )
    yield _fit(design, one, joins, several.coprocessors)


def _fit(design: RpauDesign, one: Area, joins: Area, count: int) -> Found:
    """Whether so many coprocessors fit, each with its share of what joins them."""
    unit = Resources(
        one.lut_sites + -(-joins.lut_sites // count),
        one.fabric_flip_flops + -(-joins.fabric_flip_flops // count),
        one.dsps,
        one.brams + joins.brams / count,
        one.urams,
    )
    placed = place(CARD, [unit] * count)
    dies = " + ".join(map(str, placed.units))
    judged = "fit" if placed.fits else f"do not fit, since {'; '.join(placed.excess)}"
    shared = f"{joins.lut_sites:,} LUT, {joins.fabric_flip_flops:,} FF and {joins.brams:g} BRAM"
    text = (
        f"{dies} coprocessors on the dies of {CARD.card}, beside the shell's partition, {judged} "
        f"(at most {CARD.lut_share:.0%} of a die's LUTs); each with its share of "
        f"DMA and registers, {shared}; {_TEXT}"
    )
    return Found(design.name, PARAMS, "accelerator", "fits", float(placed.fits), "synthesis", text)
