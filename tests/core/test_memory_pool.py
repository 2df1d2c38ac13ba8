"""The pool of results' memory: sizes in use stay in it, and it keeps no more than its limit."""

import resource
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from tests.forks import forked

from ringsmith import _core
from ringsmith.objects import Residues

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="asks Linux for the memory in use"
)

N = 1 << 16
LIMBS = 22
LIMIT = 512 << 20
"""Bytes that wait for a taker, as docs/guide/cpu.md says."""


@pytest.fixture(scope="module")
def context() -> _core.Context:
    """Primes enough for results of 33 MiB, which the heap gives back to the system at once."""
    return _core.Context(N, _core.prime_search(50, N, LIMBS + 1))


def sum_of(context: _core.Context, limbs: int) -> Residues:
    """A result of three polynomials of this number of limbs, in memory from the pool."""
    zeros = np.zeros((3, limbs, N), dtype=np.uint64)
    return _core.add(context, zeros, zeros)


def more_than_the_pool_keeps(context: _core.Context) -> list[Residues]:
    """Results of one size, together at least 64 MiB more than the limit."""
    count = (LIMIT + (64 << 20)) // (3 * LIMBS * N * 8) + 1
    return [sum_of(context, LIMBS) for _ in range(count)]


def resident_bytes() -> int:
    """What this process has in the machine's memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def test_another_size_stays_in_a_pool_that_was_full(context: _core.Context) -> None:
    more_than_the_pool_keeps(context).clear()
    zeros = np.zeros((3, LIMBS - 1, N), dtype=np.uint64)
    _core.add(context, zeros, zeros)  # from the system
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(4):
        _core.add(context, zeros, zeros)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert faults < 40  # fresh memory takes 16 and more each: 31.5 MiB in pages of 2 MiB


def test_what_the_pool_does_not_keep_goes_back_to_the_system(context: _core.Context) -> None:
    results = more_than_the_pool_keeps(context)
    held = resident_bytes()
    results.clear()
    released = held - resident_bytes()
    assert 64 << 20 <= released < 192 << 20


def test_children_take_memory_and_precomputed_keys_while_threads_of_their_parent_do() -> None:
    n, limbs = 1024, 3
    small = _core.Context(n, _core.prime_search(27, n, limbs))
    ones = np.ones((2, limbs - 1, n), np.uint64)  # its results are of the smallest pooled size
    key = np.ones((limbs - 1, 2, limbs, n), np.uint64)
    precomputed = _core.PrecomputedKey(small, key, 3)
    expected = _core.apply_galois(small, ones, 3, key)
    ended = Event()

    def compute() -> None:
        while not ended.is_set():
            _core.add(small, ones, ones)
            _core.apply_galois(small, ones, 3, precomputed)

    def child() -> None:
        for _ in range(4):
            _core.add(small, ones, ones)
            assert np.array_equal(_core.apply_galois(small, ones, 3, precomputed), expected)

    with ThreadPoolExecutor(3) as pool:
        running = [pool.submit(compute) for _ in range(3)]
        try:
            ends = [end for _ in range(30) for end in forked(*[child] * 8)]
        finally:
            ended.set()
    for each in running:
        each.result()
    assert set(ends) == {0}


def faults_of_a_run(context: _core.Context, limbs: int) -> int:
    """Pages from the system that eight values of this number of limbs and an output take."""
    graph = _core.Graph(N, context.primes, context.roots)
    base = list(range(limbs))
    x = graph.add_node("input", [], {"name": "x", "base": base, "form": "coeff"})
    moved = [graph.add_node("automorph", [x], {"element": 2 * i + 1}) for i in range(8)]
    for value in moved[1:]:
        moved[0] = graph.add_node("add", [moved[0], value], {})
    graph.add_node("output", [moved[0]], {"name": "y"})
    words = {"x": np.zeros((limbs, N), dtype=np.uint64)}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    graph.run(words, {})
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_values_of_a_lower_level_take_the_memory_of_those_above(context: _core.Context) -> None:
    more_than_the_pool_keeps(context).clear()  # of another size
    first, again, lower = (faults_of_a_run(context, limbs) for limbs in (17, 17, 16))
    assert max(again, lower) < first / 3
