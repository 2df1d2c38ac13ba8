"""Encrypted vectors: what users compute with, as with NumPy's arrays."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from ringsmith.program.functions import inner_product, sum_slots
from ringsmith.program.matrices import matvec
from ringsmith.program.recorded import RecordedVector, shape_error
from ringsmith.program.source import caller
from ringsmith.program.unsupported import numpy_error


class EncryptedVector(RecordedVector):
    """An encrypted vector.

    Supports ``+``, ``-``, ``*`` with encrypted vectors, numbers and arrays, ``** n`` for integers
    n >= 1, unary ``-`` and ``rotate``. CKKS also has ``/`` by numbers and arrays, and
    ``conjugate``. BFV, with integers in two rows, has ``swap_columns``.

    It is an array of one dimension, and means what NumPy means: operands have as many numbers, or
    one of them has one number. What was rotated, and an input without a length, is *all slots*:
    there a shorter vector, plain or encrypted, is padded with zeros.
    """

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return len(self)

    def sum(self, axis: int | None = None) -> Self:
        """Returns the sum of its numbers, as one number: ``sum_slots``."""
        _check_axis(axis)
        return sum_slots(self)

    def mean(self, axis: int | None = None) -> Self:
        """Returns the mean of its numbers, as one number; in CKKS only."""
        _check_axis(axis)
        if self.array.all_slots and self._trace.space.chosen:
            raise caller().error(
                "the mean of all slots depends on N, which is chosen: keep n numbers by a product "
                "with np.ones(n), or give parameters"
            )
        return self.sum() / len(self)

    def var(self, axis: int | None = None) -> Self:
        """Returns the variance of its numbers, as one number; in CKKS only."""
        _check_axis(axis)
        centred = self - self.mean()
        real = self._trace.span(centred.index).real
        return (centred * (centred if real else centred.conjugate())).mean()

    def dot(self, other: object) -> Self:
        """Returns the sum of products with as many numbers, as one number: ``inner_product``."""
        source = caller()
        if isinstance(other, EncryptedVector):
            size = len(other)
        elif _dimensions(other) == 1:
            size = np.size(other)  # type: ignore[arg-type]  # it is an array
        else:
            return self @ other if _dimensions(other) else self * other
        if size != len(self):
            raise shape_error(len(self), size, source)
        if len(self) > self._trace.space.row:
            return sum_slots(self * other)
        return inner_product(self, other, 1 << (len(self) - 1).bit_length())

    def __matmul__(self, other: object) -> Self:
        if isinstance(other, EncryptedVector) or _dimensions(other) == 1:
            return self.dot(other)
        return matvec(self._trace.space.matrix(other, caller()).T, self)

    def __rmatmul__(self, other: object) -> Self:
        return self.dot(other) if _dimensions(other) == 1 else matvec(other, self)

    def _of_ufunc(self, ufunc: np.ufunc, operands: Sequence[Any]) -> object:
        operators = {
            np.add: (self.__add__, self.__radd__),
            np.subtract: (self.__sub__, self.__rsub__),
            np.multiply: (self.__mul__, self.__rmul__),
            np.true_divide: (self.__truediv__, self.__rtruediv__),
            np.matmul: (self.__matmul__, self.__rmatmul__),
        }
        if ufunc in operators:
            forward, reflected = operators[ufunc]
            return forward(operands[1]) if operands[0] is self else reflected(operands[0])
        return _UNARY[ufunc](self) if ufunc in _UNARY else None

    def __array_function__(
        self,
        function: Callable[..., object],
        types: object,
        args: Sequence[object],
        options: Mapping[str, object],
    ) -> "EncryptedVector":
        """Takes sums, means and inner products from NumPy, and refuses its other functions."""
        name = function.__name__
        if not options and len(args) == 1 and args[0] is self and name in _FUNCTIONS:
            return _FUNCTIONS[name](self)
        if not options and len(args) == 2 and name in ("dot", "inner"):
            return self.__matmul__(args[1]) if args[0] is self else self.__rmatmul__(args[0])
        raise numpy_error(name, self.kind)


_UNARY: dict[np.ufunc, Callable[[EncryptedVector], EncryptedVector]] = {
    np.negative: EncryptedVector.__neg__,
    np.square: lambda x: x * x,
    np.conjugate: EncryptedVector.conjugate,
    np.positive: EncryptedVector.__pos__,
    np.absolute: abs,
    np.fabs: abs,
}
_FUNCTIONS: dict[str, Callable[[EncryptedVector], EncryptedVector]] = {
    "sum": EncryptedVector.sum,
    "mean": EncryptedVector.mean,
    "var": EncryptedVector.var,
}


def _check_axis(axis: int | None) -> None:
    if axis not in (None, 0):
        raise caller().error(f"axis = {axis!r:.40}: a vector has the axis 0 only")


def _dimensions(value: object) -> int:
    try:
        return np.ndim(value)  # type: ignore[arg-type]
    except ValueError:
        return 0  # rows of different lengths: the matrix is refused
