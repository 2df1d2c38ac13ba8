"""What an operation's speed is bought with: the area of an RPAU times the operation's cycles."""

from collections.abc import Iterator, Sequence

from ringsmith.backends.rpau.debug.area_in_part import estimate, megabits
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.bench.medha.cases import MEDHA
from ringsmith.bench.papers import AREA_TIMES_CYCLES, Fact, facts
from ringsmith.bench.records import Found
from ringsmith.caching import cached

OPERATIONS = ("multiply_relinearize", "rescale")
"""Operations whose cycles are told times the area that takes them."""

_RPAU = ("medha-set1", "rpau_54_bits")
"""The paper's RPAU: the parameter set and the part that its area is told with."""


def of_operations(design: RpauDesign, cycles: Sequence[Found]) -> list[Found]:
    """What a design took cycles for, times its area: of those that are ``OPERATIONS``."""
    bought = [each for each in cycles if each.operation in OPERATIONS]
    return [row for each in bought for row in times_area(design, each)]


def times_area(design: RpauDesign, cycles: Found) -> Iterator[Found]:
    """What an RPAU takes, by counting, times an operation's cycles.

    Args:
        design: The design; its own name tells the numbers.
        cycles: What took how many.
    """
    counted = estimate(design)
    text = (
        f"{cycles.value:,.0f} cycles; {counted.dsp} DSPs, {counted.bram:,.0f} BRAM and "
        f"{counted.uram} URAM of an RPAU: multipliers and polynomials, {counted.megabits:.1f} Mbit"
    )
    for metric, amount in zip(AREA_TIMES_CYCLES, (counted.dsp, counted.megabits), strict=True):
        value = amount * cycles.value / 1e6
        yield Found(design.name, cycles.params, cycles.operation, metric, value, "estimate", text)


@cached
def papers_times_area() -> tuple[Fact, ...]:
    """What follows from the paper's numbers: its RPAU's area times its cycles, to three digits."""
    known = facts(MEDHA)
    area = {fact.metric: fact.value for fact in known if (fact.params, fact.operation) == _RPAU}
    dsp, bram, uram = (area[metric] for metric in ("dsp", "bram", "uram"))
    note = (
        f"the cycles times {dsp:.0f} DSPs, and times {bram:.0f} BRAM and {uram:.0f} URAM of an "
        "RPAU of 54-bit words"
    )
    amounts = zip(AREA_TIMES_CYCLES, (dsp, megabits(bram, uram)), strict=True)
    return tuple(
        Fact(
            paper=MEDHA,
            params=fact.params,
            operation=fact.operation,
            metric=metric,
            value=float(f"{amount * fact.value / 1e6:.3g}"),
            where="Tables 2 and 3",
            note=note,
        )
        for metric, amount in amounts
        for fact in known
        if fact.metric == "cycles" and fact.operation in OPERATIONS
    )
