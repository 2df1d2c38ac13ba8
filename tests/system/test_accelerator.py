"""What the host keeps on a device between runs, and what it writes again."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from ringsmith import _core, runtime
from ringsmith.arch.rpau.design import load_design
from ringsmith.lower import SubroutineGraph
from ringsmith.objects import KeySwitchKey, Residues

DESIGN = replace(load_design("nano"), name="small", log_n=8, rpaus=3)


def key_switch() -> SubroutineGraph:
    primes = tuple(q for bits in (41, 42, 45) for q in _core.prime_search(bits, DESIGN.n, 1))
    roots = tuple(_core.smallest_root(q, DESIGN.n) for q in primes)
    graph = SubroutineGraph(DESIGN.n, primes, roots, (2,), {"relin": 2})
    coefficients = graph.intt(graph.input("x", (0, 1)))
    digits = [graph.ntt(graph.mod_up(coefficients, j, (0, 1, 2))) for j in (0, 1)]
    total = graph.ksk_inner_product(digits, "relin", 0, (0, 1))
    graph.output(graph.mod_down(total, 2), "y")
    return graph


def random_limbs(graph: SubroutineGraph, count: int, rng: np.random.Generator) -> Residues:
    return np.stack([rng.integers(0, q, graph.n, dtype=np.uint64) for q in graph.primes[:count]])


def random_key(graph: SubroutineGraph, rng: np.random.Generator) -> Residues:
    halves = [[random_limbs(graph, 3, rng) for _ in range(2)] for _ in range(2)]
    return np.array(halves, dtype=np.uint64)


def test_a_key_that_was_written_to_is_loaded_again(rng: np.random.Generator) -> None:
    graph = key_switch()
    compiled = runtime.compile_graph(graph, DESIGN)
    model, cpu = runtime.open_device("model", DESIGN), runtime.open_device("cpu")
    inputs, key = {"x": random_limbs(graph, 2, rng)}, random_key(graph, rng)
    for _ in range(2):
        found = runtime.run_graph(compiled, model, inputs, {"relin": key})
        expected = runtime.run_graph(compiled, cpu, inputs, {"relin": key})
        np.testing.assert_array_equal(found.outputs["y"], expected.outputs["y"])
        key[:] = random_key(graph, rng)


def test_a_key_switching_key_cannot_be_written_to(rng: np.random.Generator) -> None:
    assert not KeySwitchKey(random_key(key_switch(), rng)).data.flags.writeable


def test_threads_that_share_an_accelerator_take_turns(rng: np.random.Generator) -> None:
    graph = key_switch()
    compiled = runtime.compile_graph(graph, DESIGN)
    model, cpu = runtime.open_device("model", DESIGN), runtime.open_device("cpu")
    keys = {"relin": KeySwitchKey(random_key(graph, rng)).data}
    inputs = [{"x": random_limbs(graph, 2, rng)} for _ in range(40)]
    expected = [runtime.run_graph(compiled, cpu, x, keys).outputs["y"] for x in inputs]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda x: runtime.run_graph(compiled, model, x, keys), inputs))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.outputs["y"], other)
