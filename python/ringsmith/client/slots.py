"""CKKS's encoder: vectors of N/2 real or complex numbers to plaintexts and back."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith.client.checks import (
    check_belongs,
    check_shape,
    first_not_finite,
    refuse_masked,
)
from ringsmith.errors import ParameterError
from ringsmith.objects import Plaintext
from ringsmith.params import CkksParameters, ckks_encoder
from ringsmith.python_numbers import python_number


def encode_slots(
    parameters: CkksParameters, values: ArrayLike, scale: float | None, limbs: int | None
) -> Plaintext:
    """Encodes a vector; arguments and errors are those of ``encode``."""
    scale = parameters.scale if scale is None else scale
    limbs = parameters.limbs if limbs is None else limbs
    scale, limbs = python_number(scale), python_number(limbs)
    if isinstance(limbs, bool) or not isinstance(limbs, int) or not 1 <= limbs <= parameters.limbs:
        raise ParameterError(f"limbs = {limbs!r:.60} is outside 1 … {parameters.limbs}")
    if not isinstance(scale, int | float) or not (math.isfinite(scale) and scale >= 1):
        raise ParameterError(f"scale = {scale!r:.60} must be finite and at least 1")
    slots = _checked_slots(parameters, values)
    largest = float(np.abs(slots).max())
    log_q = math.log2(math.prod(parameters.data_primes[:limbs]))
    if largest > 0 and math.log2(largest) + math.log2(scale) + 1 >= log_q:
        raise ParameterError(
            f"the number {largest:.3g} at scale 2^{math.log2(scale):.1f} exceeds the "
            f"modulus of {log_q:.1f} bits of {limbs} limbs: divide the vector by a constant, or "
            "lower the scale"
        )
    data = ckks_encoder(parameters).encode(slots, scale, limbs)
    return Plaintext(data, scale, parameters_id=parameters.parameters_id)


def decode_slots(parameters: CkksParameters, plaintext: Plaintext) -> NDArray[np.complex128]:
    """Returns the N/2 complex numbers; errors are those of ``decode``."""
    check_belongs(parameters, "the plaintext", plaintext)
    check_shape(parameters, "plaintext", plaintext.data.shape)
    return ckks_encoder(parameters).decode(plaintext.data, plaintext.scale)


def _checked_slots(parameters: CkksParameters, values: ArrayLike) -> NDArray[np.complex128]:
    refuse_masked(values)
    array = np.atleast_1d(np.asarray(values))
    numeric = array.dtype.kind in "iufc" and np.isfinite(array).all()
    if not numeric or array.ndim != 1 or array.size == 0:
        first = first_not_finite(array)
        raise ParameterError(
            f"an array of {array.dtype} and shape {array.shape} is no vector of finite numbers"
            f"{first and f': {first}'}"
        )
    if array.size > parameters.slots:
        raise ParameterError(
            f"a vector of {array.size} numbers exceeds the {parameters.slots} slots of a "
            "ciphertext: split it, or raise N"
        )
    padded = np.zeros(parameters.slots, np.complex128)
    padded[: array.size] = array
    return padded
