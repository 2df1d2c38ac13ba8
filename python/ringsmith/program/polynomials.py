"""Polynomials of an encrypted vector, and Chebyshev interpolants of functions.

``ringsmith.program.splits`` evaluates them with few products and the least depth.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from ringsmith.program.arrays import Array
from ringsmith.program.bases import CHEBYSHEV, POWERS, without_rounding
from ringsmith.program.elementwise import Compute, Value, check_value, each, value_range
from ringsmith.program.ndarray.array import EncryptedArray
from ringsmith.program.plain import PlainValues, whole_number
from ringsmith.program.ranges import (
    Interval,
    Range,
    image,
    interval_of,
    range_of,
    restricted,
    widened,
)
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.splits import best_split, evaluated, plus, times
from ringsmith.program.vector import EncryptedVector

_SAMPLES = 4096
"""Points at which ranges and errors of approximations are looked at, for each interval."""
_MAX_DEGREE = 1 << 12
_MOST_FOUND = 1 << 10
"""Largest degree that is tried where an error is given; twice that takes four times as long."""


class ApproximationWarning(UserWarning):
    """A program computes a slightly different function than the user wrote; see the message."""


def polynomial(x: Value, coefficients: object, *, tolerance: float | None = None) -> Value:
    """Returns c[0] + c[1]*x + … + c[d]*x^d in every slot, through ceil(log2(d + 1)) levels.

    This takes about sqrt(2d) + log2(d) products of encrypted vectors, fewer if coefficients are
    zero. A product with a coefficient is a plain multiplication whose scale is free. The planner
    uses the scale of the value to which it is added. If the range of x is known (``bounded``), so
    is that of the result.

    Args:
        x: The encrypted vector or array. For high degrees it should be in [-1, 1], so that powers
            do not overflow.
        coefficients: The numbers c[0] … c[d], the constant first, not all of c[1] … c[d] zero; or
            a ``numpy.polynomial.Polynomial`` or ``Chebyshev``, with its domain and window. Of a
            ``Chebyshev`` object x is promised to lie in the domain (``bounded``).
        tolerance: Coefficients whose terms together stay below this are dropped, with a warning,
            because a scale may not represent them. The forecast counts them. The magnitude of x is
            that of its range if it has one, else 1. None: none is dropped.

    Raises:
        ProgramError: When the coefficients are not numbers, or make a constant.
    """
    source = caller()
    check_value(x, "polynomial(x, coefficients)", source)
    if isinstance(coefficients, Chebyshev):
        return _series(x, _prepared(x, coefficients, tolerance, source), 0.0, source)
    if isinstance(coefficients, np.poly1d):
        coefficients = coefficients.coeffs[::-1]  # the highest power comes first there
    if isinstance(coefficients, Polynomial):
        coefficients = coefficients.convert(domain=[-1, 1], window=[-1, 1]).coef
    space = x.trace.space
    c = np.atleast_1d(space.numbers(coefficients, source))
    around = range_of(x) if isinstance(x, EncryptedVector) else value_range(x)
    c, dropped = _without_small(c, tolerance, around.magnitude if around else 1.0, source)
    c = _checked(c, source)
    part = best_split(c, POWERS)

    def applied(vector: EncryptedVector) -> EncryptedVector:
        known = range_of(vector)
        result = plus(evaluated(vector, POWERS, part), c[0])
        if known is not None and not np.iscomplexobj(c):
            image(result, _image(Polynomial(c), known), source)
        return approximate(result, dropped)

    return each(x, applied, _whole_polynomial(c) if space.exact else Polynomial(c))


def _whole_polynomial(c: PlainValues) -> Compute:
    """The polynomial of whole numbers, which may exceed 64 bits."""

    def compute(numbers: Array) -> Array:
        result = np.zeros(numbers.shape, object)
        for coefficient in reversed(c.tolist()):
            result = result * numbers.astype(object) + coefficient
        fits = numbers.dtype.kind != "O" and np.abs(result).max(initial=0) < 1 << 63
        return result.astype(np.int64) if fits else result

    return compute


def chebyshev(
    x: Value,
    function: Callable[[NDArray[np.float64]], object],
    degree: int | None = None,
    interval: Range = 1.0,
    *,
    error: float | None = None,
    tolerance: float = 2.0**-30,
) -> Value:
    """Returns a function of x in every slot, as its Chebyshev interpolant of a degree.

    The interpolant is computed through ceil(log2(degree + 1)) levels, and one more where the
    interval is not [-1, 1]. The forecast counts its largest distance from the function on the
    interval, which is found by sampling, and not counted as noise.

    Args:
        x: The encrypted vector or array; it is promised to lie in the interval (``bounded``).
        function: Any function of a NumPy array of real numbers in the interval, element by element.
        degree: The degree, 1 … 4,096; None: the smallest with that ``error``.
        interval: The magnitude of the numbers, or the pair (low, high).
        error: The largest distance from the function that is allowed; None: any.
        tolerance: Terms that together stay below this are omitted, because a scale may not
            represent them; the forecast counts them, too.

    Raises:
        ProgramError: When the degree or the interval is illegal, or the function does not yield
            finite real numbers; when the degree has a larger error than is allowed, and says which
            one has not; in BFV.
    """
    source = caller()
    check_value(x, "chebyshev(x, function, degree, interval)", source)
    refuse_fractions(x, "chebyshev", source)
    count = whole_number(degree)
    if (degree is not None or error is None) and (count is None or not 1 <= count <= _MAX_DEGREE):
        raise source.error(
            f"degree = {degree!r:.60} is not a whole number in 1 … {_MAX_DEGREE}: give one, or the "
            "error that is allowed"
        )
    domain = interval_of(interval, source)
    if domain.low == domain.high:
        raise source.error(f"the interval {interval!r:.60} holds one number: widen it")
    _checked_tolerance(tolerance, source)
    wanted = _Interpolated(function, domain, source)
    if error is not None:
        if isinstance(error, bool) or not isinstance(error, int | float) or not 0 < error < np.inf:
            raise source.error(f"error = {error!r:.60} is not a number above 0")
        tolerance = min(tolerance, error / 2)
        count = wanted.checked_degree(count, error, error - tolerance)
    assert count is not None, "it was checked, or found"
    found, distance = wanted.of_degree(count)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        prepared = _prepared(x, found, tolerance, source)
    return _series(x, prepared, distance, source)


@dataclass(frozen=True, eq=False)
class _Interpolated:
    """A function on an interval, and its interpolants."""

    function: Callable[[NDArray[np.float64]], object]
    domain: Interval
    source: SourceLine

    def of_degree(self, degree: int) -> tuple[Chebyshev, float]:
        """Returns the interpolant of a degree, and its largest distance from the function."""
        low, high = self.domain.low, self.domain.high
        found = Chebyshev.interpolate(self._sampled, degree, domain=[low, high])
        points = np.linspace(low, high, _SAMPLES)
        errors = found(points) - self._sampled(points)
        steps = np.abs(np.diff(errors))  # an edge between two points errs by hardly more
        largest = np.maximum(np.abs(errors[:-1]), np.abs(errors[1:])) + steps
        return found, float(largest.max())

    def checked_degree(self, degree: int | None, error: float, allowed: float) -> int:
        """Returns the degree, or the smallest with the error that is allowed."""
        distance = np.inf if degree is None else self.of_degree(degree)[1]
        if degree is not None and distance <= allowed:
            return degree
        enough = self._enough(degree or 1, allowed)
        if degree is None and enough is not None:
            return enough
        where = f"on [{self.domain.low:g}, {self.domain.high:g}]"
        if enough is None:
            raise self.source.error(
                f"no degree to {_MOST_FOUND} has an error of {error:g} {where}; degree "
                f"{_MOST_FOUND} has {self.of_degree(_MOST_FOUND)[1]:.2g}: allow a larger error, or "
                "take a smoother function"
            )
        levels = enough.bit_length() + ((self.domain.low, self.domain.high) != (-1, 1))
        raise self.source.error(
            f"degree = {degree} has an error of {distance:.2g} {where}, and {error:g} is allowed: "
            f"take degree {enough}, which consumes {levels} levels, or allow a larger error"
        )

    def _enough(self, low: int, allowed: float) -> int | None:
        """Returns a degree with the error, and with one less none; None: no degree has it."""
        high = low
        while high < _MOST_FOUND and self.of_degree(high)[1] > allowed:
            low, high = high, min(2 * high, _MOST_FOUND)
        if self.of_degree(high)[1] > allowed:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.of_degree(middle)[1] <= allowed else (middle, high)
        return high

    def _sampled(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        values = np.asarray(_applied(self.function, points))
        if values.shape != points.shape or values.dtype.kind not in "iuf":
            raise self.source.error(
                f"the function makes {values.dtype} of shape {values.shape} of {points.size} real "
                "numbers: give one that makes a real number of each"
            )
        if not np.isfinite(values).all():
            raise self.source.error(
                f"the function is not finite everywhere in [{self.domain.low:g}, "
                f"{self.domain.high:g}]: choose another interval"
            )
        return values.astype(np.float64)


def _applied(
    function: Callable[[NDArray[np.float64]], object], points: NDArray[np.float64]
) -> object:
    """A function of points; one that takes single numbers only, as those of math, of each."""
    try:
        return function(points)
    except (TypeError, ValueError):
        return np.array([function(point) for point in points])


@dataclass(frozen=True, eq=False)
class _Prepared:
    """A Chebyshev series whose small terms are dropped.

    Attributes:
        c: Its coefficients.
        series: The series, with its domain.
        dropped: What the dropped terms amount to at most.
    """

    c: PlainValues
    series: Chebyshev
    dropped: float


def _prepared(
    x: EncryptedVector | EncryptedArray,
    wanted: Chebyshev,
    tolerance: float | None,
    source: SourceLine,
) -> _Prepared:
    """Checks a Chebyshev series with its domain, and drops small terms."""
    refuse_fractions(x, "a Chebyshev series", source)
    if tuple(wanted.window) != (-1.0, 1.0):
        raise source.error(
            f"the window {tuple(wanted.window)} of a Chebyshev series is not [-1, 1]"
        )
    c = x.trace.space.numbers(wanted.coef, source)
    c = without_rounding(c, float(np.abs(c).max()))
    c, dropped = _without_small(c, tolerance, 1.0, source)
    c = _checked(c, source)
    return _Prepared(c, Chebyshev(c, domain=wanted.domain), dropped)


def _series(x: Value, prepared: _Prepared, distance: float, source: SourceLine) -> Value:
    """A Chebyshev series that has a distance from what it stands for."""
    c, series = prepared.c, prepared.series
    low, high = (float(end) for end in series.domain)
    interval = interval_of((low, high), source)
    part = best_split(c, CHEBYSHEV)
    found = None
    if not np.iscomplexobj(c):
        found = _image(Chebyshev(c), Interval(-1.0, 1.0))

    def applied(vector: EncryptedVector) -> EncryptedVector:
        u = restricted(vector, interval, "the interval of the series", source)
        if (low, high) != (-1.0, 1.0):
            offset, factor = series.mapparms()
            u = plus(times(u, float(factor)), float(offset))
            image(u, Interval(-1.0, 1.0), source)
        result = plus(evaluated(u, CHEBYSHEV, part), c[0])
        if found is not None:
            image(result, found, source)
        return approximate(result, distance + prepared.dropped)

    return each(x, applied, series)


def refuse_fractions(x: EncryptedVector | EncryptedArray, what: str, source: SourceLine) -> None:
    """Refuses a function with coefficients in BFV; ``what`` names it at the user's line."""
    if x.trace.space.exact:
        raise source.error(
            f"{what} has fractions for coefficients, and BFV whole numbers: use CKKS"
        )


def _checked(c: PlainValues, source: SourceLine) -> PlainValues:
    c = np.trim_zeros(c, "b")
    if c.size < 2:
        raise source.error(
            "the polynomial is constant, and its value does not depend on the encrypted vector: "
            "give a nonzero coefficient of degree 1 or more"
        )
    return c


def _without_small(
    c: PlainValues, tolerance: float | None, magnitude: float, source: SourceLine
) -> tuple[PlainValues, float]:
    """The coefficients but the smallest terms, and what those together amount to at most."""
    if tolerance is None:
        return c, 0.0
    _checked_tolerance(tolerance, source)
    terms = np.abs(c) * np.power(max(magnitude, 1.0), np.arange(c.size))
    order = np.argsort(terms, kind="stable")
    small = [int(i) for i in order[np.cumsum(terms[order]) <= tolerance] if c[i] != 0]
    if not small:
        return c, 0.0
    dropped = float(terms[small].sum())
    warnings.warn(
        f"{source}: the coefficients of degree {', '.join(map(str, sorted(small)))} are dropped: "
        f"their terms amount to {dropped:.3g} at most",
        ApproximationWarning,
        stacklevel=4,
    )
    kept = c.copy()
    kept[small] = 0
    return kept, dropped


def _checked_tolerance(tolerance: object, source: SourceLine) -> None:
    if not isinstance(tolerance, int | float) or not 0 <= tolerance < np.inf:
        raise source.error(f"tolerance = {tolerance!r:.60} is not a number from 0")


def approximate(result: EncryptedVector, error: float) -> EncryptedVector:
    """Records the maximum approximation error of a result."""
    if error:
        node = result.array
        numbers = 0 if node.all_slots or node.filled > node.numbers else node.numbers
        result.trace.annotate(result.index, approximation=error, approximated=numbers)
    return result


def _image(f: "Polynomial | Chebyshev", domain: Interval) -> Interval:
    """The range of a real polynomial on an interval, a little widened."""
    points = [domain.low, domain.high, *np.linspace(domain.low, domain.high, _SAMPLES)]
    roots = f.deriv().roots() if f.degree() > 1 else np.zeros(0)
    inner = [root.real for root in np.atleast_1d(roots) if domain.low < root.real < domain.high]
    values = f(np.array([*points, *inner]))
    return widened(float(values.min()), float(values.max()))
