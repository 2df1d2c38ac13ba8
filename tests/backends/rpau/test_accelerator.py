"""What the host keeps on a device between runs, and what it writes again."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from ringsmith import _core, progress, runtime
from ringsmith.backends.random_operands import random_key
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.errors import ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.objects import KeySwitchKey, Residues
from ringsmith.params import KeyShape
from ringsmith.runtime.compiled import stacked

DESIGN = replace(load_design("nano"), name="small", log_n=8, rpaus=3)


def key_switch() -> SubroutineGraph:
    primes = tuple(q for bits in (41, 42, 45) for q in _core.prime_search(bits, DESIGN.n, 1))
    roots = tuple(_core.smallest_root(q, DESIGN.n) for q in primes)
    graph = SubroutineGraph(DESIGN.n, primes, roots, (2,), {"relin": KeyShape(2)})
    coefficients = graph.intt(graph.input("x", (0, 1)))
    digits = [graph.ntt(graph.mod_up(coefficients, j, (0, 1, 2))) for j in (0, 1)]
    total = graph.ksk_inner_product(digits, "relin", 0, (0, 1))
    graph.output(graph.mod_down(total, 2), "y")
    return graph


def random_limbs(graph: SubroutineGraph, count: int, rng: np.random.Generator) -> Residues:
    return np.stack([rng.integers(0, q, graph.n, dtype=np.uint64) for q in graph.primes[:count]])


def small_key(graph: SubroutineGraph, rng: np.random.Generator) -> KeySwitchKey:
    return random_key(graph.primes, graph.n, KeyShape.full(2, len(graph.primes)), rng, seeded=False)


def test_a_key_that_was_written_to_is_loaded_again(rng: np.random.Generator) -> None:
    graph = key_switch()
    compiled = runtime.compile_graph(graph, DESIGN)
    model, cpu = runtime.open_device("model", DESIGN), runtime.open_device("cpu")
    inputs, key = {"x": random_limbs(graph, 2, rng)}, small_key(graph, rng)
    key.data.setflags(write=True)
    for _ in range(2):
        found = runtime.run_graph(compiled, model, inputs, {"relin": key})
        expected = runtime.run_graph(compiled, cpu, inputs, {"relin": key})
        np.testing.assert_array_equal(found.outputs["y"], expected.outputs["y"])
        key.data[:] = small_key(graph, rng).data


class _Kept:
    """Keeps the tasks that it is reported of."""

    def __init__(self) -> None:
        self.tasks: list[progress.Task] = []

    def started(self, task: progress.Task) -> None:
        self.tasks.append(task)

    def moved(self, task: progress.Task) -> None:
        pass

    def ended(self, task: progress.Task) -> None:
        pass

    def noted(self, line: str) -> None:
        pass


def test_a_run_shows_its_cycles_of_those_that_are_scheduled(rng: np.random.Generator) -> None:
    graph = key_switch()
    compiled = runtime.compile_graph(graph, DESIGN)
    inputs, key = {"x": random_limbs(graph, 2, rng)}, small_key(graph, rng)
    model, kept = runtime.open_device("model", DESIGN), _Kept()
    with progress.reported_to(kept):
        found = runtime.run_graph(compiled, model, inputs, {"relin": key})
    [task] = kept.tasks
    assert task.what == "running on the model of small"
    assert task.unit == "cycles"
    assert task.done == task.total == found.cycles


def test_a_key_switching_key_cannot_be_written_to(rng: np.random.Generator) -> None:
    assert not small_key(key_switch(), rng).data.flags.writeable


@pytest.mark.parametrize("where", ["x", "relin"])
def test_one_residue_that_is_its_prime_is_refused(where: str, rng: np.random.Generator) -> None:
    graph = key_switch()
    compiled, cpu = runtime.compile_graph(graph), runtime.open_device("cpu")
    inputs, key = {"x": random_limbs(graph, 2, rng)}, small_key(graph, rng)
    key.data.setflags(write=True)
    limbs = inputs["x"] if where == "x" else key.data[1, 0]
    limbs[1, 77] = graph.primes[1] - 1
    runtime.run_graph(compiled, cpu, inputs, {"relin": key})
    limbs[1, 77] = graph.primes[1]
    what = "at position 77 of limb 1, which is not below"
    with pytest.raises(ProgramError, match=rf"'{where}' has .*{what}.*is damaged, or"):
        runtime.run_graph(compiled, cpu, inputs, {"relin": key})


def test_threads_that_share_an_accelerator_take_turns(rng: np.random.Generator) -> None:
    graph = key_switch()
    compiled = runtime.compile_graph(graph, DESIGN)
    model, cpu = runtime.open_device("model", DESIGN), runtime.open_device("cpu")
    keys = {"relin": small_key(graph, rng)}
    inputs = [{"x": random_limbs(graph, 2, rng)} for _ in range(40)]
    expected = [runtime.run_graph(compiled, cpu, x, keys).outputs["y"] for x in inputs]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda x: runtime.run_graph(compiled, model, x, keys), inputs))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.outputs["y"], other)


def test_rows_of_one_array_are_stacked_without_a_copy_and_others_in_order() -> None:
    whole = np.arange(24, dtype=np.uint64).reshape(3, 2, 4).copy()
    assert stacked(list(whole)) is whole
    for rows in ([whole[1], whole[0], whole[2]], list(whole[:2]), [whole[0]] * 3):
        found = stacked(rows)
        assert found is not whole
        np.testing.assert_array_equal(found, np.array(rows))
