"""``ringsmith bench cpu``: the ratios it states, the peers it names, what it refuses."""

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, cycle
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ringsmith import _core, trace
from ringsmith.apps.conditions import machine_state
from ringsmith.bench.cpu import (
    asked,
    core_functions,
    kernel_child,
    kernel_sets,
    lattigo_peer,
    ours,
    seal_peer,
    tfhe_peer,
    thread_counts,
)
from ringsmith.bench.cpu.floor import floor_seconds, operation_work
from ringsmith.bench.cpu.measure import CORE, PROGRAM, measure, with_kept
from ringsmith.bench.cpu.operands import Operands
from ringsmith.bench.cpu.page import page as page_of
from ringsmith.bench.cpu.sets import (
    COMPACT,
    HOISTED,
    HOISTED_COUNT,
    PRODUCT,
    SETS,
    WHOLE,
    WORDS,
    BenchSet,
    Extent,
)
from ringsmith.bench.cpu.timing import interleaved
from ringsmith.bench.records import Measurement, Record, read_records, write_records
from ringsmith.caching import cached
from ringsmith.cli.main import app
from ringsmith.errors import ParameterError, ToolError
from ringsmith.files import Target
from ringsmith.objects import Ciphertext
from ringsmith.runtime import PreparedKeys, compile_program, open_device

SMALL = BenchSet("small", 1 << 11, (30, 30), (31,), 0, 0, "for this test")
SMALL_BFV = BenchSet("bfv", 1 << 12, (30, 30), (31,), 0, 65537, "for this test")


def leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out the peers that are built."""
    for peer, name in ((lattigo_peer, "Lattigo"), (tfhe_peer, "tfhe-ntt")):
        monkeypatch.setattr(peer, "missing", lambda name=name: f"{name} is left out: for this test")


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


@pytest.mark.parametrize("item", [SMALL, SMALL_BFV], ids=["ckks", "bfv"])
def test_operations_have_the_same_names_here_and_in_seal(item: BenchSet) -> None:
    names = set(ours.works(Operands.of(item)))
    assert names - {PRODUCT, HOISTED} == set(seal_peer.operations(item))
    assert all(work() >= 0 for work in seal_peer.operations(item).values())


def test_lattigo_s_operations_are_named_as_ours() -> None:
    assert set(ours.CKKS) - {PRODUCT} == set(lattigo_peer.OPERATIONS)


HYBRID = BenchSet("hybrid", 1 << 11, (30, 30, 30, 30), (31, 31), 2, 0, "for this test")


@pytest.mark.parametrize("item", [SMALL, SMALL_BFV, HYBRID], ids=lambda item: item.name)
def test_a_program_computes_the_words_of_the_core_s_function(item: BenchSet) -> None:
    operands = Operands.of(item, HOISTED_COUNT)
    programs, functions = ours.works(operands), core_functions.works(operands)
    assert programs.keys() == functions.keys()
    for name, program in programs.items():
        expected, found = functions[name](), program()
        assert len(found) == len(expected) == (HOISTED_COUNT if name == HOISTED else 1)
        assert all(map(np.array_equal, found, expected)), name
    assert all(map(np.array_equal, ours.singles(operands)(), programs[HOISTED]()))


def test_a_product_that_a_program_plans_is_the_one_that_is_measured() -> None:
    operands = Operands.of(SMALL)
    program = trace(lambda x, y: x * y, operands.parameters, {"x": 2, "y": 2})
    compiled = compile_program(program)
    ports, residues = compiled.lowered.inputs.items(), (operands.a, operands.b)
    inputs = {name: Ciphertext(x, p.scale) for (name, p), x in zip(ports, residues, strict=True)}
    result = compiled.run(open_device("cpu"), inputs, PreparedKeys(operands.relin))
    (measured,) = ours.works(operands)[PRODUCT]()
    assert np.array_equal(result.outputs["result"].data, measured)


def test_records_name_the_peer_and_agree_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch)
    monkeypatch.setattr("ringsmith.bench.cpu.measure.SETS", {"small": SMALL})
    monkeypatch.setattr("ringsmith.bench.cpu.measure.CHOICES", ("small",))
    loads = count()
    monkeypatch.setattr(os, "getloadavg", lambda: (next(loads), 0.0, 0.0))
    fresh = cached(machine_state.__wrapped__)
    monkeypatch.setattr("ringsmith.bench.cpu.measure.machine_state", fresh)
    said: list[str] = []
    records = measure(["small"], 0.01, said.append)
    assert any("Lattigo is left out" in line for line in said)
    assert any("tfhe-ntt is left out" in line for line in said)
    peers = {record.peer: record.operation for record in records}
    ours_too = {"8 of ours, one by one", "ours, prepared key", PROGRAM}
    assert set(peers) == {seal_peer.name(), *ours_too}
    assert peers["8 of ours, one by one"] == HOISTED
    by_prepared = {r.operation for r in records if r.peer == "ours, prepared key"}
    assert by_prepared == {WORDS, COMPACT}
    by_program = {r.operation for r in records if r.peer == PROGRAM}
    assert by_program == {f"{CORE} {name}" for name in (*ours.CKKS, HOISTED)}
    programs = {*lattigo_peer.OPERATIONS, HOISTED, *by_prepared}
    assert {r.operation for r in records} == programs | by_program
    sizes = {(r.operation, r.metric): r.value for r in records if r.unit == "B"}
    assert sizes[WORDS, "key_bytes"] == 8 * 2 * 2 * 3 * SMALL.n
    assert sizes[COMPACT, "key_bytes"] == sizes[WORDS, "key_bytes"] / 2 + 10
    prepared = sizes[WORDS, "peer_key_bytes"]
    assert sizes[COMPACT, "peer_key_bytes"] == prepared
    assert 0.5 < prepared / sizes[WORDS, "key_bytes"] < 1.03
    assert all(record.value > 0 for record in records)
    texts = {record.conditions for record in records}  # however busy the machine became
    assert len(texts) == 2
    assert all(_core.kernel_name() in text for text in texts)
    by_kind = {r.operation.startswith(CORE): r.conditions.split(",")[0] for r in records}
    assert by_kind == {False: "programs run by Compiled.run", True: "one thread"}


@pytest.mark.skipif(len(_core.kernel_names()) < 2, reason="only the scalar kernels run here")
def test_kernel_sets_are_beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch)
    monkeypatch.setattr(kernel_child, "WORKS", (("D", "multiply_relinearize"), ("demo", "logreg")))
    records = measure(["kernels"], 0.01, print)
    used, others = kernel_sets.names()
    assert {used, *others} == set(_core.kernel_names())
    assert {record.peer for record in records} == {f"ours, kernels {name}" for name in others}
    assert {(r.params, r.operation) for r in records} == set(kernel_sets.works())
    speedups = {(r.params, r.peer): r.value for r in records if r.metric == "speedup"}
    assert speedups["D", "ours, kernels scalar"] > 1
    [line] = [
        line
        for line in page_of(Measurement("cpu", "x", tuple(records))).splitlines()
        if "logreg | ours, kernels s" in line
    ]
    assert line.endswith("| – | – |")


def small_works(_: Extent) -> Iterator[tuple[str, str, thread_counts.Work]]:
    yield "small", "rotate", ours.works(Operands.of(SMALL))["rotate"]


def test_threads_are_beside_one_by_the_clock_on_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch)
    monkeypatch.setattr(thread_counts, "works", small_works)
    threads = _core.threads()
    _core.set_threads(3)
    try:
        records = measure(["threads"], 0.01, print)
        assert _core.threads() == 3
    finally:
        _core.set_threads(threads)
    assert {r.operation for r in records} == {"rotate, 2 threads", "rotate, 3 threads"}
    assert {r.peer for r in records} == {"ours, one thread"}
    assert all("wall-clock time" in r.conditions for r in records)
    assert "CPU time" not in page_of(Measurement("cpu", "x", tuple(records)))


def test_one_processor_has_no_threads_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch)
    said: list[str] = []
    threads = _core.threads()
    _core.set_threads(1)
    try:
        assert measure(["threads"], 0.01, said.append) == []
    finally:
        _core.set_threads(threads)
    assert "threads are left out" in said[-1]


def test_works_of_threads_are_operations_and_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_counts, "SETS", {"A": SMALL, "B": SMALL})
    found = list(thread_counts.works(WHOLE))
    assert [(params, operation) for params, operation, _ in found] == [
        *((name, each) for name in ("A", "B") for each in ("multiply_relinearize", "rotate")),
        ("demo", "logreg"),
        ("paper", "logreg"),
    ]
    assert all(words.dtype == np.uint64 for words in found[4][2]())


def test_words_that_depend_on_threads_are_an_error() -> None:
    threads = _core.threads()
    try:
        with pytest.raises(ToolError, match="A: add has other words with 2 threads than with one"):
            thread_counts.checked(
                lambda: [np.array([_core.threads()], dtype=np.uint64)], 3, "A: add"
            )
    finally:
        _core.set_threads(threads)


def test_what_is_measured_of_the_network_is_one_batch() -> None:
    [work] = [work for work in kernel_child.WORKS if work[1] == kernel_child.CNN]
    assert kernel_child.work_of(kernel_child.name_of(*work))() > 0


def test_an_application_without_its_package_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_child, "PACKAGES", {"logreg": "no_such_package"})
    assert kernel_sets.missing() == ["logreg is left out: pip install 'ringsmith[apps]'"]
    assert "logreg" not in {operation for _, operation in kernel_sets.works()}
    assert ("bfv", "gmdh") in kernel_sets.works()


def test_a_child_that_fails_is_an_error_that_names_it() -> None:
    with (
        pytest.raises(ToolError, match="the child does not start"),
        asked.operations([sys.executable, "-c", "print('no')"], [], "the child"),
    ):
        pass
    program = "print('ready', flush=True); input()"
    with (
        asked.operations([sys.executable, "-c", program], ["sum"], "the child") as work,
        pytest.raises(ToolError, match="the child stopped in sum"),
    ):
        work["sum"]()


def test_an_unknown_set_is_refused_by_name() -> None:
    with pytest.raises(ParameterError, match="no set is called Z: choose from A, B"):
        measure(["Z"], 0.01, print)


def test_the_command_writes_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch)
    monkeypatch.setattr("ringsmith.apps.conditions.QUIET_LOAD", 1e9)  # tests run on busy machines
    target, page = tmp_path / "cpu.jsonl", tmp_path / "cpu.md"
    options = ["--sets", "D", "--budget", "0.01", "--json", str(target), "--page", str(page)]
    result = CliRunner().invoke(app, ["bench", "cpu", *options])
    assert result.exit_code == 0, result.output
    assert page.read_text().count("| D |") == 12
    records = read_records(target, "cpu").records
    operations = {"multiply_relinearize", "rotate", "add", HOISTED}
    functions = {f"{CORE} {name}" for name in operations}
    assert {*operations, *functions, COMPACT, WORDS} == {r.operation for r in records}
    times = {"speedup", "milliseconds", "peer_milliseconds", "floor_milliseconds"}
    assert {*times, "key_bytes", "peer_key_bytes"} == {r.metric for r in records}


def test_rows_of_an_earlier_run_stay_unless_they_are_measured_again() -> None:
    def row(params: str, operation: str, value: float) -> Record:
        what = ("cpu", params, operation, "speedup", value, "cpu")
        return Record(*what, f"measured as {value}", "SEAL")

    earlier = [row("A", "add", 1.0), row("D", "add", 2.0), row("A", "rotate", 3.0)]
    now = [row("A", "add", 4.0)]
    assert with_kept(now, earlier) == [earlier[1], earlier[2], now[0]]


def test_the_command_keeps_what_it_does_not_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = Record("cpu", "A", "add", "speedup", 2.0, "cpu", "today", "SEAL")
    metrics = ("speedup", "milliseconds", "peer_milliseconds")
    today = [replace(again, metric=metric) for metric in metrics]
    kept = [replace(record, params="F", conditions="long ago") for record in today]
    monkeypatch.setattr("ringsmith.bench.cpu.measure.measure", lambda *_: today)
    monkeypatch.setattr("ringsmith.apps.conditions.QUIET_LOAD", 1e9)
    earlier, page = tmp_path / "earlier.jsonl", tmp_path / "cpu.md"
    before = Measurement("cpu", "long ago", (*kept, *today))
    write_records(before, Target(earlier))
    options = ["--sets", "A", "--keep", str(earlier), "--json", str(earlier), "--page", str(page)]
    options.append("--force")
    result = CliRunner().invoke(app, ["bench", "cpu", *options])
    assert result.exit_code == 0, result.output
    assert read_records(earlier, "cpu").records == before.records
    assert page.read_text().index("long ago.") < page.read_text().index("today.")


def test_the_floor_counts_the_transforms_of_key_switching() -> None:
    item = BenchSet("f", 1 << 12, (50, 50, 50), (50,), 0, 0, "for this test")
    counted = {name: operation_work(item, name).transforms for name in (*ours.CKKS, HOISTED)}
    # 3 back, 3 * 3 for the other primes; 2 back and 2 * 3 to divide by the special prime.
    assert sum(count for _, count in counted["rotate"]) == 3 + 9 + 2 + 6
    assert sum(count for _, count in counted["rescale"]) == 2 * 3
    assert sum(count for _, count in counted[PRODUCT]) == 3 + 9 + 2 + 6 + 2 * 3
    assert counted["add"] == ()
    hoisted = operation_work(item, HOISTED)
    assert sum(count for _, count in hoisted.transforms) == 3 + 9 + 8 * (2 + 6)
    assert floor_seconds(hoisted) > floor_seconds(operation_work(item, "rotate")) > 0


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
