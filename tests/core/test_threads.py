"""Threads: how many, who says so, and that no result depends on it."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from tests.core.shared import RandomResidues

from ringsmith import _core
from ringsmith.objects import Residues

N = 4096
"""Large enough that loops over limbs are shared out."""

pytestmark = pytest.mark.usefixtures("same_threads_afterwards")


def everything(
    context: _core.Context, a: Residues, b: Residues, keys: list[Residues]
) -> list[Residues]:
    """Operations with every kind of loop."""
    product = _core.multiply(context, a, b)
    return [
        _core.add(context, a, b),
        product,
        _core.relinearize(context, product, keys[0]),
        _core.relinearize_rescale(context, product, keys[0]),
        _core.rescale(context, a),
        *_core.apply_galois_many(context, a, [3, 9, 27], keys),
    ]


@pytest.fixture
def operands(
    random_residues: RandomResidues,
) -> tuple[_core.Context, Residues, Residues, list[Residues]]:
    """A context, two ciphertexts and three keys."""
    primes = _core.prime_search(50, N, 8)
    context = _core.Context(N, primes)
    a, b = (random_residues(N, primes[:7], 2) for _ in range(2))
    return context, a, b, [random_residues(N, primes, 7, 2) for _ in range(3)]


Operands = tuple[_core.Context, Residues, Residues, list[Residues]]


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_no_result_depends_on_the_number_of_threads(threads: int, operands: Operands) -> None:
    _core.set_threads(1)
    expected = everything(*operands)
    _core.set_threads(threads)
    for _ in range(5):
        results = everything(*operands)
        assert all(np.array_equal(x, y) for x, y in zip(results, expected, strict=True))


def test_callers_of_several_threads_share_the_helpers(operands: Operands) -> None:
    _core.set_threads(1)
    expected = everything(*operands)
    _core.set_threads(3)
    wrong: list[int] = []

    def call(number: int) -> None:
        for _ in range(3):
            results = everything(*operands)
            if not all(np.array_equal(x, y) for x, y in zip(results, expected, strict=True)):
                wrong.append(number)

    callers = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []


def test_an_error_in_a_shared_loop_reaches_the_caller(operands: Operands) -> None:
    context, a, _, keys = operands
    bad = keys[1].copy()
    bad[3, 0, 5, 77] = context.primes[5]
    _core.set_threads(4)
    with pytest.raises(_core.ParameterError, match="not below its prime"):
        _core.apply_galois_many(context, a, [3, 9], [keys[0], bad])
    assert len(_core.apply_galois_many(context, a, [3, 9], keys[:2])) == 2


def test_a_graph_of_independent_nodes_does_not_depend_on_threads(
    random_residues: RandomResidues,
) -> None:
    primes = _core.prime_search(45, N, 3)
    graph = _core.Graph(N, primes, [_core.smallest_root(q, N) for q in primes])
    inputs = {f"x{i}": random_residues(N, primes) for i in range(6)}
    nodes = [
        graph.add_node("input", [], {"name": name, "base": [0, 1, 2], "form": "ntt"})
        for name in inputs
    ]
    for level in range(12):
        nodes = [
            graph.add_node(
                "add", [nodes[i], graph.add_node("mul", [nodes[i - 1], nodes[i]], {})], {}
            )
            for i in range(6)
        ]
        graph.add_node("output", [nodes[level % 6]], {"name": f"level {level}"})
    _core.set_threads(1)
    expected = graph.run(inputs, {})
    for threads in (2, 5):
        _core.set_threads(threads)
        results = graph.run(inputs, {})
        assert results.keys() == expected.keys()
        assert all(np.array_equal(results[name], expected[name]) for name in expected)


@pytest.mark.parametrize("count", [0, _core.MAX_THREADS + 1])
def test_a_number_of_threads_out_of_range_is_refused(count: int) -> None:
    with pytest.raises(_core.ParameterError, match=f"is {count}: give a number from 1 to"):
        _core.set_threads(count)


def threads_in_a_process(wish: str | None, program: str = "print(c.threads())") -> str:
    """What a program says in a process of its own with that RINGSMITH_THREADS."""
    environment = {k: v for k, v in os.environ.items() if k != "RINGSMITH_THREADS"}
    if wish is not None:
        environment["RINGSMITH_THREADS"] = wish
    result = subprocess.run(
        [sys.executable, "-c", f"from ringsmith import _core as c\n{program}"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout.strip() or result.stderr


def test_the_environment_says_how_many_threads() -> None:
    assert threads_in_a_process("7") == "7"
    for wish in ("0", "many", "2.5", "99999"):
        assert f"RINGSMITH_THREADS is {wish!r}".replace("'", "") in threads_in_a_process(
            wish
        ).replace("'", "")


def test_without_a_wish_there_are_at_most_as_many_threads_as_processors() -> None:
    assert 1 <= int(threads_in_a_process(None)) <= len(os.sched_getaffinity(0))


def test_a_child_process_computes_after_a_fork() -> None:
    program = """
import os, numpy as np
n, q = 4096, c.prime_search(50, 4096, 9)
x = c.Context(n, q)
key = np.stack([np.full(n, p - 1, np.uint64) for p in q])
key = np.ascontiguousarray(np.broadcast_to(key, (8, 2, 9, n)))
a = np.ascontiguousarray(key[0, :, :8])
before = c.apply_galois(x, a, 3, key)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(before, c.apply_galois(x, a, 3, key)) else 1)
print(os.waitpid(child, 0)[1], c.threads())
"""
    assert threads_in_a_process("3", program) == "0 3"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for the memory in use")
def test_a_system_that_gives_no_more_threads_is_no_error() -> None:
    program = """
import resource, numpy as np
n, q = 4096, c.prime_search(50, 4096, 9)
x = c.Context(n, q)
key = np.stack([np.full(n, p - 1, np.uint64) for p in q])
key = np.ascontiguousarray(np.broadcast_to(key, (8, 2, 9, n)))
a = np.ascontiguousarray(key[0, :, :8])
before = c.apply_galois(x, a, 3, key)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20),) * 2)  # stacks of a few threads
c.set_threads(1024)
print(np.array_equal(before, c.apply_galois(x, a, 3, key)))
"""
    assert threads_in_a_process("1", program) == "True"
