"""Noise growth of BFV's operations: bounds that fail only with a tiny probability.

A ciphertext of message m, over the modulus q of its limbs, has the phase c_0 + c_1*s (+ c_2*s^2) =
(q/t) * (m + t*k) + E, with integers k and the *error* E, real coefficients, whose norms are
followed here (``ringsmith.schemes.bfv.norms``). It decrypts right while t/q * E stays below 1/2 in
every coefficient; how many bits it stays below is the noise budget (Microsoft SEAL's
``invariant_noise_budget``).

The errors of keys have the set's deviation and secrets are uniform and ternary (variance 2/3), as
SEAL draws them. Ciphertexts, roundings and digits of key switching count as drawn uniformly: the
usual heuristic (Gentry, Halevi, Smart 2012, eprint 2012/099, appendix A.5).
"""

import math

import numpy as np
from numpy.typing import NDArray

from ringsmith.params import BfvParameters
from ringsmith.params.bfv import CENTRING
from ringsmith.schemes.bfv.norms import (
    Norms,
    add,
    bounded,
    drawn,
    drawn_product,
    multiply,
    scale,
    times_drawn,
)

SECRET_VARIANCE = 2 / 3
ROUNDING_VARIANCE = 1 / 12


def budget(parameters: BfvParameters, limbs: int, error: Norms) -> int:
    """Returns the bits of noise budget that are left at least; negative: how many lack.

    SEAL's is bits(q) - bits(the largest coefficient of t * E) - 1, and 0 where that is negative.
    """
    noise = math.log2(parameters.plain_modulus) + error.largest
    return _floor_log_q(parameters, limbs) - math.ceil(noise) - 1


def relative(parameters: BfvParameters, limbs: int, error: Norms) -> Norms:
    """Returns the norms of E/q: what can be compared between numbers of limbs."""
    return scale(error, -_log_q(parameters, limbs))


def encryption(parameters: BfvParameters, limbs: int) -> Norms:
    """The error of a public-key encryption over ``limbs`` limbs.

    (u*e + e_0 + e_1*s) / d and the rounding of that division; d is the next prime, since SEAL
    encrypts zero with one prime more and divides it away. Without such a prime, nothing is
    divided. The message is rounded to a multiple of q/t.
    """
    n, variance = parameters.n, parameters.error_deviation**2
    product = drawn_product(n, variance, SECRET_VARIANCE)
    fresh = add(product, product, drawn(n, variance))
    if limbs < len(parameters.primes):
        divided = scale(fresh, -math.log2(parameters.primes[limbs]))
        fresh = add(divided, _division(parameters, 2))
    return add(fresh, bounded(n, 0.5))


def add_plain(parameters: BfvParameters, error: Norms, *, constant: bool) -> Norms:
    """The error after adding a plaintext, rounded to a multiple of q/t: in all coefficients or one.

    Args:
        parameters: The parameter set.
        error: Of the ciphertext.
        constant: Whether one number is added in every slot, which is a constant polynomial.
    """
    rounding = Norms(-1.0, -1.0, -1.0) if constant else bounded(parameters.n, 0.5)
    return add(error, rounding)


def multiply_plain(parameters: BfvParameters, error: Norms, polynomial: NDArray[np.int64]) -> Norms:
    """The error times a plaintext.

    Args:
        parameters: The parameter set.
        error: Of the ciphertext.
        polynomial: The plaintext's centred coefficients, (N,), not all zero; or (1,), a constant.
    """
    coefficients, n = polynomial.astype(np.float64), polynomial.size
    terms = coefficients[np.flatnonzero(coefficients)]
    if terms.size == 1:  # SEAL may take t - c for a single coefficient -c
        factor = float(terms[0]) % parameters.plain_modulus
        return scale(error, math.log2(factor))
    roots = np.exp(1j * np.pi * np.arange(n) / n)
    plain = Norms(
        math.log2(np.abs(coefficients).max()),
        math.log2(np.linalg.norm(coefficients)),
        math.log2(np.abs(np.fft.fft(coefficients * roots)).max()),
    )
    product = multiply(error, plain)
    every = math.log2(np.abs(coefficients).sum()) + error.largest
    return Norms(min(product.largest, every), product.length, product.slots)


def product(parameters: BfvParameters, limbs: int, a: Norms, b: Norms) -> Norms:
    """The error of a product of two ciphertexts of two polynomials, of three polynomials.

    With u = t/q times a phase, the product's error is a*u_b + b*u_a - t/q * a*b, and what rounding
    leaves. Fan, Vercauteren 2012 (eprint 2012/144), section 4.
    """
    n, t = parameters.n, parameters.plain_modulus
    variance = float(t) ** 2 / 12
    phase = add(drawn(n, variance, t / 2), drawn_product(n, variance, SECRET_VARIANCE))
    ratio = math.log2(t) - _log_q(parameters, limbs)
    both = scale(multiply(a, b), ratio)
    return add(multiply(a, phase), multiply(b, phase), both, _scaling(parameters, limbs))


def key_switching(parameters: BfvParameters, limbs: int) -> Norms:
    """The error that relinearization, or a rotation, adds at ``limbs`` limbs.

    The sum over digits d times the key's errors; ``special_prime`` divides it by P. Digits are not
    centred, except those of ``residue`` (``mod_up`` in ``docs/reference/subroutine-graph.md``).
    Therefore their mean has large embeddings near 1.
    """
    n, variance = parameters.n, parameters.error_deviation**2
    digit = _centred_digit if parameters.residue_digits else _digit
    terms = [times_drawn(n, digit(n, size), variance) for size in _digits(parameters, limbs)]
    if not parameters.special_primes:
        return add(*terms)
    divided = scale(add(*terms), -math.log2(math.prod(parameters.special_primes)))
    return add(divided, _division(parameters, 2, len(parameters.special_primes)))


def mod_switch(
    parameters: BfvParameters, error: Norms, size: int, before: int, after: int
) -> Norms:
    """The error after the primes from ``after`` on were divided away, one by one.

    Args:
        parameters: The parameter set.
        error: Of the ciphertext.
        size: Its polynomials, 2 or 3.
        before: Its limbs.
        after: Limbs that are left.
    """
    for prime in reversed(parameters.data_primes[after:before]):
        error = add(scale(error, -math.log2(prime)), _division(parameters, size))
    return error


def _division(parameters: BfvParameters, size: int, roundings: int = 1) -> Norms:
    """What rounding all polynomials adds: r_0 + r_1*s (+ r_2*s^2), each up to ``roundings``/2."""
    n, variance = parameters.n, ROUNDING_VARIANCE * roundings**2
    terms = [
        drawn(n, variance, roundings / 2),
        drawn_product(n, variance, SECRET_VARIANCE),
    ]
    if size == 3:
        secret = drawn(n, SECRET_VARIANCE, 1.0)
        terms.append(times_drawn(n, multiply(secret, secret), variance))
    return add(*terms)


def _scaling(parameters: BfvParameters, limbs: int) -> Norms:
    """What ``scale`` is off by, times 1, s, s^2: BEHZ's floor misses by up to a unit a limb."""
    n = parameters.n
    secret = drawn(n, SECRET_VARIANCE, 1.0)
    rounding = bounded(n, limbs + 2.0)
    linear = multiply(rounding, secret)
    return add(rounding, linear, multiply(linear, secret))


def _digit(n: int, size: float) -> Norms:
    """Coefficients uniform in 0 … 2^size: a mean in all of them, and a deviation from it."""
    spread = scale(drawn(n, 1 / 12), size)
    # The mean 1/2 in all coefficients is 1/(1 - z) in the embedding at z, at most N/3.
    mean = Norms(size - 1, size - 1 + math.log2(n) / 2, size + math.log2(n / 3))
    return Norms(size, add(spread, mean).length, add(spread, mean).slots)


def _centred_digit(n: int, size: float) -> Norms:
    """Coefficients uniform from -2^(size - 1) to 2^(size - 1), or a little beyond."""
    return scale(drawn(n, 1 / 12, (1 + CENTRING) / 2), size)


def _digits(parameters: BfvParameters, limbs: int) -> list[float]:
    """log2 of the range of each digit's coefficients."""
    if parameters.relinearization == "word":
        words, bits = parameters.words(limbs), float(parameters.word_bits)
        last = max(1.0, _log_q(parameters, limbs) - (words - 1) * bits)
        return [bits] * (words - 1) + [min(last, bits)]
    exact = parameters.residue_digits  # the sums of fast conversion reach as many times D
    return [
        (0 if exact else math.log2(len(digit)))
        + sum(math.log2(parameters.primes[i]) for i in digit)
        for digit in parameters.digits(limbs)
    ]


def _log_q(parameters: BfvParameters, limbs: int) -> float:
    return math.log2(math.prod(parameters.data_primes[:limbs]))


def _floor_log_q(parameters: BfvParameters, limbs: int) -> int:
    return math.prod(parameters.data_primes[:limbs]).bit_length() - 1
