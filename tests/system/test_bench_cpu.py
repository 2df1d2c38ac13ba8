"""``ringsmith bench cpu``: the ratios it states, the peers it names, what it refuses."""

import json
import shutil
from itertools import cycle
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringsmith import _core
from ringsmith.bench.cpu import lattigo_peer, ours, seal_peer, tfhe_peer
from ringsmith.bench.cpu.measure import measure
from ringsmith.bench.cpu.sets import SETS, BenchSet
from ringsmith.bench.cpu.timing import interleaved
from ringsmith.cli.main import app
from ringsmith.errors import ParameterError

SMALL = BenchSet("small", 1 << 11, (30, 30), (31,), 0, 0, "for this test")


def test_speedup_is_the_peers_time_over_ours_with_what_both_suffer_taken_out() -> None:
    weather = cycle([1.0, 1.0, 5.0, 5.0, 1.0, 1.0, 2.0, 2.0, 9.0, 9.0])
    found = interleaved(lambda: 1.0 * next(weather), {"peer": lambda: 3.0 * next(weather)}, 60.0)
    assert found["peer"].speedup == pytest.approx(3.0)


def test_work_that_takes_no_time_still_ends() -> None:
    assert interleaved(lambda: 1e-4, {}, 0.01) == {}


@pytest.mark.parametrize("name", SETS)
def test_a_set_has_distinct_primes_of_its_widths(name: str) -> None:
    item = SETS[name]
    primes = item.primes
    assert len(set(primes)) == len(primes)
    assert [q.bit_length() for q in primes] == [*item.data_bits, *item.special_bits]


def test_operations_have_the_same_names_here_and_in_seal() -> None:
    assert set(ours.operations(SMALL)) == set(seal_peer.operations(SMALL))
    bfv = BenchSet("bfv", 1 << 12, (30, 30), (31,), 0, 65537, "for this test")
    assert set(ours.operations(bfv)) == set(seal_peer.operations(bfv))
    assert all(work() >= 0 for work in ours.operations(SMALL).values())
    assert all(work() >= 0 for work in seal_peer.operations(SMALL).values())


def test_lattigo_s_operations_are_named_as_ours() -> None:
    assert set(ours.operations(SMALL)) == set(lattigo_peer.OPERATIONS)


def test_records_name_the_peer_and_agree_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattigo_peer, "version", lambda: None)
    monkeypatch.setattr(tfhe_peer, "version", lambda: None)
    monkeypatch.setattr("ringsmith.bench.cpu.measure.SETS", {"small": SMALL})
    monkeypatch.setattr("ringsmith.bench.cpu.measure.CHOICES", ("small",))
    said: list[str] = []
    records = measure(["small"], 0.01, said.append)
    assert any("Lattigo is left out" in line for line in said)
    assert any("tfhe-ntt is left out" in line for line in said)
    assert {record.peer for record in records} == {seal_peer.version()}
    assert {record.operation for record in records} == set(lattigo_peer.OPERATIONS)
    assert all(record.value > 0 for record in records)
    assert all(_core.kernel_name() in record.conditions for record in records)


def test_an_unknown_set_is_refused_by_name() -> None:
    with pytest.raises(ParameterError, match="no set is called Z: choose from A, B"):
        measure(["Z"], 0.01, print)


def test_the_command_writes_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattigo_peer, "version", lambda: None)
    monkeypatch.setattr(tfhe_peer, "version", lambda: None)
    target, page = tmp_path / "cpu.json", tmp_path / "cpu.md"
    options = ["--sets", "D", "--budget", "0.01", "--json", str(target), "--page", str(page)]
    result = CliRunner().invoke(app, ["bench", "cpu", *options])
    assert result.exit_code == 0, result.output
    assert page.read_text().count("| D |") == 3
    records = json.loads(target.read_text())
    assert {"multiply_relinearize", "rotate", "add"} == {r["operation"] for r in records}
    assert {"speedup", "milliseconds", "peer_milliseconds"} == {r["metric"] for r in records}


@pytest.mark.full
@pytest.mark.skipif(shutil.which("go") is None, reason="Lattigo needs go")
def test_lattigo_answers() -> None:
    with lattigo_peer.operations(BenchSet("l", 1 << 12, (40, 40), (41,), 0, 0, "")) as work:
        assert all(run() > 0 for run in work.values())


@pytest.mark.full
@pytest.mark.skipif(shutil.which("cargo") is None, reason="tfhe-ntt needs cargo")
@pytest.mark.parametrize("bits", [30, 60])
def test_tfhe_ntt_answers(bits: int) -> None:
    [q] = _core.prime_search(bits, 4096, 1)
    assert all(run() > 0 for run in tfhe_peer.transforms(4096, q).values())
