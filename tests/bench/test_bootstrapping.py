"""``ringsmith bench bootstrapping``: what is measured, sets and sizes, what is refused."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.bench.test_cpu import BROKEN, GO, put_tools

from bench.bootstrapping.measure import (
    QUESTIONS,
    BenchSet,
    compared,
    lattigo,
    openfhe,
    ours,
)
from bench.command import Files, bench
from bench.cpu.baselines import LATTIGO, asked, lattigo_missing
from bench.measure import OURS
from bench.run import Choice, load, measure
from ringsmith.errors import ParameterError, ToolError

SMALL = BenchSet("boot-test", 11)


def test_a_quick_run_measures_ours_and_a_baseline_and_writes_its_records(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_tools(monkeypatch, tmp_path, go=GO)
    said: list[str] = []
    bench("bootstrapping", None, [], Files(json=tmp_path / "x.jsonl"), said.append, quick=True)
    rows = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    found = {(r["baseline"], r["metric"]): r["value"] for r in rows if "metric" in r}
    names = {"seconds", "bits", "bits_rms", "levels", "gigabytes"}
    assert {metric for who, metric in found if who == OURS} == names
    assert {metric for who, metric in found if who == LATTIGO} == names | {"speedup"}
    assert 24 < found[OURS, "bits"] < found[OURS, "bits_rms"] < 29
    assert found[OURS, "levels"] == 5
    assert 0.05 < found[OURS, "gigabytes"] < 1
    ratio = found[LATTIGO, "seconds"] / found[OURS, "seconds"]
    assert found[LATTIGO, "speedup"] == pytest.approx(ratio, rel=0.5)
    assert {r["params"] for r in rows if "metric" in r} == {"boot-test, N = 2^11"}
    if find_spec("openfhe") is None:
        assert any("OpenFHE is left out: this Python has no package openfhe" in s for s in said)


def test_without_baselines_ours_is_measured_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_tools(monkeypatch, tmp_path, go=BROKEN)
    said: list[str] = []
    values = {"sets": "boot-test@10", "openfhe_python": str(tmp_path / "none")}
    found = measure(load("bootstrapping"), Choice(("bootstrap",), values), (), said.append)
    assert {r.baseline for r in found} == {OURS}
    assert "Lattigo is left out: go build" in said[0]
    assert said[1] == f"OpenFHE is left out: {tmp_path / 'none'} is not on PATH"


def test_a_wrong_result_is_no_number(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put_tools(monkeypatch, tmp_path, go=GO.replace("1e-3", "0.5"))
    commands = {OURS: ours(SMALL), LATTIGO: lattigo(SMALL)}
    with pytest.raises(ToolError, match=r"2\^11: the worst slot is right to 1\.0 bits only"):
        [*compared(SMALL, commands, 0.1)]


def test_other_libraries_get_our_sizes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put_tools(monkeypatch, tmp_path, go=GO)
    ring, *sizes = lattigo(BenchSet.of("boot-64@13"))[2:]
    levels, to_coefficients, to_slots = [60, *[40] * 13], [39] * 3, [56] * 4
    expected = [levels, to_coefficients, to_slots, [61] * 5]
    assert [ring, *sizes] == ["13", *(",".join(map(str, each)) for each in expected)]
    pairs = lattigo(BenchSet.of("boot-32"))[2:]  # two primes a level
    assert pairs[:2] == ["16", ",".join(map(str, [60, *[51] * 9]))]
    assert pairs[4] == "61,61,61,61,61"
    assert openfhe(BenchSet.of("boot-64@13"), "python")[-4:] == ["13", "13", "4", "3"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nano", "no set that bootstraps is called nano: choose from boot-32, boot-64, boot-test"),
        ("boot-test@13", r"boot-test@13: give log2 N of 10 … 12 after the @"),
        ("boot-64@x", r"boot-64@x: give log2 N of 10 … 16"),
    ],
)
def test_an_unknown_set_or_ring_is_refused(text: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        BenchSet.of(text)


@pytest.mark.full
@pytest.mark.skipif(shutil.which("go") is None, reason="Lattigo needs go")
def test_lattigo_bootstraps() -> None:
    assert lattigo_missing() is None
    records = compared(SMALL, {OURS: ours(SMALL), LATTIGO: lattigo(SMALL)}, 0.1)
    found = {r.metric: r.value for r in records if r.baseline == LATTIGO}
    assert found["bits"] > 20
    assert found["levels"] == 5


@pytest.mark.full
@pytest.mark.skipif(find_spec("openfhe") is None, reason="needs the package openfhe")
def test_openfhe_bootstraps() -> None:
    with asked(openfhe(SMALL, ""), QUESTIONS, "OpenFHE") as work:
        assert work["seconds"]() > 0
        assert work["worst"]() < 2**-15
        assert work["levels"]() == 5


@pytest.mark.full
def test_designs_have_cycles_of_the_stages_that_add_up() -> None:
    choice = Choice(("accelerators",), values={"design_sets": "boot-32@12"})
    found = {
        (r.operation, r.metric): r.value for r in measure(load("bootstrapping"), choice, (), print)
    }
    stages = ("ModRaise", "CoeffsToSlots", "EvalMod", "SlotsToCoeffs")
    cycles = [found[f"bootstrap: {stage}", "cycles"] for stage in stages]
    assert min(cycles) > 0
    assert found["bootstrap: all", "cycles"] == sum(cycles)
    shares = [value for (_, metric), value in found.items() if metric == "percent"]
    assert len(shares) == 3 * (1 + len(stages))
    assert all(0 < share < 100 for share in shares)
    assert found["bootstrap: all", "levels"] == 9
    assert found["bootstrap: all", "bits_rms"] > 20
    assert found["bootstrap: all", "gigabytes"] < 8.6
