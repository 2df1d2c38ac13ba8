"""Trains a logistic regression on encrypted records, in one program.

python examples/bootstrapping/training.py

The records are scikit-learn's (569 patients, 30 features, Wisconsin). The
data's owner encrypts them with their diagnoses; the program computes the
weights by gradient descent, and bootstraps once in each iteration.
"""

import argparse
import time
import warnings

import numpy as np
from numpy.polynomial import Polynomial
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import ringsmith as rs

RATE, LARGEST = 0.25, 6.0
# The logistic function of -x, by least squares for x in [-6, 6].
POINTS = np.linspace(-LARGEST, LARGEST, 1001)
CURVE = Polynomial.fit(POINTS, 1 / (1 + np.exp(POINTS)), 3).convert()
CURVE = np.round(CURVE.coef, 12)


def training(z, iterations):
    """Returns the weights after some iterations, from weights of zero.

    Row i of z is a patient's features and a one, times the diagnosis, 1 or
    -1.
    """
    scaled = (RATE / len(z)) * z
    w = 0.5 * scaled.sum(axis=0)  # the first iteration
    for _ in rs.repeat(iterations - 1):
        margins = rs.bounded(z @ w, LARGEST)
        w = rs.bounded(w + rs.polynomial(margins, CURVE) @ scaled, 2)
    return w


def in_the_clear(z, iterations):
    """Returns the weights by NumPy, with the logistic function itself."""
    w = np.zeros(z.shape[1])
    for _ in range(iterations):
        w = w + RATE / len(z) * (1 / (1 + np.exp(z @ w)) @ z)
    return w


def main(patients, iterations, parameters):
    """Trains, and compares with training in the clear.

    Returns:
        The weights, those of the clear training, and the accuracy of both on
        patients that were not used.
    """
    data = load_breast_cancer()
    records, test, labels, test_labels = train_test_split(
        data.data, data.target, test_size=0.2, random_state=0
    )
    mean, width = records.mean(axis=0), 3 * records.std(axis=0)

    def rows(x):
        return np.insert(np.clip((x - mean) / width, -1, 1), 0, 1, axis=1)

    z = (rows(records) * (2 * labels - 1)[:, np.newaxis])[:patients]
    program = rs.trace(
        lambda z: training(z, iterations), parameters, {"z": z.shape}
    )
    print(*(f"added: {note}" for note in program.notes), sep="\n")
    started = time.perf_counter()  # with keys and encryption
    found = program.run(z=z)["result"]
    seconds = time.perf_counter() - started
    clear = in_the_clear(z, iterations)
    accuracies = [
        np.mean((rows(test) @ w > 0) == test_labels) for w in (found, clear)
    ]
    right, in_clear = accuracies
    print(f"{len(z)} patients, {iterations} iterations, {seconds:.0f} s")
    print(f"{right:.1%} of {len(test)} others right, {in_clear:.1%} in clear")
    return found, clear, accuracies


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patients", type=int, default=455)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--set", default="boot-test", help="of parameters")
    options = parser.parse_args()
    warnings.simplefilter("ignore", rs.params.SecurityWarning)
    main(options.patients, options.iterations, options.set)
