"""Ranges of values: promises of a program, and the ranges of polynomials of them."""

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ringsmith.errors import ProgramError
from ringsmith.program.arrays import ArrayNode
from ringsmith.program.clearing import behind, moved_into
from ringsmith.program.ndarray.array import EncryptedArray
from ringsmith.program.nodes import Bound
from ringsmith.program.recorded import check_encrypted
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.spans import Span
from ringsmith.program.vector import EncryptedVector

_SLACK = 1e-6
"""Part of its width by which a computed range is widened, to include errors of encryption."""


@dataclass(frozen=True)
class Interval:
    """Real numbers from ``low`` to ``high``.

    Attributes:
        low: The least of them.
        high: The greatest of them.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        for value in (self.low, self.high):
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise ProgramError(f"an interval ends at a number, not at {value!r:.60}")
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise ProgramError(
                f"[{self.low}, {self.high}] is no interval: give two finite numbers, the smaller "
                "one first"
            )

    @property
    def magnitude(self) -> float:
        """The largest magnitude of a number in it."""
        return max(abs(self.low), abs(self.high))


Range = float | tuple[float, float] | Interval
"""A range as users give it: a magnitude, a pair, or an ``Interval``."""


X = TypeVar("X", EncryptedVector, EncryptedArray)


def bounded(x: X, limit: Range) -> X:
    """Returns x with the promise that its numbers lie in a range.

    Planning and the forecast use the range instead of the worst case that they compute.
    ``program.evaluate`` checks it. The promise is of a vector's numbers: slots after them are moved
    into the range, too. Of all slots (``EncryptedVector``) it is of every slot.

    Args:
        x: The encrypted vector or array.
        limit: A magnitude that no number exceeds, or the pair (low, high) of real numbers.

    Raises:
        ProgramError: When the limit is no range, or x cannot lie in it.
    """
    source = caller()
    if isinstance(x, EncryptedArray):
        interval = interval_of(limit, source)
        _check_promise(interval, x.span(), source)
        return x.bounded(Bound(float(interval.low), float(interval.high), source))
    check_encrypted(x, "bounded(x, limit)", source)
    return promise(x, interval_of(limit, source), source)


def promise(x: EncryptedVector, interval: Interval, source: SourceLine) -> EncryptedVector:
    """Returns x with a promise at a line, as ``bounded``."""
    _check_promise(interval, _numbers(x), source)
    return _within(x, Bound(float(interval.low), float(interval.high), source), source)


def _check_promise(interval: Interval, found: Span, source: SourceLine) -> None:
    low, high = float(interval.low), float(interval.high)
    if found.real and (float(found.high.real.max()) < low or float(found.low.real.min()) > high):
        raise source.error(
            f"the range [{low:g}, {high:g}] has no number of the range {_text(found)} that follows "
            "from the inputs: mend one of them"
        )


def restricted(
    x: EncryptedVector, interval: Interval, what: str, source: SourceLine
) -> EncryptedVector:
    """Returns x, whose numbers lie in an interval, with all slots in it.

    Args:
        x: The encrypted vector.
        interval: Where a function is approximated.
        what: Names the interval in the error.
        source: The user's line.

    Raises:
        ProgramError: When the ranges of the inputs allow numbers outside the interval.
    """
    found = _numbers(x)
    slack = 1e-5 * (interval.high - interval.low)
    if not found.real or not (
        interval.low - slack <= float(found.low.real.min())
        and float(found.high.real.max()) <= interval.high + slack
    ):
        limit = f"({interval.low:g}, {interval.high:g})"
        raise source.error(
            f"the numbers may lie in {_text(found)} by the ranges of the inputs, and {what} is "
            f"[{interval.low:g}, {interval.high:g}]: widen it, declare the inputs' ranges "
            f"(InputSpec(bound=…)), or promise what you know: bounded(x, {limit})"
        )
    return _within(x, Bound(interval.low, interval.high, source), source)


def image(result: EncryptedVector, interval: Interval, source: SourceLine) -> None:
    """Records the range of a result, computed from the range of what it was made of."""
    bound = Bound(interval.low, interval.high, source, computed=True)
    result.trace.annotate(result.index, bound=bound)


def range_of(x: EncryptedVector) -> Interval | None:
    """Returns the range of all slots of x; None: it is not real, or not bounded."""
    return _interval(x.trace.span(x.index))


def numbers_range(x: EncryptedVector) -> Interval | None:
    """Returns the range of the numbers of x; None: they are not real, or not bounded."""
    return _interval(_numbers(x))


def _interval(span: Span) -> Interval | None:
    if not span.real or not math.isfinite(span.magnitude):
        return None
    return Interval(float(span.low.real.min()), float(span.high.real.max()))


def _numbers(x: EncryptedVector) -> Span:
    """The ranges of the numbers of x."""
    slots = x.trace.space.slots
    return x.trace.span(x.index).part(0, x.shape[0], slots)


def _text(span: Span) -> str:
    if not span.real:
        return f"complex numbers of a magnitude up to {span.magnitude:g}"
    return f"[{float(span.low.real.min()):g}, {float(span.high.real.max()):g}]"


def _within(x: EncryptedVector, bound: Bound, source: SourceLine) -> EncryptedVector:
    """Returns x with the slots after its numbers in a range, and the range recorded."""
    trace, node = x.trace, x.array
    index = x.index
    between = node.period > node.numbers and not bound.low <= 0 <= bound.high
    if between or node.filled < trace.space.slots:
        where = behind(trace, x.shape[0])
        what = f"slots after the first {x.shape[0]}"
        index = moved_into(trace, index, where, bound.low, bound.high, source, what)
    trace.annotate(index, bound=bound)
    made = ArrayNode(
        node.numbers,
        bound.checked,
        (node,),
        all_slots=node.all_slots,
        filled=node.filled if index == x.index else 0,
        period=node.period if index == x.index else 0,
    )
    return EncryptedVector(trace, index, made)


def interval_of(limit: object, source: SourceLine) -> Interval:
    """Returns a range as an interval, or refuses it."""
    if isinstance(limit, Interval):
        return limit
    try:
        if isinstance(limit, tuple | list):
            low, high = limit
            return Interval(low, high)
        if isinstance(limit, bool) or not isinstance(limit, int | float | np.number) or limit < 0:
            raise ValueError
        return Interval(-float(limit), float(limit))
    except (ProgramError, ValueError, TypeError):
        raise source.error(
            f"{limit!r:.60} is no range: give a magnitude from 0, or a pair (low, high)"
        ) from None


def widened(low: float, high: float) -> Interval:
    """Returns an interval that is a little wider."""
    slack = _SLACK * max(high - low, abs(low), abs(high))
    return Interval(low - slack, high + slack)
