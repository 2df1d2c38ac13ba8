"""Approximate comparisons of encrypted numbers: composed polynomials approximate the sign.

Cheon, Kim, Kim 2019, "Efficient homomorphic comparison methods with optimal complexity" (eprint
2019/1234), section 3. The polynomials f and g of degree 7 have the fixed points -1, 0 and 1. g is
steep at 0 and moves small numbers away from it. f is flat at -1 and 1 and moves other numbers close
to them. A margin and a precision determine how often each is applied.
"""

import math
from itertools import count

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from ringsmith.program.polynomials import approximate, polynomial
from ringsmith.program.ranges import Interval, promise, range_of, restricted
from ringsmith.program.recorded import check_encrypted
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.vector import EncryptedVector

FLAT = (0, 35 / 16, 0, -35 / 16, 0, 21 / 16, 0, -5 / 16)
"""f_3 of the paper."""
STEEP = (0, 4589 / 1024, 0, -16577 / 1024, 0, 25614 / 1024, 0, -12860 / 1024)
"""g_3 of the paper."""
LEVELS = 3
"""Levels that each of them consumes."""
_MIN_MARGIN, _MAX_PRECISION = 2.0**-20, 30
_LARGEST_SPAN = 4.0
"""A greater one is divided by first: its powers would leave nothing of coefficients."""
_DEFAULT_MARGIN = 2.0**-4
_MOST = 24
"""Polynomials that are tried at most; with the least margin and highest precision 13 do."""
_SAMPLES = 1 << 14


def sign(
    x: EncryptedVector, *, margin: float | None = None, precision: float = 8
) -> EncryptedVector:
    """Returns about -1 where x is negative, 1 where it is positive, and 0 where it is 0.

    Numbers of a magnitude below ``margin`` yield a value in between. The error elsewhere is at most
    2^-precision, plus the error of encryption, which the forecast reports. Consumes 3 levels for
    each of ``sign_steps(margin, precision)`` polynomials.

    Args:
        x: The encrypted vector, of numbers in [-1, 1] by its range: divide by the largest one, or
            promise it (``bounded``).
        margin: Magnitude from which the sign is correct, 2^-20 … 0.9. None: 2^-4.
        precision: Bits of precision, 1 … 30.

    Raises:
        ProgramError: When margin or precision is out of range; in BFV.
    """
    source = caller()
    check_encrypted(x, "sign(x)", source)
    return _sign(x, 1.0, margin, precision, source)


def _sign(
    x: EncryptedVector, span: float, margin: float | None, precision: float, source: SourceLine
) -> EncryptedVector:
    """Returns the sign of numbers within ±span; a span takes no level: coefficients have it."""
    _refuse_exact(x, "sign", source)
    steep, flat = _steps(_DEFAULT_MARGIN if margin is None else margin / span, precision, source)
    x = restricted(x, Interval(-span, span), "the range that sign takes", source)
    for coefficients in (STEEP,) * steep + (FLAT,) * flat:
        x = polynomial(x, [c / span**k for k, c in enumerate(coefficients)])
        span = 1.0  # the result's range is [-1, 1] again, which polynomial finds
    return approximate(x, 2.0**-precision)


def _refuse_exact(x: EncryptedVector, what: str, source: SourceLine) -> None:
    if x.trace.space.exact:
        raise source.error(
            f"{what}: BFV computes modulo t, where no number is less than another: take CKKS"
        )


def compare(
    a: EncryptedVector,
    b: EncryptedVector | float,
    *,
    span: float | None = None,
    margin: float | None = None,
    precision: float = 8,
) -> EncryptedVector:
    """Returns about 1 where a > b, 0 where a < b, and 1/2 where they are equal.

    If ``abs(a - b)`` is at least ``margin``, the error is at most 2^-precision, plus the error of
    encryption. Consumes the levels of ``sign`` and one more, or two more if the span exceeds 4.

    Args:
        a: An encrypted vector.
        b: Another, or a number, or numbers.
        span: The promised upper bound of ``abs(a - b)`` (``bounded``). None: the one that follows
            from the ranges of the inputs.
        margin: The difference from which the comparison is correct, 2^-20 … 0.9 times the span.
            None: a sixteenth of the span.
        precision: Bits of precision, 1 … 30.

    Raises:
        ProgramError: When an argument is out of range; in BFV.
    """
    return _sign_of_difference(a, b, span, margin, precision, caller())[0] * 0.5 + 0.5


def maximum(
    a: EncryptedVector,
    b: EncryptedVector | float,
    *,
    span: float | None = None,
    margin: float | None = None,
    precision: float = 8,
) -> EncryptedVector:
    """Returns about the greater one of a and b in every slot.

    The error is at most ``abs(a - b)`` * 2^-precision if that difference is at least ``margin``,
    and at most margin / 2 otherwise. Arguments and errors are those of ``compare``. It consumes
    one level more.
    """
    return _extreme(a, b, span, margin, precision, 0.5)


def minimum(
    a: EncryptedVector,
    b: EncryptedVector | float,
    *,
    span: float | None = None,
    margin: float | None = None,
    precision: float = 8,
) -> EncryptedVector:
    """Returns about the smaller one of a and b in every slot; see ``maximum``."""
    return _extreme(a, b, span, margin, precision, -0.5)


def sign_steps(margin: float, precision: float) -> tuple[int, int]:
    """Returns how many steep and how many flat polynomials a sign takes: the fewest together.

    Raises:
        ProgramError: When margin or precision is out of range.
    """
    return _steps(margin, precision, caller())


def _steps(margin: float, precision: float, source: SourceLine) -> tuple[int, int]:
    if not isinstance(margin, int | float) or not _MIN_MARGIN <= margin <= 0.9:
        raise source.error(
            f"margin = {margin!r:.60} times the span is outside 2^-20 … 0.9: leave the margin out "
            "for a sixteenth of the span"
        )
    if not isinstance(precision, int | float) or not 1 <= precision <= _MAX_PRECISION:
        raise source.error(f"precision = {precision!r:.60} is outside 1 … {_MAX_PRECISION} bits")
    allowed = 2.0**-precision
    for total in count(1):
        assert total <= _MOST, "every margin and precision in range takes fewer"
        for steep in range(total):
            if _sign_error(margin, steep, total - steep) <= allowed:
                return steep, total - steep
    raise AssertionError("the loop ends")


def _sign_error(margin: float, steep: int, flat: int) -> float:
    """Returns the largest distance from 1 of the results for [margin, 1], on a fine grid."""
    values: NDArray[np.float64] = np.geomspace(margin, 1.0, _SAMPLES)
    for coefficients in (STEEP,) * steep + (FLAT,) * flat:
        values = Polynomial(coefficients)(values)
    return float(np.abs(values - 1).max())


def _sign_of_difference(
    a: EncryptedVector,
    b: EncryptedVector | float,
    span: float | None,
    margin: float | None,
    precision: float,
    source: SourceLine,
) -> tuple[EncryptedVector, EncryptedVector, float]:
    """Returns the sign of a - b; a - b, perhaps divided; and by what it was divided."""
    check_encrypted(a, "compare(a, b)", source)
    _refuse_exact(a, "compare", source)
    difference = a - b
    if span is None:
        found = range_of(difference)
        if found is None or not found.magnitude:
            raise source.error("the difference has no range: give its largest magnitude as span")
        span = found.magnitude
    elif not isinstance(span, int | float) or not 0 < span < math.inf:
        raise source.error(f"span = {span!r:.60} is not a number above 0")
    else:
        difference = promise(difference, Interval(-span, span), source)
    if span <= _LARGEST_SPAN:
        return _sign(difference, span, margin, precision, source), difference, 1.0
    divided = difference * (1 / span)
    relative = None if margin is None else margin / span
    return _sign(divided, 1.0, relative, precision, source), divided, span


def _extreme(
    a: EncryptedVector,
    b: EncryptedVector | float,
    span: float | None,
    margin: float | None,
    precision: float,
    half: float,
) -> EncryptedVector:
    greater, difference, width = _sign_of_difference(a, b, span, margin, precision, caller())
    return (a + b) * 0.5 + difference * (half * width) * greater
