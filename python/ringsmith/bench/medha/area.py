"""Area of an RPAU: synthesized, or estimated from a synthesized one of another size."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from ringsmith.backends.rpau.debug.area import part_of, rpau_areas
from ringsmith.backends.rpau.design.area import estimate, megabits, scaled, twiddle_rams
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.rtl import UNIT
from ringsmith.bench.areas import PACKING, area_of, numbers
from ringsmith.bench.papers import AREA
from ringsmith.bench.records import Found, Record
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

RPAUS = "rpaus"
"""All RPAUs of a device, without what lies around them."""

NARROW = "rpau_54_bits"
"""An RPAU with words of the papers' smaller width."""

_NO_PARTS = ("address_delaying_butterfly", "address_delaying_device")
"""Operations with flip-flops that no synthesis counted."""

OF_CARD = "_of_card"
"""How operations end that are shares of the papers' card."""

_COUNTS = (("dsp", "dsps"), ("bram", "brams"), ("uram", "urams"))
"""Metric and field of what is counted without synthesis."""

_COUNTED = "DSPs of multipliers, and RAMs by their shapes; nothing was synthesized"

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
        kept: The numbers of parts, where an earlier run synthesized them; ``parts`` is empty then.
    """

    parts: Mapping[str, Area]
    by_width: Mapping[int, Area]
    source: str
    text: str
    kept: tuple[Found, ...] = ()

    def units(self, design: RpauDesign) -> list[Area]:
        """Returns the area of each RPAU of a design of such RPAUs, however many it has."""
        return [self.by_width[design.bits_of(rpau)] for rpau in range(design.rpaus)]

    def average(self, design: RpauDesign) -> Area:
        """Returns the average area of an RPAU of such a design."""
        return area_times(total_area(self.units(design)), 1 / design.rpaus)

    def fit(self, design: RpauDesign, params: str) -> Found:
        """Returns whether the RPAUs of such a design fit the papers' card, die by die."""
        units = self.units(design)
        rule = f"at most {CARD.lut_share:.0%} of a die's LUTs, {CARD.reserved_luts:,} left in all"
        return _fit(
            design,
            params,
            [Resources(u.lut_sites, u.fabric_flip_flops, u.dsps, u.brams, u.urams) for u in units],
            self.source,
            f"({rule}); {self._of_widths(design)}",
        )

    def rows(self, design: RpauDesign, params: str) -> Iterator[Found]:
        """Yields the numbers of every part and of all RPAUs; a butterfly is a core's of the lanes.

        Program controller, interconnect and host's side are in none of them.
        """
        yield from self.kept or self._parts(design, params)
        text = f"{design.rpaus} RPAUs; {self._of_widths(design)}"
        whole = total_area(self.units(design))
        yield from area_rows(design.name, params, RPAUS, whole, self.source, text)
        yield from _of_card(design.name, params, numbers(whole), self.source)

    def _parts(self, design: RpauDesign, params: str) -> Iterator[Found]:
        name, source = design.name, self.source
        for part, modules in _PARTS.items():
            those = [self.parts[module] for module in modules if module in self.parts]
            if those:
                text = _words(design.word_bits, self.text)
                yield from area_rows(name, params, part, total_area(those), source, text)
        if design.narrow_rpaus:
            narrow, words = self.by_width[design.narrow_bits], _words(design.narrow_bits, self.text)
            yield from area_rows(name, params, NARROW, narrow, source, words)
        lanes = "a core's share of the lanes, its twiddle factors' multiplier included; "
        lanes += _words(design.word_bits, self.text)
        butterfly = area_times(self.parts["rs_butterfly_lanes"], 1 / design.cores)
        yield from area_rows(name, params, "butterfly", butterfly, source, lanes)

    def _of_widths(self, design: RpauDesign) -> str:
        """How the numbers of several RPAUs were found, which may have words of two widths."""
        text = _words(design.word_bits, self.text)
        if not design.narrow_rpaus:
            return text
        return f"{design.narrow_rpaus} RPAUs of {design.narrow_bits}-bit words, the others {text}"


def _words(bits: int, text: str) -> str:
    return f"{bits}-bit words; {text}"


def _fit(
    design: RpauDesign, params: str, units: Sequence[Resources], source: str, text: str
) -> Found:
    """Whether RPAUs fit the papers' card, die by die."""
    placed = place(CARD, units)
    dies = " + ".join(map(str, placed.units))
    judged = "fit" if placed.fits else f"do not fit, since {'; '.join(placed.excess)}"
    words = f"{dies} RPAUs on the dies of an {CARD.card} {judged} {text}"
    return Found(design.name, params, "device", "fits", float(placed.fits), source, words)


def counted_rams(design: RpauDesign, params: str) -> Iterator[Found]:
    """Yields what is known of a design's RPAUs without synthesis: DSPs and RAMs."""
    units = [_counted(design, rpau) for rpau in range(design.rpaus)]
    for part, those in (("rpau", units[:1]), (RPAUS, units)):
        text = f"{len(those)} of {design.rpaus} RPAUs; {_COUNTED}"
        for metric, field in _COUNTS:
            value = sum(getattr(unit, field) for unit in those)
            yield Found(design.name, params, part, metric, value, "estimate", text)
    whole = {metric: sum(getattr(unit, field) for unit in units) for metric, field in _COUNTS}
    yield from _of_card(design.name, params, whole, "estimate")


def _of_card(name: str, params: str, rpaus: Mapping[str, float], source: str) -> Iterator[Found]:
    """All RPAUs in percent of the papers' card."""
    there = CARD.whole
    fields: dict[str, float] = {"lut": there.luts, "ff": there.flip_flops, "dsp": there.dsps}
    fields |= {"bram": there.brams, "uram": there.urams}
    shares = {metric: rpaus[metric] / fields[metric] for metric in fields if metric in rpaus}
    bits = megabits(rpaus["bram"], rpaus["uram"])
    shares["rams"] = bits / megabits(there.brams, there.urams)
    text = f"all RPAUs, without what lies around them, of an {CARD.card}"
    for metric, share in shares.items():
        yield Found(name, params, f"{metric}{OF_CARD}", "percent", 100 * share, source, text)


def counted_fit(design: RpauDesign, params: str) -> Found:
    """Returns whether a design fits the papers' card, as far as DSPs and RAMs tell."""
    units = [_counted(design, rpau) for rpau in range(design.rpaus)]
    return _fit(design, params, units, "estimate", f"({_COUNTED})")


def _counted(design: RpauDesign, rpau: int) -> Resources:
    """DSPs and RAMs of one RPAU; no LUT and no flip-flop is counted."""
    own = estimate(design, rpau)
    return Resources(0, 0, own.dsp, own.bram + twiddle_rams(design, rpau).brams, own.uram)


def kept_areas(design: RpauDesign, params: str, earlier: Sequence[Record]) -> Synthesized | None:
    """Areas that an earlier run synthesized, if its RPAU has as many DSPs and RAMs as today's.

    Args:
        design: The design.
        params: The parameter set that the records name.
        earlier: Records of the earlier run.
    """
    names = [each.name for each in fields(Found)]
    rows = [
        Found(**{name: getattr(record, name) for name in names})
        for record in earlier
        if (record.design, record.params) == (design.name, params)
        and record.metric in AREA
        and record.operation not in (RPAUS, *_NO_PARTS)
    ]
    rows = list(dict.fromkeys(rows))
    widths = {design.word_bits: ("rpau", 0)}
    if design.narrow_rpaus:
        widths[design.narrow_bits] = (NARROW, design.rpaus - 1)
    by_width: dict[int, Area] = {}
    for bits, (part, rpau) in widths.items():
        area = area_of({r.metric: r.value for r in rows if r.operation == part})
        now = _counted(design, rpau)
        if area is None or (area.dsps, area.brams, area.urams) != (now.dsps, now.brams, now.urams):
            return None
        by_width[bits] = area
    whole = next(row for row in rows if row.operation == "rpau")
    text = whole.conditions.partition("; ")[2]
    return Synthesized({}, by_width, whole.source, text, tuple(rows))


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
