"""Rejects Python and NumPy operations that encrypted vectors do not support, with a hint."""

from typing import NoReturn, Self

import numpy as np

from ringsmith.errors import ProgramError
from ringsmith.program.late import of_program
from ringsmith.program.source import caller

_POLYNOMIAL = "approximate it: chebyshev(x, function, degree, (low, high))"
_ARGMAX = "argmax(x, axis) of ringsmith is about 1 at the largest entry and 0 elsewhere"
_ROUND = "encrypted numbers are not rounded: round what was decrypted"
_COMPARE = "compare(a, b, margin=…) of ringsmith is about 1 where a > b and 0 where a < b"
_LOGIC = "of values that are 0 or 1 write a * b for and, a + b - a * b for or, 1 - a for not"
_OF_BOTH = {
    "sign": "sign(x, margin=…) of ringsmith is about -1 or 1",
    "argmax": _ARGMAX,
    "argmin": f"{_ARGMAX}: take argmax(-x, axis)",
    "round": _ROUND,
    "around": _ROUND,
    **dict.fromkeys(("logical_and", "logical_or", "logical_not", "logical_xor"), _LOGIC),
    "rint": _ROUND,
    "floor": _ROUND,
    "ceil": _ROUND,
}
_OF_VECTORS = {
    "maximum": "maximum(x, y)",
    "fmax": "maximum(x, y)",
    "max": "maximum(x, y)",
    "minimum": "minimum(x, y)",
    "fmin": "minimum(x, y)",
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
}
_OF_ARRAYS = {
    "argsort": "np.sort(x) sorts the numbers; their order cannot be seen",
    "histogram": _COMPARE,
    "digitize": _COMPARE,
    "count_nonzero": _COMPARE,
    "heaviside": _COMPARE,
    "isin": "the product of x - number for all numbers is 0 where x is one of them",
    "corrcoef": "divide by np.sqrt(bounded(variance, (low, high))), with a range above 0",
    "percentile": "np.sort(x) sorts the numbers",
    "quantile": "np.sort(x) sorts the numbers",
}
_ENDS = {
    "vector": "exact are + - * ** @, sum, mean and dot",
    "array": "docs/guide/arrays.md lists what does",
}
"""What to call for functions of NumPy."""
_METHODS = {
    "vector": {
        "std": _OF_VECTORS["std"],
        "max": "maximum(x, y) compares two vectors",
        "min": "minimum(x, y) compares two vectors",
        "T": "a vector has one axis: x itself",
        "reshape": "a vector has one axis",
        "cumsum": "matvec(np.tril(np.ones((n, n))), x)",
        "prod": _OF_VECTORS["prod"],
    },
    "array": {
        "sort": "arrays are not changed in place: np.sort(x) returns another one",
        "item": "only the key holder can see numbers",
        "tolist": "only the key holder can see numbers",
    },
}
"""What to call for methods of NumPy's arrays."""
_METHODS_OF_BOTH = {
    "argmax": _ARGMAX,
    "argmin": _OF_BOTH["argmin"],
    "astype": "leave it out",
    "round": _ROUND,
}


class Unsupported:
    """Base of encrypted vectors and arrays: methods that raise errors at the user's line.

    Attributes:
        kind: What it is called: ``vector`` or ``array``.
    """

    kind = "vector"

    def __getattr__(self, name: str) -> NoReturn:
        instead = {**_METHODS_OF_BOTH, **_METHODS[self.kind]}
        if name in instead:
            raise caller().error(f"an encrypted {self.kind} has no {name}: {instead[name]}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __floordiv__(self, other: object) -> NoReturn:
        raise caller().error("encrypted numbers are not rounded: / divides by numbers, in CKKS")

    __mod__ = __rfloordiv__ = __rmod__ = __floordiv__

    def __and__(self, other: object) -> NoReturn:
        raise caller().error(f"encrypted values have no bits: {_LOGIC}")

    __or__ = __xor__ = __rand__ = __ror__ = __rxor__ = __and__

    def __invert__(self) -> NoReturn:
        raise caller().error(f"encrypted values have no bits: {_LOGIC}")

    __hash__ = None  # type: ignore[assignment]  # follows from __eq__

    def __bool__(self) -> NoReturn:
        raise caller().error(
            "the program asks for the truth of an encrypted value: only the key holder can "
            "see it; compute both branches and select by multiplication"
        )

    def _refuse_comparison(self, other: object) -> NoReturn:
        raise caller().error(
            "encrypted values cannot be compared exactly: in CKKS compare(a, b, margin=…) is about "
            "1 where a > b and 0 where a < b; in BFV a - b is 0 where they are equal"
        )

    __lt__ = __le__ = __gt__ = __ge__ = _refuse_comparison
    __eq__ = __ne__ = _refuse_comparison

    def __rpow__(self, base: object) -> NoReturn:
        raise caller().error(f"an encrypted {self.kind} cannot be an exponent: {_POLYNOMIAL}")

    def __setitem__(self, index: object, value: object) -> NoReturn:
        raise caller().error(
            f"an encrypted {self.kind} is not changed in place: compute another one, such as "
            "mask * x + (1 - mask) * y"
        )

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
            f"an encrypted {self.kind} is not a number, as float() and math want one: {_POLYNOMIAL}"
        )

    def __array__(self, *args: object, **options: object) -> NoReturn:
        raise caller().error(
            f"an encrypted {self.kind} cannot become a NumPy array, or a part of one: use it by "
            "itself; np.stack and np.concatenate join several"
        )


def numpy_error(name: str, kind: str) -> ProgramError:
    """Returns (does not raise) the error for a function of NumPy.

    Args:
        name: The function's.
        kind: What it was called with: ``vector`` or ``array``.
    """
    function = getattr(np, name, None)
    instead = _OF_BOTH | (_OF_VECTORS if kind == "vector" else _OF_ARRAYS)
    hint = instead.get(name, "write it with the operations that follow")
    if name not in instead and isinstance(function, np.ufunc) and function.nin == 1:
        hint = f"chebyshev(x, np.{name}, degree, (low, high)) approximates it"
    elif name not in instead and kind == "array":
        hint = "write it with others"
    return caller().error(f"np.{name} does not take encrypted {kind}s: {hint}; {_ENDS[kind]}")
