"""Every bench runs at its smallest, and what is counted is what its records say."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.record import COUNTED, Record, read_records
from bench.run import load, names
from ringsmith.cli.main import app

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
    "cpu": [("rotate_8_hoisted", "8 of ours, one by one", "cpu")],
    "service": [
        ("2 clients", "", "cpu"),
        ("added", "", "cpu"),
        ("wrong, lost or doubled", "", "cpu"),
    ],
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
