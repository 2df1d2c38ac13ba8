"""Finds fused nodes: those that other nodes' instructions serve, and their order."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ringsmith.backends.rpau.compiler.limb_layout import is_scaled
from ringsmith.graph import SubroutineGraph, SubroutineNode
from ringsmith.graph.expand import Expanded


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
    def of(cls, expanded: Expanded, *, preinitialised: bool, eager: bool) -> "Fusion":
        """Finds it; see ``select`` for the choices."""
        users = _users(expanded.graph)
        summands = _summands(expanded.graph, users)
        initial = _initial_values(expanded, summands, users, quotients=preinitialised)
        return cls(summands, initial, _eager_products(expanded) if eager else {})


_Users = Mapping[int, Sequence[SubroutineNode]]


def _summands(graph: SubroutineGraph, users: _Users) -> frozenset[int]:
    """What is used by an addition only, and needs no instruction of its own for that.

    A product (multiply-accumulate), a value times a number or scaled, and a quotient:
    x*P^-1 + c comes first.
    """
    fused: set[int] = set()
    for node in graph.nodes:
        if node.op not in ("add", "add_scalar") or len(set(node.operands)) != len(node.operands):
            continue
        for operand in reversed(node.operands):
            summand = graph.nodes[operand]
            fusible = summand.op == "mul_scalar" or (
                node.op == "add" and (summand.op in ("mul", "mod_down") or is_scaled(summand))
            )
            if fusible and len(users[operand]) == 1:
                fused.add(operand)
                break
    return frozenset(fused)


def _initial_values(
    expanded: Expanded, fused: Collection[int], users: _Users, *, quotients: bool
) -> dict[int, InitialValue]:
    """What initialises sums of key products that are used once, if it is there before the digits.

    That is a fused ``scaled`` value that is added to the sum or, with ``quotients``, the addend of
    the sum's fused quotient. With P the primes that are divided by, the quotient of x + P*c is that
    of x, plus c, bit for bit: P*c is 0 modulo the primes of P, from whose limbs the rounding is
    computed.
    """
    nodes = expanded.graph.nodes
    found: dict[int, InitialValue] = {}
    for product in (each for digits in expanded.switches for each in digits.products):
        for total in product.sums:
            if len(users[total]) != 1:
                continue
            (user,) = users[total]
            initial = None
            if user.id in product.totals:
                initial = _scaled_summand(nodes, user, total, fused)
            elif quotients and user.id in product.divisions and user.id in fused:
                (addition,) = users[user.id]
                (value,) = (each for each in addition.operands if each != user.id)
                initial = InitialValue(value, user.type.base, tuple(user.attrs["drop"]))
            if initial is not None and initial.value < min(product.digits):
                found[total] = initial
    return found


def _scaled_summand(
    nodes: Sequence[SubroutineNode], addition: SubroutineNode, total: int, fused: Collection[int]
) -> InitialValue | None:
    """The fused ``scaled`` value that is added to a sum."""
    for other in addition.operands:
        if other != total and other in fused and is_scaled(nodes[other]):
            base = nodes[other].attrs["digit"]
            primes = tuple(limb for limb in nodes[other].type.base if limb not in base)
            return InitialValue(nodes[other].operands[0], base, primes)
    return None


def _eager_products(expanded: Expanded) -> dict[int, list[tuple[SubroutineNode, int]]]:
    """Digits whose products can be added up as soon as they are there.

    Those are digits, moved or not, of one product with a key. Returns for each the sums, and which
    of their operands it is.
    """
    nodes = expanded.graph.nodes
    products = [product for digits in expanded.switches for product in digits.products]
    count = Counter(product.digits for product in products)
    return {
        digit: [(nodes[total], index) for total in product.sums]
        for product in products
        if count[product.digits] == 1
        for index, digit in enumerate(product.digits)
    }


def _users(graph: SubroutineGraph) -> _Users:
    users: dict[int, list[SubroutineNode]] = {node.id: [] for node in graph.nodes}
    for node in graph.nodes:
        for operand in node.operands:
            users[operand].append(node)
    return users
