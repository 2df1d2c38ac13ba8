"""The encrypted circuits of the classification: one of few operations, one of the paper's counts.

Both compute the same function of the packed records: the weighted sum of every patient's features,
the bias, and the sigmoid's polynomial. They differ in their operations and in their levels.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from ringsmith.apps.logreg.records import Reals
from ringsmith.program import EncryptedVector, polynomial, sum_rotations


@dataclass(frozen=True)
class Constants:
    """What a circuit computes with.

    Attributes:
        weights: The packed weights, one a slot.
        bias: Added to the weighted sums.
        coefficients: Of the sigmoid's polynomial, 1's first.
        block: Places for features in a ciphertext.
        patients: Patients that fit into a ciphertext.
    """

    weights: Reals
    bias: float
    coefficients: Sequence[float]
    block: int
    patients: int


@dataclass(frozen=True)
class Circuit:
    """A circuit.

    Attributes:
        evaluate: Returns the probabilities of packed records.
        extra_levels: Levels beside those of the weights and of the polynomial.
        lazy_rescale: As of ``trace``.
    """

    evaluate: Callable[[EncryptedVector, Constants], EncryptedVector]
    extra_levels: int
    lazy_rescale: bool


def _fewest(records: EncryptedVector, constants: Constants) -> EncryptedVector:
    """Sums by doubling where that is possible; splits the polynomial for the fewest products."""
    weighted = sum_rotations(records * constants.weights, constants.block, constants.patients)
    return polynomial(weighted + constants.bias, constants.coefficients)


MEDHA_BLOCK, MEDHA_DEGREE = 18, 7
"""The features and the degree that ``medha`` is written for."""
_GROUP = 6
"""Features that ``medha`` adds first: 5 rotations, and 2 for the 3 groups of a block."""


def _medha(records: EncryptedVector, constants: Constants) -> EncryptedVector:
    """Takes the Medha paper's counts: 7 rotations, 5 products of ciphertexts, 11 rescalings.

    The paper states the counts, the modulus, which leaves five levels, and that the keys stay on
    the chip. It has no circuit. Inferred here is one that meets all three: the 18 features are
    added as 3 groups of 6; a mask sets the slots to 0 that hold no patient's sum; and the
    polynomial of the logit x is

        c0 + c1*x + c3*(x*x^2) + (c5*x + (c7*x)*x^2) * x^4.

    Rescaled are the 6 products with plaintexts (weights, mask, 4 coefficients) and the 5 others.
    """
    stride = constants.patients
    added = _turned(records * constants.weights, _GROUP, stride)
    sums = _turned(added, MEDHA_BLOCK // _GROUP, _GROUP * stride)
    x = sums * np.ones(stride) + constants.bias
    c0, c1, _, c3, _, c5, _, c7 = constants.coefficients
    square = x * x
    inner = x * c7 * square + x * c5
    return inner * (square * square) + (x * square) * c3 + x * c1 + c0


def _turned(x: EncryptedVector, count: int, step: int) -> EncryptedVector:
    """Adds x and x rotated by step, 2*step, …: ``count`` terms, each the one before it, rotated.

    All rotations are by one step and take one key: that is why the keys stay on the chip.
    """
    total = turned = x
    for _ in range(1, count):
        turned = turned.rotate(step)
        total = total + turned
    return total


CIRCUITS: Final[Mapping[str, Circuit]] = MappingProxyType(
    {
        "fewest": Circuit(_fewest, 0, lazy_rescale=True),
        "medha": Circuit(_medha, 1, lazy_rescale=False),
    }
)
"""``fewest``: as few operations as the front end finds; ``medha``: as many as the paper counts."""
