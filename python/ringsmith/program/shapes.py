"""The functions that are approximated, as functions of NumPy, and what is known of their graphs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from ringsmith.program.minimax import Function, Reals


@dataclass(frozen=True)
class Shape:
    """A function of a real number.

    Attributes:
        values: The function of an array, element by element.
        parity: Whether the function less ``constant`` + ``slope`` * x is odd or even.
        constant: See ``parity``.
        slope: See ``parity``.
        everywhere: Whether it has a value for every number.
        sign: (scale, offset), if it is x * (scale * sign(x) + offset).
    """

    values: Function
    parity: Literal["odd", "even"] | None = None
    constant: float = 0.0
    slope: float = 0.0
    everywhere: bool = False
    sign: tuple[float, float] | None = None


_erf = np.vectorize(math.erf, otypes=[np.float64])


def _gelu(x: Reals) -> Reals:
    return np.asarray(x * (1 + _erf(x / math.sqrt(2))) / 2)


SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        "sigmoid": Shape(lambda x: 0.5 + 0.5 * np.tanh(x / 2), "odd", 0.5, everywhere=True),
        "tanh": Shape(np.tanh, "odd", everywhere=True),
        "exp": Shape(np.exp, everywhere=True),
        "log": Shape(np.log),
        "sqrt": Shape(np.sqrt),
        "inverse": Shape(np.reciprocal),
        "relu": Shape(
            lambda x: np.maximum(x, 0), "even", slope=0.5, everywhere=True, sign=(0.5, 0.5)
        ),
        "gelu": Shape(_gelu, "even", slope=0.5, everywhere=True),
        "absolute": Shape(np.abs, "even", everywhere=True, sign=(1.0, 0.0)),
    }
)
