"""What a CPU takes alone: a graph on the reference interpreter."""

import time
from statistics import median

import numpy as np

from ringsmith import _core
from ringsmith.backends.random_operands import random_operands
from ringsmith.graph import SubroutineGraph

REPEATS = 3


def alone(graph: SubroutineGraph) -> float:
    """The median of several runs, in milliseconds of one thread, on random residues and keys."""
    rng = np.random.default_rng(1)
    inputs, keys = random_operands(graph, rng)
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
