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
"""All slots of a ciphertext, or the numbers that a row would hold: shape () or (row,)."""
Parts = Sequence[Part]

NOTHING: PlainValues = np.zeros((), np.int64)
"""Zeros in all slots."""


def in_slots(values: PlainValues, trace: Trace) -> PlainValues:
    """Returns plain numbers of a row as an operand: one number where all are equal."""
    if values.ndim and (values == values[0]).all():
        values = values[0:1].reshape(())
    return values if values.ndim == 0 else trace.space.in_every_row(values)


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
        return x + in_slots(values, trace) if values.any() else x
    if not values.any():
        return NOTHING
    return x if (values == 1).all() else x * in_slots(values, trace)


def turned(part: Part, steps: int, trace: Trace) -> Part:
    """Returns a part rotated to the left."""
    if not isinstance(part, np.ndarray):
        return part.rotate(steps)
    return np.roll(np.broadcast_to(part, (trace.space.row,)), -steps)
