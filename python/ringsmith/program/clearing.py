"""Puts zeros, copies or numbers of a range behind the numbers of a value, where something needs it.

The cheapest way is taken. Where the ranges of the recorded operations show that the slots hold what
is needed, nothing is added. Slots that are known hold other numbers after a plain addition, which
takes no level and no key. Slots that depend on the inputs take a product with ones and zeros, one
level, and a note says so.
"""

import numpy as np

from ringsmith.graph.operations import Op
from ringsmith.program.nodes import Note
from ringsmith.program.plain import PlainValues
from ringsmith.program.recorder import Trace, TraceNode
from ringsmith.program.source import SourceLine

MAX_INTEGER = 1 << 10
"""Greater integers are not subtracted, since t might not hold them; every t that batches does."""


def depends(trace: Trace, index: int, numbers: int, stop: int | None = None) -> bool:
    """Whether slots from ``numbers`` to before ``stop`` depend on the inputs."""
    slots = trace.space.slots
    end = slots if stop is None else stop
    return numbers < end and not bool(trace.span(index).part(numbers, end, slots).known.all())


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
    slots = trace.space.slots
    end = slots if stop is None else stop
    if numbers >= end:
        return index
    if depends(trace, index, numbers, stop):
        return _masked(trace, index, numbers, source)
    behind = trace.span(index).part(numbers, end, slots)
    if not behind.low.any():
        return index
    if trace.space.exact and behind.magnitude > MAX_INTEGER:
        return _masked(trace, index, numbers, source)
    values = np.zeros(slots, behind.low.dtype)
    values[numbers:end] = behind.low
    return trace.plain(Op.SUB_PLAIN, index, _stored(trace, values), source)


def _masked(trace: Trace, index: int, numbers: int, source: SourceLine) -> int:
    level = "" if trace.space.exact else ", one level"
    text = f"slots after the first {numbers} are cleared by a product with ones and zeros{level}"
    trace.notes[Note(source, text)] = None
    mask = (np.arange(trace.space.slots) < numbers).astype(np.float64)
    return trace.plain(Op.MULTIPLY_PLAIN, index, _stored(trace, mask), source)


def moved_into(
    trace: Trace, index: int, numbers: int, low: float, high: float, source: SourceLine
) -> int:
    """Returns a value whose slots after the first ``numbers`` lie in a range, too."""
    slots = trace.space.slots
    if numbers >= slots:
        return index
    behind = trace.span(index).part(numbers, slots, slots)
    slack = 1e-9 * max(abs(low), abs(high))
    if (
        behind.real
        and float(behind.low.real.min()) >= low - slack
        and float(behind.high.real.max()) <= high + slack
    ):
        return index
    target = min(max(0.0, low), high)
    if not behind.known.all():
        index = _masked(trace, index, numbers, source)
        behind = trace.span(index).part(numbers, slots, slots)
    values = np.zeros(slots, behind.low.dtype)
    values[numbers:] = target - behind.low
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
