"""How large CKKS's own errors are when they arise: standard deviations in every slot.

An error polynomial with independent coefficients of variance v has, in every slot, the complex
value of variance N * v, and values in different slots are uncorrelated: evaluation at the primitive
2N-th roots of unity is sqrt(N) times a unitary map (Cheon, Kim, Kim, Song 2017, eprint 2016/421,
section 3). Secrets are ternary and uniform (variance 2/3), errors centred binomial (10.5). What is
rounded is uniform in [-1/2, 1/2] (1/12), the usual heuristic (Gentry, Halevi, Smart 2012, eprint
2012/099, appendix A.5; Kim, Papadimitriou, Polyakov 2022, eprint 2020/1118, section 3).

Everything here is in units of encoded integers; dividing by the scale makes errors of messages.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ringsmith.params import CkksParameters

Reals = NDArray[np.float64]
"""Shape (slots,)."""

SECRET_VARIANCE = 2 / 3
ERROR_VARIANCE = 10.5
ROUNDING_VARIANCE = 1 / 12
DOUBLE_ROUNDING = 2.0**-53
_NO_COEFFICIENT = 1e-12
"""Part of the largest coefficient below which one is only a rounding error of 0."""


def division_spread(parameters: CkksParameters, primes: int = 1) -> float:
    """Standard deviation that dividing by primes adds: r_0 + r_1 * s in every slot for each prime.

    Both polynomials are rounded, and division by several primes at once errs like one for each:
    rescaling, and the end of key switching and of encryption.
    """
    return rounding_spread(parameters.n, primes)


def rounding_spread(n: int, primes: int = 1) -> float:
    """``division_spread`` at a ring degree."""
    return math.sqrt(primes * n * ROUNDING_VARIANCE * (1 + n * SECRET_VARIANCE))


def encryption_spread(parameters: CkksParameters, limbs: int) -> float:
    """Standard deviation of a fresh public-key encryption: (v*e + e_0 + e_1*s) / d, rounded.

    The encryption of zero is made with one prime d more and divided by it, as in SEAL: the next
    data prime, or the special one where all data primes are in use.
    """
    n, divisor = parameters.n, parameters.primes[limbs]
    error = n * ERROR_VARIANCE * (1 + 2 * n * SECRET_VARIANCE) / divisor**2
    return math.sqrt(error + division_spread(parameters) ** 2)


def key_switch_spread(parameters: CkksParameters, limbs: int) -> float:
    """Standard deviation that key switching adds, but for ``key_switch_offset``.

    ``digits_spread``, and the division by the special primes.
    """
    division = division_spread(parameters, len(parameters.special_primes))
    return math.hypot(digits_spread(parameters, limbs), division)


def digits_spread(parameters: CkksParameters, limbs: int) -> float:
    """Standard deviation of the digits times the key's errors, over P, before it is rounded.

    A digit of a primes with the product D is, after ModUp, the sum of a numbers that are uniform in
    [0, D): its deviation from a * D / 2 has the variance a * D^2 / 12. It is multiplied with the
    key's errors, summed over the digits, and divided by P, the product of the special primes.
    """
    n = parameters.n
    digits = sum(primes * size**2 for primes, size in _digits(parameters, limbs))
    return math.sqrt(n * n * ERROR_VARIANCE * digits / 12)


def to_sparse_spread(parameters: CkksParameters) -> float:
    """Standard deviation that switching to the sparse secret of bootstrapping adds.

    One digit, of the lowest level's primes, times the key's error, over the few special primes of
    that key; then two roundings, of which one is multiplied by the sparse secret.
    """
    given, n = parameters.bootstrapping, parameters.n
    assert given is not None, "the parameters bootstrap"
    special = math.prod(parameters.special_primes[: given.special])
    digit = parameters.lowest_limbs * parameters.lowest_modulus / special
    product = n * n * ERROR_VARIANCE * digit**2 / 3  # not centred: mean and deviation
    return math.sqrt(product + given.special * n * ROUNDING_VARIANCE * (1 + given.weight))


def key_switch_offset(parameters: CkksParameters, limbs: int) -> tuple[float, Reals]:
    """Standard deviation of what the digits' means make of the key's errors, over P.

    It is a size times a factor of each slot; all uses of one key and ring have equal factors.

    Digits are not centred (``mod_up`` in ``docs/reference/subroutine-graph.md``): each has the mean
    a * D / 2 in every coefficient, whose value in the slot of root z is a * D / (1 - z). Slots
    whose root is near 1, slot 0 before all, see this, and every use of one key sees the same.
    """
    n = parameters.n
    means = sum((primes * size) ** 2 for primes, size in _digits(parameters, limbs))
    return math.sqrt(n * ERROR_VARIANCE * means), _nearness_to_one(n)


def _digits(parameters: CkksParameters, limbs: int) -> list[tuple[int, float]]:
    """The number of primes a of each digit, and D / P: digits and special primes multiplied up."""
    special = math.prod(parameters.special_primes)
    return [
        (len(digit), math.prod(parameters.primes[i] for i in digit) / special)
        for digit in parameters.digits(limbs)
    ]


def encoding_spread(parameters: CkksParameters) -> float:
    """Standard deviation of a vector's encoding: N coefficients rounded to integers."""
    return math.sqrt(parameters.n * ROUNDING_VARIANCE)


def encoding_spread_of(slots: NDArray[np.number]) -> float:
    """Standard deviation of the encoding of certain slots: coefficients that are 0 are not rounded.

    The slots of a polynomial in X^k are such.
    """
    sizes = np.abs(_coefficients(slots))
    rounded = int(np.count_nonzero(sizes > _NO_COEFFICIENT * sizes.max()))
    return math.sqrt(rounded * ROUNDING_VARIANCE)


def largest_coefficient(slots: NDArray[np.number]) -> float:
    """Largest magnitude of a coefficient that encoding makes of all slots at scale 1, unrounded."""
    return float(np.abs(_coefficients(slots)).max())


def _coefficients(slots: NDArray[np.number]) -> Reals:
    """The N coefficients that encoding makes of all slots at scale 1, unrounded.

    Coefficient k is the mean of value * root^-k over the N primitive roots; half of them hold the
    slots and half their conjugates.
    """
    n = 2 * slots.size
    values = np.zeros(2 * n, np.complex128)
    values[_slot_exponents(n)] = slots
    values[2 * n - _slot_exponents(n)] = np.conjugate(slots)
    return np.asarray(np.fft.fft(values)[:n].real / n)


def mean_coefficient(slots: NDArray[np.complex128]) -> float:
    """Returns the mean of a polynomial's N coefficients by its slots."""
    n = 2 * slots.size
    roots = np.exp(1j * np.pi * _slot_exponents(n) / n)
    return float(4 * np.sum(slots / (1 - np.conjugate(roots))).real) / n**2


def mean_profile(n: int) -> Reals:
    """Returns the magnitude in each slot of the polynomial whose N coefficients are all 1."""
    return 2 * _nearness_to_one(n)


def floating_spread(parameters: CkksParameters) -> float:
    """Relative error of an encoding or decoding in double precision, of the vector's rms.

    An FFT of N points errs by about log2(N) roundings in the rms; the other steps by few.
    """
    return DOUBLE_ROUNDING * (math.log2(parameters.n) + 4)


@lru_cache(maxsize=16)
def _nearness_to_one(n: int) -> Reals:
    """1 / |1 - z| for the root z = exp(i * pi * 3^j / N) of each slot j."""
    nearness: Reals = 1 / (2 * np.abs(np.sin(np.pi * _slot_exponents(n) / (2 * n))))
    return nearness


@lru_cache(maxsize=16)
def _slot_exponents(n: int) -> NDArray[np.int64]:
    """The exponents 3^j mod 2N of the roots exp(i * pi * 3^j / N) of the slots j."""
    exponents = np.empty(n // 2, np.int64)
    exponent = 1
    for j in range(n // 2):
        exponents[j] = exponent
        exponent = 3 * exponent % (2 * n)
    return exponents
