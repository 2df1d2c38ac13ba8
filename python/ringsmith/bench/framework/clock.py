"""The clock that our own timing analysis supports, and times at it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ringsmith.backends.registry import inspector_of
from ringsmith.backends.vector.design import rtl
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.bench.framework.cases import HERTZ, PAPER
from ringsmith.bench.framework.resources import ANY
from ringsmith.bench.papers import Fact, facts
from ringsmith.bench.programs import digest_of
from ringsmith.bench.records import Found, Record

CLOCK = "clock"
"""What records call the clock of a design."""

AT_CLOCK = "at its clock"
"""What an operation's time at that clock is marked with."""

Clocks = Mapping[str, Found]
"""Design -> its clock, where it is known."""


def timed_clock(design: VectorDesign) -> Found:
    """Returns the clock of the longest path that ``ringsmith timing`` finds; minutes.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    inspector = inspector_of(design, "is not timed")
    blocks = inspector.timing(design, in_part=True).timing.blocks
    longest = max(blocks, key=lambda block: block.delay_ps)
    text = (
        f"the longest path that `ringsmith timing {design.name} --in-part` finds, "
        f"{longest.delay_ps / 1e3:.2f} ns into {longest.name}: logic delays of Artix-7 cells, and "
        "an estimate for each net; nothing was placed or routed"
    )
    value = 1e6 / longest.delay_ps
    digest = _digest(design)
    return Found(design.name, ANY, CLOCK, "megahertz", value, "synthesis", text, rtl=digest)


def kept_clock(design: VectorDesign, earlier: Iterable[Record]) -> Found | None:
    """Returns what an earlier run found for the same RTL; None: no run did."""
    for record in earlier:
        own = (record.design, record.operation, record.rtl)
        if own == (design.name, CLOCK, _digest(design)):
            return Found(
                record.design,
                record.params,
                record.operation,
                record.metric,
                record.value,
                record.source,
                record.conditions,
                rtl=record.rtl,
            )
    return None


def at_clock(times: Iterable[Found], clocks: Clocks) -> Iterator[Found]:
    """Yields times of operations and networks again, at the clock of their design."""
    for time in times:
        if time.metric != "milliseconds" or time.design not in clocks:
            continue
        megahertz = clocks[time.design].value
        yield replace(
            time,
            operation=f"{time.operation}: {AT_CLOCK}",
            value=time.value * HERTZ / 1e6 / megahertz,
            source="estimate",
            conditions=f"at {megahertz:.0f} MHz, which our timing analysis supports",
        )


def papers_at_clock() -> list[Fact]:
    """Returns the paper's times, beside which times at a design's clock stand."""
    return [
        replace(fact, operation=f"{fact.operation}: {AT_CLOCK}")
        for fact in facts(PAPER)
        if fact.metric == "milliseconds" and not fact.peer
    ]


def _digest(design: VectorDesign) -> str:
    return digest_of(rtl.parameters(design), rtl.FOLDERS)
