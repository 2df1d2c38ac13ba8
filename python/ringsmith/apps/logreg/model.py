"""The model: logistic regression trained in the clear, a polynomial in place of its sigmoid.

Regularization is strong on purpose. It holds the logits of the training set within about
[-7.5, 7.5], where an odd cubic stays within 0.09 of the sigmoid, and degree 7 within 0.02; weaker
regularization widens the range, and the polynomial then follows the sigmoid less well.
"""

import math
from dataclasses import dataclass

import numpy as np

from ringsmith.apps.logreg.records import Preprocessing, Reals, Records
from ringsmith.apps.logreg.sizes import Size
from ringsmith.errors import ToolError

INVERSE_REGULARIZATION = 9.1
"""scikit-learn's C times the patients: its loss is a sum over them, its penalty is not."""
GRID = 4096
MAX_EXCHANGES = 20
"""Remez's exchange converges in about five."""


def sigmoid(x: Reals) -> Reals:
    """Returns 1 / (1 + e^-x)."""
    return 1.0 / (1.0 + np.exp(-x))


def fit_sigmoid(bound: float, degree: int) -> tuple[float, ...]:
    """Fits 1/2 + c1*x + c3*x^3 + … to the sigmoid on [-bound, bound], for the least largest error.

    Only odd powers beside 1/2, since sigmoid - 1/2 is odd; so (0, bound] is enough, where k odd
    powers obey Haar's condition and the best fit's error has k + 1 alternating extrema of one
    magnitude. Remez's exchange finds them on a grid of ``GRID`` points, from those of Chebyshev's
    polynomial of degree 2k + 1.

    Args:
        bound: Of the interval, above 0.
        degree: Of the polynomial, odd.

    Returns:
        Coefficients of 1, x, …, x^degree.
    """
    powers = np.arange(1, degree + 1, 2)
    x = np.arange(1, GRID + 1) / GRID
    basis = x[:, None] ** powers
    target = sigmoid(bound * x) - 0.5
    angles = np.arange(powers.size, -1, -1) * np.pi / (degree + 2)
    extrema = np.rint(np.cos(angles) * GRID).astype(np.int64) - 1
    signs = (-1.0) ** np.arange(powers.size + 1)
    for _ in range(MAX_EXCHANGES):
        *fitted, level = np.linalg.solve(np.column_stack([basis[extrema], signs]), target[extrema])
        error = target - basis @ fitted
        # As many sign changes as powers divide the interval into parts with one extremum each.
        changes = np.flatnonzero(np.sign(error[:-1]) != np.sign(error[1:])) + 1
        pieces = np.split(np.arange(GRID), changes)
        extrema = np.array([piece[np.argmax(np.abs(error[piece]))] for piece in pieces])
        if np.abs(error).max() <= abs(level) * (1 + 1e-9):
            break
    coefficients = np.zeros(degree + 1)
    coefficients[0] = 0.5
    coefficients[powers] = fitted / bound**powers
    return tuple(coefficients.tolist())


@dataclass(frozen=True, eq=False)
class Model:
    """A trained model: what the server owns.

    Attributes:
        preprocessing: How raw features become inputs.
        weights: One a feature.
        bias: Added to the weighted sum.
        logit_bound: Logits up to this magnitude are expected.
        sigmoid_coefficients: Of 1, x, x^2, …, fitted on [-logit_bound, logit_bound].
    """

    preprocessing: Preprocessing
    weights: Reals
    bias: float
    logit_bound: float
    sigmoid_coefficients: tuple[float, ...]

    def unit(self, monic: bool) -> float:
        """Returns the factor of logits x when they are encrypted: 1/bound, or the monic one.

        With the monic one, u, the sigmoid's polynomial in u*x has the leading coefficient 1. Its
        magnitude is that of the leading coefficient c, to the power 1/degree, and its sign c's.
        """
        if not monic:
            return 1 / self.logit_bound
        leading = self.sigmoid_coefficients[-1]
        degree = len(self.sigmoid_coefficients) - 1
        return math.copysign(abs(leading) ** (1 / degree), leading)

    def scaled_coefficients(self, monic: bool) -> list[float]:
        """Returns the coefficients of the sigmoid's polynomial in encrypted logits, 1's first."""
        unit = self.unit(monic)
        *lower, leading = (c / unit**power for power, c in enumerate(self.sigmoid_coefficients))
        return [*lower, 1.0 if monic else leading]

    def logits(self, inputs: Reals) -> Reals:
        """Returns weighted sums plus bias, (patients,), for inputs (patients, features)."""
        return np.asarray(inputs @ self.weights + self.bias, dtype=np.float64)

    def probabilities(self, inputs: Reals) -> Reals:
        """Returns the probability that each tumour is malignant, by the true sigmoid."""
        return sigmoid(self.logits(inputs))

    def polynomial_probabilities(self, inputs: Reals) -> Reals:
        """Returns the same by the polynomial: what the encrypted program computes."""
        values = np.polynomial.polynomial.polyval(self.logits(inputs), self.sigmoid_coefficients)
        return np.asarray(values, dtype=np.float64)


def train(records: Records, size: Size) -> Model:
    """Trains a model in the clear.

    Args:
        records: The training records.
        size: How many features it sees, and the polynomial's degree and margin.

    Raises:
        ToolError: When scikit-learn is not installed.
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ModuleNotFoundError as error:
        raise ToolError(
            "scikit-learn is missing; it trains the model: pip install 'ringsmith[apps]'"
        ) from error
    preprocessing = Preprocessing.fit(records, size.features)
    inputs = preprocessing(records.features)
    fitted = LogisticRegression(C=INVERSE_REGULARIZATION / len(records), max_iter=1000).fit(
        inputs, records.malignant
    )
    weights = np.asarray(fitted.coef_[0], dtype=np.float64)
    bias = float(fitted.intercept_[0])
    bound = size.margin * float(np.abs(inputs @ weights + bias).max())
    return Model(preprocessing, weights, bias, bound, fit_sigmoid(bound, size.degree))
