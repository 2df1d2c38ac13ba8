"""Uniform polynomials from the seeds that SEAL puts in place of them.

SEAL has two generators (``randomgen.cpp``). BLAKE2Xb is the core's; SHAKE256 is here: block i of
4096 bytes is SHAKE256 of the 64-byte seed and the word i.
"""

import hashlib
import struct
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.objects import Residues

SEED_BYTES = 64
_BLOCK = 4096

Expander = Callable[[bytes, int, Sequence[int]], Residues]


def expand_shake256(seed: bytes, n: int, primes: Sequence[int]) -> Residues:
    """The uniform polynomial (limbs, N) that SEAL expands from a 64-byte SHAKE256 seed.

    As ``sample_poly_uniform`` of ``util/rlwe.cpp``: the words of all limbs first; then, limb after
    limb, a word that would favour small residues gives way to the next word of the stream.
    """
    bulk = len(primes) * n
    stream = _Stream(seed)
    words = stream.words(bulk).reshape(len(primes), n)
    for limb, q in zip(words, primes, strict=True):
        maximum = 0xFFFF_FFFF_FFFF_FFFF - 0xFFFF_FFFF_FFFF_FFFF % q - 1
        for position in np.flatnonzero(limb >= np.uint64(maximum)):
            word = maximum
            while word >= maximum:
                word = int(stream.words(1)[0])
            limb[position] = word
        limb %= np.uint64(q)
    return words


class _Stream:
    """The generator's words, one after another."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._counter = 0
        self._rest = np.empty(0, dtype=np.uint64)

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next ``count`` words."""
        parts = [self._rest]
        have = self._rest.size
        while have < count:
            data = hashlib.shake_256(self._seed + struct.pack("<Q", self._counter)).digest(_BLOCK)
            parts.append(np.frombuffer(data, dtype="<u8").astype(np.uint64))
            have += parts[-1].size
            self._counter += 1
        joined = np.concatenate(parts)
        self._rest = joined[count:]
        return joined[:count].copy()


EXPANDERS: dict[int, tuple[str, Expander]] = {
    1: ("BLAKE2Xb", _core.expand_seed),
    2: ("SHAKE256", expand_shake256),
}
"""SEAL's ``prng_type`` -> the generator's name, and its uniform polynomial."""
