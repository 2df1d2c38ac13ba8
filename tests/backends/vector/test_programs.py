"""Graphs compiled for vector designs: the interpreter's results, by schedules that hold."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.backends.vector.accesses import accesses

from ringsmith import CkksParameters, _core, design_files, trace
from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.keys import core_key
from ringsmith.backends.random_operands import random_operands
from ringsmith.backends.vector.backend import BACKEND
from ringsmith.backends.vector.compiler._allocator import Beats
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.memory_map import places
from ringsmith.backends.vector.compiler.timeline import Cycles, Schedule
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.word_layout import time_order
from ringsmith.backends.vector.isa.instructions import MAX_ENTRIES, Program, Slot, Transform
from ringsmith.errors import DeviceError, ParameterError, ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.types import Form
from ringsmith.lower import lower, lower_operation
from ringsmith.platforms import load_platform

RADIX_4 = VectorDesign("radix-4", 12, 4, 2, 30, bank_rows=1024, table_rows=2048, stream_rows=1024)
RADIX_16 = replace(RADIX_4, name="radix-16", log_radix=4, reduction="montgomery", word_bits=32)
TWO = replace(RADIX_16, name="two", clusters=2, banks=3, ports=1)
WIDE = replace(RADIX_4, name="wide", word_bits=60, bank_rows=2048)
SLOW_CARD, QUICK_CARD = (
    str(Path(__file__).with_name(f"{name}.toml")) for name in ("slow", "quick")
)
"""Platforms with slow memory and many pauses, and with hardly any latency."""

DESIGNS = [RADIX_4, RADIX_16, TWO, WIDE]
SETS = [(4, 1, 0), (5, 2, 3), (6, 3, 2)]
"""Data primes, special primes, and digits of key switching; 0: one prime each."""

OPERATIONS = [
    "add", "add_plain", "multiply", "multiply_plain", "square", "rescale", "rotate", "conjugate",
    "relinearize", "multiply_relinearize", "relinearize_rescale",
]  # fmt: skip


def parameters(
    design: VectorDesign, shape: tuple[int, int, int], n: int = 1 << 10
) -> CkksParameters:
    """Parameters whose primes a design takes, the widest ones."""
    limbs, special, dnum = shape
    bits = design.word_bits
    primes = _core.prime_search(bits, design.n, limbs + special)
    return CkksParameters.from_primes(
        n=n,
        data_primes=primes[:limbs],
        special_prime=primes[limbs:],
        scale=2.0 ** (bits - 2),
        security=None,
        dnum=dnum,
    )


def check_results(executable: VectorExecutable, seed: int = 1) -> None:
    """Runs random residues on the model, and compares every one with the interpreter's."""
    graph = executable.graph
    inputs, keys = random_operands(graph, np.random.default_rng(seed))
    device = BACKEND.open("model", executable.design)
    result = device.execute(CompiledGraph(graph, executable), inputs, keys)
    expected = graph.to_core().run(inputs, {name: core_key(key) for name, key in keys.items()})
    assert result.outputs.keys() == expected.keys()
    for name, words in expected.items():
        assert np.array_equal(result.outputs[name], words), name
    assert result.cycles == executable.cycles
    assert (result.report.memory_read, result.report.memory_written) == (
        executable.bytes_read,
        executable.bytes_written,
    )
    assert all(0 <= share <= 1 for share in result.report.busy.values())


def check_schedule(executable: VectorExecutable) -> None:
    """Every row is read after it was written and before it is overwritten; ports serve one row."""
    shape, cycles = executable.shape, Cycles(executable.design, executable.shape)
    natural = np.arange(shape.rows)
    for program, times in zip(executable.programs, executable.schedules, strict=True):
        taken: dict[tuple[bool, tuple[bool, int, int]], list[NDArray[np.int64]]] = defaultdict(list)
        written: dict[tuple[Slot, int], NDArray[np.int64]] = {}
        read: dict[tuple[Slot, int], NDArray[np.int64]] = {}
        for own, span in zip(program.computing, times.computing, strict=True):
            reads, writes = accesses(own.operation, cycles, shape)
            events = [(each, False) for each in reads] + [(each, True) for each in writes]
            for each, writing in sorted(events, key=lambda event: event[0].begin):
                taken[writing, each.port].append(span.begin + each.begin + natural)
                if not isinstance(each.slot, Slot):
                    continue  # a load's end is what the schedule waits for
                at = np.empty(shape.rows, dtype=np.int64)
                begin = span.begin + each.begin
                if each.turn is None:  # in any order: the worst one of a read
                    at[:] = begin
                else:
                    at[time_order(shape, each.turn)] = begin + natural
                place = (each.slot, each.half)
                if writing:
                    assert (at > read.get(place, at - 1)).all(), (own, each)
                    written[place] = at
                else:
                    assert (at > written[place]).all(), (own, each)
                    until = at if each.turn is not None else at + shape.rows
                    read[place] = np.maximum(until, read.get(place, until))
        for port, found in taken.items():
            every = np.concatenate(found)
            assert len(np.unique(every)) == len(every), port
        check_directions(program, times, cycles)


def check_directions(program: Program, times: Schedule, cycles: Cycles) -> None:
    """The array turns between transforms of different directions."""
    turned = {False: 0, True: 0}
    for own, span in zip(program.computing, times.computing, strict=True):
        if isinstance(own.operation, Transform):
            assert span.begin >= turned[own.operation.inverse]
            assert len(own.operation.entries) <= MAX_ENTRIES
            last = span.begin + cycles.occupied(own.operation) - 1
            turned[not own.operation.inverse] = last + cycles.turn


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
@pytest.mark.parametrize("shape", SETS, ids=str)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations_are_the_interpreters(
    design: VectorDesign, shape: tuple[int, int, int], operation: str
) -> None:
    of = parameters(design, shape)
    executable = compile_graph(lower_operation(operation, of, of.limbs), design)
    check_results(executable)
    check_schedule(executable)


@pytest.mark.parametrize("log_n", [8, 9, 11, 12])
@pytest.mark.parametrize("design", [RADIX_4, RADIX_16], ids=lambda design: design.name)
def test_every_ring_of_a_design(design: VectorDesign, log_n: int) -> None:
    of = random_ring(design, 1 << log_n)
    of.output(
        of.intt(of.mul(of.ntt(of.input("a", [0, 1], Form.COEFF)), of.input("b", [0, 1]))), "c"
    )
    executable = compile_graph(of, design)
    check_results(executable)
    check_schedule(executable)


def random_ring(design: VectorDesign, n: int, primes: int = 2) -> SubroutineGraph:
    """An empty graph over this many primes that a design takes."""
    found = _core.prime_search(design.word_bits, max(n, design.n), primes)
    return SubroutineGraph(n, tuple(found), tuple(_core.smallest_root(q, n) for q in found), ())


def random_graph(of: CkksParameters, random: np.random.Generator) -> SubroutineGraph:
    """A program of random operations."""

    def program(x: Any, y: Any) -> Any:  # noqa: ANN401 - recorded vectors
        values = [(x, 0), (y, 0)]  # with their depths
        for _ in range(12):
            (a, p), (b, q) = (values[int(random.integers(len(values)))] for _ in range(2))
            deepest = max(p, q)
            choice = int(random.integers(6))
            if choice == 0 and deepest < of.levels:
                values.append((a * b, deepest + 1))
            elif choice == 1 and p < of.levels:
                values.append((a * 0.5, p + 1))
            elif choice == 2:
                values.append((a - b, deepest))
            elif choice == 3:
                values.append((a.conjugate(), p))
            else:
                values.append((a.rotate(int(random.integers(1, 100))), p))
        total = values[0][0]  # of everything, so that all of it is computed
        for value, _ in values[1:]:
            total = total + value
        return total

    return lower(trace(program, of)).graph


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_random_programs_are_the_interpreters(design: VectorDesign, seed: int) -> None:
    random = np.random.default_rng([seed, *design.name.encode()])
    graph = random_graph(parameters(design, SETS[int(random.integers(len(SETS)))]), random)
    executable = compile_graph(graph, design)
    check_results(executable, seed)
    check_schedule(executable)


def test_products_with_the_same_summand_do_not_read_it_at_once() -> None:
    graph = random_ring(RADIX_16, 1 << 10)
    x, a, b, c, d = (graph.input(name, [0]) for name in "xabcd")
    summand = graph.add(c, d)
    for name, factor in (("first", a), ("second", b)):
        graph.output(graph.add(graph.mul(x, factor), summand), name)
    executable = compile_graph(graph, RADIX_16)
    check_results(executable)
    check_schedule(executable)


def test_waiting_for_memory_breaks_nothing() -> None:
    """Gaps are least distances: the same lists behind a memory that is late hold as well."""
    slow = replace(TWO, platform=SLOW_CARD)
    of = parameters(slow, (5, 2, 3))
    executable = compile_graph(lower_operation("multiply_relinearize", of, of.limbs), slow)
    check_results(executable)
    check_schedule(executable)


def test_a_scratchpad_that_is_too_small_for_all_makes_values_give_way() -> None:
    small = replace(RADIX_16, name="tight", log_n=10, banks=3, bank_rows=256)
    of = parameters(small, (6, 3, 2))
    executable = compile_graph(lower_operation("multiply_relinearize", of, of.limbs), small)
    assert any(s.limb.kind == "spill" for own in executable.programs for s in own.stores)
    check_results(executable)
    check_schedule(executable)


FULL_SETS = {
    "framework-set2": ("framework-512", 24, 8, 3),
    "framework-set1": ("vector-1024", 45, 1, 0),
}


@pytest.mark.full
@pytest.mark.parametrize("name", FULL_SETS)
def test_the_papers_sizes_are_the_interpreters(name: str) -> None:
    """N = 2^16; set 1 has a key of a gigabyte, and takes 5 GB here."""
    design_name, limbs, special, dnum = FULL_SETS[name]
    design = BACKEND.load_design(design_name)
    of = parameters(design, (limbs, special, dnum), n=1 << 16)
    executable = compile_graph(lower_operation("multiply_relinearize", of, limbs), design)
    check_results(executable)
    check_schedule(executable)


def test_a_program_counts_what_it_moved() -> None:
    of = parameters(RADIX_16, (4, 1, 0))
    executable = compile_graph(lower_operation("multiply_plain", of, of.limbs), RADIX_16)
    limbs = 3 * of.limbs  # a ciphertext of two polynomials, and a plaintext
    assert executable.bytes_read == limbs * of.n * 4
    assert executable.bytes_written == 2 * of.limbs * of.n * 4
    assert executable.use.transforms == 0


def test_key_switching_takes_no_transform_that_it_need_not() -> None:
    """L + L^2 + 2(L + 1) of L limbs in digits of one prime, as the Framework paper's set 1."""
    of = parameters(RADIX_16, (4, 1, 0))
    executable = compile_graph(lower_operation("relinearize", of, of.limbs), RADIX_16)
    assert executable.transforms == 4 + 16 + 2 * 5


# ---- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"log_radix": 3}, "log_radix = 3 is neither 2 nor 4"),
        ({"reduction": "folded"}, "reduction = 'folded' is not one of barrett, montgomery"),
        ({"word_bits": 61}, "word_bits = 61 is outside 15 … 60"),
        ({"clusters": 0}, "clusters = 0 is outside 1 … 8"),
        ({"banks": 2}, "banks = 2 is outside 3 … 8"),
        ({"stream_rows": 100}, "stream_rows = 100 is below 342"),
        ({"table_rows": 400}, "table_rows = 400 is below 684"),
        ({"bank_rows": 300}, "bank_rows = 300 is below 512"),
        ({"log_lanes": 5}, "log_lanes = 5 is no multiple of log_radix = 2"),
        ({"platform": "attic"}, "no platform 'attic': choose one of"),
        ({"ports": 33}, "ports = 33 of each of 1 clusters are more than the 32 of platform u280"),
        ({"clusters": 8, "ports": 8}, "more than the 32 of platform u280: take 4 or fewer"),
        ({"ports": 4}, "a row of 512 bits is no whole number of beats of 4 x 256 bits"),
        ({"burst_beats": 3}, "burst_beats = 3: a burst is of whole rows, 1 beats each"),
        ({"burst_beats": 256}, "32 a beat, divide 4096"),
    ],
)
def test_designs_that_cannot_be_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(RADIX_4, **change)


def test_primes_and_rings_of_other_designs_are_refused() -> None:
    of = parameters(WIDE, (2, 1, 0))
    graph = lower_operation("add", of, of.limbs)
    with pytest.raises(
        ProgramError,
        match=r"prime .* of 60 bits, more than the 30 .* radix-4: choose",
    ):
        compile_graph(graph, RADIX_4)
    short = _core.prime_search(32, 1 << 10, 40)[-1]
    assert short % (2 * RADIX_16.n) != 1
    assert "not 1 modulo 8192" in RADIX_16.prime_error(short)
    assert "fewer than half" in RADIX_4.prime_error(7681)
    large = random_ring(RADIX_16, 1 << 13)
    large.output(large.input("a", [0]), "b")
    with pytest.raises(ProgramError, match="rings of N = 256 to 4096, and the program's is 8192"):
        compile_graph(large, RADIX_16)


def test_designs_that_the_rtl_does_not_simulate_are_refused() -> None:
    few = replace(
        WIDE, name="few", log_lanes=2, bank_rows=2048, stream_rows=4096, table_rows=4096, ports=1
    )
    with pytest.raises(DeviceError, match="few has 4 lanes, and the RTL's network 16 or more"):
        BACKEND.open("rtl", few)
    with pytest.raises(DeviceError, match="has no bus"):
        BACKEND.open("model", RADIX_4, "axi-lite")


def test_a_program_that_exceeds_the_cards_memory_is_refused(tmp_path: Path) -> None:
    """Two limbs of an input, and two of an output, of 64 rows of 64 bytes each: 16 KiB."""
    graph = random_ring(RADIX_16, 1 << 10)
    graph.output(graph.add(graph.input("a", [0, 1]), graph.input("a2", [0, 1])), "b")
    card = tmp_path / "small.toml"
    for size, fits in ((16 * 12288, True), (16 * 12256, False)):
        text = Path(QUICK_CARD).read_text().replace("bytes = 67_108_864", f"bytes = {size}")
        card.with_stem(f"small-{size}").write_text(text)
        small = replace(RADIX_16, platform=str(card.with_stem(f"small-{size}")))
        if fits:
            compile_graph(graph, small)
            continue
        message = "take 24,576 bytes of a cluster's memory, and 2 ports of platform .* have 24,512"
        with pytest.raises(ProgramError, match=message):
            compile_graph(graph, small)


def test_no_burst_begins_in_the_middle_of_one() -> None:
    of = parameters(RADIX_4, (5, 2, 3))
    executable = compile_graph(lower_operation("rotate", of, of.limbs), RADIX_4)
    found, rows = places(executable.programs, RADIX_4)
    assert all(place.row % RADIX_4.burst_beats == 0 for place in found.values())
    moved = [(load.limb, load.rows) for own in executable.programs for load in own.loads]
    taken = [row for limb, count in dict(moved).items()
             for row in range(found[limb].row, found[limb].row + count)]  # fmt: skip
    assert len(set(taken)) == len(taken)
    assert max(taken) < rows


def test_memory_that_pauses_takes_as_long_as_its_share_of_the_time_says() -> None:
    beats = Beats(975, 65)
    assert beats.nth(0, 0) == 65
    assert beats.nth(70, 0) == 70
    assert beats.nth(974, 1) == 975 + 65
    for begin, count in ((0, 910 * 7), (400, 910 * 5 + 3), (64, 1)):
        cycles = [c for c in range(begin, begin + 9000) if c % 975 >= 65]
        assert beats.nth(begin, count) == cycles[count]


@pytest.mark.parametrize(("was", "now"), [("latency = 90", "latency = 150"), ("71", "190")])
def test_a_card_whose_lists_come_too_slowly_is_refused(tmp_path: Path, was: str, now: str) -> None:
    text = Path(SLOW_CARD).read_text()
    card = tmp_path / "lists.toml"
    card.write_text(text.replace(was, now))
    with pytest.raises(ParameterError, match=r"lists\.toml: list_memory .*: take a faster memory"):
        replace(RADIX_4, platform=str(card))
    card.write_text(text)
    load_platform.cache_clear()
    replace(RADIX_4, platform=str(card))


def test_a_design_has_no_more_buses_than_its_card_has_ports() -> None:
    """Programs lie in the U55C's HBM, too, and in the U280's DDR memory, of two ports."""
    framework = design_files.load("framework", "vector", VectorDesign)
    assert framework.ports == 32
    with pytest.raises(
        ParameterError,
        match=r"ports = 32 of each of 1 clusters, and one for programs, .* u55c: take 31 or fewer",
    ):
        replace(framework, platform="u55c")
    replace(framework, platform="u55c", ports=16)
    with pytest.raises(ParameterError, match=r"clusters = 4 read programs .* u280 has 2: take 2"):
        replace(framework, clusters=4, ports=8)


def test_crossed_ports_of_a_card_that_has_none_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"crossed_ports = true: platform u250 .*\[crossed_me"):
        replace(RADIX_4, platform="u250", crossed_ports=True)
    with pytest.raises(ParameterError, match="crossed_ports = 1 is neither true nor false: choose"):
        replace(RADIX_4, crossed_ports=1)


def test_a_card_without_figures_of_memory_is_refused(tmp_path: Path) -> None:
    card = tmp_path / "bare.toml"
    card.write_text(Path(QUICK_CARD).read_text().partition("[memory]")[0])
    with pytest.raises(
        ParameterError, match=r"bare\.toml has no figures of memory for architecture"
    ):
        replace(RADIX_4, platform=str(card))
