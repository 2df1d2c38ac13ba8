"""The nodes of the HE graph: one operation each, with its level, scale and size."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.graph.operations import Op
from ringsmith.program.plain import PlainValues
from ringsmith.program.source import SourceLine
from ringsmith.short_repr import short_repr

_SLACK = 1e-9
"""Distance outside of a range, relative to it, from which a number is outside."""


@short_repr
@dataclass(frozen=True, eq=False)
class Plain:
    """A plain operand with the scale that it is encoded at.

    Attributes:
        values: Shape () or (slots,).
        scale: Encoding scale, at the limbs of the node's operand; 1 in BFV.
    """

    values: PlainValues
    scale: float

    def vector(self, slots: int) -> PlainValues:
        """Returns the values of all slots, shape (slots,)."""
        return np.broadcast_to(self.values, (slots,))


@dataclass(frozen=True)
class Bound:
    """The range that a program promises of a value.

    Attributes:
        low: No number of any slot is less.
        high: None is greater.
        source: The user's line that promises it.
        computed: Whether it follows from the inputs' default ranges, and not from a promise.
    """

    low: float
    high: float
    source: SourceLine
    computed: bool = False

    @property
    def magnitude(self) -> float:
        """The largest magnitude of a number in the range."""
        return max(abs(self.low), abs(self.high))

    def meet(self, other: "Bound") -> "Bound":
        """Returns the range that both allow; this one where they have no number in common."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low > high:
            return self
        return Bound(low, high, self.source, self.computed and other.computed)

    def checked(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Returns numbers that a program promises to lie in the range.

        Raises:
            ProgramError: When one lies outside, by more than rounding.
        """
        slack = _SLACK * max(self.magnitude, 1.0)
        found = numbers.astype(np.float64) if numbers.dtype.kind == "O" else numbers
        outside = np.abs(found) > self.magnitude + slack
        if -self.low != self.high:
            outside = outside | (found.real < self.low - slack)
            outside = outside | (found.real > self.high + slack) | (np.abs(found.imag) > slack)
        if outside.any():
            at = tuple(map(int, np.unravel_index(np.argmax(outside), outside.shape)))
            position = at[0] if len(at) == 1 else at
            raise self.source.error(
                f"number {position} is {numbers[at]:.6g}, and the range [{self.low:g}, "
                f"{self.high:g}] was promised: widen the range, or keep the inputs within theirs"
            )
        return numbers


@dataclass(frozen=True)
class Note:
    """What was added to a program so that its results are right, at a line of the user's.

    Attributes:
        source: The line.
        text: What was added, and what it costs.
    """

    source: SourceLine
    text: str

    def __str__(self) -> str:
        return f"{self.source}: {self.text}"


@short_repr
@dataclass(frozen=True, eq=False)
class Node:
    """One operation.

    Attributes:
        id: Position in the program, from 0; operands come before their users.
        op: The operation.
        operands: Ids of the encrypted operands.
        limbs: Data primes of the result: q_0 … q_{limbs-1}.
        scale: Scale of the result: what decoding divides by. See ``ringsmith.schemes.ckks.plan``;
            1 in BFV.
        size: Polynomials of the result: 2, or 3 before relinearization.
        source: The user's line that asked for it.
        name: Name of an input or output.
        steps: Of a rotation: slots to the left, in 1 … N/2 - 1.
        element: Galois element of a rotation, conjugation or swap of columns.
        plain: Plain operand of add_plain, sub_plain and multiply_plain.
        bound: The range that the program promises of the result's numbers.
        approximation: What the result differs at most from what it stands for, where it is a
            polynomial in place of a function or lost small coefficients.
        approximated: Slots, from the first, that ``approximation`` is of; 0: all.
        stage: Of a node that is a part of a bootstrapping: the stage of it. Its numbers are not
            the program's, and only such nodes and ``bootstrap`` use them.
        loop: Of ``carried`` and ``next``: the number of the loop, from 1.
        count: Of ``next``: how often the loop is repeated.
    """

    id: int
    op: Op
    operands: tuple[int, ...]
    limbs: int
    scale: float
    size: int
    source: SourceLine
    name: str | None = None
    steps: int | None = None
    element: int | None = None
    plain: Plain | None = None
    bound: Bound | None = None
    approximation: float = 0.0
    approximated: int = 0
    stage: str = ""
    loop: int = 0
    count: int = 0

    @property
    def level(self) -> int:
        """Rescalings that are left: limbs - 1."""
        return self.limbs - 1
