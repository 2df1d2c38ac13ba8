"""Puts zeros, copies or numbers of a range behind the numbers of a value, where something needs it.

The cheapest way is taken. Where the ranges of the recorded operations show that the slots hold what
is needed, nothing is added. Slots that are known hold other numbers after a plain addition, which
takes no level and no key. Slots that depend on the inputs take a product with ones and zeros, one
level, and a note says so.
"""

import numpy as np
from numpy.typing import NDArray

from ringsmith.graph.operations import Op
from ringsmith.program.nodes import Note
from ringsmith.program.plain import PlainValues
from ringsmith.program.recorder import Trace, TraceNode
from ringsmith.program.source import SourceLine

MAX_INTEGER = 1 << 10
"""Greater integers are not subtracted, since t might not hold them; every t that batches does."""


Where = NDArray[np.bool_]
"""Slots, shape (slots,)."""


def behind(trace: Trace, numbers: int, stop: int | None = None) -> Where:
    """Returns the slots from ``numbers`` to before ``stop``; None: to the last."""
    slots = np.arange(trace.space.slots)
    return (slots >= numbers) & (slots < (slots.size if stop is None else stop))


def depends(trace: Trace, index: int, numbers: int, stop: int | None = None) -> bool:
    """Whether slots from ``numbers`` to before ``stop`` depend on the inputs."""
    return not _known(trace, index, behind(trace, numbers, stop))


def cleared(
    trace: Trace, index: int, numbers: int, source: SourceLine, stop: int | None = None
) -> int:
    """Returns a value with zeros in the slots from ``numbers`` to before ``stop``.

    Args:
        trace: The record.
        index: The value.
        numbers: Slots, from the first, that stay as they are.
        source: The user's line.
        stop: The first slot after them that may hold anything; None: all slots are cleared.
    """
    what = f"slots after the first {numbers}"
    where = behind(trace, numbers, stop)
    mask = ~behind(trace, numbers)  # where anything may stand, zeros serve as well
    return zeroed(trace, index, where, source, what, mask)


def clears_freely(trace: Trace, index: int, where: Where) -> bool:
    """Whether ``zeroed`` consumes no level: the slots hold known numbers."""
    if not where.any():
        return True
    if not _known(trace, index, where):
        return False
    largest = float(np.broadcast_to(trace.span(index).magnitudes, where.shape)[where].max())
    return not trace.space.exact or largest <= MAX_INTEGER


def zeroed(
    trace: Trace,
    index: int,
    where: Where,
    source: SourceLine,
    what: str = "other slots",
    mask: Where | None = None,
) -> int:
    """Returns a value with zeros in some slots.

    Args:
        trace: The record.
        index: The value.
        where: The slots.
        source: The user's line.
        what: Names the slots in a note, where they must be cleared by a product.
        mask: Slots that such a product keeps; None: all others.
    """
    if not where.any():
        return index
    if not clears_freely(trace, index, where):
        return _masked(trace, index, ~where if mask is None else mask, source, what)
    values = np.where(where, trace.span(index).low, 0)
    if not values.any():
        return index
    return trace.plain(Op.SUB_PLAIN, index, _stored(trace, values), source)


def _known(trace: Trace, index: int, where: Where) -> bool:
    known = np.broadcast_to(trace.span(index).known, where.shape)
    return bool(known[where].all())


def _masked(trace: Trace, index: int, kept: Where, source: SourceLine, what: str) -> int:
    level = "" if trace.space.exact else ", one level"
    text = f"{what} are cleared by a product with ones and zeros{level}"
    trace.notes[Note(source, text)] = None
    mask = kept.astype(np.float64)
    return trace.plain(Op.MULTIPLY_PLAIN, index, _stored(trace, mask), source)


def moved_into(
    trace: Trace,
    index: int,
    where: Where,
    low: float,
    high: float,
    source: SourceLine,
    what: str = "other slots",
) -> int:
    """Returns a value of which some slots lie in a range, too.

    Args:
        trace: The record.
        index: The value.
        where: The slots.
        low: The least number of the range.
        high: The greatest.
        source: The user's line.
        what: Names the slots in a note.
    """
    if not where.any():
        return index
    span = trace.span(index)
    slack = 1e-9 * max(abs(low), abs(high))
    if span.real:
        least, most = (
            np.broadcast_to(end.real, where.shape)[where] for end in (span.low, span.high)
        )
        if float(least.min()) >= low - slack and float(most.max()) <= high + slack:
            return index
    target = min(max(0.0, low), high)
    if not _known(trace, index, where):
        index = _masked(trace, index, ~where, source, what)
        span = trace.span(index)
    values = np.where(where, target - span.low, 0)
    if not values.any():
        return index
    return trace.plain(Op.ADD_PLAIN, index, _stored(trace, values), source)


def spread(trace: Trace, index: int, count: int, source: SourceLine) -> int:
    """Returns a value whose first number stands in at least ``count`` slots, from the first."""
    space = trace.space
    index = cleared(trace, index, 1, source)
    filled = 1
    while filled < min(count, space.row):
        index = trace.pair(Op.ADD, index, trace.rotate(index, -filled, source), source)
        filled *= 2
    return both_rows(trace, index, source) if count > space.row else index


def both_rows(trace: Trace, index: int, source: SourceLine) -> int:
    """Returns the sum of both rows, in each of them; of one row: the value itself."""
    if trace.space.row == trace.space.slots:
        return index
    other = trace.record(TraceNode(Op.SWAP_COLUMNS, (index,), source))
    return trace.pair(Op.ADD, index, other, source)


def _stored(trace: Trace, values: PlainValues) -> PlainValues:
    stored = np.rint(values).astype(np.int64) if trace.space.exact else values
    stored.setflags(write=False)
    return stored
