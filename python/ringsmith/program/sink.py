"""Moves modulus switches towards the inputs, so that fewer limbs are worked on.

A rotation before or after dropping a limb gives the same result, except for noise. With fewer limbs
a rotation has fewer digits. The planner switches moduli where values meet. This pass finds how many
limbs the users of each value need, and computes it with no more.
"""

from collections.abc import Sequence
from dataclasses import replace

from ringsmith.graph.operations import Op
from ringsmith.program.nodes import Node


def sink_mod_switches(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Returns the same program with modulus switches as early as possible.

    Nodes that no output needs are removed.
    """
    needed = _needed_limbs(nodes)
    result: list[Node] = []
    switched: dict[tuple[int, int], int] = {}
    moved: dict[int, int] = {}

    def append(node: Node, operands: tuple[int, ...], limbs: int) -> int:
        identity = len(result)
        if (node.id, node.operands, node.limbs) != (identity, operands, limbs):
            node = replace(node, id=identity, operands=operands, limbs=limbs)
        result.append(node)
        return identity

    def at(identity: int, limbs: int, user: Node) -> int:
        """Returns the moved node, switched to ``limbs`` for a user."""
        node = result[moved[identity]]
        if node.limbs == limbs:
            return node.id
        if (node.id, limbs) not in switched:
            switch = Node(
                0,
                Op.MOD_SWITCH,
                (node.id,),
                limbs,
                node.scale,
                node.size,
                user.source,
                stage=node.stage,
            )
            switched[node.id, limbs] = append(switch, switch.operands, limbs)
        return switched[node.id, limbs]

    for node in nodes:
        limbs = needed[node.id]
        if not limbs:
            continue
        if node.op is Op.MOD_SWITCH:
            moved[node.id] = at(node.operands[0], limbs, node)
        elif node.op.record.at_any_limbs:
            operands = tuple(at(i, limbs, node) for i in node.operands)
            moved[node.id] = append(node, operands, limbs)
        else:
            operands = tuple(at(i, nodes[i].limbs, node) for i in node.operands)
            moved[node.id] = append(node, operands, node.limbs)
    return tuple(result)


def _needed_limbs(nodes: Sequence[Node]) -> list[int]:
    """Returns, for each node, the most limbs that a user needs of it; 0: it has no user."""
    roots = Op.OUTPUT, Op.NEXT
    needed = [node.limbs if node.op in roots else 0 for node in nodes]
    for node in reversed(nodes):
        if needed[node.id]:
            for i in node.operands:
                limbs = needed[node.id] if node.op.record.at_any_limbs else nodes[i].limbs
                needed[i] = max(needed[i], limbs)
    return needed
