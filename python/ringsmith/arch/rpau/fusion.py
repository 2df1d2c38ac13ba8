"""Nodes of a graph that need no instruction of their own: another node's does their work, too."""

from collections import Counter
from itertools import permutations

from ringsmith.arch.rpau.layout import is_scaled
from ringsmith.lower import SubroutineGraph, SubroutineNode


def fused_summands(graph: SubroutineGraph) -> set[int]:
    """What is used by an addition only, and needs no instruction of its own for that.

    A product (multiply-accumulate), a scaled value, and a quotient: x*P^-1 + c comes first.
    """
    users = _users(graph)
    fused: set[int] = set()
    for node in graph.nodes:
        if node.op != "add" or node.operands[0] == node.operands[1]:
            continue
        for operand in reversed(node.operands):
            summand = graph.nodes[operand]
            fusible = summand.op in ("mul", "mod_down") or is_scaled(summand)
            if fusible and users[operand] == 1:
                fused.add(operand)
                break
    return fused


def begun_sums(graph: SubroutineGraph, fused: set[int]) -> dict[int, SubroutineNode]:
    """Sums of key products that only a fused scaled value is added to: they begin with it.

    Returns the scaled value of each.
    """
    users = _users(graph)
    found: dict[int, SubroutineNode] = {}
    for node in graph.nodes:
        for total, other in permutations(node.operands) if node.op == "add" else ():
            summand, scaled = graph.nodes[total], graph.nodes[other]
            if (
                summand.op == "ksk_inner_product"
                and users[total] == 1
                and other in fused
                and is_scaled(scaled)
                and scaled.operands[0] < total
            ):
                found[total] = scaled
    return found


def _users(graph: SubroutineGraph) -> Counter[int]:
    return Counter(operand for node in graph.nodes for operand in node.operands)
