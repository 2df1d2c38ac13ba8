"""Arithmetic modulo a prime of up to 62 bits, on arrays of words."""

from typing import cast

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_SHORT = 32
"""Bits up to which a product fits a word of the machine."""


def multiplied(a: Words, b: Words | int, q: int) -> Words:
    """Returns a*b mod q; both are below 2^62, and one is below q."""
    if q.bit_length() <= _SHORT:
        return cast(Words, a % np.uint64(q) * (np.asarray(b, np.uint64) % np.uint64(q)) % q)
    factor = np.asarray(b, np.uint64)
    quotient = a.astype(np.longdouble) * factor.astype(np.longdouble) / np.longdouble(q)
    # The quotient has an error below 1, so that the difference is in (-q, 2q).
    with np.errstate(over="ignore"):
        rest = a * factor - quotient.astype(np.uint64) * np.uint64(q)
    rest = np.where(rest >> np.uint64(63), rest + np.uint64(q), rest)
    return cast(Words, np.where(rest >= q, rest - np.uint64(q), rest))


def added(a: Words, b: Words | int, q: int) -> Words:
    """Returns a + b mod q, of words below q."""
    total = a + np.asarray(b, np.uint64)
    return cast(Words, np.where(total >= q, total - np.uint64(q), total))


def subtracted(a: Words, b: Words | int, q: int) -> Words:
    """Returns a - b mod q, of words below q."""
    other = np.asarray(b, np.uint64)
    return cast(Words, np.where(a >= other, a - other, a + np.uint64(q) - other))
