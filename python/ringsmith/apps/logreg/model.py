"""The model: logistic regression trained in the clear, and a cubic in place of its sigmoid.

Regularization is strong on purpose. It holds the logits of the training set within about
[-7.5, 7.5], where an odd cubic stays within about 0.1 of the sigmoid; weaker regularization widens
the range, and a cubic (all that two levels can evaluate) then follows the sigmoid less well.
"""

from dataclasses import dataclass

import numpy as np

from ringsmith.apps.logreg.records import Preprocessing, Reals, Records
from ringsmith.errors import ToolError

INVERSE_REGULARIZATION = 0.02
"""scikit-learn's C."""
FIT_NODES = 64


def sigmoid(x: Reals) -> Reals:
    """Returns 1 / (1 + e^-x)."""
    return 1.0 / (1.0 + np.exp(-x))


def fit_sigmoid(bound: float) -> tuple[float, float, float, float]:
    """Fits the sigmoid on [-bound, bound] by 1/2 + c1*x + c3*x^3.

    Least squares at the ``FIT_NODES`` Chebyshev nodes of the interval, which comes near the
    polynomial of least largest error. Only odd powers beside 1/2, since sigmoid - 1/2 is odd.

    Returns:
        Coefficients of 1, x, x^2, x^3.
    """
    angles = (2 * np.arange(FIT_NODES) + 1) * np.pi / (2 * FIT_NODES)
    nodes = bound * np.cos(angles)
    powers = np.stack([nodes, nodes**3], axis=1)
    (c1, c3), *_ = np.linalg.lstsq(powers, sigmoid(nodes) - 0.5)
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
