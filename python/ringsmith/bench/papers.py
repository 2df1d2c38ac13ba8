"""The papers' numbers: what ``papers.toml`` beside this file holds, checked."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from ringsmith.bench.records import METRICS
from ringsmith.caching import cached
from ringsmith.errors import ParameterError

AREA = ("dsp", "bram", "uram", "lut", "ff", "lut_unpacked", "ff_unpacked")
"""The metrics of an area."""

AREA_TIMES_CYCLES = (
    "dsp_megacycles",
    "mbit_megacycles",
    "bram_megacycles",
    "lut_megacycles",
    "ff_megacycles",
)
"""DSPs, Mbit in RAMs, BRAMs, LUTs and flip-flops of a unit times cycles of an operation."""

HEXL = "SEAL with HEXL"
"""The records' name of Microsoft SEAL with Intel's AVX-512 kernels."""

SEAL = "SEAL"
"""The records' name of Microsoft SEAL, for all versions and machines."""

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
    resource = resources.files("ringsmith") / "bench" / "papers.toml"
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
