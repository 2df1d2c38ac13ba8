"""Random key-switching keys: for measurements, where cycles count and nothing is decrypted."""

from collections.abc import Sequence

import numpy as np

from ringsmith.interop.seeded_keys import draw_seed, expand_key
from ringsmith.objects import SEED_BYTES, KeySwitchKey


def random_key(
    primes: Sequence[int], n: int, digits: int, random: np.random.Generator, *, seeded: bool
) -> KeySwitchKey:
    """Returns a key of uniform residues, which switches to no secret.

    Args:
        primes: The K primes of the key, special primes last.
        n: Ring degree.
        digits: Number of digits.
        random: Where its residues, or half of them and a seed, come from.
        seeded: Whether half 1 is expanded from a seed.
    """
    halves = 1 if seeded else 2
    limbs = [random.integers(0, q, (digits, halves, n), dtype=np.uint64) for q in primes]
    data = np.ascontiguousarray(np.stack(limbs, axis=2))
    if seeded:
        seed = draw_seed(lambda: random.bytes(SEED_BYTES), primes, n, digits)
        return expand_key(data[:, 0], seed, primes)
    return KeySwitchKey(data)
