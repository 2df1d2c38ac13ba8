"""Meters in the coefficients of a message modulo a t that is too small to batch N numbers.

X^N + 1 splits into N factors modulo t only if t is 1 modulo 2N. Modulo a prime t that is 1 modulo
2m, m a divisor of N, the polynomials in Y = X^(N/m) are those modulo Y^m + 1, which splits into m
factors. They are closed under sums and products, so a message of this kind holds m numbers modulo
t, its values at the m roots of Y^m + 1, and operations act on each of them. A number that is the
same for all is the constant polynomial.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.caching import cached
from ringsmith.errors import ParameterError
from ringsmith.params import BfvParameters

_MOST_SLOTS = 1 << 10
"""Numbers of a message, at most: encoding multiplies by a matrix of as many rows and columns."""
_MOST_BITS = 20
"""Bits of t, at most: then a sum of as many products fits 64 bits."""


def packed_slots(parameters: BfvParameters) -> int:
    """Returns how many numbers a message holds: N where t batches, else m of the module's text.

    Raises:
        ParameterError: When t is no odd prime, or too wide to pack.
    """
    if parameters.batching:
        return parameters.n
    t = parameters.plain_modulus
    if t % 2 == 0 or t.bit_length() > _MOST_BITS or not _core.is_prime(t):
        raise ParameterError(
            f"plain modulus t = {t} holds no vector of meters: take an odd prime of at most "
            f"{_MOST_BITS} bits, 1 modulo twice the number of meters"
        )
    power = (t - 1) & (1 - t)  # the largest power of two that divides t - 1
    return min(power // 2, parameters.n, _MOST_SLOTS)


def plain_moduli(largest: int, slots: int, most: int) -> list[int]:
    """Returns the fewest primes below ``most`` that pack ``slots`` numbers, for an integer's CRT.

    Of as many primes one after the other, the smallest that do: a small t leaves more noise budget.

    Args:
        largest: What no integer exceeds in magnitude.
        slots: Numbers of a message, a power of two.
        most: What every prime is below.

    Raises:
        ParameterError: When all of them together are too small.
    """
    primes = [t for t in range(2 * slots + 1, most, 2 * slots) if _core.is_prime(t)]
    for count in range(1, len(primes) + 1):
        for first in range(len(primes) - count + 1):
            chosen = primes[first : first + count]
            if math.prod(chosen) > 2 * largest:
                return chosen
    raise ParameterError(
        f"the {len(primes)} primes below {most} that are 1 modulo {2 * slots} do not hold integers "
        f"of {largest.bit_length()} bits and a sign: pack fewer meters, or allow a larger t"
    )


def pack(parameters: BfvParameters, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the N coefficients, in 0 … t - 1, of the message that holds some numbers.

    Raises:
        ParameterError: When there are more than ``packed_slots``.
    """
    slots, t = packed_slots(parameters), parameters.plain_modulus
    if len(values) > slots:
        raise ParameterError(
            f"{len(values)} meters: a message modulo t = {t} holds {slots}: make batches"
        )
    padded = np.zeros(slots, np.int64)
    padded[: len(values)] = values % t
    message = np.zeros(parameters.n, np.int64)
    message[:: parameters.n // slots] = _matrices(slots, t)[0] @ padded % t
    return message


def unpack(parameters: BfvParameters, coefficients: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the numbers, modulo t, that a message holds."""
    slots, t = packed_slots(parameters), parameters.plain_modulus
    return _matrices(slots, t)[1] @ (coefficients[:: parameters.n // slots] % t) % t


@cached
def _matrices(slots: int, t: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """From numbers to coefficients of Y, and back: the values at the odd powers of a root."""
    candidates = (pow(a, (t - 1) // (2 * slots), t) for a in range(2, t))
    root = next(each for each in candidates if pow(each, slots, t) == t - 1)
    powers = np.array(_powers(root, 2 * slots, t), np.int64)
    odd, degree = np.arange(1, 2 * slots, 2), np.arange(slots)
    values = powers[np.outer(odd, degree) % (2 * slots)]
    inverse = powers[-np.outer(degree, odd) % (2 * slots)] * pow(slots, -1, t) % t
    return inverse, values


def _powers(root: int, count: int, t: int) -> list[int]:
    found = [1]
    for _ in range(count - 1):
        found.append(found[-1] * root % t)
    return found
