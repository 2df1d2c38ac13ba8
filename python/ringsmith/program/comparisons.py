"""Approximate comparisons of encrypted numbers: composed polynomials approximate the sign.

``ringsmith.program.signs`` finds the composition for a margin and a precision.
"""

import math

import numpy as np

from ringsmith.program.approximations import planned, relu
from ringsmith.program.elementwise import Value, check_value, value_range
from ringsmith.program.ndarray.array import EncryptedArray
from ringsmith.program.plans import SignPlan, sign_plan
from ringsmith.program.ranges import bounded
from ringsmith.program.signs import MARGINS
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.vector import EncryptedVector

_MAX_PRECISION = 30
_DEFAULT_MARGIN = 2.0**-4
_DEFAULT_ERROR = 2.0**-7
"""Of a maximum, as a part of the largest difference."""


def sign(x: Value, *, margin: float | None = None, precision: float = 8) -> Value:
    """Returns about -1 where x is negative, 1 where it is positive, and 0 where it is 0.

    Numbers of a magnitude below ``margin`` yield a value in between. The error elsewhere is at most
    2^-precision, plus the error of encryption, which the forecast reports. ``explain`` says how
    many levels it consumes; ``sign_degrees`` says of which polynomials.

    Args:
        x: The encrypted vector or array, of numbers in [-1, 1] by its range: divide by the largest
            one, or promise it (``bounded``).
        margin: Magnitude from which the sign is correct, 2^-20 … 0.9. None: 2^-4.
        precision: Bits of precision, 1 … 30.

    Raises:
        ProgramError: When margin or precision is out of range; in BFV.
    """
    source = caller()
    check_value(x, "sign(x)", source)
    _refuse_exact(x, "sign", source)
    return planned(x, _sign_plan(1.0, margin, precision, source), "sign", source)


def sign_degrees(margin: float, precision: float, span: float = 1.0) -> tuple[int, ...]:
    """Returns the degrees of the polynomials of a sign, in their order.

    Args:
        margin: As of ``sign``, divided by the span.
        precision: Bits.
        span: The largest magnitude of the numbers.

    Raises:
        ProgramError: When margin or precision is out of range.
    """
    plan = _sign_plan(span, margin * span, precision, caller())
    return tuple(stage.degree for stage in plan.stages)


def _refuse_exact(x: EncryptedVector | EncryptedArray, what: str, source: SourceLine) -> None:
    if x.trace.space.exact:
        raise source.error(
            f"{what}: BFV computes modulo t, where no number is less than another: take CKKS"
        )


def _sign_plan(
    span: float,
    margin: float | None,
    precision: float,
    source: SourceLine,
    scale: float = 1.0,
    offset: float = 0.0,
) -> SignPlan:
    """Returns scale * sign + offset of numbers within ±span."""
    relative = _DEFAULT_MARGIN
    if margin is not None:
        _check_number("margin", margin, source)
        relative = float(margin) / span
    if not MARGINS[0] <= relative <= MARGINS[1]:
        raise source.error(
            f"margin = {relative!r:.60} times the span is outside 2^-20 … 0.9: leave the margin "
            "out for a sixteenth of the span"
        )
    _check_number("precision", precision, source)
    if not 1 <= precision <= _MAX_PRECISION:
        raise source.error(f"precision = {precision!r:.60} is outside 1 … {_MAX_PRECISION} bits")
    plan = sign_plan(relative, 2.0 ** -float(precision), float(span), scale, offset)
    assert plan is not None, "levels are not limited"
    return plan


def _check_number(name: str, value: object, source: SourceLine) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise source.error(f"{name} = {value!r:.60} is not a number")


def compare(
    a: Value,
    b: Value | float,
    *,
    span: float | None = None,
    margin: float | None = None,
    precision: float = 8,
) -> Value:
    """Returns about 1 where a > b, 0 where a < b, and 1/2 where they are equal.

    If ``abs(a - b)`` is at least ``margin``, the error is at most 2^-precision, plus the error of
    encryption. Consumes the levels of ``sign``, and at most one more if the span is not 1.

    Args:
        a: An encrypted vector or array.
        b: Another, or a number, or numbers.
        span: The promised upper bound of ``abs(a - b)`` (``bounded``). None: the one that follows
            from the ranges of the inputs.
        margin: The difference from which the comparison is correct, 2^-20 … 0.9 times the span.
            None: a sixteenth of the span.
        precision: Bits of precision, 1 … 30.

    Raises:
        ProgramError: When an argument is out of range; in BFV.
    """
    source = caller()
    difference, width = _difference("compare", a, b, span, source)
    plan = _sign_plan(width, margin, precision, source, 0.5, 0.5)
    return planned(difference, plan, "compare", source)


def maximum(
    a: Value,
    b: Value | float,
    *,
    error: float | None = None,
    span: float | None = None,
    margin: float | None = None,
    precision: float = 8,
) -> Value:
    """Returns about the greater one of a and b in every slot.

    It is b + relu(a - b). With a margin it is made of ``compare`` instead: then the error is at
    most ``abs(a - b)`` * 2^-precision if that difference is at least the margin, and at most
    margin / 2 otherwise; it consumes one level more than ``compare``.

    Args:
        a: An encrypted vector or array.
        b: Another, or a number, or numbers.
        error: The largest distance that is allowed. None: 2^-7 of the span.
        span: As of ``compare``.
        margin: As of ``compare``; None: ``error`` counts.
        precision: As of ``compare``; used with a margin.

    Raises:
        ProgramError: When an argument is out of range; in BFV.
    """
    source = caller()
    difference, width = _difference("maximum", a, b, span, source)
    if margin is None:
        wanted = checked_error(error, width, source)
        return relu(difference, error=wanted, interval=(-width, width)) + b
    return _extreme("maximum", a, b, difference, width, margin, precision, 0.5, source)


def minimum(
    a: Value,
    b: Value | float,
    *,
    error: float | None = None,
    span: float | None = None,
    margin: float | None = None,
    precision: float = 8,
) -> Value:
    """Returns about the smaller one of a and b in every slot, a - relu(a - b); see ``maximum``."""
    source = caller()
    difference, width = _difference("minimum", a, b, span, source)
    if margin is None:
        wanted = checked_error(error, width, source)
        return a - relu(difference, error=wanted, interval=(-width, width))
    return _extreme("minimum", a, b, difference, width, margin, precision, -0.5, source)


def checked_error(error: float | None, width: float, source: SourceLine) -> float:
    """Returns the error of one comparison of numbers in a range of a width.

    Args:
        error: What the user asks for; None: 2^-7 of the width.
        width: The largest difference of two numbers.
        source: The user's line.

    Raises:
        ProgramError: When it is no number above 0.
    """
    if error is None:
        return width * _DEFAULT_ERROR
    _check_number("error", error, source)
    if not 0 < error < math.inf:
        raise source.error(f"error = {error!r:.60} is not a number above 0")
    return float(error)


def _difference(
    name: str, a: Value, b: Value | float, span: float | None, source: SourceLine
) -> tuple[Value, float]:
    """Returns a - b, and the largest magnitude of its numbers."""
    check_value(a, f"{name}(a, b)", source)
    _refuse_exact(a, name, source)
    difference = a - b
    if span is None:
        found = value_range(difference)
        if found is None or not found.magnitude:
            raise source.error("the difference has no range: give its largest magnitude as span")
        return difference, found.magnitude
    _check_number("span", span, source)
    if not 0 < span < math.inf:
        raise source.error(f"span = {span!r:.60} is not a number above 0")
    return bounded(difference, float(span)), float(span)


def _extreme(
    name: str,
    a: Value,
    b: Value | float,
    difference: Value,
    width: float,
    margin: float,
    precision: float,
    half: float,
    source: SourceLine,
) -> Value:
    plan = _sign_plan(width, margin, precision, source, half)
    what = f"half the sign of the difference in {name}"
    greater = planned(difference, plan, what, source)
    return (a + b) * 0.5 + difference * greater
