"""What a CPU takes alone: a graph on the reference interpreter."""

import time
from statistics import median

import numpy as np

from ringsmith import _core
from ringsmith.backends.random_keys import random_key
from ringsmith.graph import SubroutineGraph

REPEATS = 3


def alone(graph: SubroutineGraph) -> float:
    """The median of several runs, in milliseconds of one thread, on random residues and keys."""
    rng = np.random.default_rng(1)
    primes = graph.primes[: graph.key_primes]
    inputs = {
        name: np.stack([rng.integers(0, graph.primes[i], graph.n, np.uint64) for i in kind.base])
        for name, kind in graph.inputs.items()
    }
    keys = {
        name: random_key(primes, graph.n, digits, rng, seeded=False)
        for name, digits in graph.keys.items()
    }
    core, threads, times = graph.to_core(), _core.threads(), []
    whole = {name: key.data for name, key in keys.items()}
    _core.set_threads(1)
    try:
        for _ in range(REPEATS):
            start = time.process_time()
            core.run(inputs, whole)
            times.append((time.process_time() - start) * 1e3)
    finally:
        _core.set_threads(threads)
    return median(times)
