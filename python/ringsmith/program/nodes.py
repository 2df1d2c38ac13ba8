"""The nodes of the HE graph: one operation each, with its level, scale and size."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ringsmith.program.plain import PlainValues
from ringsmith.program.source import SourceLine


class Op(StrEnum):
    """The operations of homomorphic encryption, as users and papers name them."""

    INPUT = "input"
    OUTPUT = "output"
    ADD = "add"
    SUB = "sub"
    NEGATE = "negate"
    MULTIPLY = "multiply"
    SQUARE = "square"
    ADD_PLAIN = "add_plain"
    SUB_PLAIN = "sub_plain"
    MULTIPLY_PLAIN = "multiply_plain"
    RELINEARIZE = "relinearize"
    RESCALE = "rescale"
    MOD_SWITCH = "mod_switch"
    ROTATE = "rotate"
    CONJUGATE = "conjugate"


@dataclass(frozen=True, eq=False)
class Plain:
    """A plain operand with the scale that it is encoded at.

    Attributes:
        values: Shape () or (slots,).
        scale: Encoding scale, at the limbs of the node's operand.
    """

    values: PlainValues
    scale: float

    def vector(self, slots: int) -> PlainValues:
        """Returns the values of all slots, shape (slots,)."""
        return np.broadcast_to(self.values, (slots,))


@dataclass(frozen=True, eq=False)
class Node:
    """One operation.

    Attributes:
        id: Position in the program, from 0; operands come before their users.
        op: The operation.
        operands: Ids of the encrypted operands.
        limbs: Data primes of the result: q_0 … q_{limbs-1}.
        scale: Scale of the result: what decoding divides by. See ``ringsmith.program.plan``.
        size: Polynomials of the result: 2, or 3 before relinearization.
        source: The user's line that asked for it.
        name: Name of an input or output.
        steps: Of a rotation: slots to the left, in 1 … slots - 1.
        element: Galois element of a rotation or conjugation.
        plain: Plain operand of add_plain, sub_plain and multiply_plain.
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

    @property
    def level(self) -> int:
        """Rescalings that are left: limbs - 1."""
        return self.limbs - 1
