"""Random inputs and keys of graphs: to measure and compare, where nothing is decrypted."""

from collections.abc import Container, Sequence

import numpy as np

from ringsmith.graph import SubroutineGraph
from ringsmith.interop.seeded_keys import draw_seed, expand_key
from ringsmith.objects import SEED_BYTES, KeySwitchKey, Residues


def random_key(
    primes: Sequence[int], n: int, digits: int, random: np.random.Generator, *, seeded: bool
) -> KeySwitchKey:
    """Returns a random key of uniform residues; no secret belongs to it.

    Args:
        primes: The K primes of the key, special primes last.
        n: Ring degree.
        digits: Number of digits.
        random: The generator of its residues, or of its b part and seed.
        seeded: Whether the a part is expanded from a seed.
    """
    halves = 1 if seeded else 2
    limbs = [random.integers(0, q, (digits, halves, n), dtype=np.uint64) for q in primes]
    data = np.ascontiguousarray(np.stack(limbs, axis=2))
    if seeded:
        seed = draw_seed(lambda: random.bytes(SEED_BYTES), primes, n, digits)
        return expand_key(data[:, 0], seed, primes)
    return KeySwitchKey(data)


def random_inputs(graph: SubroutineGraph, rng: np.random.Generator) -> dict[str, Residues]:
    """Returns uniform canonical inputs that fit a graph."""

    def residues(base: Sequence[int]) -> Residues:
        return np.stack([rng.integers(0, graph.primes[i], graph.n, np.uint64) for i in base])

    return {name: residues(kind.base) for name, kind in graph.inputs.items()}


def random_keys(
    graph: SubroutineGraph, rng: np.random.Generator, seeded: Container[str] = ()
) -> dict[str, KeySwitchKey]:
    """Returns random keys that fit a graph; ``seeded``: their a parts are expanded from seeds."""
    primes = graph.primes[: graph.key_primes]
    return {
        name: random_key(primes, graph.n, digits, rng, seeded=name in seeded)
        for name, digits in graph.keys.items()
    }


def random_operands(
    graph: SubroutineGraph, rng: np.random.Generator
) -> tuple[dict[str, Residues], dict[str, KeySwitchKey]]:
    """Returns inputs and full keys that fit a graph."""
    return random_inputs(graph, rng), random_keys(graph, rng)
