"""Vectors that record operations while a user's function is traced."""

from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op, Slots
from ringsmith.program import clearing
from ringsmith.program.arithmetic import Arithmetic
from ringsmith.program.arrays import Array, ArrayNode, padded
from ringsmith.program.plain import PlainValues, whole_number
from ringsmith.program.recorder import Trace, TraceNode
from ringsmith.program.source import SourceLine, caller

Vector = TypeVar("Vector", bound="RecordedVector")


class RecordedVector(Arithmetic):
    """What ``EncryptedVector`` records: arithmetic, powers and rotations."""

    def __init__(self, trace: Trace, index: int, array: ArrayNode | None = None) -> None:
        """For this package only.

        Args:
            trace: Where operations are recorded.
            index: The operation in the trace.
            array: What it means as an array. None: only its slots count, as inside of helpers.
        """
        self._trace = trace
        self._index = index
        self._array = array

    def made(self, index: int, array: ArrayNode | None = None) -> Self:
        """Returns an operation of the same trace; it means no array without one."""
        return type(self)(self._trace, index, array)

    @property
    def index(self) -> int:
        """Position of the operation in its trace."""
        return self._index

    @property
    def trace(self) -> Trace:
        """The trace that the vector belongs to."""
        return self._trace

    @property
    def array(self) -> ArrayNode:
        """What the vector means as an array."""
        assert self._array is not None, "users and outputs have arrays"
        return self._array

    @property
    def node(self) -> ArrayNode:
        """What the vector means, as ``array``."""
        return self.array

    @property
    def shape(self) -> tuple[int]:
        """How many numbers it holds, as NumPy's shape; all slots where it was rotated."""
        node = self.array
        return (self._trace.space.slots if node.all_slots else node.numbers,)

    def __len__(self) -> int:
        return self.shape[0]

    def __neg__(self) -> Self:
        return self._unary(Op.NEGATE, np.negative)

    def rotate(self, steps: int) -> Self:
        """Returns the vector rotated to the left: slot i holds what slot i + steps held.

        Slots are counted modulo N/2: those of CKKS are one such row, and BFV's two rows, slots
        0 … N/2 - 1 and N/2 … N - 1, rotate separately. Zeros follow a vector's numbers and rotate
        with them. The result is all slots: adding a shorter vector to it adds zeros after it.

        Args:
            steps: Slots; negative to the right; of magnitude below N/2.

        Raises:
            ProgramError: When ``steps`` is not a whole number or too large, or where numbers would
                pass the end of a row, so that the result would depend on N.
        """
        space, source = self._trace.space, caller()
        distance = whole_number(steps)
        if distance is None:
            raise source.error(f"rotation by {steps!r:.60}: use a whole number of slots")
        if abs(distance) >= space.row:
            raise source.error(
                f"rotation by {steps} slots, and a row has {space.row}: use {-space.row + 1} … "
                f"{space.row - 1}"
            )
        if distance == 0:
            return self
        if self._array is None:
            return self.slots_of(self._trace.rotate(self._index, distance, source))
        numbers, right = self._array.numbers, max(0, -distance)
        check_row(self, distance, source)
        whole = self.all_slots(source)
        slots = Slots(space.row, distance % space.row)
        rotate = Op.ROTATE.record.meaning
        return self.made(
            self._trace.rotate(whole.index, distance, source),
            ArrayNode(
                min(numbers + right, space.slots),
                lambda a: rotate(a, a, slots),
                (whole.array,),
                all_slots=True,
            ),
        )

    def conjugate(self) -> Self:
        """Returns the complex conjugate of every slot; in CKKS only."""
        if self._trace.space.exact:
            raise caller().error(
                "whole numbers have no conjugate: swap_columns() swaps the two rows of a vector"
            )
        return self._unary(Op.CONJUGATE, np.conjugate)

    def swap_columns(self) -> Self:
        """Returns all slots with the two rows swapped; in BFV only."""
        space, source = self._trace.space, caller()
        if not space.exact:
            raise source.error(
                "a CKKS vector is one row, and there is nothing to swap: rotate(N // 4) swaps its "
                "halves"
            )
        whole = self if self._array is None else self.all_slots(source)
        index = self._trace.record(TraceNode(Op.SWAP_COLUMNS, (whole.index,), source))
        if self._array is None:
            return self.slots_of(index)
        swap, slots = Op.SWAP_COLUMNS.record.meaning, Slots(space.row)
        node = ArrayNode(space.slots, lambda a: swap(a, a, slots), (whole.array,), all_slots=True)
        return self.made(index, node)

    def __repr__(self) -> str:
        if self._array is None or self._array.all_slots:
            return f"EncryptedVector(%{self._index}, {self._trace.space.slots} slots)"
        return f"EncryptedVector(%{self._index}, {self._array.numbers} numbers)"

    # ---- slots and arrays ------------------------------------------------------------------

    def slots_of(self, index: int | None = None) -> Self:
        """Returns an operation of the same trace, or this one, with slots only."""
        return self.made(self._index if index is None else index)

    def all_slots(self, source: SourceLine) -> Self:
        """Returns the vector as all slots: its numbers, and zeros after them."""
        node, slots = self.array, self._trace.space.slots
        if node.all_slots:
            return self
        index = clearing.cleared(self._trace, self._index, node.numbers, source)
        whole = ArrayNode(node.numbers, lambda a: padded(a, slots), (node,), all_slots=True)
        return self.made(index, whole)

    def _repeated(self, count: int, source: SourceLine) -> Self:
        """Returns one number, standing in at least ``count`` slots."""
        node = self.array
        if node.repeats(1, count):
            return self
        index = clearing.spread(self._trace, self._index, count, source)
        filled = min(1 << (count - 1).bit_length(), self._trace.space.slots)
        return self.made(index, ArrayNode(1, lambda a: a, (node,), filled=filled))

    # ---- operations ------------------------------------------------------------------------

    def _unary(self, op: Op, compute: Callable[[Array], Array]) -> Self:
        index = self._trace.record(TraceNode(op, (self._index,), caller()))
        node = self._array
        if node is None:
            return self.slots_of(index)
        made = ArrayNode(
            node.numbers,
            compute,
            (node,),
            all_slots=node.all_slots,
            filled=node.filled,
            period=node.period,
        )
        return self.made(index, made)

    def _binary(self, op: Op, other: object) -> Self:
        source, plain = caller(), _PLAIN[op]
        if not isinstance(other, RecordedVector):
            if self._array is None or self._array.all_slots:
                return self._with_slots(plain, other, source)
            return self._with_array(plain, other, source)
        if other.trace is not self._trace:
            raise ProgramError(
                f"{source}: the operands belong to two traces: "
                "use only the vectors that the traced function was handed"
            )
        return self._with_vector(op, other, source)

    def _with_slots(self, op: Op, other: object, source: SourceLine) -> Self:
        """All slots with a plain operand, after which zeros follow."""
        values = self._trace.space.vector(other, source)
        index = self._trace.plain(op, self._index, values, source)
        node = self._array
        if node is None:
            return self.slots_of(index)
        numbers, compute = node.numbers, _COMPUTE[op]
        size = np.size(other)  # type: ignore[arg-type]  # it is an array of numbers
        if op is Op.MULTIPLY_PLAIN and 1 < size < values.size > node.numbers:
            kept = ArrayNode(size, lambda a: compute(a, values)[:size], (node,))
            return self.made(index, kept)
        if op is not Op.MULTIPLY_PLAIN and values.ndim:
            numbers = max(numbers, int(values.nonzero()[0].max(initial=0)) + 1)
        made = ArrayNode(numbers, lambda a: compute(a, values), (node,), all_slots=True)
        return self.made(index, made)

    def _with_array(self, op: Op, other: object, source: SourceLine) -> Self:
        """Numbers with as many plain numbers, or with one; one number with any."""
        space, node = self._trace.space, self.array
        given = space.numbers(other, source)
        if given.size == 1:
            given = given.reshape(())
        x, numbers, filled = self, max(node.numbers, given.size), node.numbers
        if not given.ndim:
            filled = node.filled if node.period == node.numbers else node.numbers
        elif given.size == space.slots > node.numbers > 1 and not space.chosen:
            return self.all_slots(source)._with_slots(op, given, source)
        elif node.numbers == 1:
            x = self._repeated(given.size, source)
        elif given.size != node.numbers:
            raise shape_error(node.numbers, given.size, source)
        values, compute = given, _COMPUTE[op]
        if given.size == node.numbers > 1 and op is not Op.MULTIPLY_PLAIN:
            values, filled = self._for_repetitions(given), node.filled
        index = self._trace.plain(op, x.index, space.vector(values, source), source)
        period = node.period if filled == node.filled else 0
        made = ArrayNode(
            numbers, lambda a: compute(a, given), (node,), filled=filled, period=period
        )
        return self.made(index, made)

    def _for_repetitions(self, given: PlainValues) -> PlainValues:
        """Plain numbers for each repetition of the numbers of the vector."""
        node = self.array
        if node.filled == node.numbers:
            return given
        return np.tile(padded(given, node.period), node.filled // node.period)

    def _with_vector(self, op: Op, other: "RecordedVector", source: SourceLine) -> Self:
        """Two encrypted vectors, of as many numbers; or one of one number, or of all slots."""
        a: RecordedVector = self
        b = other
        left, right = a._array, b._array
        if left is None or right is None:
            return self.slots_of(self._trace.pair(op, a.index, b.index, source))
        all_slots = left.all_slots or right.all_slots
        if a.shape == (1,) != b.shape:
            a = a._repeated(len(b), source)
        elif b.shape == (1,) != a.shape:
            b = b._repeated(len(a), source)
        elif all_slots:
            a, b = a.all_slots(source), b.all_slots(source)
        elif left.numbers != right.numbers:
            raise shape_error(left.numbers, right.numbers, source)
        same = a.array.period == b.array.period
        made = ArrayNode(
            max(left.numbers, right.numbers),
            _COMPUTE[op],
            (a.array, b.array),
            all_slots=all_slots,
            filled=min(a.array.filled, b.array.filled) if same else 0,
            period=a.array.period if same else 0,
        )
        return self.made(self._trace.pair(op, a.index, b.index, source), made)


_PLAIN = {Op.ADD: Op.ADD_PLAIN, Op.SUB: Op.SUB_PLAIN, Op.MULTIPLY: Op.MULTIPLY_PLAIN}
_COMPUTE: dict[Op, Callable[[Array, Any], Array]] = {
    Op.ADD: np.add,
    Op.SUB: np.subtract,
    Op.MULTIPLY: np.multiply,
    Op.ADD_PLAIN: np.add,
    Op.SUB_PLAIN: np.subtract,
    Op.MULTIPLY_PLAIN: np.multiply,
}


def check_row(x: RecordedVector, distance: int, source: SourceLine) -> None:
    """Refuses a rotation that carries a vector's numbers around the end of a row."""
    space, numbers = x.trace.space, x.array.numbers
    row = space.row
    if x.array.all_slots or (numbers in (row, space.slots) and not space.chosen):
        return
    if numbers > row:
        raise source.error(
            f"a rotation of {numbers} numbers, which lie in two rows of {row} slots: a row rotates "
            "by itself; keep the numbers in one row, or declare the input without a length to "
            "rotate all slots"
        )
    if numbers + abs(distance) > row:
        raise source.error(
            f"a rotation by {distance} of {numbers} numbers passes the end of a row of {row} "
            "slots, and the result would depend on N: raise N"
        )


def check_encrypted(x: object, call: str, source: SourceLine, arrays: str = "") -> None:
    """Refuses what is no encrypted vector, as an operand of a function.

    Args:
        x: What was given.
        call: How the function is called.
        source: The user's line.
        arrays: What is written for encrypted arrays instead.
    """
    if isinstance(x, RecordedVector):
        return
    if isinstance(x, Arithmetic) and arrays:
        raise source.error(f"{call} takes vectors of slots: of arrays write {arrays}")
    raise source.error(
        f"{x!r:.40} ({type(x).__name__}) stands where the encrypted vector x does: call {call}"
    )


def shape_error(left: int, right: int, source: SourceLine) -> ProgramError:
    """Returns (does not raise) the error for two vectors of different numbers."""
    return source.error(
        f"shapes ({left},) and ({right},) do not fit, as in NumPy: give vectors of as many "
        "numbers, or of one number; an input's numbers are declared in trace(…, inputs)"
    )
