"""Training: the group method of data handling, with coefficients that fixed point can hold.

Layer by layer, a neuron is fitted to every pair of the values before, by least squares to the
target, and the few that forecast the selection days best make the layer (Ivakhnenko 1970; Bos et
al. 2017, section 4). The three quadratic coefficients are rounded to ``COEFFICIENT_BITS`` binary
places first, and the linear ones and the constant, which have many more, are fitted to what is then
left: so coarse steps cost next to nothing, and the integers, whose places double in every layer,
stay small.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np

from ringsmith.apps.gmdh.curves import Curves, Reals
from ringsmith.apps.gmdh.network import Layer, Network, Neuron, Readings

WIDTHS = (8, 4, 2, 1)
"""Neurons of the three hidden layers and of the output."""
INPUT_BITS = 5
COEFFICIENT_BITS = 3
RIDGE = 1.0
"""Penalty of a squared coefficient, in days' squared errors: holds coefficients of nearly equal
columns small."""


def train(fit: Curves, select: Curves) -> Network:
    """Trains a network in the clear.

    Args:
        fit: The days that coefficients are fitted to.
        select: The days by which a layer's neurons are chosen.
    """
    network = Network(Readings(INPUT_BITS, _limits(fit, select)), ())
    fitted, chosen = (_quantized(network.readings, curves) for curves in (fit, select))
    bits = INPUT_BITS
    for width in WIDTHS:
        empty = Layer((), bits, COEFFICIENT_BITS)
        candidates = []
        for i, j in combinations(range(fitted.shape[1]), 2):
            neuron = Neuron(i, j, _coefficients(empty, fitted[:, i], fitted[:, j], fit.target))
            forecast = _terms(chosen[:, i], chosen[:, j]) @ np.array(empty.real(neuron))
            candidates.append((float(np.mean((forecast - select.target) ** 2)), i, j, neuron))
        best = sorted(candidates, key=lambda candidate: candidate[:3])[:width]
        layer = Layer(tuple(neuron for *_, neuron in best), bits, COEFFICIENT_BITS)
        fitted, chosen = (_values(layer, values) for values in (fitted, chosen))
        network = replace(network, layers=(*network.layers, layer))
        bits = layer.bits
    return network


def _limits(*known: Curves) -> tuple[float, ...]:
    """The largest magnitude of each hour's readings, rounded up to a quarter."""
    largest = np.max([np.abs(curves.observed).max(axis=0) for curves in known], axis=0)
    return tuple(float(limit) for limit in np.ceil(4 * largest) / 4)


def _quantized(readings: Readings, curves: Curves) -> Reals:
    return readings.real(readings.integers(curves.observed))


def _values(layer: Layer, before: Reals) -> Reals:
    """The layer's values (days, neurons) for those of the layer before."""
    columns = [
        _terms(before[:, n.first], before[:, n.second]) @ np.array(layer.real(n))
        for n in layer.neurons
    ]
    return np.stack(columns, axis=1)


def _terms(x: Reals, y: Reals) -> Reals:
    """1, x, y, x*y, x^2, y^2 as columns."""
    return np.stack([np.ones_like(x), x, y, x * y, x * x, y * y], axis=1)


def _coefficients(layer: Layer, x: Reals, y: Reals, target: Reals) -> tuple[int, ...]:
    """The integer coefficients of a neuron of that layer, fitted to the target."""
    s, c = layer.operand_bits, layer.coefficient_bits
    terms = _terms(x, y)
    quadratic: Reals = np.rint(np.ldexp(_least_squares(terms, target)[3:], c))
    left: Reals = target - terms[:, 3:] @ np.ldexp(quadratic, -c)
    linear: Reals = _least_squares(terms[:, :3], left)
    places = (2 * s + c, s + c, s + c)
    # int() of a double is exact, and so keeps what a 64-bit integer could not hold.
    rounded = [round(float(b) * (1 << p)) for b, p in zip(linear, places, strict=True)]
    return (*rounded, *(int(b) for b in quadratic))


def _least_squares(columns: Reals, target: Reals) -> Reals:
    squares = columns.T @ columns + RIDGE * np.eye(columns.shape[1])
    return np.asarray(np.linalg.solve(squares, columns.T @ target), np.float64)
