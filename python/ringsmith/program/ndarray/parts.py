"""The ciphertexts of an array: slots that are encrypted, or numbers that are known.

A product with zeros, or slots that never held an entry, need no ciphertext: they are known numbers,
and arithmetic on them is NumPy's.
"""

from collections.abc import Sequence

import numpy as np

from ringsmith.graph.operations import Op
from ringsmith.program.plain import PlainValues
from ringsmith.program.recorder import Trace
from ringsmith.program.vector import EncryptedVector

Part = EncryptedVector | PlainValues
"""All slots of a ciphertext, or the numbers that it would hold: shape () or (slots,)."""
Parts = Sequence[Part]

NOTHING: PlainValues = np.zeros((), np.int64)
"""Zeros in all slots."""
_MOST_TIMES = 16
"""The largest multiple that is computed by additions: seven at most, about a plain product."""


def in_slots(values: PlainValues) -> PlainValues:
    """Returns plain numbers as an operand: one number where all are equal."""
    if values.ndim and (values == values[0]).all():
        return values[0:1].reshape(())
    return values


_KNOWN = {Op.ADD: np.add, Op.SUB: np.subtract, Op.MULTIPLY: np.multiply}


def combined(op: Op, a: Part, b: Part, trace: Trace) -> Part:
    """Returns the sum, difference or product of two parts.

    Args:
        op: ``Op.ADD``, ``Op.SUB`` or ``Op.MULTIPLY``.
        a: The first.
        b: The second.
        trace: Where it is recorded.
    """
    if isinstance(a, np.ndarray):
        if isinstance(b, np.ndarray):
            return np.asarray(_KNOWN[op](a, b))
        return _with_known(op, -b if op is Op.SUB else b, a, trace)
    if isinstance(b, np.ndarray):
        return _with_known(op, a, np.asarray(-b) if op is Op.SUB else b, trace)
    match op:
        case Op.ADD:
            return a + b
        case Op.SUB:
            return NOTHING if a.index == b.index else a - b
        case _:
            return a * b


def _with_known(op: Op, x: EncryptedVector, values: PlainValues, trace: Trace) -> Part:
    """Returns x plus numbers, or times numbers; a difference is a sum with negatives."""
    if op is not Op.MULTIPLY:
        return x + in_slots(values) if values.any() else x
    if not values.any():
        return NOTHING
    if values.ndim == 0 and _adds_up(x, values, trace):
        return multiple(x, int(values.real))
    return x if (values == 1).all() else x * in_slots(values)


def _adds_up(x: EncryptedVector, times: PlainValues, trace: Trace) -> bool:
    """Whether a multiple is better computed by additions than by a product with a plaintext.

    Products with plaintexts that follow one another are one, so that a multiple of one is free.
    """
    folds = not trace.space.exact and trace.nodes[x.index].op is Op.MULTIPLY_PLAIN
    return not folds and bool(times == np.rint(times.real)) and bool(abs(times) <= _MOST_TIMES)


def multiple(part: EncryptedVector, times: int) -> EncryptedVector:
    """Returns a whole multiple by additions, which take no level."""
    if times < 0:
        return -multiple(part, -times)
    if times == 1:
        return part
    half = multiple(part, times // 2)
    return half + half + part if times % 2 else half + half


def turned(part: Part, steps: int, trace: Trace) -> Part:
    """Returns a part rotated to the left in each row.

    Args:
        part: The part.
        steps: Slots; a row more, in either direction: both rows are swapped, too.
        trace: Where it is recorded.
    """
    row, swaps = trace.space.row, bool(abs(steps) & trace.space.row)
    if not isinstance(part, np.ndarray):
        return (part.swap_columns() if swaps else part).rotate(steps % row)
    rows = np.broadcast_to(part, (trace.space.slots,)).reshape(-1, row)
    return np.roll(rows, (-int(swaps), -(steps % row)), (0, 1)).reshape(-1)
