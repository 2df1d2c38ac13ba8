"""Random inputs and keys of graphs: to measure and compare, where nothing is decrypted."""

from collections.abc import Container, Sequence

import numpy as np

from ringsmith.graph import SubroutineGraph
from ringsmith.interop.seeded_keys import draw_seed, expand_key
from ringsmith.objects import SEED_BYTES, KeySwitchKey, Residues
from ringsmith.params import KeyShape


def random_key(
    primes: Sequence[int], n: int, shape: KeyShape, random: np.random.Generator, *, seeded: bool
) -> KeySwitchKey:
    """Returns a random key of uniform residues; no secret belongs to it.

    Args:
        primes: The K primes of full keys, special primes last.
        n: Ring degree.
        shape: Its digits and primes.
        random: The generator of its residues, or of its b part and seed.
        seeded: Whether the a part is expanded from a seed.
    """
    halves = 1 if seeded else 2
    own = [primes[i] for i in shape.base]
    limbs = [random.integers(0, q, (shape.digits, halves, n), dtype=np.uint64) for q in own]
    data = np.ascontiguousarray(np.stack(limbs, axis=2))
    if seeded:
        seed = draw_seed(lambda: random.bytes(SEED_BYTES), primes, n, shape)
        return expand_key(data[:, 0], seed, primes, shape.base)
    return KeySwitchKey(data, base=shape.base)


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
        name: random_key(primes, graph.n, shape, rng, seeded=name in seeded)
        for name, shape in graph.keys.items()
    }


def random_operands(
    graph: SubroutineGraph, rng: np.random.Generator
) -> tuple[dict[str, Residues], dict[str, KeySwitchKey]]:
    """Returns inputs and keys that fit a graph."""
    return random_inputs(graph, rng), random_keys(graph, rng)
