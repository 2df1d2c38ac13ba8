"""The estimates of docs/results/estimates.md, compared with RTL and synthesis.

With --full all of it is measured again.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.backends.estimates import (
    AREA_LIMIT,
    DESIGNS,
    EXACT,
    LATENCY_LIMIT,
    PAGE,
    ROOT,
    areas,
    design_of,
    deviation,
    estimate_of,
    estimated_cycles,
    kept,
    latencies,
    page,
    points,
)

from bench.record import read_records
from bench.rpm import case
from ringsmith.backends.registry import backend_of, named_design
from ringsmith.backends.stream.design import area

RECORD = kept()
LEAST_POINTS = 30


def check_area(name: str, counts: Mapping[str, float]) -> None:
    """The estimate is within its limits of what Yosys counts."""
    found = estimate_of(name).resources
    assert found.keys() == counts.keys()
    for resource, guess in found.items():
        limit = 0 if resource in EXACT else AREA_LIMIT
        assert deviation(guess, counts[resource]) <= limit, (resource, guess, counts[resource])


def test_the_page_is_that_of_the_record() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(RECORD)


def test_points_are_of_all_architectures_and_estimated_today_as_when_they_were_measured() -> None:
    measured = {
        tuple(row[key] for key in ("design", "n", "limbs", "operation")): row
        for row in RECORD["latency"]
    }
    for name in DESIGNS:
        for _, graph, reported in points(name):
            row = measured.pop(tuple(reported.values()))
            assert estimated_cycles(design_of(name), graph) == row["estimated"], reported
            assert deviation(row["estimated"], row["rtl"]) <= LATENCY_LIMIT, reported
    assert not measured
    assert len(RECORD["latency"]) >= LEAST_POINTS
    assert {backend_of(design_of(name)).name for name in DESIGNS} == {"rpau", "stream", "vector"}


@pytest.mark.parametrize("row", RECORD["area"], ids=lambda row: str(row["design"]))
def test_an_estimate_of_resources_is_within_its_limits(row: dict[str, Any]) -> None:
    check_area(row["design"], row["yosys"])


def test_estimates_of_the_papers_stream_designs_are_within_the_limits() -> None:
    found: dict[str, dict[tuple[str, str], float]] = {}
    for row in read_records(ROOT / "bench" / "records" / "rpm.jsonl", "rpm").records:
        if row.operation == "rpm":
            found.setdefault(row.params, {})[row.source, row.metric] = row.value
    synthesized = {name: own for name, own in found.items() if ("synthesis", "lut") in own}
    assert len(synthesized) >= 7
    for name, own in synthesized.items():
        design = case(name).design
        counted = (own["estimate", "dsp"], own["estimate", "bram"])
        assert (area.dsps(design), area.memories(design).total) == counted
        for guess, metric in zip(area.fabric(design), ("lut", "ff"), strict=True):
            assert deviation(guess, own["synthesis", metric]) <= AREA_LIMIT


def test_slices_and_rams_of_a_coprocessor_are_those_that_were_synthesized() -> None:
    lines = (ROOT / "bench" / "records" / "heaws.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    found = {row["metric"]: row["value"] for row in rows if row.get("operation") == "coprocessor"}
    heaws = named_design("heaws")
    estimate = backend_of(heaws).exporter().estimate(heaws).resources
    for resource in EXACT:
        assert estimate[resource] == found[resource.removesuffix("s")]


@pytest.mark.full
@pytest.mark.parametrize("name", DESIGNS)
def test_cycles_are_those_of_the_rtl(name: str) -> None:
    for row in latencies(name):
        estimated, found = row["estimated"], row["rtl"]
        assert isinstance(estimated, int)
        assert isinstance(found, int)
        assert deviation(estimated, found) <= LATENCY_LIMIT, row


@pytest.mark.full
@pytest.mark.parametrize("name", [row["design"] for row in RECORD["area"]])
def test_resources_are_those_of_the_synthesis(name: str) -> None:
    counts = areas(name)["yosys"]
    assert isinstance(counts, dict)
    check_area(name, counts)
