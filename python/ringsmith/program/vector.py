"""Encrypted vectors that record operations while a user's function is traced."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.program.nodes import Bound as Bound
from ringsmith.program.plain import PlainValues, Space, digest, whole_number
from ringsmith.program.refusals import Refusals, division_refusal, numpy_refusal
from ringsmith.program.source import SourceLine, caller

_COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)


@dataclass(frozen=True, eq=False)
class TraceNode:
    """One operation as the user wrote it: no levels and no scales yet.

    Attributes:
        op: One of input, add, sub, negate, multiply, add_plain, sub_plain, multiply_plain, rotate,
            conjugate, swap_columns.
        operands: Indices of the encrypted operands in the trace.
        source: The user's line.
        name: Name of an input.
        steps: Of a rotation: slots to the left, in 1 … row - 1.
        values: Plain operand.
        bound: The range that the program promises of the result.
        approximation: What the result differs at most from what it stands for.
    """

    op: Op
    operands: tuple[int, ...]
    source: SourceLine
    name: str | None = None
    steps: int | None = None
    values: PlainValues | None = None
    bound: Bound | None = None
    approximation: float = 0.0


class Trace:
    """Records operations; the same operation on the same operands is recorded once.

    Attributes:
        space: What one ciphertext holds.
        nodes: The operations, operands before users.
        rules: Of a helper's result: an operation, and how many numbers the result holds by how many
            that operation's holds (``ringsmith.program.lengths``).
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.nodes: list[TraceNode] = []
        self.rules: dict[int, tuple[int, Callable[[int], int]]] = {}
        self._known: dict[tuple[object, ...], int] = {}

    def record(self, node: TraceNode) -> "EncryptedVector":
        """Adds the node unless an equal one exists, and returns the vector of its result."""
        values = node.values
        plain = None if values is None else (values.shape, values.dtype.str, digest(values))
        key = (node.op, node.operands, node.name, node.steps, plain)
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(node)
        return EncryptedVector(self, self._known[key])

    def annotate(
        self, index: int, *, bound: Bound | None = None, approximation: float = 0.0
    ) -> None:
        """Records the range of an operation's result, or its approximation error."""
        node = self.nodes[index]
        self.nodes[index] = replace(
            node,
            bound=bound or node.bound,
            approximation=max(approximation, node.approximation),
        )


class EncryptedVector(Refusals):
    """An encrypted vector.

    Supports ``+``, ``-``, ``*`` with encrypted vectors, numbers and arrays, ``** n`` for integers
    n >= 1, unary ``-`` and ``rotate``. CKKS also has ``/`` by numbers and arrays, and
    ``conjugate``. BFV, with integers in two rows, has ``swap_columns``. A plain number fills every
    slot; a plain vector shorter than the slots is padded with zeros.
    """

    def __init__(self, trace: Trace, index: int) -> None:
        self._trace = trace
        self._index = index

    @property
    def index(self) -> int:
        """Position of the operation in its trace."""
        return self._index

    @property
    def trace(self) -> Trace:
        """The trace that the vector belongs to."""
        return self._trace

    def __add__(self, other: object) -> "EncryptedVector":
        return self._binary(Op.ADD, Op.ADD_PLAIN, other)

    def __radd__(self, other: object) -> "EncryptedVector":
        return self + other

    def __sub__(self, other: object) -> "EncryptedVector":
        return self._binary(Op.SUB, Op.SUB_PLAIN, other)

    def __rsub__(self, other: object) -> "EncryptedVector":
        return -self + other

    def __neg__(self) -> "EncryptedVector":
        return self._unary(Op.NEGATE)

    def __mul__(self, other: object) -> "EncryptedVector":
        return self._binary(Op.MULTIPLY, Op.MULTIPLY_PLAIN, other)

    def __rmul__(self, other: object) -> "EncryptedVector":
        return self * other

    def __truediv__(self, other: object) -> "EncryptedVector":
        source = caller()
        if isinstance(other, EncryptedVector):
            raise division_refusal()
        if self._trace.space.exact:
            raise source.error(
                "whole numbers modulo t are not divided: multiply what was decrypted, or by the "
                "divisor's inverse modulo t, pow(divisor, -1, t)"
            )
        divisor = self._trace.space.numbers(other, source)
        if not divisor.all():
            raise source.error("division by zero: a divisor is 0")
        return self * np.reciprocal(divisor)

    def __pow__(self, exponent: object) -> "EncryptedVector":
        power = whole_number(exponent)
        if power is None or power < 1:
            raise caller().error(
                f"an encrypted vector to the power {exponent!r:.60}: use a whole number from 1"
            )
        return self._power(power)

    def _power(self, exponent: int) -> "EncryptedVector":
        """Returns the power through ceil(log2 exponent) levels."""
        if exponent == 1:
            return self
        high = 1 << ((exponent - 1).bit_length() - 1)  # the largest power of two below exponent
        factor = self._power(high)
        return factor * (factor if exponent == 2 * high else self._power(exponent - high))

    def rotate(self, steps: int) -> "EncryptedVector":
        """Returns the vector rotated to the left: slot i holds what slot i + steps held.

        Slots are counted modulo N/2: those of CKKS are one such row, and BFV's two rows, slots
        0 … N/2 - 1 and N/2 … N - 1, turn side by side.

        Args:
            steps: Slots; negative to the right; of magnitude below N/2.

        Raises:
            ProgramError: When ``steps`` is not a whole number or too large.
        """
        slots, source = self._trace.space.row, caller()
        distance = whole_number(steps)
        if distance is None:
            raise source.error(f"rotation by {steps!r:.60}: use a whole number of slots")
        if abs(distance) >= slots:
            raise source.error(
                f"rotation by {steps} slots, and a row has {slots}: use {-slots + 1} … {slots - 1}"
            )
        if distance == 0:
            return self
        return self._trace.record(
            TraceNode(Op.ROTATE, (self._index,), source, steps=distance % slots)
        )

    def conjugate(self) -> "EncryptedVector":
        """Returns the complex conjugate of every slot; in CKKS only."""
        if self._trace.space.exact:
            raise caller().error(
                "whole numbers have no conjugate: swap_columns() swaps the two rows of a vector"
            )
        return self._unary(Op.CONJUGATE)

    def swap_columns(self) -> "EncryptedVector":
        """Returns the vector with its two rows swapped; in BFV only."""
        if not self._trace.space.exact:
            raise caller().error(
                "a CKKS vector is one row, and there is nothing to swap: rotate(N // 4) swaps its "
                "halves"
            )
        return self._unary(Op.SWAP_COLUMNS)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *operands: object, **options: object
    ) -> "EncryptedVector":
        """Takes ``array * vector`` and the like from NumPy, and refuses its other functions."""
        operators = {
            np.add: (self.__add__, self.__radd__),
            np.subtract: (self.__sub__, self.__rsub__),
            np.multiply: (self.__mul__, self.__rmul__),
            np.true_divide: (self.__truediv__, self.__rtruediv__),
        }
        if method == "__call__" and not options and ufunc in operators:
            forward, reflected = operators[ufunc]
            return forward(operands[1]) if operands[0] is self else reflected(operands[0])
        if ufunc is np.matmul:
            self._refuse_matmul(None)
        if ufunc in _COMPARISONS:
            self._refuse_comparison(None)
        raise numpy_refusal(
            ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        )

    def __repr__(self) -> str:
        return f"EncryptedVector(%{self._index}, {self._trace.space.slots} slots)"

    def _unary(self, op: Op) -> "EncryptedVector":
        return self._trace.record(TraceNode(op, (self._index,), caller()))

    def _binary(self, encrypted: Op, plain: Op, other: object) -> "EncryptedVector":
        source = caller()
        if not isinstance(other, EncryptedVector):
            values = self._trace.space.vector(other, source)
            return self._trace.record(TraceNode(plain, (self._index,), source, values=values))
        if other.trace is not self._trace:
            raise ProgramError(
                f"{source}: the operands belong to two traces: "
                "use only the vectors that the traced function was handed"
            )
        operands = (self._index, other.index)
        if encrypted is not Op.SUB:  # commutative: one order, so that equals are recorded once
            operands = (min(operands), max(operands))
        return self._trace.record(TraceNode(encrypted, operands, source))
