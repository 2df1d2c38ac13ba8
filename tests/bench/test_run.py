"""Benches as their files describe them: parts, values, and what the command says."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.papers import figures
from bench.record import COUNTED, Record, read_records
from bench.run import ROOT, Bench, Choice, Run, load, measure, names
from ringsmith.cli import bench as command
from ringsmith.cli.main import app
from ringsmith.errors import ParameterError

BENCH = Bench(
    "toy",
    (),
    {
        "usual": {"measure": f"{__name__}:numbers", "sizes": [1, 2], "label": "a"},
        "long": {"measure": f"{__name__}:numbers", "sizes": [3], "label": "b", "only": True},
        "small": {
            "measure": f"{__name__}:numbers",
            "sizes": [4, 5],
            "label": "c",
            "quick": {"sizes": [4]},
        },
        "never": {"measure": f"{__name__}:numbers", "sizes": [6], "label": "d", "quick": False},
    },
    {},
)


def numbers(run: Run) -> list[Record]:
    """A record for each size."""
    return [
        Record("d", "p", f"{run['label']}{size}", "cycles", size, "model", "")
        for size in run["sizes"]
    ]


def sizes(**choice: object) -> list[float]:
    """The numbers of what is chosen."""
    return [each.value for each in measure(BENCH, Choice(**choice), (), print)]  # type: ignore[arg-type]


def test_parts_are_measured_that_are_usual_or_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.run.import_module", lambda _: __import__("sys").modules[__name__])
    assert sizes() == [1, 2, 4, 5, 6]
    assert sizes(only=("long",)) == [3]
    assert sizes(only=("none",)) == []
    assert sizes(quick=True) == [1, 2, 4]
    assert sizes(only=("usual",), values={"sizes": "7, 8"}) == [7, 8]
    with pytest.raises(ParameterError, match="part 'x': choose from usual, long, small, never"):
        sizes(only=("x",))
    with pytest.raises(ParameterError, match="--set cows: no chosen part has such a value"):
        sizes(values={"cows": "1"})
    with pytest.raises(ParameterError, match=r"--set sizes=x: the bench's file has sizes = 1"):
        sizes(values={"sizes": "x"})


@pytest.mark.parametrize("name", names())
def test_each_function_of_a_bench_is_there(name: str) -> None:
    from importlib import import_module

    for table in load(name).parts.values():
        module, _, function = table["measure"].partition(":")
        assert callable(getattr(import_module(module), function))


def test_an_unknown_bench_or_paper_is_refused_with_those_there_are() -> None:
    done = CliRunner().invoke(app, ["bench", "moon"])
    assert done.exit_code == 2
    assert "bench 'moon': choose one of bootstrapping, cpu, framework" in done.stderr
    with pytest.raises(ParameterError, match="has no paper 'moon': choose one of medha"):
        figures("moon")
    done = CliRunner().invoke(app, ["bench", "nano", "--set", "limbs"])
    assert "--set limbs: write NAME=VALUE" in done.stderr


@pytest.mark.parametrize("other", [["--quick"], ["--json", "x.jsonl"]])
def test_quick_numbers_and_other_files_are_no_update(other: list[str]) -> None:
    done = CliRunner().invoke(app, ["bench", "nano", "--only", "none", "--update", *other])
    assert done.exit_code == 2
    assert "--update writes the repository's records and page: leave out --quick" in done.stderr


def test_an_installed_package_says_that_benches_run_in_a_clone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "_CLONE", tmp_path)
    done = CliRunner().invoke(app, ["bench", "nano", "--quick"])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "clone the repository, 'make setup', and call" in done.stderr


def test_the_bench_of_the_guide_needs_no_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs" / "guide" / "development.md").read_text()
    example = text.partition("## Benches")[2].partition("```toml\n")[2].partition("```")[0]
    kept = read_records(load("nano").records, "nano").records
    (tmp_path / "mine.toml").write_text(example)
    monkeypatch.setattr("bench.run.CASES", tmp_path)
    page = tmp_path / "page.md"
    done = CliRunner().invoke(app, ["bench", "mine", "--page", str(page), "--set", "device=model"])
    assert done.exit_code == 0, done.output
    known = {r.operation: r.value for r in kept if r.metric == "cycles"}
    for operation in ("rotate, 4 limbs", "rescale, 4 limbs"):
        assert f"{known[operation]:,.0f}" in page.read_text()


# ---- Every bench runs at its smallest, and what is counted is what its records say ---------------


SLOW = ("nano", "service")
EXPECTED = {
    "medha": [
        ("add", "", "cpu"),
        ("logreg_fused_rescale", "", "model"),
    ],
    "nano": [("rotate, 2 limbs", "SEAL", "cpu"), ("matvec, 32 columns", "", "cpu")],
    "heaws": [("add", "SEAL", "cpu"), ("cores_4", "", "model")],
    "framework": [("lola-mnist", "", "model"), ("device", "", "estimate")],
    "rpm": [("interval", "", "rtl"), ("mult_relin", "", "estimate"), ("cpu_products", "", "cpu")],
    "heir": [("dot_f32, CKKS, ours", "", "cpu")],
    "transforms": [("matvec", "SEAL", "cpu"), ("dot_f32", "", "model")],
    "bootstrapping": [("bootstrap", "Ringsmith's cpu device", "cpu")],
    "cpu": [("rotate_8_hoisted", "8 of ours, one by one", "cpu")],
    "service": [
        ("2 clients", "", "cpu"),
        ("added", "", "cpu"),
        ("wrong, lost or doubled", "", "cpu"),
    ],
    "networks": [("mlp", "encrypted", "cpu"), ("mlp: dense1 (Gemm)", "", "program")],
    "scaling": [("product: 1: dispatch", "", "simulation")],
}
"""Some numbers of each bench."""


def quick(name: str, tmp_path: Path) -> tuple[Record, ...]:
    """Runs a bench at its smallest; its page must name the command."""
    target, page = tmp_path / "records.jsonl", tmp_path / "page.md"
    words = ["bench", name, "--quick", "--json", str(target), "--page", str(page)]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert f"`ringsmith bench {name} --quick`" in page.read_text()
    return read_records(target, name).records


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.full) if n in SLOW else n for n in names()]
)
def test_each_bench_runs_at_its_smallest_and_counts_what_its_records_say(
    name: str, tmp_path: Path
) -> None:
    found = quick(name, tmp_path)
    there = {(r.operation, baseline, r.source) for r in found for baseline in ("", r.baseline)}
    assert {*EXPECTED[name]} <= there
    known = {r.key: r.value for r in read_records(load(name).records, name).records}
    counts = [r for r in found if r.metric == "cycles" and r.source in COUNTED and r.key in known]
    assert [(r.key, r.value) for r in counts] == [(r.key, known[r.key]) for r in counts]
