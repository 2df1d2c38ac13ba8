"""Gaussian and uniform integers from the operating system's randomness, for noise flooding."""

import math
import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ringsmith.params.context import ntt_tables
from ringsmith.params.ring import RlweParameters

Draw = Callable[[int], bytes]
"""Returns this many random bytes."""
system_random: Draw = os.urandom

_NARROW = 2.0**36
"""Up to this deviation, numbers of double precision reach every integer."""
_OVERLAP = 4
"""Deviation of the fine part in steps of the coarse part."""


def gaussian_integers(
    count: int, deviation: float, draw: Draw = system_random
) -> NDArray[np.object_]:
    """Returns Gaussian numbers of mean 0, rounded to integers.

    A wide one is a sum of a coarse and a fine part: 2^k * a + b, b of 4 * 2^k or more, so that its
    low bits are as random as its high ones (Micciancio, Walter 2017, eprint 2017/259).
    The tail ends at 8.5 deviations, which a Gaussian exceeds with the probability 2^-56.

    Args:
        count: How many.
        deviation: Standard deviation of each.
        draw: Source of random bytes; another one than the operating system's is for tests only.
    """
    if deviation <= _NARROW:
        rounded = np.rint(deviation * _normal(count, draw)).astype(np.int64)
        return rounded.astype(object)
    step = 1 << (math.ceil(math.log2(deviation)) - int(math.log2(_NARROW)) + 1)
    fine = float(_OVERLAP * step)
    coarse = math.sqrt(deviation**2 - fine**2) / step
    high = gaussian_integers(count, coarse, draw)
    total: NDArray[np.object_] = high * step + gaussian_integers(count, fine, draw)
    return total


def uniform_residues(modulus: int, count: int, draw: Draw = system_random) -> NDArray[np.uint64]:
    """Returns uniform numbers modulo ``modulus``, below 2^64, by rejection."""
    shift = np.uint64(64 - modulus.bit_length())
    found = np.empty(0, np.uint64)
    while found.size < count:
        words = np.frombuffer(draw(16 * (count - found.size)), np.uint64) >> shift
        found = np.concatenate([found, words[words < np.uint64(modulus)]])
    return found[:count]


def add_noise(
    parameters: RlweParameters,
    polynomial: NDArray[np.uint64],
    noise: NDArray[np.object_],
    *,
    ntt: bool,
) -> NDArray[np.uint64]:
    """Returns a polynomial plus integers.

    Args:
        parameters: The parameter set.
        polynomial: (limbs, N), canonical.
        noise: N integers of any size.
        ntt: Whether the polynomial is in NTT form.
    """
    result = np.empty_like(polynomial)
    for limb, (prime, table) in enumerate(
        zip(parameters.data_primes[: len(polynomial)], ntt_tables(parameters), strict=False)
    ):
        residues = (noise % prime).astype(np.uint64)
        if ntt:
            table.forward(residues)
        result[limb] = (polynomial[limb] + residues) % np.uint64(prime)
    return result


def _normal(count: int, draw: Draw) -> NDArray[np.float64]:
    """Standard normal numbers, by Box and Muller's transform of 53 random bits each."""
    pairs = -(-count // 2)
    words = np.frombuffer(draw(16 * pairs), np.uint64) >> np.uint64(11)
    radius, turn = (words.reshape(2, pairs).astype(np.float64) + 1) * 2.0**-53
    length = np.sqrt(-2 * np.log(radius))
    angle = 2 * np.pi * turn
    return np.concatenate([length * np.cos(angle), length * np.sin(angle)])[:count]
