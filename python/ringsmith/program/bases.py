"""Bases of polynomials: powers, and Chebyshev polynomials of the first kind."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.polynomial import chebyshev as series

from ringsmith.caching import cached
from ringsmith.program.plain import PlainValues
from ringsmith.program.ranges import Interval, image, range_of
from ringsmith.program.source import caller
from ringsmith.program.vector import EncryptedVector

ROUNDING = 1e-14
"""Chebyshev coefficients below this part of the largest are rounding errors of zeros."""


Elements = dict[int, EncryptedVector]
"""Elements of a basis by their numbers, all of the same vector, which is number 1."""


class Basis(Protocol):
    """Polynomials B_0 = 1, B_1 = x, B_2, … with B_m of degree m."""

    def divide(self, c: PlainValues, m: int) -> tuple[PlainValues, PlainValues]:
        """Returns the coefficients of quotient and remainder of a division by B_m."""
        ...

    def chain(self, m: int) -> frozenset[int]:
        """Returns the numbers of the elements above B_1 that computing B_m takes."""
        ...

    def element(self, known: Elements, m: int) -> EncryptedVector:
        """Returns B_m of ``known[1]``, through ceil(log2(m)) levels; m from 1.

        It is added to the known elements, and so are those that it takes.
        """
        ...


@dataclass(frozen=True)
class Powers:
    """B_m = x^m."""

    def divide(self, c: PlainValues, m: int) -> tuple[PlainValues, PlainValues]:
        """Returns the upper and the lower coefficients."""
        return c[m:], c[:m]

    @cached
    def chain(self, m: int) -> frozenset[int]:
        """Returns the powers above 1 that ``x**m`` computes on its way."""
        if m == 1:
            return frozenset()
        high = 1 << ((m - 1).bit_length() - 1)
        return frozenset({m}) | self.chain(high) | self.chain(m - high)

    def element(self, known: Elements, m: int) -> EncryptedVector:
        """Returns x**m."""
        if m not in known:
            high = 1 << ((m - 1).bit_length() - 1)
            known[m] = self.element(known, high) * self.element(known, m - high)
        return known[m]


@dataclass(frozen=True)
class ChebyshevBasis:
    """B_m = T_m, with T_(a+b) = 2 T_a T_b - T_|a-b|."""

    def divide(self, c: PlainValues, m: int) -> tuple[PlainValues, PlainValues]:
        """Returns quotient and remainder of the series, without what rounding left of zeros."""
        if c.size <= 2 * m + 1:  # T_m T_k = (T_(m+k) + T_(m-k)) / 2
            above = c[m + 1 :]
            parts = [np.concatenate([c[m : m + 1], 2 * above]), c[:m]]
            parts[1] = parts[1] - np.pad(above[::-1], (m - above.size, 0))
        else:
            divisor = np.zeros(m + 1)
            divisor[m] = 1
            parts = list(series.chebdiv(c, divisor))
        largest = float(np.abs(c).max())
        quotient, remainder = (without_rounding(part, largest) for part in parts)
        quotient[-1] = c[-1] if m == c.size - 1 else 2 * c[-1]  # exact, and never zero
        return quotient, remainder

    @cached
    def chain(self, m: int) -> frozenset[int]:
        """Returns the numbers above 1 that computing T_m takes."""
        if m <= 1:
            return frozenset()
        high, low = self._parts(m)
        return frozenset({m}) | self.chain(high) | self.chain(low) | self.chain(high - low)

    def element(self, known: Elements, m: int) -> EncryptedVector:
        """Returns T_m of x; where x is promised to lie in [-1, 1], so is T_m."""
        if m not in known:
            high, low = self._parts(m)
            product = self.element(known, high) * self.element(known, low)
            double = product + product
            result = double - (1 if high == low else self.element(known, high - low))
            x = range_of(known[1])
            if x is not None and x.magnitude <= 1:
                image(result, Interval(-1.0, 1.0), caller())
            known[m] = result
        return known[m]

    @staticmethod
    def _parts(m: int) -> tuple[int, int]:
        """Returns two numbers with sum m, the larger first, each m/2 or close to a power of two."""
        high = 1 << ((m - 1).bit_length() - 1)
        return high, m - high


def without_rounding(c: PlainValues, largest: float) -> PlainValues:
    """Returns the coefficients with zeros for those that are only rounding errors of ``largest``.

    Such a coefficient has no place in a plaintext: at any scale it would be encoded as zero.
    """
    return np.where(np.abs(c) < ROUNDING * largest, 0, c)


POWERS = Powers()
CHEBYSHEV = ChebyshevBasis()
