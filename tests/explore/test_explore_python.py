"""``explore_designs``: the search from Python, and parameter sets from files."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ringsmith
from ringsmith import AutoParameters, Exploration, compile_program, explore_designs, trace
from ringsmith.backends.registry import named_design
from ringsmith.cli.main import app
from ringsmith.errors import ParameterError
from ringsmith.params import parameter_set
from ringsmith.params.files import parameters_text

FILE = """\
# The sizes of framework-set3, with primes for rings up to 2^14.
scheme = "ckks"
n = 16384
prime_bits = [32, 32, 32]
special_bits = 32
scale_bits = 32
security = 0
"""


@pytest.fixture(scope="module")
def found() -> Exploration:
    """A small search, with all its points."""
    return explore_designs(
        "u280", params="framework-set3", operations="rescale", architectures="vector"
    )


def test_the_search_finds_what_the_command_finds(found: Exploration, tmp_path: Path) -> None:
    words = ("--params", "framework-set3", "--ops", "rescale", "--platform", "u280")
    path = tmp_path / "points.json"
    done = CliRunner().invoke(
        app, ["explore", *words, "--arch", "vector", "--workers", "1", "--json", str(path)]
    )
    assert done.exit_code == 0, done.output
    assert json.loads(path.read_text()) == json.loads(found.to_json())


def test_rows_are_flat_and_of_the_same_keys_for_a_data_frame(found: Exploration) -> None:
    rows = found.rows()
    points = json.loads(found.to_json())["points"]
    assert len(rows) == len(points) == 256
    assert len({tuple(row) for row in rows}) == 1
    plain = (str, bool, int, float, type(None))
    assert all(isinstance(value, plain) for row in rows for value in row.values())
    table = csv.DictWriter(io.StringIO(), rows[0].keys())
    table.writerows(rows)
    for row, point in zip(rows, points, strict=True):
        assert row["parameters.log_lanes"] == point["values"]["log_lanes"]
        if point["milliseconds"] is not None:
            assert row["rescale.cycles"] == point["operations"]["rescale"]["cycles"]
            assert row["usage.dsps"] == point["usage"]["dsps"]
    front = found.rows(front_only=True)
    assert sorted(row["name"] for row in front) == sorted(found.names)
    assert all(row["exact"] and row["milliseconds"] > 0 for row in front)


def test_a_design_of_the_front_is_saved_and_runs(found: Exploration, tmp_path: Path) -> None:
    design = found.design()
    assert design.name == found.names[0]
    found.save_design(tmp_path / "best.toml")
    assert named_design(str(tmp_path / "best.toml")) == design
    assert found.design(found.names[-1]).name == found.names[-1]
    with pytest.raises(ParameterError, match="no design 'none' is on the front"):
        found.design("none")


def test_a_program_is_explored_as_an_object_and_as_a_file(tmp_path: Path) -> None:
    program = trace(lambda x: x + x, AutoParameters(design="vector-small"), {"x": 4})
    program.save(tmp_path / "sums.rsp")
    of_object, of_file = (
        explore_designs("u280", program=given, architectures=["vector"])
        for given in (program, tmp_path / "sums.rsp")
    )
    rows, again = of_object.rows(), of_file.rows()
    assert rows == again
    assert any(row["program.cycles"] for row in rows)
    assert compile_program(program, of_object.design()).compiled_graph.executable is not None
    assert len(repr(of_object)) <= 400


def test_a_record_goes_on_with_an_object_as_with_a_file(tmp_path: Path) -> None:
    program = trace(lambda x: x + x, AutoParameters(design="vector-small"), {"x": 4})
    record = tmp_path / "tried.jsonl"
    first = explore_designs("u280", program=program, architectures="vector", record=record)
    size = record.stat().st_size
    again = explore_designs("u280", program=program, architectures="vector", record=record)
    assert record.stat().st_size == size
    assert again.rows() == first.rows()
    chosen = parameter_set("framework-set3")
    for _ in range(2):
        explore_designs(
            "u280",
            params=chosen,
            operations="add",
            architectures="vector",
            record=tmp_path / "add.jsonl",
        )


def test_parameters_of_a_file_are_explored(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    words = ["explore", "--params", str(path), "--ops", "add", "--platform", "u280"]
    done = CliRunner().invoke(app, [*words, "--arch", "vector", "--workers", "1", "--rows", "1"])
    assert done.exit_code == 0, done.output
    found = explore_designs("u280", params=path, operations=["add"], architectures="vector")
    assert found.found.request.subject == "add of mine"
    same = explore_designs(
        "u280", params=parameter_set(path), operations=["add"], architectures="vector"
    )
    assert same.rows() == found.rows()
    wider = tmp_path / "wider" / "mine.toml"
    wider.parent.mkdir()
    wider.write_text(FILE.replace("[32, 32, 32]", "[32, 32, 32, 32]"))
    assert (
        explore_designs("u280", params=wider, operations="add", architectures="vector").rows()
        != found.rows()
    )


def test_a_named_set_written_as_a_file_is_the_same_set(tmp_path: Path) -> None:
    path = tmp_path / "again.toml"
    path.write_text(parameters_text(parameter_set("framework-set3")))
    first, again = (
        explore_designs("u280", params=each, operations="rescale", architectures="vector").rows()
        for each in ("framework-set3", path)
    )
    assert first == again


def test_wrong_arguments_are_refused_in_words_of_python() -> None:
    with pytest.raises(ParameterError, match="give either program, or params with operations"):
        explore_designs("u280")
    with pytest.raises(ParameterError, match=r"params without operations: name some: operations="):
        explore_designs("u280", params="nano")
    program = trace(lambda x: x, parameter_set("nano"))
    with pytest.raises(ParameterError, match="leave operations out"):
        explore_designs("u280", program=program, operations="add")
    with pytest.raises(TypeError, match="name a card"):
        explore_designs(program, params="nano", operations="add")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="u281"):
        explore_designs("u281", params="nano", operations="add")
    with pytest.raises(ParameterError, match="architecture"):
        explore_designs("u280", params="nano", operations="add", architectures="gpu")
    with pytest.raises(ParameterError, match="no parameter set is called 'nanoo'"):
        explore_designs("u280", params="nanoo", operations="add")


def test_the_function_is_a_public_name() -> None:
    assert ringsmith.explore_designs is explore_designs


def test_the_page_s_block_runs_as_it_is(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "results/explore.md").read_text()
    block = page.partition("## From Python")[2].partition("```python\n")[2].partition("```")[0]
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "vector-" in done.stdout
