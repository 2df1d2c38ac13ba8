"""Functions of one number, applied to every number of an encrypted vector or array."""

import math
from collections.abc import Callable
from typing import TypeVar

from ringsmith.program.arrays import Array
from ringsmith.program.ndarray.array import EncryptedArray
from ringsmith.program.ranges import Interval, numbers_range
from ringsmith.program.recorded import check_encrypted
from ringsmith.program.source import SourceLine
from ringsmith.program.vector import EncryptedVector

Value = TypeVar("Value", EncryptedVector, EncryptedArray)
VectorFunction = Callable[[EncryptedVector], EncryptedVector]
Compute = Callable[[Array], Array]
"""What a function means in NumPy, element by element."""


def each(x: Value, function: VectorFunction, compute: Compute) -> Value:
    """Returns a function of every number of x.

    Args:
        x: The encrypted vector or array.
        function: Of a vector in every slot; of an array it is applied to each ciphertext.
        compute: What it means in NumPy.
    """
    if isinstance(x, EncryptedArray):
        return x._map(function, compute)
    return function(x)


def check_value(x: object, call: str, source: SourceLine) -> None:
    """Refuses what is neither an encrypted vector nor an array; ``call`` says how to call."""
    if not isinstance(x, EncryptedArray):
        check_encrypted(x, call, source)


def value_range(x: EncryptedVector | EncryptedArray) -> Interval | None:
    """Returns the range of the numbers of x; None: they are not real, or not bounded."""
    if not isinstance(x, EncryptedArray):
        return numbers_range(x)
    span = x.span()
    if not span.real or not math.isfinite(span.magnitude):
        return None
    return Interval(float(span.low.real), float(span.high.real))
