"""The model: logistic regression trained in the clear, and a cubic in place of its sigmoid.

Regularization is strong on purpose. It holds the logits of the training set within about
[-7.5, 7.5], where an odd cubic stays within 0.09 of the sigmoid; weaker regularization widens
the range, and a cubic (all that two levels can evaluate) then follows the sigmoid less well.
"""

from dataclasses import dataclass

import numpy as np

from ringsmith.apps.logreg.records import Preprocessing, Reals, Records
from ringsmith.errors import ToolError

INVERSE_REGULARIZATION = 0.02
"""scikit-learn's C."""
GRID = 4096
MAX_EXCHANGES = 20
"""Remez's exchange converges in about five."""


def sigmoid(x: Reals) -> Reals:
    """Returns 1 / (1 + e^-x)."""
    return 1.0 / (1.0 + np.exp(-x))


def fit_sigmoid(bound: float) -> tuple[float, float, float, float]:
    """Fits 1/2 + c1*x + c3*x^3 to the sigmoid on [-bound, bound], for the least largest error.

    Only odd powers beside 1/2, since sigmoid - 1/2 is odd; so (0, bound] is enough, where x and
    x^3 obey Haar's condition and the best fit's error has three alternating extrema of one
    magnitude. Remez's exchange finds them on a grid of ``GRID`` points.

    Returns:
        Coefficients of 1, x, x^2, x^3.
    """
    x = bound * np.arange(1, GRID + 1) / GRID
    target = sigmoid(x) - 0.5
    extrema = np.array([GRID // 4, 3 * GRID // 4, GRID]) - 1
    for _ in range(MAX_EXCHANGES):
        reference = x[extrema]
        system = np.stack([reference, reference**3, [1.0, -1.0, 1.0]], axis=1)
        c1, c3, level = np.linalg.solve(system, target[extrema])
        error = target - c1 * x - c3 * x**3
        # Two sign changes part the interval in three pieces, one extremum each.
        changes = np.flatnonzero(np.sign(error[:-1]) != np.sign(error[1:])) + 1
        pieces = np.split(np.arange(GRID), changes)
        extrema = np.array([piece[np.argmax(np.abs(error[piece]))] for piece in pieces])
        if np.abs(error).max() <= abs(level) * (1 + 1e-9):
            break
    return 0.5, float(c1), 0.0, float(c3)


@dataclass(frozen=True, eq=False)
class Model:
    """A trained model: what the server owns.

    Attributes:
        preprocessing: How raw features become inputs.
        weights: One a feature.
        bias: Added to the weighted sum.
        logit_bound: Largest magnitude of a logit in training.
        sigmoid_coefficients: Of 1, x, x^2, x^3, fitted on [-logit_bound, logit_bound].
    """

    preprocessing: Preprocessing
    weights: Reals
    bias: float
    logit_bound: float
    sigmoid_coefficients: tuple[float, ...]

    def logits(self, inputs: Reals) -> Reals:
        """Returns weighted sums plus bias, (patients,), for inputs (patients, features)."""
        return np.asarray(inputs @ self.weights + self.bias, dtype=np.float64)

    def probabilities(self, inputs: Reals) -> Reals:
        """Returns the probability that each tumour is malignant, by the true sigmoid."""
        return sigmoid(self.logits(inputs))

    def cubic_probabilities(self, inputs: Reals) -> Reals:
        """Returns the same by the cubic: what the encrypted program computes."""
        values = np.polynomial.polynomial.polyval(self.logits(inputs), self.sigmoid_coefficients)
        return np.asarray(values, dtype=np.float64)


def train(records: Records) -> Model:
    """Trains a model in the clear.

    Raises:
        ToolError: When scikit-learn is not installed.
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise ToolError(
            "scikit-learn is missing; it trains the model: pip install 'ringsmith[apps]'"
        ) from error
    preprocessing = Preprocessing.fit(records.features)
    inputs = preprocessing(records.features)
    fitted = LogisticRegression(C=INVERSE_REGULARIZATION, max_iter=1000).fit(
        inputs, records.malignant
    )
    weights = np.asarray(fitted.coef_[0], dtype=np.float64)
    bias = float(fitted.intercept_[0])
    bound = float(np.abs(inputs @ weights + bias).max())
    return Model(preprocessing, weights, bias, bound, fit_sigmoid(bound))
