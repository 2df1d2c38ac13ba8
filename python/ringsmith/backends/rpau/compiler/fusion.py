"""Finds fused nodes: those that other nodes' instructions serve, and their order."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from ringsmith.backends.rpau.compiler.limb_layout import is_scaled
from ringsmith.graph import SubroutineGraph, SubroutineNode


@dataclass(frozen=True)
class InitialValue:
    """The initial value of an accumulator of key products: a value multiplied by primes.

    These primes are divided away later.

    Attributes:
        value: The value.
        base: Its limbs.
        primes: The indices of the primes.
    """

    value: int
    base: tuple[int, ...]
    primes: tuple[int, ...]


@dataclass(frozen=True)
class Fusion:
    """What is fused in one graph.

    Attributes:
        summands: Nodes that need no instruction of their own: the addition that uses one serves it.
        initial: Sum of key products -> what its accumulator is pre-initialised with.
        eager: Digit -> the sums to which its products are added as soon as it is there, and which
            of their operands it is.
    """

    summands: frozenset[int]
    initial: Mapping[int, InitialValue]
    eager: Mapping[int, Sequence[tuple[SubroutineNode, int]]]

    @classmethod
    def of(cls, graph: SubroutineGraph, *, preinitialised: bool, eager: bool) -> "Fusion":
        """Finds it; see ``select`` for the choices."""
        summands = _summands(graph)
        initial = _scaled_summands(graph, summands)
        if preinitialised:
            initial |= _quotient_summands(graph, summands)
        return cls(summands, initial, _eager_products(graph) if eager else {})


def _summands(graph: SubroutineGraph) -> frozenset[int]:
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
    return frozenset(fused)


def _scaled_summands(graph: SubroutineGraph, fused: Collection[int]) -> dict[int, InitialValue]:
    """Key-product sums to which only a fused ``scaled`` value is added: it initialises them."""
    found: dict[int, InitialValue] = {}
    for total, other in _additions(graph):
        scaled = graph.nodes[other]
        if other in fused and is_scaled(scaled):
            base = scaled.attrs["digit"]
            primes = tuple(limb for limb in scaled.type.base if limb not in base)
            found[total] = InitialValue(scaled.operands[0], base, primes)
    return _possible(graph, found)


def _quotient_summands(graph: SubroutineGraph, fused: Collection[int]) -> dict[int, InitialValue]:
    """Sums of key products that the addend of their fused quotients may initialise.

    With P the primes that are divided by, the quotient of x + P*c is that of x, plus c, bit for
    bit: P*c is 0 modulo the primes of P, from whose limbs the rounding is computed.
    """
    found: dict[int, InitialValue] = {}
    for value, other in _additions(graph):
        quotient = graph.nodes[other]
        if other in fused and quotient.op == "mod_down":
            (total,) = quotient.operands
            found[total] = InitialValue(value, quotient.type.base, quotient.attrs["drop"])
    return _possible(graph, found)


def _additions(graph: SubroutineGraph) -> Iterator[tuple[int, int]]:
    """The summands of every addition, in both orders."""
    for node in graph.nodes:
        if node.op == "add":
            yield from permutations(node.operands)


def _possible(graph: SubroutineGraph, found: Mapping[int, InitialValue]) -> dict[int, InitialValue]:
    """Those of sums of key products used once, whose initial values are there before the digits."""
    users = _users(graph)
    return {
        total: initial
        for total, initial in found.items()
        if graph.nodes[total].op == "ksk_inner_product"
        and users[total] == 1
        and initial.value < min(graph.nodes[total].operands)
    }


def _eager_products(graph: SubroutineGraph) -> dict[int, list[tuple[SubroutineNode, int]]]:
    """Digits whose products can be added up as soon as they are there.

    Those are digits that only the sums of b and a parts of one key switch use. Returns for each the
    sums, and which of their operands it is.
    """
    users: dict[int, list[SubroutineNode]] = {}
    for node in graph.nodes:
        for operand in node.operands:
            users.setdefault(operand, []).append(node)
    found: dict[int, list[tuple[SubroutineNode, int]]] = {}
    for node in graph.nodes:
        if node.op != "ksk_inner_product" or list(node.operands) != sorted(set(node.operands)):
            continue
        sums = users[node.operands[0]]
        same = all(
            each.operands == node.operands and each.attrs["key"] == node.attrs["key"]
            for each in sums
        )
        if node is sums[0] and same and all(users[operand] == sums for operand in node.operands):
            for index, operand in enumerate(node.operands):
                found[operand] = [(each, index) for each in sums]
    return found


def _users(graph: SubroutineGraph) -> Counter[int]:
    return Counter(operand for node in graph.nodes for operand in node.operands)
