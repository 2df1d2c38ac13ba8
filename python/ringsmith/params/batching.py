"""Batching: the polynomial that stands for a vector of N numbers modulo t."""

import numpy as np
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.params.bfv import BfvParameters
from ringsmith.params.context import bfv_context


def batched_polynomial(parameters: BfvParameters, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the coefficients, centred modulo t, of the polynomial whose slots are given.

    It is what plain products multiply by, and so what their noise depends on.

    Args:
        parameters: A set that batches.
        values: The N slots: two rows of N/2; any residues modulo t.

    Returns:
        N numbers in -t/2 … t/2.
    """
    t = parameters.plain_modulus
    residues = np.mod(values, t).astype(np.uint64)
    coefficients = _core.bfv.encode(bfv_context(parameters), residues).astype(np.int64)
    return np.where(coefficients > t // 2, coefficients - t, coefficients)
