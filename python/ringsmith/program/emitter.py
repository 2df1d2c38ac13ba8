"""Writes planned nodes for both schemes. Tracks limbs, scale and size of every value."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from ringsmith.graph.operations import Op
from ringsmith.params import RlweParameters
from ringsmith.program.nodes import Bound, Node, Plain
from ringsmith.program.plain import PlainValues, digest
from ringsmith.program.source import SourceLine


class Emitter(ABC):
    """Appends nodes; an equal node is written once.

    Set ``source`` to the user's line before emitting its operations. A scheme without scales has
    the scale 1 everywhere.

    Attributes:
        ring: The part of the parameter set that both schemes have.
        nodes: The emitted nodes, operands before users.
        source: The user's line that is being planned.
        stage: The stage of a bootstrapping that is being planned, or nothing.
    """

    def __init__(self, ring: RlweParameters) -> None:
        self.ring = ring
        self.nodes: list[Node] = []
        self.source = SourceLine("", 0)
        self.stage = ""
        self._known: dict[tuple[object, ...], int] = {}

    def input(self, name: str, limbs: int, scale: float) -> int:
        """A fresh ciphertext."""
        return self._emit(Op.INPUT, (), limbs, scale, 2, name=name)

    def output(self, a: int, name: str) -> int:
        """A result."""
        node = self.nodes[a]
        return self._emit(Op.OUTPUT, (a,), node.limbs, node.scale, node.size, name=name)

    def add_or_sub(self, op: Op, a: int, b: int) -> int:
        """Returns a + b or a - b; limbs and scales must be equal."""
        left, right = self.nodes[a], self.nodes[b]
        assert (left.limbs, left.scale) == (right.limbs, right.scale), "the planner meets operands"
        return self._emit(op, (a, b), left.limbs, left.scale, max(left.size, right.size))

    def add_or_sub_plain(self, op: Op, a: int, values: PlainValues) -> int:
        """Returns a + w or a - w, the plaintext encoded at a's scale."""
        node = self.nodes[a]
        plain = self._plain(values, node.scale, node.limbs)
        return self._emit(op, (a,), node.limbs, node.scale, node.size, plain=plain)

    def negate(self, a: int) -> int:
        """Returns -a."""
        node = self.nodes[a]
        return self._emit(Op.NEGATE, (a,), node.limbs, node.scale, node.size)

    def multiply(self, a: int, b: int) -> int:
        """Returns a * b, of three polynomials; limbs must be equal. Scales are multiplied."""
        left, right = self.nodes[a], self.nodes[b]
        assert left.limbs == right.limbs, "the planner meets operands"
        scale = left.scale * right.scale
        if a == b:
            return self._emit(Op.SQUARE, (a,), left.limbs, scale, 3)
        return self._emit(Op.MULTIPLY, (a, b), left.limbs, scale, 3)

    def relinearize(self, a: int) -> int:
        """Returns a as two polynomials."""
        node = self.nodes[a]
        if node.size == 2:
            return a
        return self._emit(Op.RELINEARIZE, (a,), node.limbs, node.scale, 2)

    def mod_switch(self, a: int, limbs: int) -> int:
        """Drops primes until ``limbs`` are left; the scale stays."""
        node = self.nodes[a]
        if node.limbs == limbs:
            return a
        return self._emit(Op.MOD_SWITCH, (a,), limbs, node.scale, node.size)

    def rotate(self, a: int, steps: int) -> int:
        """Rotates the slots to the left: each row by itself."""
        node, element = self.nodes[a], self.ring.galois_element(steps)
        return self._emit(Op.ROTATE, (a,), node.limbs, node.scale, 2, steps=steps, element=element)

    def rotate_conjugate(self, a: int, steps: int) -> int:
        """Rotates the slots to the left and conjugates them, by one key switching."""
        node = self.nodes[a]
        element = (
            self.ring.conjugation_element * self.ring.galois_element(steps) % (2 * self.ring.n)
        )
        return self._emit(
            Op.ROTATE_CONJUGATE, (a,), node.limbs, node.scale, 2, steps=steps, element=element
        )

    def conjugate(self, op: Op, a: int) -> int:
        """Applies the Galois element 2N - 1: conjugates every slot, or swaps the rows."""
        node, element = self.nodes[a], self.ring.conjugation_element
        return self._emit(op, (a,), node.limbs, node.scale, 2, element=element)

    def annotate(
        self, a: int, bound: Bound | None, approximation: float, approximated: int = 0
    ) -> None:
        """Records a value's promised range and its approximation error."""
        node = self.nodes[a]
        self.nodes[a] = replace(
            node,
            bound=bound or node.bound,
            approximation=approximation or node.approximation,
            approximated=approximated if approximation else node.approximated,
        )

    @abstractmethod
    def _plain(self, values: PlainValues, scale: float, limbs: int) -> Plain:
        """Returns a plain operand, or refuses one that the scheme cannot encode so."""

    @abstractmethod
    def _admit(self, node: Node) -> None:
        """Checks and records a node that is about to be appended, or refuses it."""

    def carried(self, a: int, loop: int) -> int:
        """Begins a loop's body with a; never twice the same node."""
        before = self.nodes[a]
        return self._append(Op.CARRIED, (a,), before.limbs, before.scale, 2, loop=loop)

    def next(self, a: int, carried: int, loop: int, count: int) -> int:
        """Ends a loop's body with a, which has the limbs and the scale that the body began with."""
        node, before = self.nodes[a], self.nodes[carried]
        assert (node.limbs, node.scale) == (before.limbs, before.scale), "the planner brings it"
        operands = a, carried
        return self._append(Op.NEXT, operands, node.limbs, node.scale, 2, loop=loop, count=count)

    def _emit(
        self,
        op: Op,
        operands: tuple[int, ...],
        limbs: int,
        scale: float,
        size: int,
        *,
        name: str | None = None,
        steps: int | None = None,
        element: int | None = None,
        plain: Plain | None = None,
    ) -> int:
        content = None
        if plain is not None:
            content = (plain.values.shape, digest(plain.values), plain.scale)
        key = (op, operands, limbs, scale, name, steps, content)
        if key not in self._known:
            self._known[key] = self._append(
                op,
                operands,
                limbs,
                scale,
                size,
                name=name,
                steps=steps,
                element=element,
                plain=plain,
            )
        return self._known[key]

    def _append(
        self,
        op: Op,
        operands: tuple[int, ...],
        limbs: int,
        scale: float,
        size: int,
        **fields: Any,  # noqa: ANN401 - other fields of Node
    ) -> int:
        identity = len(self.nodes)
        source, stage = self.source, self.stage
        node = Node(identity, op, operands, limbs, scale, size, source, stage=stage, **fields)
        self._admit(node)
        self.nodes.append(node)
        return identity
