"""Ranges of the slots of values, by interval arithmetic on recorded operations.

A range holds for all inputs in their declared ranges. A slot whose range is one number is *known*:
it does not depend on the inputs. Slots after an input's numbers are known to be zero.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.graph.operations import Op, Slots
from ringsmith.program.nodes import Bound, Node
from ringsmith.program.plain import PlainValues, Space, digest
from ringsmith.short_repr import short_repr

Numbers = NDArray[Any]
"""Shape (slots,), or () where all slots have the same range."""

Structure = tuple[object, ...]
"""What operations compute, as a key."""

EXACT_LIMIT = 2.0**53
"""Integers of a greater magnitude are rounded in double precision: they are not known."""


@short_repr
@dataclass(frozen=True, eq=False)
class Span:
    """The ranges of all slots.

    Attributes:
        low: The least number of each slot. Complex: the lower left corner of a rectangle.
        high: The greatest number. Complex: the upper right corner.
        disc: Whether numbers are complex, and ``high`` = -``low`` bounds their magnitudes.
    """

    low: Numbers
    high: Numbers
    disc: bool = False

    @staticmethod
    def of_magnitude(magnitude: Numbers) -> "Span":
        """Returns the range of complex numbers up to a magnitude."""
        return Span(-magnitude, magnitude, disc=True)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Where the range is one number, shape () or (slots,)."""
        return np.asarray((self.low == self.high) & (np.abs(self.low) <= EXACT_LIMIT))

    @property
    def magnitude(self) -> float:
        """The largest magnitude of a number in any slot."""
        return float(self.magnitudes.max())

    @property
    def magnitudes(self) -> NDArray[np.float64]:
        """The largest magnitude of a number in each slot, shape () or (slots,)."""
        if not np.iscomplexobj(self.low):
            return np.asarray(np.maximum(-self.low, self.high))
        real, imag = (
            np.maximum(-low, high)
            for low, high in (
                (self.low.real, self.high.real),
                (self.low.imag, self.high.imag),
            )
        )
        return np.asarray(np.hypot(real, imag))

    @property
    def real(self) -> bool:
        """Whether no slot holds an imaginary part."""
        if self.disc or not np.iscomplexobj(self.low):
            return not self.disc
        return not (self.low.imag.any() or self.high.imag.any())

    def part(self, start: int, stop: int, slots: int) -> "Span":
        """Returns the ranges of slots ``start`` … ``stop - 1``."""
        low, high = (np.broadcast_to(end, (slots,))[start:stop] for end in (self.low, self.high))
        return Span(low, high, self.disc)

    def plus(self, other: "Span") -> "Span":
        """Returns the ranges of sums."""
        if self.disc or other.disc:
            return Span.of_magnitude(self.magnitudes + other.magnitudes)
        return Span(self.low + other.low, self.high + other.high)

    def minus(self, other: "Span") -> "Span":
        """Returns the ranges of differences."""
        return self.plus(Span(-other.high, -other.low, other.disc))

    def times(self, other: "Span") -> "Span":
        """Returns the ranges of products."""
        if self.disc or other.disc:
            return Span.of_magnitude(self.magnitudes * other.magnitudes)
        if np.iscomplexobj(self.low) or np.iscomplexobj(other.low):
            return _complex_product(self, other)
        return _real_product(self, other)

    def squared(self) -> "Span":
        """Returns the ranges of squares."""
        if self.disc or np.iscomplexobj(self.low):
            return self.times(self)
        low, high = self.low * self.low, self.high * self.high
        inside = (self.low < 0) & (self.high > 0)
        return Span(np.where(inside, 0.0, np.minimum(low, high)), np.maximum(low, high))

    def within(self, limit: "Bound | Span") -> "Span":
        """Returns the ranges, given that all numbers lie in ranges of real numbers.

        A slot that is known to lie outside is left as it is. A range that is not symmetric has no
        complex numbers.
        """
        if not self.real and np.any(limit.low != -limit.high):
            return Span(self.low.real, self.high.real).within(limit)
        magnitude = np.maximum(np.abs(limit.low), np.abs(limit.high))
        if self.disc:
            return Span.of_magnitude(np.minimum(self.magnitudes, magnitude))
        if np.iscomplexobj(self.low):
            corner = magnitude * (1 + 1j)
            return Span(_clipped(self.low, -corner), _clipped(self.high, corner, upper=True))
        low, high = np.maximum(self.low, limit.low), np.minimum(self.high, limit.high)
        outside = low > high
        if outside.any():
            low, high = np.where(outside, self.low, low), np.where(outside, self.high, high)
        return Span(low, high)

    def exceeds(self, limit: "Span", slack: float) -> bool:
        """Tells whether a number may lie further outside of ranges than ``slack``."""
        low, high = self.low < limit.low - slack, self.high > limit.high + slack
        return bool(np.any(low) or np.any(high))


ZERO = Span(np.zeros(()), np.zeros(()))


def of_input(
    filled: NDArray[np.bool_], low: float, high: float, *, complex_numbers: bool = False
) -> Span:
    """Returns the ranges of an input's slots: those that are filled with its numbers, or zero."""
    first, last = (
        np.asarray(complex(end, end) if complex_numbers else float(end)) for end in (low, high)
    )
    if not filled.all():
        first, last = np.where(filled, first, 0), np.where(filled, last, 0)
    return Span(first, last)


def of_plain(values: PlainValues) -> Span:
    """Returns the ranges of a plain operand: each number alone."""
    numbers = values if np.iscomplexobj(values) else values.astype(np.float64)
    return Span(numbers, numbers)


def result_span(
    op: Op, operands: Sequence[Span], plain: PlainValues | None, slots: Slots, *, same: bool
) -> Span:
    """Returns the ranges of an operation's result.

    Args:
        op: The operation; not an input.
        operands: Ranges of its encrypted operands.
        plain: Its plain operand.
        slots: As of ``Operation.meaning``.
        same: Whether the two operands are one value.
    """
    a, b = operands[0], operands[-1] if plain is None else of_plain(plain)
    match op:
        case Op.ADD | Op.ADD_PLAIN:
            return a.plus(b)
        case Op.SUB | Op.SUB_PLAIN:
            return ZERO if same else a.minus(b)
        case Op.NEGATE:
            return Span(-a.high, -a.low)
        case Op.MULTIPLY | Op.MULTIPLY_PLAIN if not same:
            return a.times(b)
        case Op.SQUARE | Op.MULTIPLY:
            return a.squared()
        case Op.ROTATE_CONJUGATE:
            return result_span(
                Op.CONJUGATE,
                [result_span(Op.ROTATE, operands, None, slots, same=same)],
                None,
                slots,
                same=same,
            )
        case Op.CONJUGATE if not a.real:
            return Span(a.low.real - 1j * a.high.imag, a.high.real - 1j * a.low.imag)
        case Op.ROTATE | Op.SWAP_COLUMNS if a.low.ndim:
            move = op.record.meaning
            return Span(move(a.low, a.low, slots), move(a.high, a.high, slots))
        case Op.OUTPUT | Op.ROTATE | Op.SWAP_COLUMNS | Op.CONJUGATE:
            return a
        case _:
            assert op in _SAME_NUMBERS, f"{op} has no rule for ranges"
            return a


def magnitudes(
    nodes: Sequence[Node],
    space: Space,
    inputs: Mapping[str, Span],
    shown: Mapping[str, int],
) -> tuple[list[float], list[int]]:
    """Returns the largest magnitude of a number of each planned node.

    Args:
        nodes: The program's nodes, operands before users.
        space: The slots of a ciphertext.
        inputs: The ranges of the inputs, by name.
        shown: Slots of each output that count, from the first, by name.

    Returns:
        The magnitudes by node, and the outputs that do not depend on the inputs.
    """
    bounds = _promises(nodes)
    uses = Counter(i for node in nodes for i in node.operands)
    spans: dict[int, Span] = {}
    found: list[float] = []
    constant: list[int] = []
    with np.errstate(over="ignore", invalid="ignore"):
        for node in nodes:
            if node.stage:
                found.append(0.0)
                uses.subtract(node.operands)
                continue
            if node.op is Op.INPUT and node.name is not None:
                span = inputs[node.name]
            else:
                operands = [spans[i] for i in node.operands if not nodes[i].stage]
                same = len(node.operands) == 2 and node.operands[0] == node.operands[1]
                plain = None if node.plain is None else node.plain.values
                slots = Slots(space.row, node.steps or 0)
                span = result_span(node.op, operands, plain, slots, same=same)
            bound = bounds.get(node.id)
            spans[node.id] = span if bound is None else span.within(bound)
            if node.op is Op.OUTPUT and node.name is not None:
                spans[node.id] = span.part(0, shown[node.name], space.slots)
                if spans[node.id].known.all():
                    constant.append(node.id)
            found.append(spans[node.id].magnitude)
            uses.subtract(node.operands)
            for i in (node.id, *node.operands):
                if not uses[i]:
                    spans.pop(i, None)
    return found, constant


def structure(nodes: Sequence[Node]) -> Structure:
    """Returns what nodes compute, without levels and scales: of equal ones, ranges are equal."""
    return tuple(
        (
            node.op,
            node.operands,
            node.steps,
            node.name,
            None if node.plain is None else (digest(node.plain.values), node.plain.values.dtype),
            None if node.bound is None else (node.bound.low, node.bound.high),
        )
        for node in nodes
    )


def live(nodes: Sequence[Node]) -> int:
    """Returns how many nodes' ranges ``magnitudes`` holds at a time, at most, and its inputs'."""
    last = {node.id: node.id for node in nodes}
    last |= {i: node.id for node in nodes for i in node.operands}
    ends = Counter(last.values())
    held = sum(node.op is Op.INPUT for node in nodes)
    most = held
    for node in nodes:
        held += 1
        most = max(most, held)
        held -= ends[node.id]
    return most


_SAME_NUMBERS = frozenset(
    {
        Op.RELINEARIZE,
        Op.RESCALE,
        Op.RELINEARIZE_RESCALE,
        Op.MOD_SWITCH,
        Op.MOD_RAISE,
        Op.BOOTSTRAP,
        Op.CARRIED,
        Op.NEXT,
    }
)
"""Operations that leave the numbers as they are: a promise of the result is one of the operand."""


def _promises(nodes: Sequence[Node]) -> dict[int, Bound]:
    """The promised ranges by node, also of products that are not yet rescaled."""
    found = {node.id: node.bound for node in nodes if node.bound is not None}
    for node in reversed(nodes):
        if node.op in _SAME_NUMBERS and node.id in found:
            found.setdefault(node.operands[0], found[node.id])
    return found


def _clipped(corners: Numbers, limit: Numbers, *, upper: bool = False) -> Numbers:
    take = np.minimum if upper else np.maximum
    return np.asarray(take(corners.real, limit.real) + 1j * take(corners.imag, limit.imag))


def _complex_product(a: Span, b: Span) -> Span:
    (ar, ai), (br, bi) = _parts(a), _parts(b)
    real = _real_product(ar, br), _real_product(ai, bi)
    imag = _real_product(ar, bi), _real_product(ai, br)
    return Span(
        real[0].low - real[1].high + 1j * (imag[0].low + imag[1].low),
        real[0].high - real[1].low + 1j * (imag[0].high + imag[1].high),
    )


def _parts(a: Span) -> tuple[Span, Span]:
    return Span(a.low.real, a.high.real), Span(np.imag(a.low), np.imag(a.high))


def _real_product(a: Span, b: Span) -> Span:
    if b.low is b.high:  # a plain operand
        first, second = a.low * b.low, a.high * b.low
        low, high = np.minimum(first, second), np.maximum(first, second)
    else:
        corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        low, high = np.minimum.reduce(corners), np.maximum.reduce(corners)
    # Only zero times infinity is no number, and it is zero: values are finite.
    return Span(_finite(low), _finite(high))


def _finite(numbers: Numbers) -> Numbers:
    """Returns zeros in place of what is no number."""
    if not np.isnan(numbers.sum()):  # faster than a look at each
        return numbers
    return np.where(np.isnan(numbers), 0.0, numbers)
