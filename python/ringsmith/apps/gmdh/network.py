"""The network: quadratic neurons with fixed-point coefficients, and what they compute.

**Fixed point.** A reading r, clipped to the range that training saw, is the integer round(r * 2^a),
a = ``Readings.bits``. A neuron of a layer
whose operands X, Y have s binary places computes

    b0 + b1*X + b2*Y + b3*X*Y + b4*X^2 + b5*Y^2,

with integer coefficients: b3 … b5 have c binary places, b1 and b2 have s + c, b0 has 2s + c, so
that all terms have 2s + c, and so has the result. Nothing is ever rounded after the readings: the
network is one polynomial with integer coefficients, exact in the integers and so modulo every t.

**Divided.** The same with all values divided by 2^c: x' = x / 2^c, and

    z' = b0 / 2^c + b1*x' + b2*y' + 2^c * (b3*x'*y' + b4*x'^2 + b5*y'^2).

The coefficients of the products of values are whole numbers again, the integers b3 … b5 of the
fixed point. A program on real numbers multiplies by them by additions, so that a layer costs it one
level, for the products of values.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ringsmith.apps.gmdh.curves import Reals

Integers = NDArray[np.object_]
"""Python's integers, of any size."""


class Ring(Protocol):
    """What adds and multiplies: arrays of numbers, and encrypted vectors."""

    def __add__(self, other: Any, /) -> Self: ...  # noqa: ANN401 - other is Self or a number
    def __mul__(self, other: Any, /) -> Self: ...  # noqa: ANN401


R = TypeVar("R", bound=Ring)


@dataclass(frozen=True)
class Neuron:
    """A quadratic polynomial of two values of the layer before.

    Attributes:
        first: Index of x in the layer before; in the first layer, the reading's hour.
        second: Index of y.
        coefficients: Integers, of 1, x, y, x*y, x^2, y^2; module text: binary places.
    """

    first: int
    second: int
    coefficients: tuple[int, ...]


@dataclass(frozen=True)
class Layer:
    """Neurons side by side.

    Attributes:
        neurons: The neurons.
        operand_bits: Binary places of the layer before: s.
        coefficient_bits: Binary places of the coefficients of x*y, x^2 and y^2: c.
    """

    neurons: tuple[Neuron, ...]
    operand_bits: int
    coefficient_bits: int

    @property
    def bits(self) -> int:
        """Binary places of the layer's values."""
        return 2 * self.operand_bits + self.coefficient_bits

    def real(self, neuron: Neuron) -> tuple[float, ...]:
        """Returns the numbers that a neuron's integer coefficients stand for."""
        s, c = self.operand_bits, self.coefficient_bits
        places = (2 * s + c, s + c, s + c, c, c, c)
        # Division of integers, since neither need fit a double.
        return tuple(b / (1 << p) for b, p in zip(neuron.coefficients, places, strict=True))

    def divided(self, neuron: Neuron) -> tuple[float, ...]:
        """Returns a neuron's coefficients for values divided by 2^c; the last three are whole."""
        b0, b1, b2, *_ = self.real(neuron)
        return (math.ldexp(b0, -self.coefficient_bits), b1, b2, *neuron.coefficients[3:])


@dataclass(frozen=True)
class Readings:
    """How readings become integers: public, since clients do it.

    Attributes:
        bits: Binary places.
        limits: What readings are clipped to in magnitude, by hour.
    """

    bits: int
    limits: tuple[float, ...]

    def integers(self, readings: Reals) -> NDArray[np.int64]:
        """Returns readings (days, hours) as integers: clipped, times 2^bits, rounded."""
        limits = np.array(self.limits)
        clipped = np.clip(readings, -limits, limits)
        return np.rint(np.ldexp(clipped, self.bits)).astype(np.int64)

    def real(self, integers: NDArray[np.int64]) -> Reals:
        """Returns the numbers that integers stand for."""
        return np.ldexp(integers.astype(np.float64), -self.bits)


def real(integers: Integers, bits: int) -> Reals:
    """Returns the numbers that integers of any size with ``bits`` binary places stand for."""
    one = 1 << bits
    return np.array([int(value) / one for value in integers])


@dataclass(frozen=True)
class Network:
    """A trained network: what the server owns.

    Attributes:
        readings: How readings become integers.
        layers: Three hidden layers, and the output neuron.
    """

    readings: Readings
    layers: tuple[Layer, ...]

    @cached_property
    def used(self) -> tuple[frozenset[int], ...]:
        """Which readings, and then which neurons of each layer, the forecast depends on."""
        used = [frozenset({0})]
        for layer in reversed(self.layers):
            chosen = (layer.neurons[i] for i in used[0])
            used.insert(0, frozenset(i for n in chosen for i in (n.first, n.second)))
        return tuple(used)

    @property
    def hours(self) -> tuple[int, ...]:
        """The readings that the forecast depends on, ascending."""
        return tuple(sorted(self.used[0]))

    @property
    def unit(self) -> float:
        """What values are divided by where the network computes on divided ones: 2^c."""
        return float(1 << self.layers[0].coefficient_bits)

    @property
    def output_bits(self) -> int:
        """Binary places of the forecast's integer."""
        return self.layers[-1].bits

    def exact(self, integers: NDArray[np.int64]) -> Integers:
        """Returns the forecasts' integers, (days,), from integer readings (days, hours): exact."""
        columns = {h: integers[:, h].astype(object) for h in self.hours}
        return forward(self, columns, lambda _, neuron: neuron.coefficients)

    def forecast(self, readings: Reals) -> Reals:
        """Returns forecasts (days,) in the clear, for readings (days, hours): exact, then real."""
        return real(self.exact(self.readings.integers(readings)), self.output_bits)

    def largest_integer(self) -> int:
        """Returns an upper bound of every forecast's integer in magnitude, for any readings.

        Interval arithmetic on magnitudes, in integers: every term at its largest, all of one sign.
        """
        limits = self.readings.integers(np.array([self.readings.limits]))
        bounds = {hour: limits[:, hour].astype(object) for hour in self.hours}
        return int(forward(self, bounds, lambda _, n: tuple(abs(b) for b in n.coefficients))[0])


def forward(
    network: Network,
    readings: Mapping[int, R],
    coefficients: Callable[[Layer, Neuron], Sequence[Any]],
    times: Callable[[R, Any], R] = operator.mul,
) -> R:
    """Evaluates the network on anything that adds and multiplies: the one way it is computed.

    Args:
        network: The network.
        readings: The values that stand for the used readings, by hour.
        coefficients: Returns a neuron's six coefficients, as what the values multiply with.
        times: Multiplies a value by one of the last three.

    Returns:
        The forecast.
    """
    values: Mapping[int, R] = readings
    for layer, used in zip(network.layers, network.used[1:], strict=True):
        values = {
            i: _neuron(values[n.first], values[n.second], coefficients(layer, n), times)
            for i, n in enumerate(layer.neurons)
            if i in used
        }
    return values[0]


def _neuron(x: R, y: R, b: Sequence[Any], times: Callable[[R, Any], R]) -> R:
    """Returns x * (b3*y + b4*x + b1) + y * (b5*y + b2) + b0, without the terms that are zero.

    Two products of values and a depth of 1; and a sum of products, so that in an encrypted program
    one relinearization serves both.
    """
    terms = [
        term
        for term in (
            _product(x, [(b[3], y), (b[4], x)], b[1], times),
            _product(y, [(b[5], y)], b[2], times),
        )
        if term is not None
    ]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total if b[0] == 0 else total + b[0]


def _product(
    value: R,
    weighted: list[tuple[Any, R]],
    constant: Any,  # noqa: ANN401
    times: Callable[[R, Any], R],
) -> R | None:
    """Returns value * (the weighted sum + constant); None where the factor is 0."""
    factor: R | None = None
    for weight, operand in weighted:
        if weight != 0:
            term = operand if weight == 1 else times(operand, weight)
            factor = term if factor is None else factor + term
    if factor is None:
        return None if constant == 0 else value * constant
    return value * (factor if constant == 0 else factor + constant)
