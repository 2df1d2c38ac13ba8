"""Ranges of values: promises of a program, and the ranges of polynomials of them."""

import math
from dataclasses import dataclass

import numpy as np

from ringsmith.errors import ProgramError
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.vector import Bound, EncryptedVector

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


def bounded(x: EncryptedVector, limit: Range) -> EncryptedVector:
    """Returns x with the promise that its numbers lie in a range.

    Planning and the forecast use the range instead of the worst case that they compute.
    ``program.evaluate`` checks it. The promise holds for every slot: those after an input's numbers
    hold 0, or the program's result for 0.

    Args:
        x: The encrypted vector; CKKS only.
        limit: A magnitude that no number exceeds, or the pair (low, high) of real numbers.

    Raises:
        ProgramError: When the limit is no range, or contradicts an earlier one; in BFV.
    """
    source = caller()
    if x.trace.space.exact:
        raise source.error(
            "bounded: BFV's noise does not depend on the numbers: leave it out, and take a t above "
            "twice their largest magnitude"
        )
    return promise(x, interval_of(limit, source), source)


def promise(x: EncryptedVector, interval: Interval, source: SourceLine) -> EncryptedVector:
    """Records that the numbers of x lie in an interval, and returns x."""
    known = x.trace.nodes[x.index].bound
    low, high = interval.low, interval.high
    if known is not None:
        low, high = max(low, known.low), min(high, known.high)
        if low > high:
            raise source.error(
                f"the range [{interval.low:g}, {interval.high:g}] has no number of the range "
                f"[{known.low:g}, {known.high:g}] that {known.source} gives: mend one of them"
            )
    x.trace.annotate(x.index, bound=Bound(float(low), float(high), source))
    return x


def range_of(x: EncryptedVector) -> Interval | None:
    """Returns the range that was promised of x; None: none was."""
    bound = x.trace.nodes[x.index].bound
    return None if bound is None else Interval(bound.low, bound.high)


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
