"""Batching: the polynomial that stands for a vector of N numbers modulo t."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.params.bfv import BfvParameters


def batched_polynomial(parameters: BfvParameters, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the coefficients, centred modulo t, of the polynomial whose slots are given.

    It is what plain products multiply by, and so what their noise depends on.

    Args:
        parameters: A set that batches.
        values: The N slots: two rows of N/2; any residues modulo t.

    Returns:
        N numbers in -t/2 … t/2.
    """
    t, n = parameters.plain_modulus, parameters.n
    evaluations = np.empty(n, np.uint64)
    evaluations[_places(n)] = np.mod(values, t).astype(np.uint64)
    coefficients = _core.ntt_inverse(evaluations, t, _core.smallest_root(t, n)).astype(np.int64)
    return np.where(coefficients > t // 2, coefficients - t, coefficients)


@lru_cache(maxsize=16)
def _places(n: int) -> NDArray[np.int64]:
    """Where the NTT has each slot: row 0 is at the exponents 3^i, row 1 at 2N - 3^i.

    The NTT's output i is the evaluation at the exponent 2*brev(i) + 1 (SEAL's ``BatchEncoder``).
    """
    log_n = n.bit_length() - 1
    exponents = np.array([pow(3, i, 2 * n) for i in range(n // 2)])
    ordinals = (np.concatenate([exponents, 2 * n - exponents]) - 1) // 2
    places = np.zeros(n, np.int64)
    for bit in range(log_n):
        places |= (ordinals >> bit & 1) << (log_n - 1 - bit)
    return places
