"""Area of an RPAU: synthesized, or estimated from a synthesized one of another size."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ringsmith.backends.rpau.debug.area import UNIT, rpau_areas
from ringsmith.backends.rpau.debug.area_in_part import part_of, scaled
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.bench.areas import PACKING, numbers
from ringsmith.bench.records import Found
from ringsmith.hdl.areas import area_times, total_area
from ringsmith.hdl.synthesis import Area
from ringsmith.platforms import Resources, load_platform, place

CARD = load_platform("u250")
"""The card of both papers."""

_PARTS: Mapping[str, tuple[str, ...]] = {
    "rpau": (UNIT,),
    "memories": ("rs_rpau_work_memory", "rs_rpau_key_store"),
    "main_unit": ("rs_rpau_main",),
    "dyadic_unit": ("rs_rpau_dyadic",),
    "key_expander": ("rs_rpau_seeded",),
    "modular_multiplier": ("rs_mod_mul",),
}
"""Part, by its name in the papers' records -> our modules."""

_BIAS = f"Yosys, -family xcup, {PACKING}"

MANNERS = ("none", "scaled", "whole")
"""How areas are found: not at all; by synthesis of an RPAU with a quarter of the cores, minutes; or
of the whole, more than ten minutes and 3 GB of memory each."""


@dataclass(frozen=True)
class Synthesized:
    """Areas of a design's RPAUs.

    Attributes:
        parts: Of the first RPAU, by module.
        by_width: Of a whole RPAU, by the bits of its words.
        source: ``synthesis`` or ``estimate``.
        text: How the numbers were found.
    """

    parts: Mapping[str, Area]
    by_width: Mapping[int, Area]
    source: str
    text: str

    def units(self, design: RpauDesign) -> list[Area]:
        """Returns the area of each RPAU of a design of such RPAUs, however many it has."""
        return [self.by_width[design.bits_of(rpau)] for rpau in range(design.rpaus)]

    def average(self, design: RpauDesign) -> Area:
        """Returns the average area of an RPAU of such a design."""
        return area_times(total_area(self.units(design)), 1 / design.rpaus)

    def fit(self, design: RpauDesign, params: str) -> Found:
        """Returns whether the RPAUs of such a design fit the papers' card, die by die."""
        units = self.units(design)
        placed = place(
            CARD,
            [Resources(u.lut_sites, u.fabric_flip_flops, u.dsps, u.brams, u.urams) for u in units],
        )
        dies = " + ".join(map(str, placed.units))
        judged = "fit" if placed.fits else f"do not fit, since {'; '.join(placed.excess)}"
        rule = f"at most {CARD.lut_share:.0%} of a die's LUTs, {CARD.reserved_luts:,} left in all"
        words = f"{dies} RPAUs on the dies of an {CARD.card} {judged} ({rule}); "
        words += self._of_widths(design)
        fits = float(placed.fits)
        return Found(design.name, params, "device", "fits", fits, self.source, words)

    def rows(self, design: RpauDesign, params: str) -> Iterator[Found]:
        """Yields every part's numbers; a butterfly is a core's share of the lanes.

        The device is its RPAUs, without program controller, interconnect and host's side.
        """
        name, source = design.name, self.source
        for part, modules in _PARTS.items():
            those = [self.parts[module] for module in modules if module in self.parts]
            if those:
                text = _words(design.word_bits, self.text)
                yield from area_rows(name, params, part, total_area(those), source, text)
        if design.narrow_rpaus:
            narrow, words = self.by_width[design.narrow_bits], _words(design.narrow_bits, self.text)
            yield from area_rows(name, params, "rpau_54_bits", narrow, source, words)
        lanes = "a core's share of the lanes, its twiddle factors' multiplier included; "
        lanes += _words(design.word_bits, self.text)
        butterfly = area_times(self.parts["rs_butterfly_lanes"], 1 / design.cores)
        yield from area_rows(name, params, "butterfly", butterfly, source, lanes)
        device = f"{design.rpaus} RPAUs; without controller, interconnect and host's side; "
        device += self._of_widths(design)
        yield from area_rows(name, params, "device", total_area(self.units(design)), source, device)

    def _of_widths(self, design: RpauDesign) -> str:
        """How the numbers of several RPAUs were found, which may have words of two widths."""
        text = _words(design.word_bits, self.text)
        if not design.narrow_rpaus:
            return text
        return f"{design.narrow_rpaus} RPAUs of {design.narrow_bits}-bit words, the others {text}"


def _words(bits: int, text: str) -> str:
    return f"{bits}-bit words; {text}"


def synthesized(design: RpauDesign, manner: str) -> Synthesized:
    """Synthesizes the RPAUs of a design, or finds the results in the cache.

    Args:
        design: The design.
        manner: ``scaled`` or ``whole``.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    first = _areas(design, 0, manner)
    by_width = {design.word_bits: first[UNIT]}
    if design.narrow_rpaus:
        by_width[design.narrow_bits] = _areas(design, design.rpaus - 1, manner)[UNIT]
    if manner != "scaled":
        return Synthesized(first, by_width, "synthesis", _BIAS)
    part = part_of(design)
    text = f"from an RPAU of {part.cores} and {part.dyadic_cores} cores, in proportion; {_BIAS}"
    return Synthesized(first, by_width, "estimate", text)


def _areas(design: RpauDesign, rpau: int, manner: str) -> dict[str, Area]:
    """Area by module of an RPAU."""
    if manner != "scaled":
        return rpau_areas(design, rpau)
    part = part_of(design)
    return scaled(design, part, rpau_areas(part, rpau), rpau)


def area_rows(
    design: str, params: str, operation: str, area: Area, source: str, text: str
) -> Iterator[Found]:
    """An area's numbers, one a metric."""
    for metric, value in numbers(area).items():
        yield Found(design, params, operation, metric, value, source, text)
