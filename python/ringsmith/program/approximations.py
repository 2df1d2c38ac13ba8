"""Functions of encrypted numbers by minimax polynomials, in every slot; in CKKS only.

Each takes ``degree`` or ``error``, or neither: then the error is 2^-10 of the width of the range of
the function on the interval. Without an interval, it is the range of x, which follows from the
ranges of the inputs. Of the forms that reach the error (one polynomial, or one with squarings, with
Goldschmidt's iteration, or times a sign), the one with the fewest levels is taken, and of those the
one with the fewest products. ``explain`` prints a line for each; the forecast counts the error.
"""

import math
from collections.abc import Callable

import numpy as np

from ringsmith.program.elementwise import Value, check_value, each, value_range
from ringsmith.program.ndarray.array import EncryptedArray
from ringsmith.program.nodes import Note
from ringsmith.program.plain import whole_number
from ringsmith.program.plans import (
    MAX_DEGREE,
    Plan,
    SignPlan,
    default_error,
    plan_of_degree,
    plan_of_error,
)
from ringsmith.program.polynomials import approximate, refuse_fractions
from ringsmith.program.ranges import Interval, Range, interval_of
from ringsmith.program.shapes import SHAPES
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.stages import within
from ringsmith.program.vector import EncryptedVector

_ROUNDED = 1e-5
"""Part of its width to which the ends of a range are rounded."""
_WIDENED = 4e-6
"""Part of its width by which a computed range may have been widened."""


def sigmoid(
    x: Value,
    *,
    degree: int | None = None,
    error: float | None = None,
    interval: Range | None = None,
) -> Value:
    """Returns about 1 / (1 + exp(-x)) in every slot.

    Args:
        x: The encrypted vector or array.
        degree: The degree of one polynomial, 1 … 511.
        error: The largest distance from the function that is allowed. None, without a degree:
            2^-10 of the width of the function's range on the interval.
        interval: Where it is approximated: a magnitude, or the pair (low, high); the range of x
            must lie in it. None: the range of x.

    Raises:
        ProgramError: When an argument is illegal, the range of x is not known, or exceeds the
            interval; when no form reaches the error; in BFV.
    """
    return _approximated("sigmoid", x, degree, error, interval, caller())


def tanh(
    x: Value,
    *,
    degree: int | None = None,
    error: float | None = None,
    interval: Range | None = None,
) -> Value:
    """Returns about the hyperbolic tangent in every slot; arguments as of ``sigmoid``."""
    return _approximated("tanh", x, degree, error, interval, caller())


def exp(
    x: Value,
    *,
    degree: int | None = None,
    error: float | None = None,
    interval: Range | None = None,
) -> Value:
    """Returns about e^x in every slot; arguments as of ``sigmoid``.

    The error is absolute. On [-20, 20] its default is 4.7e5, which is 2^-10 of e^20.
    """
    return _approximated("exp", x, degree, error, interval, caller())


def log(
    x: Value,
    *,
    degree: int | None = None,
    error: float | None = None,
    interval: Range | None = None,
) -> Value:
    """Returns about the natural logarithm in every slot; arguments as of ``sigmoid``.

    The interval must lie above 0. It costs more levels the closer its low end is to 0.
    """
    return _approximated("log", x, degree, error, interval, caller())


def sqrt(
    x: Value,
    *,
    degree: int | None = None,
    error: float | None = None,
    interval: Range | None = None,
) -> Value:
    """Returns about the square root in every slot; arguments as of ``sigmoid``.

    The interval must not hold numbers below 0. It costs more levels the closer its low end is to 0.
    """
    return _approximated("sqrt", x, degree, error, interval, caller())


def inverse(
    x: Value,
    *,
    degree: int | None = None,
    error: float | None = None,
    interval: Range | None = None,
) -> Value:
    """Returns about 1 / x in every slot; arguments as of ``sigmoid``.

    The interval must not hold 0. It costs more levels the closer one of its ends is to 0.
    """
    return _approximated("inverse", x, degree, error, interval, caller())


def relu(
    x: Value,
    *,
    degree: int | None = None,
    error: float | None = None,
    interval: Range | None = None,
) -> Value:
    """Returns about the greater one of x and 0 in every slot; arguments as of ``sigmoid``."""
    return _approximated("relu", x, degree, error, interval, caller())


def gelu(
    x: Value,
    *,
    degree: int | None = None,
    error: float | None = None,
    interval: Range | None = None,
) -> Value:
    """Returns about x * (1 + erf(x / sqrt(2))) / 2 in every slot; arguments as of ``sigmoid``."""
    return _approximated("gelu", x, degree, error, interval, caller())


def absolute(
    x: Value,
    *,
    degree: int | None = None,
    error: float | None = None,
    interval: Range | None = None,
) -> Value:
    """Returns about the magnitude of real numbers in every slot; arguments as of ``sigmoid``.

    ``abs(x)`` is the same, with the default error.
    """
    return _approximated("absolute", x, degree, error, interval, caller())


# ---- how they are approximated -------------------------------------------------------------


def _approximated(
    name: str,
    x: Value,
    degree: int | None,
    error: float | None,
    interval: Range | None,
    source: SourceLine,
) -> Value:
    check_value(x, f"{name}(x)", source)
    refuse_fractions(x, name, source)
    if interval is None and isinstance(x, EncryptedArray):
        known = value_range(x)
        if known is not None and known.low == known.high:  # such as of a sum of no terms
            _check_domain(name, float(known.low), float(known.high), source)
            return x * 0 + float(SHAPES[name].values(np.asarray(float(known.low))))
    domain = _domain(name, x, interval, source)
    if SHAPES[name].sign is not None and not domain.low < 0 < domain.high:
        return _one_sided(name, x, domain, source)
    plan = _plan(name, domain, degree, error, source)
    return planned(x, plan, name, source)


def planned(x: Value, plan: Plan | SignPlan, name: str, source: SourceLine) -> Value:
    """Returns a function of x by a plan, which a note tells.

    Args:
        x: Numbers in the plan's interval.
        plan: The polynomials.
        name: Names the function in the note.
        source: The user's line.
    """

    def applied(vector: EncryptedVector) -> EncryptedVector:
        result = plan.form.applied(vector, source)
        vector.trace.notes[Note(source, f"{name} by {plan.text}")] = None
        return approximate(result, plan.error)

    return each(x, applied, plan.form.values)


def _domain(
    name: str,
    x: EncryptedVector | EncryptedArray,
    interval: Range | None,
    source: SourceLine,
) -> Interval:
    """Returns the interval on which a function is approximated."""
    if interval is not None:
        domain = interval_of(interval, source)
    else:
        found = value_range(x)
        if found is None:
            raise source.error(
                f"{name}: the numbers have no range of real numbers: promise one, "
                "bounded(x, (low, high))"
            )
        domain = _rounded(found)
    low, high = float(domain.low), float(domain.high)
    if low == high:
        raise source.error(f"{name} of the interval [{low:g}, {high:g}], which is one number")
    _check_domain(name, low, high, source)
    return Interval(low, high)


def _rounded(found: Interval) -> Interval:
    """Returns an interval of few digits that holds a range.

    Computed ranges are a little widened. An end that is about -1, 0 or 1 is taken to be that.
    """
    width = found.high - found.low
    if not width:
        return found
    digits = -math.floor(math.log10(_ROUNDED * width))
    ends = []
    for end, to in ((float(found.low), math.floor), (float(found.high), math.ceil)):
        outward = to(round(end * 10.0**digits, 3)) / 10.0**digits
        near = [whole for whole in (-1.0, 0.0, 1.0) if abs(end - whole) <= _WIDENED * width]
        ends.append(near[0] if near else outward if outward * end > 0 else end)
    return Interval(ends[0], ends[1])


_IMPOSSIBLE: dict[str, tuple[Callable[[float, float], bool], str]] = {
    "log": (lambda low, high: low <= 0, "numbers above 0"),
    "sqrt": (lambda low, high: low < 0, "numbers from 0"),
    "inverse": (lambda low, high: low <= 0 <= high, "numbers on one side of 0"),
}
"""Which intervals a function does not take, and what it takes."""


def _check_domain(name: str, low: float, high: float, source: SourceLine) -> None:
    if name in _IMPOSSIBLE:
        impossible, takes = _IMPOSSIBLE[name]
        if impossible(low, high):
            raise source.error(
                f"{name} takes {takes}, and x may lie in [{low:g}, {high:g}]: declare the inputs' "
                "ranges (InputSpec(bound=(low, high))), or promise what you know: "
                f"{name}(bounded(x, (low, high)))"
            )
    with np.errstate(over="ignore"):
        ends = SHAPES[name].values(np.array([low, high]))
    if not np.isfinite(ends).all():
        raise source.error(
            f"{name} exceeds double precision on [{low:g}, {high:g}]: narrow the range of x, "
            "bounded(x, (low, high))"
        )


def _one_sided(name: str, x: Value, domain: Interval, source: SourceLine) -> Value:
    """A magnitude or a relu of numbers on one side of 0: no approximation."""
    ends = (domain.low, domain.high)
    if domain.low >= 0:
        return each(x, lambda v: within(v, ends, source), lambda a: a)
    if name == "relu":
        raise source.error(f"relu is 0 for all numbers in [{ends[0]:g}, {ends[1]:g}]: leave it out")
    return each(x, lambda v: -within(v, ends, source), np.negative)


def _plan(
    name: str, domain: Interval, degree: int | None, error: float | None, source: SourceLine
) -> Plan:
    ends = (domain.low, domain.high)
    where = f"on [{ends[0]:g}, {ends[1]:g}]"
    if degree is not None and error is not None:
        raise source.error(f"{name} takes degree or error, not both")
    if degree is not None:
        count = whole_number(degree)
        if count is None or not 1 <= count <= MAX_DEGREE:
            raise source.error(f"degree = {degree!r:.60} is not a whole number in 1 … {MAX_DEGREE}")
        plan = plan_of_degree(name, ends, count)
        if plan is None:
            raise source.error(
                f"degree = {degree}: the best polynomial of {name} {where} is a constant: take "
                "degree 2 or more"
            )
        return plan
    if error is None:
        error = default_error(name, ends)
    elif (
        isinstance(error, bool)
        or not isinstance(error, int | float | np.number)
        or not (0 < error < math.inf)
    ):
        raise source.error(f"error = {error!r:.60} is not a number above 0")
    plan = plan_of_error(name, ends, float(error))
    if plan is None:
        raise source.error(
            f"no polynomial of {name} to degree {MAX_DEGREE} has an error of {error:.2g} {where}: "
            f"allow a larger error, or narrow the range of x, bounded(x, (low, high))"
        )
    return plan
