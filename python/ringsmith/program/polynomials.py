"""Polynomials of an encrypted vector with few products and the least depth.

Paterson and Stockmeyer 1973, as CKKS needs it (Bossuat, Mouchet, Troncoso-Pastoriza, Hubaux 2021,
eprint 2020/1203, section 5): the polynomial is split at basis elements m = baby * 2^j into
high * B_m + low, until parts are of a degree up to ``baby``; those are sums of coefficients times
small elements. Since a coefficient costs a level, too, a part that has no level to spare is split
further. Every ``baby`` is tried symbolically, and the one with the fewest products is used. The
basis is that of powers, or Chebyshev's (``ringsmith.program.bases``).
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from ringsmith.program.bases import CHEBYSHEV, POWERS, Basis, without_rounding
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
from ringsmith.program.recorded import check_encrypted
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.vector import EncryptedVector

_SAMPLES = 4096
"""Points at which ranges and errors of approximations are looked at, for each interval."""
_MAX_DEGREE = 1 << 12
_MOST_FOUND = 1 << 10
"""Largest degree that is tried where an error is given; twice that takes four times as long."""


class ApproximationWarning(UserWarning):
    """A program computes a slightly different function than the user wrote; see the message."""


def polynomial(
    x: EncryptedVector, coefficients: object, *, tolerance: float | None = None
) -> EncryptedVector:
    """Returns c[0] + c[1]*x + … + c[d]*x^d in every slot, through ceil(log2(d + 1)) levels.

    This takes about sqrt(2d) + log2(d) products of encrypted vectors, fewer if coefficients are
    zero. A product with a coefficient is a plain multiplication whose scale is free. The planner
    uses the scale of the value to which it is added. If the range of x is known (``bounded``), so
    is that of the result.

    Args:
        x: The encrypted vector. For high degrees it should be in [-1, 1], so that powers do not
            overflow.
        coefficients: The numbers c[0] … c[d], the constant first, not all of c[1] … c[d] zero; or
            a ``numpy.polynomial.Polynomial`` or ``Chebyshev``, with its domain and window. Of a
            ``Chebyshev`` object x is promised to lie in the domain (``bounded``).
        tolerance: Coefficients whose terms together stay below this are dropped, with a warning,
            because a scale may not represent them. The forecast counts them. The magnitude of x is
            that of its range if it has one, else 1. None: none is dropped.

    Raises:
        ProgramError: When the coefficients are not numbers, or make a constant.
    """
    check_encrypted(x, "polynomial(x, coefficients)", caller())
    source = caller()
    if isinstance(coefficients, Chebyshev):
        return _chebyshev_object(x, coefficients, tolerance, source)
    if isinstance(coefficients, np.poly1d):
        coefficients = coefficients.coeffs[::-1]  # the highest power comes first there
    if isinstance(coefficients, Polynomial):
        coefficients = coefficients.convert(domain=[-1, 1], window=[-1, 1]).coef
    c = np.atleast_1d(x.trace.space.numbers(coefficients, source))
    known = range_of(x)
    c, dropped = _without_small(c, tolerance, known.magnitude if known else 1.0, source)
    c = _checked(c, source)
    result = _plus(_evaluate(x, POWERS, _best_split(c, POWERS)), c[0])
    if known is not None and not np.iscomplexobj(c):
        image(result, _image(Polynomial(c), known), source)
    return approximate(result, dropped)


def chebyshev(
    x: EncryptedVector,
    function: Callable[[NDArray[np.float64]], object],
    degree: int | None = None,
    interval: Range = 1.0,
    *,
    error: float | None = None,
    tolerance: float = 2.0**-30,
) -> EncryptedVector:
    """Returns a function of x in every slot, as its Chebyshev interpolant of a degree.

    The interpolant is computed through ceil(log2(degree + 1)) levels, and one more where the
    interval is not [-1, 1]. The forecast counts its largest distance from the function on the
    interval, which is found by sampling, and not counted as noise.

    Args:
        x: The encrypted vector; it is promised to lie in the interval (``bounded``).
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
    check_encrypted(x, "chebyshev(x, function, degree, interval)", caller())
    source = caller()
    _refuse_exact(x, "chebyshev", source)
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
        result = _chebyshev_object(x, found, tolerance, source)
    dropped = result.trace.nodes[result.index].approximation
    return approximate(result, distance + dropped)


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


def _chebyshev_object(
    x: EncryptedVector, wanted: Chebyshev, tolerance: float | None, source: SourceLine
) -> EncryptedVector:
    """A Chebyshev series with its domain."""
    _refuse_exact(x, "a Chebyshev series", source)
    low, high = (float(end) for end in wanted.domain)
    if tuple(wanted.window) != (-1.0, 1.0):
        raise source.error(
            f"the window {tuple(wanted.window)} of a Chebyshev series is not [-1, 1]"
        )
    x = restricted(x, interval_of((low, high), source), "the interval of the series", source)
    u = x
    if (low, high) != (-1.0, 1.0):
        offset, factor = wanted.mapparms()
        u = _plus(_times(x, float(factor)), float(offset))
        image(u, Interval(-1.0, 1.0), source)
    c = x.trace.space.numbers(wanted.coef, source)
    c = without_rounding(c, float(np.abs(c).max()))
    c, dropped = _without_small(c, tolerance, 1.0, source)
    c = _checked(c, source)
    result = _plus(_evaluate(u, CHEBYSHEV, _best_split(c, CHEBYSHEV)), c[0])
    if not np.iscomplexobj(c):
        image(result, _image(Chebyshev(c), Interval(-1.0, 1.0)), source)
    return approximate(result, dropped)


def _refuse_exact(x: EncryptedVector, what: str, source: SourceLine) -> None:
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


@dataclass(frozen=True, eq=False)
class _Sum:
    """c[1]*B_1 + … + c[d]*B_d, term by term; the constant c[0] is left to the user of the part."""

    c: PlainValues


@dataclass(frozen=True, eq=False)
class _Split:
    """(high + constant) * B_m + low; ``high`` None where the factor is the constant alone.

    Attributes:
        element: The number m of the basis element.
        constant: The constant of the factor.
        high: The factor without its constant.
        low: What is added, without its constant.
        rest: The constant of ``low``, which products of basis elements leave behind.
    """

    element: int
    constant: complex
    high: "_Part | None"
    low: "_Part | None"
    rest: complex


_Part = _Sum | _Split


def _best_split(c: PlainValues, basis: Basis) -> _Part:
    """Returns the way with the fewest products; of several, that with the smallest ``baby``."""
    degree = c.size - 1
    levels = degree.bit_length()  # ceil(log2(degree + 1))
    largest = 1 << (levels + 1) // 2 + 1  # greater ones make more small elements than they save
    ways = [
        _split(c, basis, baby, leaf, levels)
        for baby in range(2, min(largest, degree + 1) + 1)
        for leaf in (baby - 1, baby)
    ]
    found = [way for way in ways if way is not None]
    return min(found, key=lambda way: _products(way, basis))


def _products(part: _Part, basis: Basis) -> int:
    """Returns how many products of encrypted vectors the evaluation of a part makes."""
    elements: set[int] = set()
    splits = 0
    for each in _parts(part):
        if isinstance(each, _Split):
            elements |= basis.chain(each.element)
            splits += each.high is not None
        else:
            numbers = (int(i) for i in np.flatnonzero(each.c) if i > 0)
            elements = elements.union(*(basis.chain(i) for i in numbers))
    return len(elements) + splits


def _split(c: PlainValues, basis: Basis, baby: int, leaf: int, levels: int) -> _Part | None:
    """Returns a way to evaluate c[1]*B_1 + … + c[d]*B_d within ``levels``; None: it takes more.

    Args:
        c: Coefficients; the last one is not zero, and d >= 1.
        basis: The basis.
        baby: Parts are split at elements baby * 2^j.
        leaf: Highest degree of a part that is not split, if levels allow.
        levels: Levels that the part may take.
    """
    degree = c.size - 1
    if degree <= leaf and _depth(c) <= levels:
        return _Sum(c)
    if degree <= leaf:
        elements = [1 << degree.bit_length() - 1]  # the largest power of two: of the least depth
    else:
        elements = [baby << j for j in range(degree.bit_length()) if baby << j <= degree]
        # With elements to baby * 2^j, degrees to leaf + baby * (2^(j+1) - 1) are in reach.
        elements = [element for element in elements if degree <= leaf + 2 * element - baby]
    ways = (_split_at(c, basis, element, baby, leaf, levels) for element in elements)
    return next((way for way in ways if way is not None), None)


def _split_at(
    c: PlainValues, basis: Basis, element: int, baby: int, leaf: int, levels: int
) -> _Part | None:
    """Returns ``_split``'s result with the first split at ``element``; None: levels are too few."""
    depth = (element - 1).bit_length()
    high_c, low_c = basis.divide(c, element)
    low_c = np.trim_zeros(low_c, "b")
    high, low = None, None
    if high_c.size > 1:
        high = _split(high_c, basis, baby, leaf, levels - 1)
        if high is None or depth > levels - 1:
            return None
    elif depth + (high_c[0] != 1) > levels:
        return None
    if low_c.size > 1:
        low = _split(low_c, basis, baby, leaf, levels)
        if low is None:
            return None
    rest = low_c[0].item() - c[0].item() if low_c.size else -c[0].item()
    return _Split(element, high_c[0].item(), high, low, rest)


def _depth(c: PlainValues) -> int:
    """Returns the levels of a sum of terms: an element's, and one more for its coefficient."""
    return max((int(i) - 1).bit_length() + int(c[i] != 1) for i in np.flatnonzero(c) if i > 0)


def _parts(part: _Part) -> Iterator[_Part]:
    yield part
    if isinstance(part, _Split):
        for each in (part.high, part.low):
            if each is not None:
                yield from _parts(each)


def _evaluate(x: EncryptedVector, basis: Basis, part: _Part) -> EncryptedVector:
    """Computes a part.

    Constants are added after rescaling; terms are added before, so that one rescaling serves all.
    """
    rest: complex = 0
    if isinstance(part, _Sum):
        numbers = (int(i) for i in np.flatnonzero(part.c) if i > 0)
        terms = [_times(basis.element(x, i), part.c[i]) for i in numbers]
    else:
        factor = basis.element(x, part.element)
        if part.high is None:
            terms = [_times(factor, part.constant)]
        else:
            terms = [_plus(_evaluate(x, basis, part.high), part.constant) * factor]
        if part.low is not None:
            terms.append(_evaluate(x, basis, part.low))
        rest = part.rest
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return _plus(total, rest)


def _times(x: EncryptedVector, coefficient: complex) -> EncryptedVector:
    return x if coefficient == 1 else x * coefficient


def _plus(x: EncryptedVector, constant: complex) -> EncryptedVector:
    return x if constant == 0 else x + constant
