"""The transforms between coefficients and slots, as products of sparse matrices given by diagonals.

**Order.** In these matrices slot j is the root zeta^((-3)^j): for odd j the conjugate of what
programs have in slot j, the root zeta^(3^j). Then the transform between the N/2 complex numbers
m_k + i * m_(k + N/2) of a polynomial's coefficients m and the slots is linear, without conjugates.
A rotation in this order is the automorphism X -> X^((-3)^r): for odd r it rotates and conjugates
slots by one key switching. ``in_slots`` says what a vector in this order is in slots.

**Factors.** The transform is a fast Fourier transform of log2(N/2) stages of three diagonals each,
between slots and coefficients in bit-reversed order, and stages are multiplied to fewer matrices of
more diagonals (Chen, Chillotti, Song 2019, eprint 2018/1043; Cheon, Han, Hhan 2018, eprint
2018/1073).
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Complexes = NDArray[np.complex128]
Diagonals = Mapping[int, Complexes]
"""By the rotation k in 0 … N/2 - 1: what multiplies the vector rotated by k."""

_ZERO = 1e-12
"""Entries below are rounding errors: others of a stage are 1/2 or more in magnitude."""


def in_slots(vector: Complexes) -> Complexes:
    """Returns a vector of this module's order as slots, or the other way: odd ones conjugated.

    Args:
        vector: Shape (N/2,).
    """
    found = vector.copy()
    found[1::2] = np.conjugate(found[1::2])
    return found


@lru_cache(maxsize=8)
def coefficients_to_slots(n: int, sizes: tuple[int, ...]) -> tuple[Diagonals, ...]:
    """Returns the matrices from slots to coefficients, in the order in which they are applied.

    They write the coefficients into slots: entry j of the result, with j bit-reversed, is
    m_j + i * m_(j + N/2).

    Args:
        n: Ring degree N.
        sizes: How many stages each matrix has; log2(N/2) together.
    """
    return _merged(n, [*range((n // 2).bit_length() - 1)][::-1], sizes, inverse=True)


@lru_cache(maxsize=8)
def slots_to_coefficients(n: int, sizes: tuple[int, ...]) -> tuple[Diagonals, ...]:
    """Returns matrices of the inverse; arguments are those of ``coefficients_to_slots``."""
    return _merged(n, [*range((n // 2).bit_length() - 1)], sizes, inverse=False)


def _merged(
    n: int, stages: list[int], sizes: tuple[int, ...], *, inverse: bool
) -> tuple[Diagonals, ...]:
    """Stages, multiplied to matrices of ``sizes`` stages each."""
    assert sum(sizes) == len(stages), "every stage is in one matrix"
    found: list[Diagonals] = []
    for size in sizes:
        own, stages = stages[:size], stages[size:]
        product = _stage(n, 2 << own[0], inverse=inverse)
        for stage in own[1:]:
            product = _product(_stage(n, 2 << stage, inverse=inverse), product, n // 2)
        found.append(product)
    return tuple(found)


def _stage(n: int, length: int, *, inverse: bool) -> Diagonals:
    """One stage: butterflies of entries half a length apart."""
    slots, half = n // 2, length // 2
    exponents = np.array([pow(-3, k, 4 * length) for k in range(half)]) / (4 * length)
    twiddles = np.exp((-2j if inverse else 2j) * np.pi * exponents)
    here, after, before = (np.zeros((slots // length, 2, half), complex) for _ in range(3))
    if inverse:
        here[:, 0], after[:, 0] = 0.5, 0.5
        here[:, 1], before[:, 1] = -0.5 * twiddles, 0.5 * twiddles
    else:
        here[:, 0], after[:, 0] = 1, twiddles
        here[:, 1], before[:, 1] = -twiddles, 1
    found = {0: here.reshape(slots)}
    for step, diagonal in ((half % slots, after), (-half % slots, before)):
        found[step] = found.get(step, 0) + diagonal.reshape(slots)
    return found


def _product(a: Diagonals, b: Diagonals, slots: int) -> Diagonals:
    """The matrix a * b."""
    found: dict[int, Complexes] = {}
    for i, left in a.items():
        for j, right in b.items():
            step = (i + j) % slots
            found[step] = found.get(step, 0) + left * np.roll(right, -i)
    return {step: each for step, each in found.items() if np.abs(each).max() > _ZERO}
