"""What an operation's speed is bought with: the area of an RPAU times the operation's cycles."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from ringsmith.backends.rpau.debug.area_in_part import estimate, megabits
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.bench.medha.cases import MEDHA, MEDHA_2021
from ringsmith.bench.papers import Fact, facts
from ringsmith.bench.records import Found
from ringsmith.caching import cached
from ringsmith.hdl.synthesis import Area

OPERATIONS = ("multiply_relinearize", "rescale")
"""Operations whose cycles are told times the area that takes them."""

_RPAUS: Mapping[str, tuple[tuple[str, str], str, str]] = MappingProxyType(
    {
        MEDHA: (("medha-set1", "rpau_54_bits"), "Tables 2 and 3", "an RPAU of 54-bit words"),
        MEDHA_2021: (("medha21-set1", "rpau"), "Tables II and III", "an RPAU of Set-1"),
    }
)
"""Paper -> the parameter set and part that its RPAU is told with, where, and in words."""


def of_operations(
    design: RpauDesign, cycles: Sequence[Found], unit: Area | None = None
) -> list[Found]:
    """What a design took cycles for, times its area: of those that are ``OPERATIONS``.

    Args:
        design: The design; its own name tells the numbers.
        cycles: What took how many.
        unit: Area of an RPAU; None: multipliers and polynomials are counted, and LUTs and
            flip-flops left out.
    """
    bought = [each for each in cycles if each.operation in OPERATIONS]
    return [row for each in bought for row in times_area(design, each, unit)]


def times_area(design: RpauDesign, cycles: Found, unit: Area | None = None) -> Iterator[Found]:
    """What an RPAU takes times an operation's cycles; see ``of_operations``."""
    counted = estimate(design)
    if unit is None:
        amounts = _rams_and_dsps(counted.dsp, counted.bram, counted.uram)
        what = "multipliers and polynomials"
    else:
        amounts = _amounts(
            unit.dsps, unit.brams, unit.urams, unit.lut_sites, unit.fabric_flip_flops
        )
        what = "the whole RPAU"
    text = (
        f"{cycles.value:,.0f} cycles; {amounts['dsp_megacycles']:.0f} DSPs and "
        f"{amounts['mbit_megacycles']:.1f} Mbit of RAMs in an RPAU: {what}"
    )
    for metric, amount in amounts.items():
        value = amount * cycles.value / 1e6
        yield Found(design.name, cycles.params, cycles.operation, metric, value, "estimate", text)


@cached
def papers_times_area() -> tuple[Fact, ...]:
    """What follows from the papers' numbers: their RPAUs' area times cycles, to three digits."""
    return tuple(fact for paper in _RPAUS for fact in _of_paper(paper))


def _of_paper(paper: str) -> Iterator[Fact]:
    unit, where, words = _RPAUS[paper]
    known = facts(paper)
    area = {fact.metric: fact.value for fact in known if (fact.params, fact.operation) == unit}
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
                    where=where,
                    note=f"the cycles times what {words} takes",
                )


def _amounts(dsp: float, bram: float, uram: float, lut: float, ff: float) -> dict[str, float]:
    """Metric of ``AREA_TIMES_CYCLES`` -> what is multiplied by cycles."""
    return {**_rams_and_dsps(dsp, bram, uram), "lut_megacycles": lut, "ff_megacycles": ff}


def _rams_and_dsps(dsp: float, bram: float, uram: float) -> dict[str, float]:
    """The same of what is counted without synthesis."""
    mbit = megabits(bram, uram)
    return {"dsp_megacycles": dsp, "mbit_megacycles": mbit, "bram_megacycles": bram}
