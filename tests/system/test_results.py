"""The page of results says what was measured and nothing else."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest
from bench.__main__ import main
from bench.compile_time import measure_compile_time
from bench.page import page
from rich.console import Console

from ringsmith.apps.stages import Stages
from ringsmith.backends.rpau.design import load_design
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


def test_compile_time_is_measured_anew_and_the_other_numbers_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(DOCS / "results.json", tmp_path)
    command = ["bench", "--folder", str(tmp_path), "--only", "compile-time", "--columns", "4"]
    monkeypatch.setattr("sys.argv", command)
    main()
    numbers = json.loads((tmp_path / "results.json").read_text())
    before = json.loads((DOCS / "results.json").read_text())
    assert {**numbers, "compile_time": None} == {**before, "compile_time": None}
    (row,) = numbers["compile_time"]["rows"]
    assert row["columns"] == 4
    assert row["found_seconds"] > 0
    assert "| 4 | " in (tmp_path / "results.md").read_text()


def test_compile_time_alone_needs_the_other_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["bench", "--folder", str(tmp_path), "--only", "compile-time"])
    with pytest.raises(SystemExit, match="measure everything, without --only"):
        main()


def test_the_compiled_products_have_the_recorded_cycles() -> None:
    numbers = json.loads((DOCS / "results.json").read_text())
    row = numbers["compile_time"]["rows"][0]
    found = measure_compile_time(
        Stages(Console(quiet=True)), "test", numbers["design"]["name"], [row["columns"]]
    )["rows"][0]
    facts = ("columns", "instructions", "runs", "cycles")
    assert [found[fact] for fact in facts] == [row[fact] for fact in facts]
