"""The order in which a graph's nodes are made, and what its conversions are from."""

from collections import defaultdict
from collections.abc import Sequence

from ringsmith.backends.vector.compiler.rewriting import DIVIDE
from ringsmith.graph.subroutines import SubroutineNode

CONVERSIONS = ("mod_up", "mod_down", DIVIDE)
_LAZY = ("input", "drop_limbs", "mod_up", "intt", "digits", DIVIDE)
"""Limbs of these are made where something asks for them."""

_LATE = (
    "drop_limbs",
    "mod_up",
    "mul",
    "add",
    "sub",
    "neg",
    "automorph",
    "mul_scalar",
    "add_scalar",
)
"""Nodes of these, of inputs alone, are made in the phase that wants them.

Until then they would take places of the scratchpad, and their operands lie in memory anyway.
"""


class NodeOrder:
    """A rewritten graph's nodes, and the questions that the lowering asks of them.

    Args:
        nodes: The rewritten nodes.
    """

    def __init__(self, nodes: Sequence[SubroutineNode]) -> None:
        self.nodes = nodes
        self.users: dict[int, list[SubroutineNode]] = defaultdict(list)
        for node in nodes:
            for operand in dict.fromkeys(node.operands):
                self.users[operand].append(node)

    def phases(self, words: int) -> list[int]:
        """The phase of each node: conversions begin one.

        Of conversions that could be made, those of the latest result come first, and with them
        others that as many conversions are before.

        Args:
            words: Limbs that the conversions of a phase begin with at most, if there are several.
        """
        phases = _Phases(self, words).found()
        given: set[int] = set()  # nodes of inputs alone
        for node in self.nodes:
            late = node.op in _LATE and not self.converts(node)
            if node.op == "input" or (late and given.issuperset(node.operands)):
                given.add(node.id)
        for node in reversed(self.nodes):
            users = self.users[node.id]
            if node.id in given and node.op != "input" and users:
                phases[node.id] = min(phases[u.id] - self.converts(u) for u in users)
        return phases

    @staticmethod
    def converts(node: SubroutineNode) -> bool:
        """Whether a node needs all limbs of others."""
        return node.op in CONVERSIONS and node.attrs.get("variant") != "scaled"

    def is_made(self, node: SubroutineNode) -> bool:
        """Whether a node's limbs are made in its phase, and not where something asks for them.

        So are inverse transforms that something other than a conversion wants.
        """
        if node.op == "intt":
            ops = {user.op for user in self.users[node.id]}
            return bool(ops - {*CONVERSIONS, "drop_limbs", "ntt"})
        return node.op not in _LAZY

    def levels(self, nodes: Sequence[SubroutineNode]) -> list[list[SubroutineNode]]:
        """What is made of a phase's nodes, by the transforms before it: each begins a level.

        Transforms of a level can be made at once.
        """
        depths: dict[int, int] = {}
        levels: dict[int, list[SubroutineNode]] = defaultdict(list)
        for node in nodes:
            made = self.is_made(node)
            depth = max((depths.get(i, 0) for i in node.operands), default=0)
            depths[node.id] = depth = depth + (made and node.op in ("ntt", "intt"))
            if made:
                levels[depth].append(node)
        return [self._with_users_near(levels[depth]) for depth in sorted(levels)]

    def _with_users_near(self, nodes: Sequence[SubroutineNode]) -> list[SubroutineNode]:
        """Nodes, each as soon behind its operands as may be."""
        left = {node.id: node for node in nodes}
        found: list[SubroutineNode] = []
        for node in nodes:
            ready = [node]
            while ready:
                following = ready.pop()
                if following.id not in left or not left.keys().isdisjoint(following.operands):
                    continue
                del left[following.id]
                found.append(following)
                ready += reversed(self.users[following.id])
        return found

    def before_inverse(self, node: SubroutineNode) -> SubroutineNode | None:
        """The node in NTT form that another is the inverse transform of, if there is."""
        node = self.undropped(node)
        return self.nodes[node.operands[0]] if node.op == "intt" else None

    def undropped(self, node: SubroutineNode) -> SubroutineNode:
        """The node that has the limbs of one which drops some."""
        while node.op == "drop_limbs":
            node = self.nodes[node.operands[0]]
        return node

    def undropped_id(self, node: int) -> int:
        """The same by numbers."""
        return self.undropped(self.nodes[node]).id

    @staticmethod
    def origin_of(node: SubroutineNode) -> int:
        """Returns the HE node that a node is of; -1: it is of none."""
        return -1 if node.origin is None else node.origin.node

    @staticmethod
    def digit_of(node: SubroutineNode) -> tuple[int, ...]:
        """The primes that a conversion is from."""
        name = {"mod_down": "drop", "mod_up": "digit", DIVIDE: "base"}[node.op]
        return tuple(node.attrs[name])


class _Phases:
    """Phases as they are found: conversions of one value, or of one sum, are a unit."""

    def __init__(self, order: NodeOrder, words: int) -> None:
        self._order, self._words = order, words
        self._phases: dict[int, int] = {}
        self._missing = [len(set(node.operands)) for node in order.nodes]
        self._units: dict[tuple[int, int], list[SubroutineNode]] = defaultdict(list)
        depths: list[int] = []
        for node in order.nodes:
            converts = order.converts(node)
            depths.append(max((depths[i] for i in node.operands), default=0) + converts)
            if converts:
                self._units[depths[-1], node.operands[0]].append(node)
        self._firsts = {nodes[0].id: unit for unit, nodes in self._units.items()}
        self._ready: list[tuple[int, int]] = []  # units

    def found(self) -> list[int]:
        """The phase of each node."""
        for node in self._order.nodes:
            if not node.operands:
                self._assign(node, 0)
        phase = 0
        while self._ready:
            phase += 1
            for unit in self._next():
                for node in self._units[unit]:
                    self._assign(node, phase)
        return [self._phases[node.id] for node in self._order.nodes]

    def _next(self) -> list[tuple[int, int]]:
        """The units of the next phase."""
        first = max(self._ready, key=lambda unit: (self._phases[unit[1]], -unit[1]))
        others = sorted(unit for unit in self._ready if unit != first and unit[0] == first[0])
        chosen, words = [first], self._size(first)
        for unit in others:
            words += self._size(unit)
            if words > self._words and not self._divides(unit):
                break
            chosen.append(unit)
        self._ready = [unit for unit in self._ready if unit not in chosen]
        return sorted(chosen)

    def _divides(self, unit: tuple[int, int]) -> bool:
        """Whether a unit is of divisions, which are done with what they divide."""
        return all(node.op == "mod_down" for node in self._units[unit])

    def _size(self, unit: tuple[int, int]) -> int:
        return sum(len(self._order.digit_of(node)) for node in self._units[unit])

    def _assign(self, node: SubroutineNode, phase: int) -> None:
        """Notes a node's phase, and those of all that need no further conversion."""
        waiting = [(node, phase)]
        while waiting:
            node, phase = waiting.pop()
            self._phases[node.id] = phase
            for user in self._order.users[node.id]:
                self._missing[user.id] -= 1
                if self._missing[user.id]:
                    continue
                if not self._order.converts(user):
                    waiting.append((user, max(self._phases[i] for i in user.operands)))
                elif user.id in self._firsts:
                    self._ready.append(self._firsts[user.id])
