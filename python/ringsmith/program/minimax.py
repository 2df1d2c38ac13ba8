"""Polynomials with the least largest error on an interval, by Remez's exchange (1934).

A polynomial is a Chebyshev series in u. Its terms may be all up to a degree, or only the odd or the
even ones. Then the interval lies in [0, 1], and the polynomial approximates an odd or an even
function on the mirrored interval, too. On every such interval the terms form a Haar system, so that
the best polynomial is the one whose error reaches its maximum with alternating signs.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Function = Callable[[Reals], Reals]
"""A function of an array, element by element."""

_DENSITIES = (12, 24, 48)
"""Points for each term at which the error is looked at: more, where fewer do not suffice."""
_STEPS = 40
_WITHOUT_GAIN = 6
"""Steps without a better polynomial after which the exchange ends."""
_REFINEMENTS = 12
_SETTLED = 1e-10
"""Relative growth of an extreme below which it is found, unless it lies next to its point."""
_CENTRED = 1e-3
_ROUNDING = 5e-14
"""Errors below this part of the function's values are those of double precision."""
_FEW_TERMS = 64
"""Terms up to which a polynomial's values are a product with the matrix of all terms."""


@dataclass(frozen=True)
class Terms:
    """The terms of a polynomial, and where it approximates.

    Attributes:
        degree: The highest degree.
        first: The lowest degree: 0, or 1 for an odd polynomial.
        step: 1: all degrees; 2: each second one.
        low: Least number of the interval; at least 0 where ``step`` is 2.
    """

    degree: int
    first: int = 0
    step: int = 1
    low: float = -1.0

    @property
    def degrees(self) -> range:
        """The degrees of the terms."""
        return range(self.first, self.degree + 1, self.step)

    def points(self, positions: Reals) -> Reals:
        """Returns points of the interval at positions from 0 to 1, dense at both ends."""
        circle = -np.cos(np.pi * positions)
        if self.step == 1:
            found = (self.low + 1) / 2 + (1 - self.low) / 2 * circle
        else:  # a polynomial in u^2
            found = np.sqrt((1 + self.low**2) / 2 + (1 - self.low**2) / 2 * circle)
        return np.asarray(np.where(positions == 0, self.low, np.where(positions == 1, 1, found)))

    def values(self, points: Reals) -> Reals:
        """Returns the terms at points, shape (points, terms)."""
        return np.asarray(np.cos(np.outer(np.arccos(points), np.array(self.degrees))))

    def polynomial(self, coefficients: Reals, points: Reals) -> Reals:
        """Returns the sum of terms times coefficients at points."""
        if coefficients.size <= _FEW_TERMS:
            return np.asarray(self.values(points) @ coefficients)
        # Clenshaw's recurrence: neighbours satisfy T_(d+step) = 2 T_step T_d - T_(d-step).
        angles = np.arccos(points)
        double = 2 * np.cos(self.step * angles)
        last, before = np.zeros_like(points), np.zeros_like(points)
        for c in coefficients[:0:-1].tolist():
            last, before = c + double * last - before, last
        first, below = np.cos(self.first * angles), np.cos((self.first - self.step) * angles)
        total = coefficients[0] + double * last - before
        return np.asarray(first * total - below * last)

    def series(self, coefficients: Reals) -> Reals:
        """Returns the coefficients of all degrees from 0."""
        found = np.zeros(self.degree + 1)
        found[self.first :: self.step] = coefficients
        return found


def minimax(
    function: Function,
    terms: Terms,
    tolerance: Function | None = None,
    *,
    close: float = 1e-4,
    asked: float | None = None,
) -> tuple[Reals, float]:
    """Returns the Chebyshev coefficients of the polynomial with the least largest error.

    Args:
        function: The function, finite on the interval.
        terms: The polynomial's terms, and the interval low … 1.
        tolerance: What divides the error at a point; positive. None: 1.
        close: Relative distance from the least error at which the exchange ends.
        asked: An error. The exchange ends, too, when it is known whether a polynomial reaches it.

    Returns:
        The coefficients of degrees 0 … ``terms.degree``, and the largest error, divided by the
        tolerance. Where double precision does not allow the distance asked, they are the best that
        were found.
    """
    problem = _Problem(function, terms, tolerance)
    best, least = np.zeros(len(terms.degrees)), np.inf
    for density in _DENSITIES:
        coefficients, largest, enough = _exchange(problem, density, close, asked)
        if largest < least:
            best, least = coefficients, largest
        if enough:
            break
    return terms.series(best), least


def _exchange(
    problem: "_Problem", density: int, close: float, asked: float | None
) -> tuple[Reals, float, bool]:
    """Returns the best polynomial found, its largest error, and whether it is as close as asked."""
    count = len(problem.terms.degrees)
    positions = np.linspace(0, 1, density * (count + 1) + 1)
    grid = problem.at(positions)
    chosen = problem.at(positions[np.arange(count + 1) * density + density // 2])
    best, least = np.zeros(count), np.inf
    rounding = _ROUNDING * float(np.abs(grid.wanted / grid.scale).max())
    since = 0
    for _ in range(_STEPS):
        levelled = chosen.levelled()
        if levelled is None:
            break
        coefficients, level = levelled
        errors = grid.errors(coefficients)
        extremes = _alternating(errors, count + 1)
        if extremes is not None:
            refined = _refined(problem, coefficients, positions[extremes], positions[1])
            chosen = problem.at(refined)
            errors = chosen.errors(coefficients)
        largest = float(np.abs(errors).max())
        since += 1
        if largest < least:
            best, least, since = coefficients, largest, 0
        if least <= (1 + close) * level + rounding:
            return best, least, True
        if asked is not None and (least <= asked or asked < level - rounding):
            return best, least, True  # no polynomial's error is below the level
        if extremes is None or since == _WITHOUT_GAIN:
            break
    return best, least, False


@dataclass(frozen=True, eq=False)
class _Sampled:
    """What is known at points.

    Attributes:
        terms: The terms.
        points: The points.
        wanted: The function.
        scale: What divides the error.
    """

    terms: Terms
    points: Reals
    wanted: Reals
    scale: Reals

    def errors(self, coefficients: Reals) -> Reals:
        """Returns the error of a polynomial at the points."""
        values = self.terms.polynomial(coefficients, self.points)
        return np.asarray((values - self.wanted) / self.scale)

    def levelled(self) -> tuple[Reals, float] | None:
        """Returns the polynomial whose errors are ±level by turns, and the level; None: none is."""
        signs = np.where(np.arange(len(self.wanted)) % 2, -1.0, 1.0) * self.scale
        matrix = np.column_stack([self.terms.values(self.points), signs])
        try:
            solution = np.linalg.solve(matrix, self.wanted)
        except np.linalg.LinAlgError:
            return None
        return np.asarray(solution[:-1], np.float64), abs(float(solution[-1]))


@dataclass(frozen=True, eq=False)
class _Problem:
    """What is approximated."""

    function: Function
    terms: Terms
    tolerance: Function | None

    def at(self, positions: Reals) -> _Sampled:
        """Returns what is known at positions from 0 to 1."""
        points = self.terms.points(positions)
        scale = np.ones_like(points) if self.tolerance is None else self.tolerance(points)
        return _Sampled(self.terms, points, self.function(points), scale)

    def errors(self, positions: Reals, coefficients: Reals) -> Reals:
        """Returns the error of a polynomial at positions of any shape."""
        return self.at(positions.ravel()).errors(coefficients).reshape(positions.shape)


def _refined(problem: _Problem, coefficients: Reals, positions: Reals, width: float) -> Reals:
    """Returns the positions of the error's extremes near those of a grid.

    Where the error is smooth, the vertices of parabolas converge to them. At a kink, steps do,
    which are doubled where the error grows at an end, and else halved.
    """
    low, high = np.clip(positions - width, 0, 1), np.clip(positions + width, 0, 1)
    signs = np.sign(problem.at(positions).errors(coefficients))
    widths = np.full(positions.size, width)
    for _ in range(_REFINEMENTS):
        near = np.clip(positions + np.array([[-1.0], [0.0], [1.0]]) * widths, low, high)
        sizes = signs * problem.errors(near, coefficients)
        bend = sizes[0] - 2 * sizes[1] + sizes[2]
        inside = (near[0] < positions) & (positions < near[2]) & (bend < 0)
        move = np.divide(sizes[0] - sizes[2], 2 * bend, out=np.zeros_like(bend), where=inside)
        vertices = np.clip(positions + widths * np.clip(move, -1, 1), low, high)[None]
        before = sizes[1]
        near = np.concatenate([near, vertices])
        sizes = np.concatenate([sizes, signs * problem.errors(vertices, coefficients)])
        best = np.argmax(sizes, axis=0)
        positions = near[best, np.arange(positions.size)]
        settled = (sizes.max(axis=0) <= (1 + _SETTLED) * before) & (np.abs(move) < _CENTRED)
        if settled.all():
            break
        widths = widths * np.array([2, 1 / 2, 2, 1 / 16])[best]
    return positions


def _alternating(errors: Reals, count: int) -> NDArray[np.int64] | None:
    """Returns ``count`` points of large errors with alternating signs; None: there are fewer."""
    ends = np.flatnonzero(np.diff(np.signbit(errors))) + 1
    runs = np.split(np.arange(errors.size), ends)
    found = [int(run[np.argmax(np.abs(errors[run]))]) for run in runs]
    while len(found) > count:
        sizes = np.abs(errors[found])
        if len(found) == count + 1:
            found.pop(0 if sizes[0] < sizes[-1] else -1)
            continue
        pairs = np.maximum(sizes[:-1], sizes[1:])  # the signs alternate without a pair, too
        first = int(np.argmin(pairs))
        del found[first : first + 2]
    return np.array(found) if len(found) == count else None


def evaluated(series: Reals, points: Reals) -> Reals:
    """Returns a Chebyshev series at points, by Clenshaw's recurrence."""
    return np.asarray(chebyshev.chebval(points, series))
