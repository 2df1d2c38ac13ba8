"""Loops of a graph: what is repeated, and graphs in which it is written out.

``carried`` nodes hold what a loop carries at the beginning of its body, and ``next`` nodes what it
is at the end: after the last repetition, the loop's results. The body is what depends on the
former, without what follows the latter.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.program.nodes import Node
from ringsmith.short_repr import short_repr

MAX_FLAT = 1 << 20
"""Operations of a program whose loops are written out, at most."""


class AnyNode(Protocol):
    """A node of a trace, or of a program."""

    @property
    def op(self) -> Op:
        """The operation."""

    @property
    def operands(self) -> tuple[int, ...]:
        """Positions of the operands."""

    @property
    def loop(self) -> int:
        """The loop of ``carried`` and ``next``."""

    @property
    def count(self) -> int:
        """Repetitions, of ``next``."""

    @property
    def stage(self) -> str:
        """The stage of a bootstrapping."""


@dataclass(frozen=True)
class Loop:
    """A loop.

    Attributes:
        count: How often its body is run.
        carried: What it carries, at the beginning of the body.
        ends: For some of them: what they are at the end of it, the same number of nodes.
        body: The nodes in between, ascending.
    """

    count: int
    carried: tuple[int, ...]
    ends: tuple[int, ...]
    body: tuple[int, ...]


def inside(nodes: Sequence[AnyNode], indices: Iterable[int]) -> dict[int, int]:
    """Returns the loop of each node that is in one, from ``carried`` to ``next``."""
    found: dict[int, int] = {}
    for i in indices:
        node = nodes[i]
        within = {found[j] for j in node.operands if j in found and nodes[j].op is not Op.NEXT}
        if node.loop:
            found[i] = node.loop
        elif within:
            found[i] = max(within)
    return found


def loops_of(nodes: Sequence[AnyNode], indices: Iterable[int]) -> dict[int, Loop]:
    """Returns the loops among nodes, ascending, by their number."""
    indices = [*indices]
    of = inside(nodes, indices)
    found: dict[int, Loop] = {}
    for number in dict.fromkeys(of.values()):
        own = [i for i in indices if of.get(i) == number]
        carried = tuple(i for i in own if nodes[i].op is Op.CARRIED)
        ends = tuple(i for i in own if nodes[i].op is Op.NEXT)
        body = tuple(i for i in own if not nodes[i].loop)
        found[number] = Loop(nodes[ends[0]].count if ends else 0, carried, ends, body)
    return found


@dataclass(frozen=True)
class Copy:
    """A node of a graph with loops written out.

    Attributes:
        index: The node that it is a copy of.
        operands: Its operands, as positions among the copies.
        count: Repetitions of the loop that it ends; 0: it ends none.
    """

    index: int
    operands: tuple[int, ...]
    count: int = 0


class Unrolling:
    """Writes out the loops of a graph.

    Attributes:
        copies: The nodes, operands before users.
        last: For each node: its last copy.
    """

    def __init__(
        self,
        nodes: Sequence[AnyNode],
        indices: Sequence[int],
        *,
        factor: int | None = None,
        light: bool = False,
    ) -> None:
        """Writes them out.

        Args:
            nodes: The nodes.
            indices: Those that count, ascending.
            factor: How often a body is written out in a loop that stays, and which is repeated less
                often; None: as often as it is repeated, and no loop stays.
            light: Whether the steps of a bootstrapping, whose numbers do not count, are there once.
        """
        self._nodes, self._factor, self._light = nodes, factor, light
        self.copies: list[Copy] = []
        self.last: dict[int, int] = {}
        loops = loops_of(nodes, indices)
        of = {i: number for number, loop in loops.items() for i in (*loop.carried, *loop.body)}
        of |= {i: number for number, loop in loops.items() for i in loop.ends}
        for i in indices:
            if i not in of:
                self.last[i] = self._append(i, self.last)
            elif i == loops[of[i]].ends[-1]:
                self._loop(loops[of[i]])

    def _append(self, i: int, at: dict[int, int], count: int = 0) -> int:
        self.copies.append(Copy(i, tuple(at[j] for j in self._nodes[i].operands), count))
        return len(self.copies) - 1

    def _loop(self, loop: Loop) -> None:
        """Writes out a loop: first the repetitions that are left over."""
        factor = loop.count if self._factor is None else min(self._factor, loop.count)
        values = {i: self.last[self._nodes[i].operands[0]] for i in loop.carried}
        stays = self._factor is not None and factor < loop.count
        for _ in range(loop.count % factor if stays else loop.count):
            values = self._body(loop, values)
        if stays:
            begun = {}
            for i, place in values.items():
                self.copies.append(Copy(i, (place,)))
                begun[i] = len(self.copies) - 1
            values = begun
            for _ in range(factor):
                values = self._body(loop, values)
            for end in loop.ends:
                carried = self._nodes[end].operands[1]
                operands = values[carried], begun[carried]
                self.copies.append(Copy(end, operands, loop.count // factor))
                self.last[end] = len(self.copies) - 1
                values[carried] = self.last[end]
        for i in loop.carried:
            self.last[i] = values[i]
        for end in loop.ends:
            self.last[end] = values[self._nodes[end].operands[1]]

    def _body(self, loop: Loop, values: dict[int, int]) -> dict[int, int]:
        """Writes out a body; returns the values that the next one begins with."""
        at = {**self.last, **values}
        for i in loop.body:
            if not (self._light and self._nodes[i].stage and i in self.last):
                at[i] = self._append(i, at)
            self.last[i] = at[i]
        found = dict(values)
        for end in loop.ends:
            result, carried = self._nodes[end].operands
            found[carried] = at[result]
        return found


@short_repr
@dataclass(frozen=True, eq=False)
class Flat:
    """Nodes without loops.

    Attributes:
        nodes: The nodes.
        last: For each node of the graph with loops: its last copy.
    """

    nodes: tuple[Node, ...]
    last: Sequence[int]

    @classmethod
    def of(cls, nodes: tuple[Node, ...], *, light: bool) -> "Flat":
        """Writes out the loops of a program; ``light`` is as of ``Unrolling``."""
        if not any(node.loop for node in nodes):
            return cls(nodes, range(len(nodes)))
        _check_size(nodes, light=light)
        found = Unrolling(nodes, range(len(nodes)), light=light)
        flat = tuple(
            replace(nodes[copy.index], id=position, operands=copy.operands)
            for position, copy in enumerate(found.copies)
        )
        return cls(flat, [found.last[i] for i in range(len(nodes))])


def flat_size(nodes: Sequence[Node], *, light: bool) -> int:
    """Returns how many nodes there are with loops written out; ``light`` as of ``Unrolling``."""
    bodies = Counter(
        loop
        for i, loop in inside(nodes, range(len(nodes))).items()
        if not (light and nodes[i].stage)
    )
    counts = {node.loop: node.count for node in nodes if node.count}
    return len(nodes) + sum(counts.get(loop, 0) * own for loop, own in bodies.items())


def _check_size(nodes: Sequence[Node], *, light: bool) -> None:
    """Refuses a program whose loops are too long to be followed."""
    size = flat_size(nodes, light=light)
    if size > MAX_FLAT:
        source = next(node.source for node in nodes if node.loop)
        raise ProgramError(
            f"{source}: the program has {size:,} operations with its loops written out, and at "
            f"most {MAX_FLAT:,} are followed: repeat less often, or split the program"
        )
