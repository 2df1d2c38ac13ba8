"""BFV's encoders: integers modulo t to plaintexts and back, exactly.

There are three independent encodings:

- **batched** (``encode``, ``decode``): N integers modulo t in slots, two rows of N/2. Operations
  act slot by slot, rotations rotate both rows, conjugation swaps them. t must support batching.
- **coefficients**: integer i is coefficient i of the message. Sums act coefficient by coefficient;
  a product is that of polynomials modulo X^N + 1. Any t.
- **one integer** of any size: its binary digits, with its sign, are coefficients; decoding is
  evaluation at X = 2. Sums and products are those of the integers if all coefficients of the
  result stay in (-t/2, t/2] and the digits below X^N. This is not checked.
"""

import operator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith import _core
from ringsmith.client.checks import check_belongs, checked_bfv, first_not_finite, refuse_masked
from ringsmith.errors import ParameterError, check_type
from ringsmith.objects import PlainPolynomial
from ringsmith.params import BfvParameters, bfv_context

_MIN_DIGIT_MODULUS = 3
"""Smallest t modulo which the digits -1, 0 and 1 differ."""


def encode_batch(parameters: BfvParameters, values: ArrayLike) -> PlainPolynomial:
    """Encodes integers into slots; arguments and errors are those of ``encode``."""
    parameters.require_batching()
    refuse_masked(values)
    array = np.asarray(values)
    if array.ndim == 2:
        array = _rows(parameters, array)
    slots = _checked_integers(parameters, array, "slots")
    data = _core.bfv.encode(bfv_context(parameters), slots)
    return PlainPolynomial(data, parameters_id=parameters.parameters_id)


def decode_batch(parameters: BfvParameters, plaintext: PlainPolynomial) -> NDArray[np.int64]:
    """Returns the N slots, row 0 first, centred; errors are those of ``decode``."""
    parameters.require_batching()
    check_polynomial(parameters, plaintext)
    return _centred(parameters, _core.bfv.decode(bfv_context(parameters), plaintext.data))


def encode_coefficients(parameters: BfvParameters, values: ArrayLike) -> PlainPolynomial:
    """Encodes integers as coefficients of a polynomial modulo X^N + 1.

    Args:
        parameters: The parameter set, of any t.
        values: At most N integers in -t/2 … t - 1, padded with zeros.

    Raises:
        ParameterError: When there are too many, or one is no integer or out of range.
        TypeError: When ``parameters`` are no parameter set.
    """
    parameters = checked_bfv(parameters, "encoding coefficients")
    refuse_masked(values)
    integers = _checked_integers(parameters, np.asarray(values), "coefficients")
    t = np.int64(parameters.plain_modulus)
    data = np.where(integers < 0, integers + t, integers).astype(np.uint64)
    return PlainPolynomial(data, parameters_id=parameters.parameters_id)


def decode_coefficients(parameters: BfvParameters, plaintext: PlainPolynomial) -> NDArray[np.int64]:
    """Returns the N coefficients of a plaintext, centred: in (-t/2, t/2].

    Raises:
        ParameterError: When the plaintext is not of the parameters.
        TypeError: When an argument is of another kind.
    """
    parameters = checked_bfv(parameters, "decoding coefficients")
    check_polynomial(parameters, plaintext)
    return _centred(parameters, plaintext.data)


def encode_integer(parameters: BfvParameters, value: int) -> PlainPolynomial:
    """Encodes one integer, of at most N bits, by its signed binary digits.

    Raises:
        ParameterError: When it is no integer or has more than N bits, or t is 2.
        TypeError: When ``parameters`` are no parameter set.
    """
    parameters = checked_bfv(parameters, "encoding an integer")
    if parameters.plain_modulus < _MIN_DIGIT_MODULUS:
        raise ParameterError(
            f"plain modulus t = {parameters.plain_modulus} does not tell the digits -1 and 1 "
            f"apart: take t >= {_MIN_DIGIT_MODULUS}, or encode coefficients"
        )
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ParameterError(f"{value!r:.40} is no integer: FixedPoint encodes fractions")
    whole = int(value)
    if whole.bit_length() > parameters.n:
        raise ParameterError(
            f"an integer of {whole.bit_length()} bits exceeds the N = {parameters.n} digits of a "
            "message: raise N"
        )
    digits = np.array([abs(whole) >> i & 1 for i in range(whole.bit_length())], np.int64)
    return encode_coefficients(parameters, digits * (-1 if whole < 0 else 1) if whole else [0])


def decode_integer(parameters: BfvParameters, plaintext: PlainPolynomial) -> int:
    """Returns the integer whose signed digits are the coefficients: the value at X = 2.

    Raises:
        ParameterError: When the plaintext is not of the parameters.
        TypeError: When an argument is of another kind.
    """
    value = 0
    for digit in reversed(decode_coefficients(parameters, plaintext).tolist()):
        value = 2 * value + int(digit)
    return value


def check_polynomial(parameters: BfvParameters, plaintext: PlainPolynomial) -> None:
    """Refuses an argument that is no plaintext of BFV parameters.

    Raises:
        ParameterError: When its shape or a coefficient is not of the parameters.
        TypeError: When it is no ``PlainPolynomial``.
    """
    hint = "give what encode or decrypt returned for these parameters"
    check_type("plaintext", plaintext, PlainPolynomial, hint)
    check_belongs(parameters, "the plaintext", plaintext)
    data, t = plaintext.data, parameters.plain_modulus
    if data.shape != (parameters.n,) or data.dtype != np.uint64:
        raise ParameterError(
            f"the plaintext has the shape {data.shape} and type {data.dtype}: parameters "
            f"{parameters.name!r} make ({parameters.n},) of uint64"
        )
    if (data >= np.uint64(t)).any():
        raise ParameterError(
            f"a coefficient of the plaintext is {data.max()}, and the plain modulus t = {t}: it "
            "is of other parameters"
        )


def _centred(parameters: BfvParameters, residues: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Returns residues modulo t as integers in (-t/2, t/2]: SEAL's signed decoding."""
    t = parameters.plain_modulus
    values = residues.astype(np.int64)
    return np.where(values > t // 2, values - t, values)


def _rows(parameters: BfvParameters, array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Returns two rows in sequence, each padded with zeros to N/2."""
    rows, length = array.shape
    if rows != 2 or length > parameters.row_size:
        raise ParameterError(
            f"an array of shape {array.shape} is not two rows of at most N/2 = "
            f"{parameters.row_size} integers"
        )
    return np.pad(array, ((0, 0), (0, parameters.row_size - length))).reshape(-1)


def _checked_integers(
    parameters: BfvParameters, values: NDArray[np.generic], what: str
) -> NDArray[np.int64]:
    """Returns at most N integers in -t/2 … t - 1, padded with zeros."""
    array, t = np.atleast_1d(values), parameters.plain_modulus
    if array.ndim != 1 or array.size == 0:
        raise ParameterError(f"an array of shape {array.shape} is no vector of integers")
    if array.size > parameters.n:
        raise ParameterError(
            f"a vector of {array.size} integers exceeds the N = {parameters.n} {what} of a "
            "message: split it, or raise N"
        )
    first = first_not_finite(array)
    if first:
        raise ParameterError(f"{first}, and BFV takes integers")
    for position, value in enumerate(array.tolist()):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ParameterError(
                f"number {position}, counted from 0: {value!r:.40} is no integer, and BFV is "
                "exact: round it, or use FixedPoint"
            )
    low, high = -(t // 2), t - 1
    least, largest = min(array.tolist()), max(array.tolist())
    if least < low or largest > high:
        outside = least if least < low else largest
        raise ParameterError(
            f"number {array.tolist().index(outside)}, counted from 0: {outside} is outside the "
            f"plaintext space {low} … {high} of t = {t}: take a larger t, or smaller numbers"
        )
    padded = np.zeros(parameters.n, np.int64)
    padded[: array.size] = [operator.index(value) for value in array.tolist()]
    return padded
