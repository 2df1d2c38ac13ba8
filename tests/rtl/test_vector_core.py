"""A cluster of the vector architecture works off whole programs, in the cycles of the schedule."""

from dataclasses import replace

import numpy as np
import pytest
from tests.backends.vector import test_bfv
from tests.backends.vector.test_programs import (
    QUICK_CARD,
    SLOW_CARD,
    parameters,
    random_graph,
    random_ring,
)

from ringsmith.backends.keys import core_key
from ringsmith.backends.random_operands import random_operands
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.timeline import NOTICE, Schedule
from ringsmith.backends.vector.debug.compare import compare
from ringsmith.backends.vector.debug.random_program import random_program
from ringsmith.backends.vector.design.design import MONTGOMERY, VectorDesign
from ringsmith.backends.vector.device.model import host_limb
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.device.rtl import STARTED, VectorRtl
from ringsmith.graph.types import Form
from ringsmith.lower import lower_operation

RADIX_4 = VectorDesign("radix-4", 10, 4, 2, 30, bank_rows=512, table_rows=512, stream_rows=128)
RADIX_16 = VectorDesign(
    "radix-16", 12, 4, 4, 32, MONTGOMERY, bank_rows=1024, table_rows=1024, stream_rows=512
)
SLOW = replace(RADIX_16, name="slow", banks=3, ports=1, platform=SLOW_CARD)
WIDE = replace(
    RADIX_16, name="wide", word_bits=60, reduction="barrett", platform=QUICK_CARD, burst_beats=32
)
QUICK = [RADIX_4, RADIX_16]
FULL = [SLOW, WIDE]
LENGTH = 40
"""Instructions of a random program."""

TWO = replace(RADIX_4, name="two", clusters=2, banks=3, ports=1)
TWO_SLOW = replace(RADIX_16, name="two-slow", clusters=2, platform=SLOW_CARD)


def check(executable: VectorExecutable, rng: np.random.Generator) -> None:
    """Runs random residues, and compares each result with the interpreter's, and all times."""
    graph = executable.graph
    inputs, keys = random_operands(graph, rng)
    with VectorRtl(executable, host_limb(executable, inputs, keys), assertions=True) as rtl:
        rtl.start()
        names = ["run_o", "load_begun_o", "issued_o", "store_begun_o", "ended_o", "done_o"]
        found = rtl.record(names, executable.cycles + STARTED)
        [run] = np.flatnonzero(found["run_o"])
        times = {name: each[run + 1 :] for name, each in found.items()}  # from cycle 0 on
        for cluster, own in enumerate(executable.schedules):
            check_times(times, cluster, own)
        assert np.flatnonzero(times["done_o"])[0] == executable.cycles - executable.read_ahead
        assert rtl.cycles() == executable.cycles
        for name, limbs in (
            graph.to_core().run(inputs, {name: core_key(key) for name, key in keys.items()}).items()
        ):
            for number, limb in enumerate(limbs):
                assert np.array_equal(rtl.output(name, number), limb), (name, number)


def check_times(found: dict[str, Words], cluster: int, times: Schedule) -> None:
    """Compares what a cluster did in each cycle with its schedule."""
    for name, spans in (
        ("load_begun_o", times.loads),
        ("issued_o", times.computing),
        ("store_begun_o", times.stores),
    ):
        began = np.flatnonzero(found[name] >> np.uint64(cluster) & np.uint64(1))
        assert began.tolist() == [span.begin for span in spans], (cluster, name)
    ended = found["ended_o"].reshape(len(found["ended_o"]), -1)[:, cluster]
    ends = [span.end + NOTICE for span in times.computing]
    cycles = np.arange(len(ended))
    assert np.array_equal(ended, np.searchsorted(ends, cycles, "right"))


OPERATIONS = ["add", "multiply", "multiply_plain", "rotate", "rescale", "multiply_relinearize"]
SETS = [(4, 1, 0), (5, 2, 3)]


@pytest.mark.parametrize(
    ("design", "operation"),
    [(design, operation) for design in QUICK for operation in OPERATIONS]
    + [pytest.param(*each, marks=pytest.mark.full) for each in [
        (design, operation) for design in FULL for operation in OPERATIONS
    ]],
    ids=lambda value: value.name if isinstance(value, VectorDesign) else value,
)  # fmt: skip
@pytest.mark.parametrize("shape", SETS, ids=str)
def test_operations_equal_the_interpreters_in_the_schedules_cycles(
    rng: np.random.Generator, design: VectorDesign, operation: str, shape: tuple[int, int, int]
) -> None:
    of = parameters(design, shape)
    check(compile_graph(lower_operation(operation, of, of.limbs), design), rng)


@pytest.mark.parametrize(
    ("design", "operation"),
    [(TWO, "multiply_relinearize"), (TWO, "rotate")]
    + [
        pytest.param(design, operation, marks=pytest.mark.full)
        for design in (TWO, TWO_SLOW)
        for operation in OPERATIONS
    ],
    ids=lambda value: value.name if isinstance(value, VectorDesign) else value,
)
def test_two_clusters_equal_the_interpreter_in_the_cycles_of_their_schedules(
    rng: np.random.Generator, design: VectorDesign, operation: str
) -> None:
    of = parameters(design, SETS[1])
    executable = compile_graph(lower_operation(operation, of, of.limbs), design)
    if operation == "multiply_relinearize":  # each waits for stores of the other
        waits = [
            {load.after_store[0] for load in own.loads if load.after_store is not None}
            for own in executable.programs
        ]
        assert 1 in waits[0]
        assert 0 in waits[1]
    check(executable, rng)


BFV_OPERATIONS = ["multiply_relinearize", "rotate", "mod_switch"]


@pytest.mark.parametrize(
    ("design", "operation"),
    [(RADIX_4, operation) for operation in BFV_OPERATIONS]
    + [
        pytest.param(WIDE, "multiply_relinearize", marks=pytest.mark.full)
    ],
    ids=lambda value: value.name if isinstance(value, VectorDesign) else value,
)  # fmt: skip
def test_bfv_operations_equal_the_interpreters_in_the_schedules_cycles(
    rng: np.random.Generator, design: VectorDesign, operation: str
) -> None:
    of = test_bfv.parameters(design, 2, design.n)
    check(compile_graph(lower_operation(operation, of, of.limbs), design), rng)


@pytest.mark.parametrize("log_n", [8, 9])
@pytest.mark.parametrize("design", QUICK, ids=lambda design: design.name)
def test_smaller_rings_run_on_the_same_cluster(
    rng: np.random.Generator, design: VectorDesign, log_n: int
) -> None:
    of = random_ring(design, 1 << log_n)
    a, b = of.ntt(of.input("a", [0, 1], Form.COEFF)), of.input("b", [0, 1])
    of.output(of.automorph(of.add(of.mul(a, b), b), 5), "c")
    of.output(of.intt(of.mul(a, a)), "d")
    check(compile_graph(of, design), rng)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("design", QUICK + FULL, ids=lambda design: design.name)
def test_random_programs_equal_the_interpreters_in_the_schedules_cycles(
    rng: np.random.Generator, design: VectorDesign, seed: int
) -> None:
    random = np.random.default_rng([seed, *design.name.encode()])
    graph = random_graph(parameters(design, SETS[seed % len(SETS)]), random)
    check(compile_graph(graph, design), rng)


# ---- random legal programs: contents and cycles are the model's ---------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("design", QUICK, ids=lambda design: design.name)
def test_random_programs_run_as_the_model_says(design: VectorDesign, seed: int) -> None:
    made = random_program(design, seed, LENGTH)
    assert compare(made.executable, made.fetch, assertions=True).limbs > 0


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6, 60))
@pytest.mark.parametrize("design", QUICK + FULL, ids=lambda design: design.name)
def test_many_random_programs_run_as_the_model_says(design: VectorDesign, seed: int) -> None:
    made = random_program(design, seed, 2 * LENGTH)
    assert compare(made.executable, made.fetch, assertions=True).limbs > 0
