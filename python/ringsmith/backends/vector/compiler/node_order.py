"""The order in which a graph's nodes are made, and what its conversions are from."""

from collections import defaultdict
from collections.abc import Sequence

from ringsmith.backends.vector.compiler.rewriting import DIVIDE
from ringsmith.graph.subroutines import SubroutineNode

CONVERSIONS = ("mod_up", "mod_down", DIVIDE)
_LAZY = ("input", "drop_limbs", "mod_up", "intt", "digits", DIVIDE)
"""Limbs of these are made where something asks for them."""

_LATE = ("mul", "add", "sub", "neg", "automorph", "mul_scalar", "add_scalar")
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
            for operand in node.operands:
                self.users[operand].append(node)

    def phases(self) -> list[int]:
        """The phase of each node: conversions begin one."""
        phases: list[int] = []
        for node in self.nodes:
            before = max((phases[i] for i in node.operands), default=0)
            phases.append(before + (node.op in CONVERSIONS))
        given: set[int] = set()  # nodes of inputs alone
        for node in self.nodes:
            if node.op == "input" or (node.op in _LATE and given.issuperset(node.operands)):
                given.add(node.id)
        for node in reversed(self.nodes):
            users = self.users[node.id]
            if node.id in given and node.op != "input" and users:
                phases[node.id] = min(phases[u.id] - (u.op in CONVERSIONS) for u in users)
        return phases

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
        return [levels[depth] for depth in sorted(levels)]

    def before_inverse(self, node: SubroutineNode) -> SubroutineNode | None:
        """The node in NTT form that another is the inverse transform of, if there is."""
        node = self.undropped(node)
        return self.nodes[node.operands[0]] if node.op == "intt" else None

    def undropped(self, node: SubroutineNode) -> SubroutineNode:
        """The node that has the limbs of one which drops some."""
        while node.op == "drop_limbs":
            node = self.nodes[node.operands[0]]
        return node

    @staticmethod
    def origin_of(node: SubroutineNode) -> int:
        """Returns the HE node that a node is of; -1: it is of none."""
        return -1 if node.origin is None else node.origin.node

    @staticmethod
    def digit_of(node: SubroutineNode) -> tuple[int, ...]:
        """The primes that a conversion is from."""
        name = {"mod_down": "drop", "mod_up": "digit", DIVIDE: "base"}[node.op]
        return tuple(node.attrs[name])
