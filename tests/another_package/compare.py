"""Runs graphs on the core and in plain integers, and compares words.

They are every operation of a parameter set, or the graph of a file.
"""

import sys
from pathlib import Path

import numpy as np

from ringsmith import open_device
from ringsmith.backends.random_operands import random_key
from ringsmith.graph import SubroutineGraph, from_json
from ringsmith.lower import lower_operation
from ringsmith.params import BfvParameters, CkksParameters, RlweParameters
from ringsmith.program import operations
from ringsmith.runtime import compile_graph, run_graph

N = 1024


def parameters(case: str) -> RlweParameters:
    """Small parameters of a case; their security does not matter here."""
    if case == "ckks":
        return CkksParameters.create(
            n=N, prime_bits=(36, 26, 26), special_bits=37, scale_bits=26, security=None
        )
    if case == "hybrid":
        return CkksParameters.create(
            n=N,
            prime_bits=(36, 26, 26, 26),
            special_bits=(40, 41),
            scale_bits=26,
            dnum=2,
            security=None,
        )
    _, _, variant = case.partition("-")
    undivided = {
        "word": {"relinearization": "word", "word_bits": 30},
        "residue": {"relinearization": "residue", "dnum": 2},
    }.get(variant, {})
    return BfvParameters.create(
        n=N,
        prime_bits=(30, 30, 30),
        special_bits=() if undivided else 31,
        plain_bits=17,
        security=None,
        multiplication="hps" if undivided else variant,
        **undivided,
    )


def same(graph: SubroutineGraph, random: np.random.Generator) -> bool:
    """Whether both devices have the same words for every output."""
    inputs = {
        name: np.stack([random.integers(0, graph.primes[i], graph.n, np.uint64) for i in kind.base])
        for name, kind in graph.inputs.items()
    }
    primes = graph.primes[: graph.key_primes]
    keys = {
        name: random_key(primes, graph.n, shape, random, seeded=False)
        for name, shape in graph.keys.items()
    }
    compiled = compile_graph(graph)
    core, oracle = (
        run_graph(compiled, open_device(kind), inputs, keys).outputs
        for kind in ("cpu", "slow-oracle")
    )
    return all(np.array_equal(core[name], oracle[name]) for name in graph.outputs)


def main(case: str) -> None:
    """Compares, and prints a line an operation."""
    random = np.random.default_rng(5)
    if case.endswith(".jsonl"):
        graph = from_json(Path(case).read_text())
        print("graph", "equal" if same(graph, random) else "differ")
        return
    shape = parameters(case)
    for operation in operations(shape.scheme):
        graph = lower_operation(operation, shape, shape.limbs)
        print(operation, "equal" if same(graph, random) else "differ")


main(sys.argv[1])
