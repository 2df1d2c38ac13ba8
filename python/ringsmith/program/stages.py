"""Polynomials that are fixed before they are applied: their basis, split, cost and range."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from ringsmith.program.bases import CHEBYSHEV, POWERS, Basis, without_rounding
from ringsmith.program.minimax import Reals
from ringsmith.program.ranges import Interval, image, restricted, widened
from ringsmith.program.source import SourceLine
from ringsmith.program.splits import Cost, Part, best_split, evaluated, plus, products, times
from ringsmith.program.vector import EncryptedVector

UNIT = (-1.0, 1.0)
_POINTS = 1 << 12
_NEAR_ZERO = 1 << 11
GAIN = 2.0**6
"""Sum of the magnitudes of powers' terms, relative to the result, up to which powers are used."""
_UNCERTAIN = 2.0**-31
"""Part of the result below which the terms of powers are what a search leaves of zeros."""
_LARGEST_POWER_BITS = 14
"""Greater powers leave nothing of their coefficients."""


@dataclass(frozen=True, eq=False)
class Stage:
    """A polynomial on an interval.

    Attributes:
        coefficients: Of the elements of the basis, from degree 0.
        basis: Chebyshev's, of the interval mapped to [-1, 1]; or powers.
        domain: The interval.
        part: How it is evaluated.
        cost: What that takes.
    """

    coefficients: Reals
    basis: Basis
    domain: tuple[float, float]
    part: Part
    cost: Cost

    @property
    def degree(self) -> int:
        """The degree of the polynomial."""
        return self.coefficients.size - 1

    def values(self, points: Reals) -> Reals:
        """Returns the polynomial at points, in NumPy."""
        if self.basis is POWERS:
            return np.asarray(Polynomial(self.coefficients)(points))
        return np.asarray(Chebyshev(self.coefficients, domain=self.domain)(points))

    def applied(self, x: EncryptedVector) -> EncryptedVector:
        """Returns the polynomial of a vector in the interval, in every slot."""
        if self.basis is CHEBYSHEV and self.domain != UNIT:
            offset, factor = Chebyshev([0, 1], domain=self.domain).mapparms()
            source = x.trace.nodes[x.index].source
            x = plus(times(x, float(factor)), float(offset))
            image(x, Interval(*UNIT), source)
        return plus(evaluated(x, self.basis, self.part), self.coefficients[0])


def chebyshev_stage(series: Reals, domain: tuple[float, float]) -> Stage:
    """Returns a Chebyshev series on an interval."""
    kept = without_rounding(series, float(np.abs(series).max()))
    c = np.trim_zeros(np.asarray(kept, np.float64), "b")
    return _stage(c, CHEBYSHEV, domain, domain != UNIT)


def stages_of(series: Reals, domain: tuple[float, float], gain: float = GAIN) -> Iterator[Stage]:
    """Yields the ways to evaluate a Chebyshev series on an interval.

    Powers of x take a level less where the interval is not [-1, 1]. They are left out where they
    lose precision: where the magnitudes of their terms exceed ``gain`` times the result.
    """
    stage = chebyshev_stage(series, domain)
    yield stage
    if domain == UNIT:
        return
    low, high = domain
    largest = max(abs(low), abs(high))
    if stage.degree * math.log2(largest) > _LARGEST_POWER_BITS:
        return
    wanted = Chebyshev(stage.coefficients, domain=domain)
    powers = np.array(wanted.convert(kind=Polynomial, domain=UNIT).coef, np.float64)
    if low == -high:
        powers = np.where(_absent(stage.coefficients), 0.0, powers)
    terms = np.abs(powers) * np.power(max(largest, 1.0), np.arange(powers.size))
    reached = float(np.abs(stage.values(np.linspace(low, high, 64))).max())
    powers = np.where(terms < _UNCERTAIN * reached, 0.0, powers)
    if terms.sum() <= gain * reached:
        yield _stage(powers, POWERS, domain, mapped=False)


def _absent(series: Reals) -> np.typing.NDArray[np.bool_]:
    """Which degrees an odd or even polynomial does not have."""
    absent = np.zeros(series.size, np.bool_)
    for parity in (0, 1):
        absent[parity::2] = not series[parity::2].any()
    return absent


def _stage(c: Reals, basis: Basis, domain: tuple[float, float], mapped: bool) -> Stage:
    c.setflags(write=False)
    part = best_split(c, basis)
    return Stage(
        c, basis, domain, part, Cost((c.size - 1).bit_length() + mapped, products(part, basis))
    )


def within(x: EncryptedVector, domain: tuple[float, float], source: SourceLine) -> EncryptedVector:
    """Returns x, which lies in an interval by its range, with all slots in it."""
    return restricted(x, Interval(*domain), "the interval of the approximation", source)


def seen(result: EncryptedVector, values: Reals, source: SourceLine) -> EncryptedVector:
    """Records the range of a result that has these values at ``samples`` of its interval."""
    bend = float(np.abs(np.diff(values, 2)).max())  # an extreme between points is an eighth beyond
    limits = widened(float(values.min()) - bend / 8, float(values.max()) + bend / 8)
    image(result, limits, source)
    return result


def samples(domain: tuple[float, float], degree: int = 0) -> Reals:
    """Returns points of an interval, ascending, dense at its ends and at zero."""
    low, high = domain
    circle = np.cos(np.linspace(np.pi, 0, max(_POINTS, 16 * degree)))
    points = np.clip((low + high) / 2 + (high - low) / 2 * circle, low, high)
    if not low <= 0 <= high:
        return np.asarray(points)
    near = np.geomspace(1e-7, 1, _NEAR_ZERO) * max(abs(low), abs(high))
    both = np.concatenate([points, near, -near, [0.0]])
    return np.unique(both[(low <= both) & (both <= high)])


def largest_error(errors: Reals) -> float:
    """Returns the largest magnitude of a smooth function that is known at dense points."""
    sizes = np.abs(errors)
    found = float(sizes.max())
    before, here, after = sizes[:-2], sizes[1:-1], sizes[2:]
    bend = 2 * here - before - after
    peaks = (here >= before) & (here >= after) & (bend > 0)
    if peaks.any():
        beyond = (after - before)[peaks] ** 2 / (8 * bend[peaks])
        found = max(found, float((here[peaks] + beyond).max()))
    return found
