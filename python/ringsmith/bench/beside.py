"""Our numbers put beside the papers': one record for each paper that has a number to compare."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from ringsmith.bench.papers import Fact, facts
from ringsmith.bench.records import Found, Record


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
    fitting = [fact for fact in fitting if fact.design] or fitting
    if not fitting:
        return [_record(found, papers[0] if papers else "", None)]
    return [_record(found, fact.paper, fact) for fact in fitting]


def left_out(papers: Iterable[str], records: Sequence[Record]) -> list[Fact]:
    """The papers' numbers that no record stands beside."""
    there = {
        (r.paper, r.params, r.operation, r.metric, r.peer, design)
        for r in records
        if r.where
        for design in ("", r.design)
    }
    return [
        fact
        for paper in papers
        for fact in facts(paper)
        if (fact.paper, fact.params, fact.operation, fact.metric, fact.peer, fact.design)
        not in there
    ]


def _fits(found: Found, fact: Fact) -> bool:
    if fact.design not in ("", found.design):
        return False
    return (found.params, found.operation, found.metric, found.peer) == (
        fact.params,
        fact.operation,
        fact.metric,
        fact.peer,
    )


def _record(found: Found, paper: str, fact: Fact | None) -> Record:
    return Record(
        **asdict(found),
        paper=paper,
        paper_value=fact.value if fact else None,
        where="; ".join(filter(None, (fact.where, fact.note))) if fact else "",
    )
