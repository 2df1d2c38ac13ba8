"""Subroutines of an operation: what each takes, and what the operation takes without fusion.

The paper fuses subroutines: what one makes, the next one uses, and memory does not see it. Without
fusion each is a program of its own here, with operands and results in the card's memory.
"""

from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType

from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.bench.framework.cases import executable_of, graph_of
from ringsmith.graph import Origin, SubroutineGraph
from ringsmith.graph.subroutines import SubroutineNode

MOD_UP, INNER_PRODUCT, MOD_DOWN, AUTOMORPH, OTHERS = (
    "ModUp", "InnerProd", "ModDown", "Automorph", "products and sums",
)  # fmt: skip
"""The paper's subroutines of a key switching, with the transforms of each; and the rest."""

SUBROUTINES = (MOD_UP, INNER_PRODUCT, MOD_DOWN, AUTOMORPH, OTHERS)

WITHOUT_FUSION = "without fusion"
"""What records of operations call it whose subroutines are programs of their own."""

_OF_OP: Mapping[str, str] = MappingProxyType(
    {
        "intt": MOD_UP,
        "mod_up": MOD_UP,
        "ntt": MOD_UP,
        "ksk_inner_product": INNER_PRODUCT,
        "mod_down": MOD_DOWN,
        "automorph": AUTOMORPH,
    }
)

_POINTWISE = "pointwise"
_ALONE = ("intt", "mod_up", "ntt", "ksk_inner_product", "mod_down", "automorph")
"""Ops that are subroutines; pointwise ones next to each other are one."""


def breakdown(operation: str, params: str, design: VectorDesign) -> dict[str, int]:
    """Cycles of an operation by subroutine, in which its instructions were issued."""
    graph = graph_of(operation, params)
    names = list(dict.fromkeys(_name(node) for node in graph.nodes))
    copy = _empty(graph, dict(graph.keys))
    for node in graph.nodes:
        copy.at_origin(Origin(names.index(_name(node)), _name(node)))
        copy.add_node(node.op, node.operands, node.attrs)
    counted = executable_of(copy, design).cycles_by_node
    return {name: counted.get(number, 0) for number, name in enumerate(names)}


def _name(node: SubroutineNode) -> str:
    return _OF_OP.get(node.op, OTHERS)


def unfused_cycles(operation: str, params: str, design: VectorDesign) -> int:
    """Cycles of an operation whose subroutines are programs of their own."""
    graphs = apart(graph_of(operation, params))
    return sum(executable_of(each, design).cycles for each in graphs)


def apart(graph: SubroutineGraph) -> list[SubroutineGraph]:
    """Each subroutine as a graph of its own, in order."""
    levels: dict[int, int] = {}
    groups: dict[tuple[int, str], list[SubroutineNode]] = defaultdict(list)
    for node in graph.nodes:
        if node.op == "input":
            levels[node.id] = 0
            continue
        if node.op == "output":
            continue
        own = _kind(node)
        levels[node.id] = max(
            levels[i] + (_kind(graph.nodes[i]) != own and graph.nodes[i].op != "input")
            for i in node.operands
        )
        groups[levels[node.id], own].append(node)
    return [_alone(graph, groups[key]) for key in sorted(groups)]


def _kind(node: SubroutineNode) -> str:
    return node.op if node.op in _ALONE else _POINTWISE


def _alone(graph: SubroutineGraph, nodes: list[SubroutineNode]) -> SubroutineGraph:
    """Some nodes with what they take as inputs, and with what others take as outputs."""
    inside = {node.id for node in nodes}
    keys = {node.attrs["key"] for node in nodes if "key" in node.attrs}
    own = _empty(graph, {name: digits for name, digits in graph.keys.items() if name in keys})
    there: dict[int, int] = {}
    for node in nodes:
        for i in node.operands:
            if i not in inside and i not in there:
                kind = graph.nodes[i].type
                there[i] = own.input(f"x.{i}", kind.base, kind.form)
        there[node.id] = own.add_node(node.op, [there[i] for i in node.operands], node.attrs)
    users = {i for each in graph.nodes if each.id not in inside for i in each.operands}
    for node in nodes:
        if node.id in users:
            own.output(there[node.id], f"z.{node.id}")
    return own


def _empty(graph: SubroutineGraph, keys: Mapping[str, int]) -> SubroutineGraph:
    return SubroutineGraph(graph.n, graph.primes, graph.roots, graph.special, keys, graph.extension)
