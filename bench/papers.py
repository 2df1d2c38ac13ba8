"""The papers' numbers: what ``papers.toml`` holds, and ours compared with them."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.record import METRICS, Record
from ringsmith.caching import cached
from ringsmith.errors import ParameterError

_KEYS = {"paper", "params", "where", "note", "baseline", "design"}


@dataclass(frozen=True)
class Paper:
    """A paper."""

    name: str
    title: str
    conditions: str


@dataclass(frozen=True)
class Figure:
    """One number of a paper.

    Attributes:
        paper: The paper's name.
        params: A parameter set that the number holds for.
        operation: What was done, or what part of the device it is.
        metric: One of ``records.METRICS``.
        value: The number.
        where: Table or section.
        baseline: The baseline whose number it is; empty: the paper's own accelerator.
        note: What must be known of it; may be empty.
        design: Our design that it is compared with, where it is of no other; else empty.
    """

    paper: str
    params: str
    operation: str
    metric: str
    value: float
    where: str
    baseline: str = ""
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
def figures(paper: str) -> tuple[Figure, ...]:
    """All numbers of a paper, in the file's order.

    Raises ParameterError when there is no such paper; names those there are.
    """
    if paper not in papers():
        raise ParameterError(
            f"papers.toml has no paper {paper!r}: choose one of {', '.join(papers())}"
        )
    return tuple(
        figure
        for entry in _data()["figures"]
        if entry["paper"] == paper
        for figure in _figures(entry)
    )


def _figures(entry: Mapping[str, Any]) -> Iterator[Figure]:
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
                yield Figure(
                    paper=entry["paper"],
                    params=params,
                    operation=operation,
                    metric=metric,
                    value=float(value),
                    where=entry["where"],
                    baseline=entry.get("baseline", ""),
                    note=entry.get("note", ""),
                    design=entry.get("design", ""),
                )


def compared(record: Record, papers: Iterable[str], derived: Iterable[Figure] = ()) -> list[Record]:
    """Returns a number with that of each paper that has one; alone where no paper has."""
    known = [*(figure for paper in papers for figure in figures(paper)), *derived]
    fitting = [figure for figure in known if _fits(record, figure)]
    own = {
        figure.paper for figure in fitting if figure.design
    }  # which have one for this very design
    fitting = [figure for figure in fitting if figure.design or figure.paper not in own]
    return [
        replace(
            record,
            paper=figure.paper,
            paper_value=figure.value,
            where="; ".join(filter(None, (figure.where, figure.note))),
        )
        for figure in fitting
    ] or [record]


def not_compared(papers: Iterable[str], records: Iterable[Record]) -> list[Figure]:
    """Returns the papers' own numbers that no record is compared with."""
    there = {(r.paper, r.params, r.operation, r.metric) for r in records if r.where}
    return [
        figure
        for paper in papers
        for figure in figures(paper)
        if not figure.baseline
        and (figure.paper, figure.params, figure.operation, figure.metric) not in there
    ]


def _fits(record: Record, figure: Figure) -> bool:
    if figure.design not in ("", record.design):
        return False
    names = ("params", "operation", "metric", "baseline")
    return all(getattr(record, name) == getattr(figure, name) for name in names)
