"""Operators that are no polynomials: of encrypted numbers their approximations.

Those that ``ringsmith`` has by name are minimax polynomials and compositions of them, or rounds of
comparisons; others are Chebyshev interpolants.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ringsmith.networks.calls import Call, Value, encrypted
from ringsmith.networks.operators import interpolated, operator, share_of
from ringsmith.program import approximations
from ringsmith.program.comparisons import maximum, minimum
from ringsmith.program.elementwise import value_range
from ringsmith.program.ndarray.axes import softmax
from ringsmith.program.shapes import SHAPES

Reals = NDArray[np.float64]
Function = Callable[[Reals], Reals]
_ERF = np.vectorize(math.erf, otypes=[float])

_BY_NAME = {
    "Abs": "absolute",
    "Exp": "exp",
    "Gelu": "gelu",
    "Log": "log",
    "Reciprocal": "inverse",
    "Relu": "relu",
    "Sigmoid": "sigmoid",
    "Sqrt": "sqrt",
    "Tanh": "tanh",
}
_ABOVE_ZERO = ("Log", "Reciprocal", "Sqrt")


def approximated(call: Call, x: Value, name: str) -> Value:
    """Returns a function that ``ringsmith`` has by name.

    Args:
        call: The node.
        x: Its numbers; plain ones are computed.
        name: Of the function in ``ringsmith.program.approximations``.
    """
    values = SHAPES[name].values
    if not encrypted(x):
        return values(np.asarray(x, np.float64))
    function = getattr(approximations, name)
    if call.settings.degree is not None:
        return function(x, degree=call.settings.degree)
    if call.settings.error is None:
        return function(x)
    found = value_range(x)
    if found is None:
        return function(x)
    reached = values(np.linspace(float(found.low), float(found.high), 513))
    width = float(reached.max() - reached.min())
    return function(x, error=call.settings.error * width) if width else function(x)


@operator(*_BY_NAME)
def _by_name(call: Call) -> Value:
    name = call.node.operator
    if name == "Gelu" and call.attribute("approximate", "none") == "tanh":
        return _by_interpolation(call, _gelu_by_tanh)
    x = call.x_above_zero if name in _ABOVE_ZERO else call.x
    return approximated(call, x, _BY_NAME[name])


def _gelu_by_tanh(v: Reals) -> Reals:
    inner = math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)
    return np.asarray(v / 2 * (1 + np.tanh(inner)))


@operator("LeakyRelu")
def _leaky_relu(call: Call) -> Value:
    slope = call.attribute("alpha", 0.01)
    return call.x * slope + approximated(call, call.x, "relu") * (1 - slope)


@operator("PRelu")
def _parametric_relu(call: Call) -> Value:
    slope = call.plain(1)
    return call.x * slope + approximated(call, call.x, "relu") * (1 - slope)


@operator("Clip")
def _clip(call: Call) -> Value:
    x = call.x
    low = call.attribute("min") if call.optional(1) is None else call.plain(1).item()
    high = call.attribute("max") if call.optional(2) is None else call.plain(2).item()
    if not encrypted(x):
        return np.clip(x, low, high)
    found = value_range(x)
    known = (-math.inf, math.inf) if found is None else (float(found.low), float(found.high))
    below = low is not None and known[0] < low
    above = high is not None and known[1] > high
    if below:
        x = approximated(call, x - low, "relu") + low
    if above:
        x = high - approximated(call, high - x, "relu")
    return x


@operator("Max", "Min")
def _extreme(call: Call) -> Value:
    largest = call.node.operator == "Max"
    total = call.x
    for each in call.operands[1:]:
        if not encrypted(total) and not encrypted(each):
            total = (np.maximum if largest else np.minimum)(total, each)
        else:
            a, b = (total, each) if encrypted(total) else (each, total)
            total = (maximum if largest else minimum)(a, b, error=share_of(call, a))
    return total


def _slope(call: Call, name: str, default: float) -> float:
    return float(call.attribute(name, default))


def _selu(call: Call, v: Reals) -> Reals:
    alpha, gamma = _slope(call, "alpha", 1.6732632), _slope(call, "gamma", 1.0507010)
    return np.asarray(gamma * np.where(v > 0, v, alpha * np.expm1(np.minimum(v, 0))))


def _elu(call: Call, v: Reals) -> Reals:
    return np.where(v > 0, v, _slope(call, "alpha", 1.0) * np.expm1(np.minimum(v, 0)))


def _celu(call: Call, v: Reals) -> Reals:
    alpha = _slope(call, "alpha", 1.0)
    return np.where(v > 0, v, alpha * np.expm1(np.minimum(v, 0) / alpha))


def _hard_sigmoid(call: Call, v: Reals) -> Reals:
    return np.clip(_slope(call, "alpha", 0.2) * v + _slope(call, "beta", 0.5), 0, 1)


def _hard_swish(call: Call, v: Reals) -> Reals:
    return np.asarray(v * np.clip(v / 6 + 0.5, 0, 1))


def _swish(call: Call, v: Reals) -> Reals:
    return np.asarray(v / (1 + np.exp(-_slope(call, "alpha", 1.0) * v)))


def _softplus(call: Call, v: Reals) -> Reals:
    return np.asarray(np.logaddexp(0, v))


def _softsign(call: Call, v: Reals) -> Reals:
    return np.asarray(v / (1 + np.abs(v)))


def _mish(call: Call, v: Reals) -> Reals:
    return np.asarray(v * np.tanh(np.logaddexp(0, v)))


def _erf(call: Call, v: Reals) -> Reals:
    return np.asarray(_ERF(v))


_INTERPOLATED = {
    "Celu": _celu,
    "Elu": _elu,
    "Erf": _erf,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "Mish": _mish,
    "Selu": _selu,
    "Softplus": _softplus,
    "Softsign": _softsign,
    "Swish": _swish,
}


@operator(*_INTERPOLATED)
def _by_own_formula(call: Call) -> Value:
    return _by_interpolation(call, partial(_INTERPOLATED[call.node.operator], call))


def _by_interpolation(call: Call, function: Function) -> Value:
    x = call.x
    if not encrypted(x):
        return function(np.asarray(x, np.float64))
    found = value_range(x)
    if found is None:
        raise call.error("its numbers have no range: calibrate with samples (--calibrate)")
    return interpolated(call, x, function, (float(found.low), float(found.high)))


@operator("Softmax")
def _softmax(call: Call) -> Value:
    x = call.x
    axis = call.attribute("axis", -1 if call.opset >= 13 else 1)
    if call.opset < 13 and axis % x.ndim != x.ndim - 1:
        raise call.error("before version 13, Softmax of several axes at once is not computed")
    name = f"{call.node.outputs[0]} sum"
    if not encrypted(x):
        call.range_of(name, np.exp(x).sum(axis=axis, keepdims=True))
        powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
        return powers / powers.sum(axis=axis, keepdims=True)
    found = call.range_of(name, x, above_zero=True)
    sums = found if found is not None and 0 < found[0] < found[1] < math.inf else None
    options = {} if call.settings.error is None else {"error": call.settings.error}
    return softmax(x, axis, sums=sums, **options)
