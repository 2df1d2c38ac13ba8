"""The page of results says what was measured and nothing else."""

import json
from dataclasses import asdict
from pathlib import Path

from bench.page import page

from ringsmith.arch.rpau.design import load_design
from ringsmith.lower import lower_operation
from ringsmith.params import parameter_set
from ringsmith.runtime import compile_graph

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_results_page_is_the_one_that_the_measured_numbers_make() -> None:
    numbers = json.loads((DOCS / "results.json").read_text())
    assert (DOCS / "results.md").read_text() == page(numbers)


def test_the_measured_cycles_are_those_of_todays_schedules() -> None:
    numbers = json.loads((DOCS / "results.json").read_text())
    parameters, design = parameter_set("nano"), numbers["design"]["name"]
    assert numbers["design"] == asdict(load_design(design))
    rows = [row for row in numbers["operations"] if row["name"] != "ntt"]
    assert rows
    for row in rows:
        graph = lower_operation(row["name"], parameters, row["limbs"])
        executable = compile_graph(graph, design).executable
        assert executable is not None
        assert executable.cycles == row["cycles"], row


def test_the_measured_numbers_keep_what_they_promise() -> None:
    numbers = json.loads((DOCS / "results.json").read_text())
    program = numbers["program"]
    assert program["equal_bits_with_cpu"] is True
    assert program["cycles"] == program["predicted_cycles"]
    assert sum(share["cycles"] for share in program["breakdown"]) == program["cycles"]
    ntt = [row["cycles"] for row in numbers["operations"] if row["name"] == "ntt"]
    assert ntt
    assert all(cycles <= 1.03 * numbers["ntt_lower_bound_cycles"] for cycles in ntt)
