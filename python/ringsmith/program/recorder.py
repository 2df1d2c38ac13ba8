"""The record of a traced function: operations on all slots of ciphertexts, and their ranges."""

from collections import Counter, OrderedDict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ringsmith.graph.operations import Op, Slots
from ringsmith.program.nodes import Bound, Note
from ringsmith.program.plain import PlainValues, Space, digest
from ringsmith.program.source import SourceLine
from ringsmith.program.spans import Span, result_span

MAX_SPAN_BYTES = 1 << 28
"""Memory for the ranges of operations that are kept while a function is traced."""


@dataclass(frozen=True, eq=False)
class TraceNode:
    """One operation as the user wrote it: no levels and no scales yet.

    Attributes:
        op: One of input, add, sub, negate, multiply, add_plain, sub_plain, multiply_plain, rotate,
            conjugate, swap_columns, bootstrap, carried, next; in a bootstrapping also
            rotate_conjugate and mod_switch.
        operands: Indices of the encrypted operands in the trace.
        source: The user's line.
        name: Name of an input.
        steps: Of a rotation: slots to the left, in 1 … row - 1.
        values: Plain operand.
        scale: Of multiply_plain: a scale at which the operand is a polynomial of whole numbers,
            such as X^(N/2); then nothing is rescaled. None: a scale is to be found.
        bound: The range that the program promises of the result.
        approximation: What the result differs at most from what it stands for.
        approximated: Slots, from the first, that ``approximation`` is of; 0: all.
        span: Of an input, and of what a loop carries: the ranges of its slots.
        limbs: Of mod_switch, bootstrap, carried and next: those of the result; None: to be found.
        stage, loop, count: As of ``Node``.
    """

    op: Op
    operands: tuple[int, ...]
    source: SourceLine
    name: str | None = None
    steps: int | None = None
    values: PlainValues | None = None
    bound: Bound | None = None
    approximation: float = 0.0
    approximated: int = 0
    span: Span | None = None
    limbs: int | None = None
    stage: str = ""
    scale: float | None = None
    loop: int = 0
    count: int = 0


class Trace:
    """Records operations; the same operation on the same operands is recorded once.

    Attributes:
        space: What one ciphertext holds.
        nodes: The operations, operands before users.
        notes: What was added to the program so that it is right, for people.
        next_of: By ``carried`` nodes: the node that says what they are in the next repetition.
        open_loop: The line of a loop whose body is being recorded; None: there is none.
        loops: How many loops there are.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.nodes: list[TraceNode] = []
        self.notes: dict[Note, None] = {}
        self.next_of: dict[int, int] = {}
        self.open_loop: SourceLine | None = None
        self.loops = 0
        self._known: dict[tuple[object, ...], int] = {}
        self._spans: OrderedDict[int, Span] = OrderedDict()
        self._between: OrderedDict[int, None] = OrderedDict()
        self._span_bytes = 0

    def record(self, node: TraceNode) -> int:
        """Adds the node unless an equal one exists, and returns its index."""
        values = node.values
        plain = None if values is None else (values.shape, values.dtype.str, digest(values))
        key = (node.op, node.operands, node.name, node.steps, node.limbs, node.scale, plain)
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(node)
        return self._known[key]

    def append(self, node: TraceNode) -> int:
        """Adds a node, also where there is an equal one, and returns its index."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def substitute(self, start: int, moved: Mapping[int, int]) -> None:
        """Replaces operands of the nodes from ``start``, and forgets these nodes' ranges."""
        for index in range(start, len(self.nodes)):
            node = self.nodes[index]
            operands = tuple(moved.get(i, i) for i in node.operands)
            if operands != node.operands:
                self.nodes[index] = replace(node, operands=operands)
            if index in self._spans:
                self._forget(index)

    def plain(self, op: Op, index: int, values: PlainValues, source: SourceLine) -> int:
        """Records an operation with a plain operand, and returns its index."""
        return self.record(TraceNode(op, (index,), source, values=values))

    def pair(self, op: Op, a: int, b: int, source: SourceLine) -> int:
        """Records an operation of two values, and returns its index."""
        if op is not Op.SUB:  # commutative: one order, so that equals are recorded once
            a, b = min(a, b), max(a, b)
        return self.record(TraceNode(op, (a, b), source))

    def rotate(self, index: int, steps: int, source: SourceLine) -> int:
        """Records a rotation to the left, modulo the row, and returns its index."""
        steps %= self.space.row
        return self.record(TraceNode(Op.ROTATE, (index,), source, steps=steps)) if steps else index

    def annotate(
        self,
        index: int,
        *,
        bound: Bound | None = None,
        approximation: float = 0.0,
        approximated: int = 0,
    ) -> None:
        """Records the range of an operation's result, or its approximation error."""
        node = self.nodes[index]
        if bound is not None and node.bound is not None:
            bound = bound.meet(node.bound)
        if node.approximation and approximation:
            every = not (node.approximated and approximated)
            approximated = 0 if every else max(node.approximated, approximated)
        self.nodes[index] = replace(
            node,
            bound=bound or node.bound,
            approximation=max(approximation, node.approximation),
            approximated=approximated if approximation else node.approximated,
        )
        if bound is not None and index in self._spans:
            self._keep(index, self._spans[index].within(bound))

    def span(self, index: int) -> Span:
        """Returns the ranges of an operation's result, for inputs in their ranges."""
        if index not in self._spans:
            for each, span in self._in_order(self._missing([index], kept=self._spans)):
                self._keep(each, span)
        self._between.pop(index, None)
        return self._spans[index]

    def magnitudes(self, indices: Iterable[int]) -> dict[int, float]:
        """Returns the largest magnitudes of operations' results, in one pass over them all."""
        wanted = set(indices)
        order = self._missing(wanted, kept=())
        with np.errstate(over="ignore", invalid="ignore"):
            return {i: span.magnitude for i, span in self._in_order(order) if i in wanted}

    def _missing(self, indices: Iterable[int], kept: Container[int]) -> list[int]:
        """The operations that the ranges of some depend on and that are not kept, ascending."""
        found: set[int] = set()
        waiting = [*indices]
        while waiting:
            current = waiting.pop()
            if current not in found and current not in kept:
                found.add(current)
                waiting.extend(self.nodes[current].operands)
        return sorted(found)

    def _in_order(self, indices: list[int]) -> Iterator[tuple[int, Span]]:
        """Computes ranges in order; forgets those that no later one needs."""
        uses = Counter(i for index in indices for i in self.nodes[index].operands)
        spans = {i: self._spans[i] for i in uses if i in self._spans}
        for index in indices:
            node = self.nodes[index]
            with np.errstate(over="ignore", invalid="ignore"):
                span = node.span or self._computed(node, [spans[i] for i in node.operands])
                spans[index] = span if node.bound is None else span.within(node.bound)
            yield index, spans[index]
            for i in (index, *node.operands):
                uses[i] -= i != index
                if uses[i] <= 0:
                    spans.pop(i, None)

    def _computed(self, node: TraceNode, operands: list[Span]) -> Span:
        same = len(node.operands) == 2 and node.operands[0] == node.operands[1]
        slots = Slots(self.space.row, node.steps or 0)
        return result_span(node.op, operands, node.values, slots, same=same)

    def _keep(self, index: int, span: Span) -> None:
        """Keeps a range; of too many, those that were only computed for others go first."""
        if index in self._spans:
            self._span_bytes -= _bytes(self._spans[index])
        else:
            self._between[index] = None
        self._spans[index] = span
        self._spans.move_to_end(index)
        self._span_bytes += _bytes(span)
        while self._span_bytes > MAX_SPAN_BYTES and len(self._spans) > 1:
            oldest = next((i for i in self._between if i != index), None)
            if oldest is None:
                oldest = next(iter(self._spans))
            self._forget(oldest)

    def _forget(self, index: int) -> None:
        self._between.pop(index, None)
        self._span_bytes -= _bytes(self._spans.pop(index))


def _bytes(span: Span) -> int:
    return span.low.nbytes + span.high.nbytes
