"""``ringsmith bench cpu``: the ratios it states, the libraries it names, what it refuses."""

import shutil
import stat
import sys
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from bench.cpu import baselines, ours
from bench.cpu.measure import checked, floor_seconds, operation_work
from bench.cpu.sets import EXPANDED, HOISTED, PRODUCT, SETS, WORDS, BenchSet, Operands
from bench.cpu.timing import interleaved
from bench.record import Record
from bench.run import Choice, load, measure
from ringsmith import _core, trace
from ringsmith.errors import ParameterError, ToolError
from ringsmith.objects import Ciphertext
from ringsmith.runtime import PrecomputedKeys, compile_program, open_device

SMALL = BenchSet("small", 1 << 11, (30, 30), (31,), 0, 0, "for this test")
SMALL_BFV = BenchSet("bfv", 1 << 12, (30, 30), (31,), 0, 65537, "for this test")


def test_speedup_is_a_baselines_time_over_ours_without_what_slows_both() -> None:
    weather = cycle([1.0, 1.0, 5.0, 5.0, 1.0, 1.0, 2.0, 2.0, 9.0, 9.0])
    found = interleaved(
        lambda: 1.0 * next(weather), {"baseline": lambda: 3.0 * next(weather)}, 60.0
    )
    assert found["baseline"].speedup == pytest.approx(3.0)


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
    assert names - {PRODUCT, HOISTED} == set(baselines.seal_operations(item))
    assert all(work() >= 0 for work in baselines.seal_operations(item).values())


def test_lattigos_operations_are_named_as_ours() -> None:
    assert set(ours.CKKS) - {PRODUCT} == set(baselines.LATTIGO_OPERATIONS)


def test_a_product_that_a_program_plans_is_the_one_that_is_measured() -> None:
    operands = Operands.of(SMALL)
    program = trace(lambda x, y: x * y, operands.parameters, {"x": 2, "y": 2})
    compiled = compile_program(program)
    ports, residues = compiled.lowered.inputs.items(), (operands.a, operands.b)
    inputs = {name: Ciphertext(x, p.scale) for (name, p), x in zip(ports, residues, strict=True)}
    result = compiled.run(open_device("cpu"), inputs, PrecomputedKeys(operands.relin))
    (measured,) = ours.works(operands)[PRODUCT]()
    assert np.array_equal(result.outputs["result"].data, measured)


def test_words_that_depend_on_threads_are_an_error() -> None:
    threads = _core.threads()
    try:
        with pytest.raises(ToolError, match="A: add has other words with 2 threads than with one"):
            checked(lambda: [np.array([_core.threads()], dtype=np.uint64)], 3, "A: add")
    finally:
        _core.set_threads(threads)


def test_a_child_that_fails_is_an_error_that_names_it() -> None:
    with (
        pytest.raises(ToolError, match="the child does not start"),
        baselines.asked([sys.executable, "-c", "print('no')"], [], "the child"),
    ):
        pass
    program = "print('ready', flush=True); input()"
    with (
        baselines.asked([sys.executable, "-c", program], ["sum"], "the child") as work,
        pytest.raises(ToolError, match="the child stopped in sum"),
    ):
        work["sum"]()


@pytest.mark.parametrize("ready", ["", "print('ready', flush=True); input(); "])
def test_a_child_that_is_killed_is_said_to_be_killed_for_memory(ready: str) -> None:
    program = f"import os, signal; {ready}os.kill(os.getpid(), signal.SIGKILL)"
    with (
        pytest.raises(ToolError, match=r"the child .*: it was killed for memory: name a smaller"),
        baselines.asked([sys.executable, "-c", program], ["sum"], "the child") as work,
    ):
        work["sum"]()


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
    with baselines.lattigo_operations(BenchSet("l", 1 << 12, (40, 40), (41,), 0, 0, "")) as work:
        assert all(run() > 0 for run in work.values())


@pytest.mark.full
@pytest.mark.skipif(shutil.which("cargo") is None, reason="tfhe-ntt needs cargo")
@pytest.mark.parametrize("bits", [30, 60])
def test_tfhe_ntt_answers(bits: int) -> None:
    [q] = _core.prime_search(bits, 4096, 1)
    assert all(run() > 0 for run in baselines.tfhe_transforms(4096, q).values())


# ---- libraries that are built, or missing ------------------------------------------------------

GO = f"""#!{sys.executable}
import pathlib, sys
assert sys.argv[1:] == ["build", "-o", "baseline", "."], sys.argv
baseline = pathlib.Path("baseline")
baseline.write_text("#!{sys.executable}\\nimport sys\\nprint('ready', flush=True)\\n"
    "for line in sys.stdin: print(1e-3, flush=True)\\n")
baseline.chmod(0o755)
"""
"""A go that makes a program which answers as Lattigo's does."""

CARGO = """#!/bin/sh
mkdir -p target/release
{
  for bits in 32 64; do
    echo "#include <stdint.h>"
    echo "#include <stddef.h>"
    echo "void *plan_$bits(size_t n, uint${bits}_t q) { static int plan; return &plan; }"
    echo "void forward_$bits(void *p, uint${bits}_t *x, size_t n) { x[0] += 1; }"
    echo "void inverse_$bits(void *p, uint${bits}_t *x, size_t n) { x[0] -= 1; }"
  done
} > baseline.c
exec g++ -x c -shared -fPIC -o target/release/libbaseline_ntt.so baseline.c
"""
"""A cargo that makes a library which is called as tfhe-ntt's is."""

BROKEN = """#!/bin/sh
echo 'error: no toolchain is
configured' >&2
exit 1
"""
"""A tool that is there and does not work."""


def put_tools(monkeypatch: pytest.MonkeyPatch, folder: Path, **scripts: str) -> None:
    """Puts scripts first on PATH, and what they build into a cache of their own."""
    tools = folder / "tools"
    tools.mkdir()
    for name, text in scripts.items():
        path = tools / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tools), prepend=":")
    monkeypatch.setenv("RINGSMITH_CACHE", str(folder / "cache"))


def measured(parts: str, said: list[str]) -> list[Record]:
    """Runs parts at their smallest."""
    choice = Choice(only=tuple(parts.split(",")), quick=True)
    return measure(load("cpu"), choice, (), said.append)


def test_all_libraries_are_measured_and_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_tools(monkeypatch, tmp_path, go=GO, cargo=CARGO)
    said: list[str] = []
    found = measured("transforms,operations", said)
    assert not [line for line in said if "left out" in line]
    assert {baselines.LATTIGO, baselines.TFHE, baselines.seal_name()} <= {
        record.baseline for record in found
    }
    assert {"quick", "D", "N=2^12, 30 bits"} <= {record.params for record in found}
    assert {HOISTED, EXPANDED, WORDS, "ntt", "add"} <= {r.operation for r in found}
    sizes = {(r.operation, r.metric): r.value for r in found if r.params == "quick"}
    assert sizes[EXPANDED, "key_bytes"] == sizes[WORDS, "key_bytes"] / 2 + 10
    assert all(record.value > 0 for record in found)


def test_a_library_whose_tool_does_not_work_is_left_out_and_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_tools(monkeypatch, tmp_path, go=BROKEN, cargo="#!/no/such/interpreter\n")
    monkeypatch.setitem(sys.modules, "seal", None)
    said: list[str] = []
    found = measured("transforms,operations", said)
    text = "\n".join(said)
    assert (
        "Lattigo is left out: go build -o baseline . failed: error: no toolchain is config" in text
    )
    assert "tfhe-ntt is left out: cargo build --release --quiet cannot be started" in text
    assert "Microsoft SEAL is left out: seal-python does not load: " in text
    assert {r.baseline for r in found} == {"8 of ours, one by one", "ours, precomputed key"}


def test_a_tool_that_makes_nothing_is_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_tools(monkeypatch, tmp_path, go="#!/bin/sh\n", cargo="#!/bin/sh\n")
    assert str(baselines.lattigo_missing()).endswith("failed: made no baseline")
    assert str(baselines.tfhe_missing()).endswith(
        "failed: made no target/release/libbaseline_ntt.so"
    )


def test_numbers_of_threads_are_compared_by_the_walls_clock() -> None:
    threads = _core.threads()
    _core.set_threads(2)
    try:
        found = measured("threads", [])
        assert _core.threads() == 2
        _core.set_threads(1)
        said: list[str] = []
        assert measured("threads", said) == []
        assert "threads are left out" in said[-1]
    finally:
        _core.set_threads(threads)
    assert {record.baseline for record in found} == {"ours, one thread"}
    names = {"multiply_relinearize, 2 threads", "rotate, 2 threads"}
    assert {record.operation for record in found} == names
    assert all("wall-clock time" in record.conditions for record in found)


def test_an_unknown_set_is_refused_by_name() -> None:
    choice = Choice(only=("operations",), values={"sets": "Z"})
    with pytest.raises(ParameterError, match="no set is called Z: choose from A, B"):
        measure(load("cpu"), choice, (), print)
