"""Our numbers put beside the papers': one record for each paper that has a number to compare."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ringsmith.bench.papers import METRICS, Fact, facts
from ringsmith.bench.records import Record


@dataclass(frozen=True)
class Found:
    """One number of ours.

    Attributes:
        design: The design; ``cpu`` for another library on this machine.
        params: The parameter set.
        operation: What was done, or what part of the device it is.
        metric: One of ``papers.METRICS``.
        value: The number.
        source: One of ``records.SOURCES``.
        conditions: What must be known of it, in words.
        peer: Whose number it is or what it is compared with, if not the design's own.
    """

    design: str
    params: str
    operation: str
    metric: str
    value: float
    source: str
    conditions: str
    peer: str = ""


def beside(found: Found, papers: Sequence[str], derived: Iterable[Fact] = ()) -> list[Record]:
    """Returns a number with that of each paper that has one; alone where none has.

    Args:
        found: The number.
        papers: Whose numbers it is put beside.
        derived: What follows from the papers' numbers, and counts as theirs.
    """
    known = [fact for paper in papers for fact in facts(paper)]
    known += [fact for fact in derived if fact.paper in papers]
    fitting = [fact for fact in known if _fits(found, fact)]
    if not fitting:
        return [_record(found, papers[0] if papers else "", None)]
    return [_record(found, fact.paper, fact) for fact in fitting]


def left_out(papers: Iterable[str], records: Sequence[Record]) -> list[Fact]:
    """The papers' numbers that no record stands beside."""
    there = {(r.paper, r.params, r.operation, r.metric, r.peer) for r in records if r.where}
    return [
        fact
        for paper in papers
        for fact in facts(paper)
        if (fact.paper, fact.params, fact.operation, fact.metric, fact.peer) not in there
    ]


def _fits(found: Found, fact: Fact) -> bool:
    return (found.params, found.operation, found.metric, found.peer) == (
        fact.params,
        fact.operation,
        fact.metric,
        fact.peer,
    )


def _record(found: Found, paper: str, fact: Fact | None) -> Record:
    return Record(
        paper=paper,
        design=found.design,
        params=found.params,
        operation=found.operation,
        metric=found.metric,
        unit=METRICS[found.metric],
        paper_value=fact.value if fact else None,
        value=found.value,
        source=found.source,
        conditions=found.conditions,
        peer=found.peer,
        where="; ".join(filter(None, (fact.where, fact.note))) if fact else "",
    )
