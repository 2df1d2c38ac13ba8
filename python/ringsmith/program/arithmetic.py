"""Arithmetic operators of encrypted vectors and arrays, by Python's and NumPy's protocols."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ringsmith.graph.operations import Op
from ringsmith.program.late import of_program
from ringsmith.program.plain import whole_number
from ringsmith.program.recorder import Trace
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.unsupported import Unsupported, numpy_error

_COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)


class Arithmetic(Unsupported):
    """``+ - * / **`` of what a traced function computes with."""

    _trace: Trace

    @abstractmethod
    def _binary(self, op: Op, other: object) -> Self:
        """Returns the sum, difference or product (``Op.ADD``, ``SUB``, ``MULTIPLY``)."""

    @abstractmethod
    def __neg__(self) -> Self:
        """Returns the negative."""

    @abstractmethod
    def _of_ufunc(self, ufunc: np.ufunc, operands: Sequence[Any]) -> object:
        """Returns what a function of NumPy makes of operands; None: it is not supported."""

    def __add__(self, other: object) -> Self:
        return self._binary(Op.ADD, other)

    def __radd__(self, other: object) -> Self:
        return self + other

    def __sub__(self, other: object) -> Self:
        return self._binary(Op.SUB, other)

    def __rsub__(self, other: object) -> Self:
        return -self + other

    def __mul__(self, other: object) -> Self:
        return self._binary(Op.MULTIPLY, other)

    def __rmul__(self, other: object) -> Self:
        return self * other

    def __pos__(self) -> Self:
        return self

    def __truediv__(self, other: object) -> Self:
        source = caller()
        self._refuse_quotients(source)
        if isinstance(other, Arithmetic):
            return self * other._inverted()
        divisor = self._trace.space.array(other, source)
        if not divisor.all():
            raise source.error("division by zero: a divisor is 0")
        return self * np.reciprocal(divisor)

    def __rtruediv__(self, other: object) -> Self:
        self._refuse_quotients(caller())
        return self._inverted() * other

    def _refuse_quotients(self, source: SourceLine) -> None:
        if self._trace.space.exact:
            raise source.error(
                "whole numbers modulo t are not divided: multiply what was decrypted, or by the "
                "divisor's inverse modulo t, pow(divisor, -1, t)"
            )

    def _inverted(self) -> Self:
        """Returns about the reciprocal: ``inverse``."""
        found: Self = of_program("inverse")(self)
        return found

    def __pow__(self, exponent: object) -> Self:
        """Returns the power through ceil(log2 exponent) levels; about that of 1/2 and of -1."""
        roots = {0.5: "sqrt", -1: "inverse"}
        if isinstance(exponent, int | float) and exponent in roots and not self._trace.space.exact:
            found: Self = of_program(roots[exponent])(self)
            return found
        power = whole_number(exponent)
        if power is None or power < 1:
            raise caller().error(
                f"an encrypted value to the power {exponent!r:.60}: use a whole number from 1; "
                "sqrt(x) and inverse(x) approximate others"
            )
        if power == 1:
            return self
        high = 1 << ((power - 1).bit_length() - 1)  # the largest power of two below it
        factor = self**high
        return factor * (factor if power == 2 * high else self ** (power - high))

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *operands: object, **options: object
    ) -> object:
        """Takes ``array * x`` and the like from NumPy, and refuses its other functions."""
        if ufunc in _COMPARISONS:
            self._refuse_comparison(None)
        if method == "__call__" and not options:
            found = self._of_ufunc(ufunc, operands)
            if found is not None:
                return found
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        raise numpy_error(name, self.kind)
