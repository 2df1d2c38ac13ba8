"""The papers' numbers: what ``papers.toml`` holds, and ours compared with them."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.record import METRICS, Record
from ringsmith.caching import cached
from ringsmith.errors import ParameterError

_KEYS = {"paper", "params", "where", "note", "peer", "design"}


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
        name: Its name in records.
        title: Authors, year and title.
        conditions: Under which its accelerator's numbers were measured.
    """

    name: str
    title: str
    conditions: str


@dataclass(frozen=True)
class Fact:
    """One number of a paper.

    Attributes:
        paper: The paper's name.
        params: A parameter set that the number holds for.
        operation: What was done, or what part of the device it is.
        metric: One of ``records.METRICS``.
        value: The number.
        where: Table or section.
        peer: The baseline whose number it is; empty: the paper's own accelerator.
        note: What must be known of it; may be empty.
        design: Our design that it is compared with, where it is of no other; else empty.
    """

    paper: str
    params: str
    operation: str
    metric: str
    value: float
    where: str
    peer: str = ""
    note: str = ""
    design: str = ""


@cached
def _data() -> dict[str, Any]:
    resource = Path(__file__).with_name("papers.toml")
    return tomllib.loads(resource.read_text(encoding="utf-8"))


@cached
def papers() -> Mapping[str, Paper]:
    """All papers by name."""
    return {name: Paper(name, **entry) for name, entry in _data()["papers"].items()}


@cached
def facts(paper: str) -> tuple[Fact, ...]:
    """All numbers of a paper, in the file's order.

    Raises:
        ParameterError: When there is no such paper; names those there are.
    """
    if paper not in papers():
        raise ParameterError(
            f"papers.toml has no paper {paper!r}: choose one of {', '.join(papers())}"
        )
    return tuple(
        fact for entry in _data()["facts"] if entry["paper"] == paper for fact in _facts(entry)
    )


def _facts(entry: Mapping[str, Any]) -> Iterator[Fact]:
    """Every number of one entry of the file."""
    metrics = entry.keys() - _KEYS
    if not metrics or metrics - METRICS.keys():
        raise ParameterError(
            f"papers.toml, {entry['paper']}, {entry['where']}: metrics {sorted(metrics)}; choose "
            f"from {', '.join(METRICS)}"
        )
    for params in entry["params"]:
        for metric in METRICS:
            for operation, value in entry.get(metric, {}).items():
                yield Fact(
                    paper=entry["paper"],
                    params=params,
                    operation=operation,
                    metric=metric,
                    value=float(value),
                    where=entry["where"],
                    peer=entry.get("peer", ""),
                    note=entry.get("note", ""),
                    design=entry.get("design", ""),
                )


def compared(record: Record, papers: Iterable[str], derived: Iterable[Fact] = ()) -> list[Record]:
    """Returns a number with that of each paper that has one; alone where no paper has.

    Args:
        record: The number.
        papers: Whose numbers it is compared with.
        derived: What follows from the papers' numbers, and counts as theirs.
    """
    known = [*(fact for paper in papers for fact in facts(paper)), *derived]
    fitting = [fact for fact in known if _fits(record, fact)]
    own = {fact.paper for fact in fitting if fact.design}  # which have one for this very design
    fitting = [fact for fact in fitting if fact.design or fact.paper not in own]
    return [
        replace(
            record,
            paper=fact.paper,
            paper_value=fact.value,
            where="; ".join(filter(None, (fact.where, fact.note))),
        )
        for fact in fitting
    ] or [record]


def not_compared(papers: Iterable[str], records: Iterable[Record]) -> list[Fact]:
    """Returns the papers' own numbers that no record is compared with."""
    there = {(r.paper, r.params, r.operation, r.metric) for r in records if r.where}
    return [
        fact
        for paper in papers
        for fact in facts(paper)
        if not fact.peer and (fact.paper, fact.params, fact.operation, fact.metric) not in there
    ]


def _fits(record: Record, fact: Fact) -> bool:
    if fact.design not in ("", record.design):
        return False
    names = ("params", "operation", "metric", "peer")
    return all(getattr(record, name) == getattr(fact, name) for name in names)
