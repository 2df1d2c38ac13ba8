"""A cluster of the vector architecture works off whole programs, in the cycles of the schedule."""

from dataclasses import replace

import numpy as np
import pytest
from tests.backends.vector import test_bfv
from tests.backends.vector.test_programs import (
    parameters,
    random_graph,
    random_operands,
    random_ring,
)

from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.vector.backend import BACKEND
from ringsmith.backends.vector.compile import compile_graph
from ringsmith.backends.vector.design import MONTGOMERY, VectorDesign
from ringsmith.backends.vector.device.model import host_limb
from ringsmith.backends.vector.device.rtl import ClusterRtl
from ringsmith.backends.vector.executable import VectorExecutable
from ringsmith.backends.vector.timing import NOTICE
from ringsmith.graph.types import Form
from ringsmith.lower import lower_operation

RADIX_4 = VectorDesign("radix-4", 10, 4, 2, 30, bank_rows=512, table_rows=512, stream_rows=128)
RADIX_16 = replace(RADIX_4, name="radix-16", log_radix=4, reduction=MONTGOMERY, word_bits=32)
SLOW = replace(
    RADIX_16, name="slow", banks=3, read_row_cycles=2, write_row_cycles=3, memory_latency=37
)
WIDE = replace(RADIX_16, name="wide", word_bits=60, reduction="barrett", memory_latency=1)
QUICK = [RADIX_4, RADIX_16]
FULL = [SLOW, WIDE]


def check(executable: VectorExecutable, rng: np.random.Generator) -> None:
    """Runs random residues, and compares each result with the interpreter's, and all times."""
    graph, [times] = executable.graph, executable.schedules
    inputs, made = random_operands(graph, rng)
    keys = {name: key.data for name, key in made.items()}
    lists = {
        "load_begun_o": times.loads,
        "issued_o": times.computing,
        "store_begun_o": times.stores,
    }
    with ClusterRtl(executable, host_limb(executable, inputs, keys), assertions=True) as cluster:
        cluster.start()
        names = [*lists, "ended_o", "done_o"]
        found = cluster.record(names, executable.cycles + NOTICE + 1)
        for name, spans in lists.items():
            assert np.flatnonzero(found[name]).tolist() == [span.begin for span in spans], name
        ends = [span.end + NOTICE for span in times.computing]
        cycles = np.arange(len(found["ended_o"]))
        assert np.array_equal(found["ended_o"], np.searchsorted(ends, cycles, side="right"))
        assert np.flatnonzero(found["done_o"])[0] == executable.cycles
        for name, limbs in graph.to_core().run(inputs, keys).items():
            for number, limb in enumerate(limbs):
                assert np.array_equal(cluster.output(name, number), limb), (name, number)


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
    of = parameters(design, shape, design.n)
    check(compile_graph(lower_operation(operation, of, of.limbs), design), rng)


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
    graph = random_graph(parameters(design, SETS[seed % len(SETS)], design.n), random)
    check(compile_graph(graph, design), rng)


def test_device_rtl_runs_a_graph_in_the_cycles_of_the_model(rng: np.random.Generator) -> None:
    of = parameters(RADIX_4, (4, 1, 0), RADIX_4.n)
    graph = lower_operation("multiply_relinearize", of, of.limbs)
    compiled = CompiledGraph(graph, compile_graph(graph, RADIX_4))
    inputs, keys = random_operands(graph, rng)
    rtl, model = (
        BACKEND.open(kind, RADIX_4).execute(compiled, inputs, keys) for kind in ("rtl", "model")
    )
    assert rtl.cycles == model.cycles
    assert rtl.outputs.keys() == model.outputs.keys()
    for name, words in model.outputs.items():
        assert np.array_equal(rtl.outputs[name], words)
