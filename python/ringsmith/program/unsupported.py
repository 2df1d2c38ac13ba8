"""Rejects Python and NumPy operations that encrypted vectors do not support, with a hint."""

from typing import NoReturn, Self

import numpy as np

from ringsmith.errors import ProgramError
from ringsmith.program.late import of_program
from ringsmith.program.source import caller

_POLYNOMIAL = "approximate it: chebyshev(x, function, degree, (low, high))"
_INSTEAD = {
    "maximum": "maximum(x, y)",
    "fmax": "maximum(x, y)",
    "max": "maximum(x, y)",
    "minimum": "minimum(x, y)",
    "fmin": "minimum(x, y)",
    "sign": "sign(x)",
    "exp": "exp(x)",
    "log": "log(x)",
    "sqrt": "sqrt(x)",
    "tanh": "tanh(x)",
    "reciprocal": "inverse(x)",
    "prod": "x * y, or x**n",
    "roll": "x.rotate(steps)",
    "concatenate": "x + y.rotate(-len(x))",
    "std": "sqrt(x.var())",
    "average": "x.mean(), or x @ weights",
    "vdot": "x @ y",
    "power": "x**n",
    "polyval": "polynomial(x, coefficients)",
    "where": "mask * x + (1 - mask) * y, or compare(a, b)",
    "convolve": "a sum of x.rotate(k) * weights[k]",
    "norm": "sqrt(x @ x)",
    "argmax": "argmax(x, axis) of ringsmith is about 1 at the largest entry and 0 elsewhere",
}
"""What to call for functions of NumPy."""
_METHODS = {
    "std": _INSTEAD["std"],
    "max": "maximum(x, y) compares two vectors",
    "min": "minimum(x, y) compares two vectors",
    "argmax": "argmax(x, axis) is about 1 at an array's largest entry and 0 elsewhere",
    "T": "a vector has one axis: x itself",
    "reshape": "a vector has one axis",
    "cumsum": "matvec(np.tril(np.ones((n, n))), x)",
    "prod": _INSTEAD["prod"],
    "astype": "leave it out",
}
"""What to call for methods of NumPy's arrays."""


class Unsupported:
    """Base of encrypted vectors: every method raises a ``ProgramError`` at the user's line."""

    def __getattr__(self, name: str) -> NoReturn:
        if name in _METHODS:
            raise caller().error(f"an encrypted vector has no {name}: {_METHODS[name]}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __floordiv__(self, other: object) -> NoReturn:
        raise caller().error("encrypted numbers are not rounded: / divides by numbers, in CKKS")

    __mod__ = __rfloordiv__ = __rmod__ = __floordiv__

    __hash__ = None  # type: ignore[assignment]  # follows from __eq__

    def __bool__(self) -> NoReturn:
        raise caller().error(
            "the program asks for the truth of an encrypted value: only the key holder can "
            "see it; compute both branches and select by multiplication"
        )

    def _refuse_comparison(self, other: object) -> NoReturn:
        raise caller().error(
            "encrypted values cannot be compared: compare(a, b) is about 1 where a > b and 0 where "
            "a < b, sign(x) about -1 or 1"
        )

    __lt__ = __le__ = __gt__ = __ge__ = _refuse_comparison
    __eq__ = __ne__ = _refuse_comparison

    def __rtruediv__(self, other: object) -> NoReturn:
        raise division_error()

    def __rpow__(self, base: object) -> NoReturn:
        raise caller().error(f"an encrypted vector cannot be an exponent: {_POLYNOMIAL}")

    def __getitem__(self, index: object) -> NoReturn:
        raise caller().error(
            f"slots of an encrypted vector cannot be taken out by [{index!r:.60}]: x.rotate(i) "
            "brings slot i to slot 0, and a product with ones and zeros keeps some slots"
        )

    def __iter__(self) -> NoReturn:
        raise caller().error(
            "an encrypted vector cannot be iterated over: x.rotate(i) brings slot i to slot 0, "
            "sum_slots(x) sums the slots, inner_product(x, weights, length) weighs them"
        )

    def __abs__(self) -> Self:
        """Returns about the magnitudes of real numbers: ``absolute``."""
        found: Self = of_program("absolute")(self)
        return found

    def __float__(self) -> NoReturn:
        raise caller().error(
            f"an encrypted vector is not a number, as float() and math want one: {_POLYNOMIAL}"
        )

    def __array__(self, *args: object, **options: object) -> NoReturn:
        raise caller().error(
            "an encrypted vector cannot become a NumPy array, or a part of one: use it by itself"
        )


def numpy_error(name: str) -> ProgramError:
    """Returns (does not raise) the error for a function of NumPy."""
    function = getattr(np, name, None)
    instead = _INSTEAD.get(name, "write it with the operations that follow")
    if name not in _INSTEAD and isinstance(function, np.ufunc) and function.nin == 1:
        instead = f"chebyshev(x, np.{name}, degree, (low, high)) approximates it"
    return caller().error(
        f"np.{name} does not take encrypted vectors: {instead}; exact are + - * ** @, sum, mean "
        "and dot"
    )


def division_error() -> ProgramError:
    """Returns (does not raise) the error for an encrypted divisor."""
    return caller().error(
        "an encrypted vector cannot divide: multiply by inverse(x), an approximation of its "
        "reciprocal"
    )
