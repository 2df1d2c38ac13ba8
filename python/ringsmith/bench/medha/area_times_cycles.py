"""What an operation's speed is bought with: the area of an RPAU times the operation's cycles."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType

from ringsmith.backends.rpau.design.area import estimate, megabits
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.bench.medha.area import RPAUS
from ringsmith.bench.medha.cases import MEDHA, MEDHA_2021
from ringsmith.bench.papers import Fact, facts
from ringsmith.bench.records import Found
from ringsmith.caching import cached
from ringsmith.hdl.synthesis import Area

OPERATIONS = ("multiply_relinearize", "rescale")
"""Operations whose area-cycle product is reported."""


@dataclass(frozen=True)
class _Rpaus:
    """How a paper tells the area of its RPAUs.

    Attributes:
        params: The parameter set with which it is reported.
        counts: Part -> how many RPAUs of the device are such ones.
        where: In the paper.
        words: What the average is of.
        devices: Parameter set -> RPAUs of its device.
        where_rpaus: In the paper, of all RPAUs together.
    """

    params: str
    counts: Mapping[str, int]
    where: str
    words: str
    devices: Mapping[str, int]
    where_rpaus: str


_RPAUS: Mapping[str, _Rpaus] = MappingProxyType(
    {
        MEDHA: _Rpaus(
            "medha-set1",
            {"rpau": 1, "rpau_54_bits": 9},
            "Tables 2 and 3",
            "an average RPAU, one of 60-bit words and nine of 54, as the device's URAMs add up",
            {"medha-set1": 10},
            "Table 3",
        ),
        MEDHA_2021: _Rpaus(
            "medha21-set1",
            {"rpau": 1},
            "Tables II and III",
            "an RPAU of Set-1",
            {f"medha21-set{number}": 6 + number for number in (1, 2, 3)},
            "Tables III and IV",
        ),
    }
)
"""Paper -> its RPAUs."""


def of_operations(
    design: RpauDesign, cycles: Sequence[Found], unit: Area | None = None
) -> list[Found]:
    """What a design took cycles for, times its area: of those that are ``OPERATIONS``.

    Args:
        design: The design; its own name tells the numbers.
        cycles: What took how many.
        unit: Average area of an RPAU; None: multipliers and polynomials are counted, and LUTs and
            flip-flops left out.
    """
    bought = [each for each in cycles if each.operation in OPERATIONS]
    return [row for each in bought for row in times_area(design, each, unit)]


def times_area(design: RpauDesign, cycles: Found, unit: Area | None = None) -> Iterator[Found]:
    """What an average RPAU takes times an operation's cycles; see ``of_operations``."""
    if unit is None:
        counted = [estimate(design, rpau) for rpau in range(design.rpaus)]
        amounts = _rams_and_dsps(
            fmean(each.dsp for each in counted),
            fmean(each.bram for each in counted),
            fmean(each.uram for each in counted),
        )
        what = "multipliers and polynomials"
    else:
        amounts = _amounts(
            unit.dsps, unit.brams, unit.urams, unit.lut_sites, unit.fabric_flip_flops
        )
        what = "the whole RPAU"
    text = (
        f"{cycles.value:,.0f} cycles; {amounts['dsp_megacycles']:.0f} DSPs and "
        f"{amounts['mbit_megacycles']:.1f} Mbit of RAMs in {_average(design)}: {what}"
    )
    for metric, amount in amounts.items():
        value = amount * cycles.value / 1e6
        yield Found(design.name, cycles.params, cycles.operation, metric, value, "estimate", text)


def _average(design: RpauDesign) -> str:
    """An RPAU, or an average one of those that there are."""
    if not design.narrow_rpaus:
        return "an RPAU"
    wide = design.rpaus - design.narrow_rpaus
    return (
        f"an average RPAU, {wide} of {design.word_bits}-bit words and {design.narrow_rpaus} of "
        f"{design.narrow_bits}"
    )


@cached
def papers_times_area() -> tuple[Fact, ...]:
    """What follows from the papers' numbers of an RPAU: areas of all, and area times cycles."""
    return tuple(fact for paper in _RPAUS for fact in _of_paper(paper))


def _of_paper(paper: str) -> Iterator[Fact]:
    rpaus, known = _RPAUS[paper], facts(paper)
    area: dict[str, float] = {}
    for fact in known:
        if fact.params == rpaus.params and fact.operation in rpaus.counts:
            share = rpaus.counts[fact.operation] / sum(rpaus.counts.values())
            area[fact.metric] = area.get(fact.metric, 0.0) + share * fact.value
    for params, count in rpaus.devices.items():
        for metric, value in area.items():
            yield Fact(
                paper=paper,
                params=params,
                operation=RPAUS,
                metric=metric,
                value=round(count * value, 1),
                where=rpaus.where_rpaus,
                note=f"{count} times what {rpaus.words} takes",
            )
    amounts = _amounts(*(area[metric] for metric in ("dsp", "bram", "uram", "lut", "ff")))
    for fact in known:
        if fact.metric == "cycles" and fact.operation in OPERATIONS and not fact.peer:
            for metric, amount in amounts.items():
                yield Fact(
                    paper=paper,
                    params=fact.params,
                    operation=fact.operation,
                    metric=metric,
                    value=float(f"{amount * fact.value / 1e6:.3g}"),
                    where=rpaus.where,
                    note=f"the cycles times what {rpaus.words} takes",
                )


def _amounts(dsp: float, bram: float, uram: float, lut: float, ff: float) -> dict[str, float]:
    """Metric of ``AREA_TIMES_CYCLES`` -> what is multiplied by cycles."""
    return {**_rams_and_dsps(dsp, bram, uram), "lut_megacycles": lut, "ff_megacycles": ff}


def _rams_and_dsps(dsp: float, bram: float, uram: float) -> dict[str, float]:
    """The same of what is counted without synthesis."""
    mbit = megabits(bram, uram)
    return {"dsp_megacycles": dsp, "mbit_megacycles": mbit, "bram_megacycles": bram}
