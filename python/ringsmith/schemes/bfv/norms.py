"""Three norms that bound error polynomials, and their rules for sums and products.

For a in R[x]/(x^N + 1), with the embeddings a(z) at the primitive 2N-th roots of unity z:

- ``largest``: the largest magnitude of a coefficient, which decryption depends on;
- ``length``: the Euclidean length of the coefficients, sqrt(mean |a(z)|^2) over the embeddings;
- ``slots``: the largest |a(z)|, the canonical embedding norm.

largest <= length <= slots, slots <= sqrt(N) * length, length <= sqrt(N) * largest. A product's
embeddings are the products of the embeddings, so slots(ab) <= slots(a) * slots(b) and length(ab) <=
slots(a) * length(b); by Cauchy and Schwarz, largest(ab) <= length(a) * length(b). These hold for
any a and b, dependent or not. BFV's noise needs this, because the errors of a ciphertext and of its
square are not independent (Costache, Smart 2016, eprint
2015/889; Iliashenko 2019, "Optimisations of fully homomorphic encryption", section 2).

Only what is drawn anew, or as good as, is bounded by probability: a polynomial with independent
coefficients of variance v has embeddings of variance N * v, nearly Gaussian. Each of its norms here
is exceeded with a probability of about 2^-45 or less (``TAIL``, ``SLOT_TAIL``, ``stretch``).

All norms are kept as log2, since moduli reach 2^1747.
"""

import math
from dataclasses import dataclass

import numpy as np

TAIL = 9.0
"""Standard deviations that a Gaussian coefficient exceeds with a probability of 2^-62; of 2^16
coefficients one does with 2^-46."""
SLOT_TAIL = 6.5
"""Standard deviations that the magnitude of a complex Gaussian exceeds with a probability of
exp(-6.5^2) = 2^-61; of 2^15 embeddings one does with 2^-46."""
EXPONENT = 45 * math.log(2)
"""exp(-EXPONENT) = 2^-45: the probability with which a length may exceed its bound."""


def stretch(n: int, heaviest: float = 1.0) -> float:
    """Returns what a weighted mean of n squares exceeds with a probability of at most 2^-45.

    The squares are of standard Gaussian numbers, the weights from 0 to ``heaviest`` with mean 1:
    Laurent and Massart 2000, "Adaptive estimation of a quadratic functional", lemma 1, with a sum
    of squared weights of at most n * heaviest. Hsu, Kakade, Zhang 2012, "A tail inequality for
    quadratic forms of subgaussian random vectors", have the same for numbers that are sub-Gaussian
    with their own variance, as centred binomial, ternary and uniform ones are.
    """
    part = heaviest * EXPONENT / n
    return 1 + 2 * math.sqrt(part) + 2 * part


@dataclass(frozen=True)
class Norms:
    """log2 of bounds of a polynomial's norms; the module's text names it."""

    largest: float
    length: float
    slots: float


def total(*logs: float) -> float:
    """Returns log2 of the sum of 2^log over all ``logs``."""
    return float(np.logaddexp2.reduce(np.array(logs)))


def add(*terms: Norms) -> Norms:
    """Returns the norms of a sum: each at most the sum of norms."""
    return Norms(
        total(*(term.largest for term in terms)),
        total(*(term.length for term in terms)),
        total(*(term.slots for term in terms)),
    )


def scale(a: Norms, log_factor: float) -> Norms:
    """Returns the norms of 2^log_factor times a."""
    return Norms(a.largest + log_factor, a.length + log_factor, a.slots + log_factor)


def multiply(a: Norms, b: Norms) -> Norms:
    """Returns the norms of a product of any factors."""
    length = min(a.slots + b.length, a.length + b.slots)
    return Norms(min(a.length + b.length, length), length, a.slots + b.slots)


def bounded(n: int, limit: float) -> Norms:
    """Returns the norms of any polynomial with coefficients up to ``limit`` in magnitude."""
    log = math.log2(limit)
    return Norms(log, log + math.log2(n) / 2, log + math.log2(n))


def drawn(n: int, variance: float, limit: float = math.inf) -> Norms:
    """Returns the norms of independent coefficients of mean 0.

    Args:
        n: Their number.
        variance: Of each.
        limit: What none exceeds in magnitude.
    """
    deviation = math.sqrt(variance)
    return Norms(
        math.log2(min(TAIL * deviation, limit)),
        math.log2(n * variance * stretch(n)) / 2,
        math.log2(SLOT_TAIL * math.sqrt(n) * deviation),
    )


def drawn_product(n: int, variance: float, other: float) -> Norms:
    """Returns the norms of a product of two such polynomials, drawn independently.

    Given one factor, whose length and embeddings keep to their bounds, a coefficient is a sum of N
    products, Gaussian; and the squared length a mean of squares weighted by that factor's squared
    embeddings.
    """
    deviation = math.sqrt(n * variance * other)
    factor = stretch(n)  # of the given factor's squared length; its embeddings relative to that:
    spread = factor * stretch(n, SLOT_TAIL**2 / factor)
    return Norms(
        math.log2(TAIL * deviation * math.sqrt(factor)),
        math.log2(math.sqrt(n) * deviation * math.sqrt(spread)),
        math.log2(SLOT_TAIL**2 * math.sqrt(n) * deviation),
    )


def times_drawn(n: int, a: Norms, variance: float) -> Norms:
    """Returns the norms of a times independently drawn coefficients of mean 0.

    A coefficient is Gaussian of standard deviation length(a) * sqrt(variance), given a.
    """
    other = drawn(n, variance)
    either = multiply(a, other)
    largest = min(math.log2(TAIL) + a.length + math.log2(variance) / 2, either.largest)
    return Norms(largest, min(either.length, largest + math.log2(n) / 2), either.slots)
