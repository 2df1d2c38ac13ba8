"""Which RPAU holds which limb, and how key switches share the special prime's work.

A *slot* is an RPAU with one of its modulus banks (``slot_order`` numbers them). Limb l has slot l.
The remaining slots can hold copies of the special prime. In key switching every digit is also
transformed in the special prime, and no other RPAU has that many transforms. Therefore digits are
distributed over the slots with the special prime. Each slot sums the products of its own digits,
and the sums are added where the division begins. The sums of the b and a parts use different slots
if two are free, because the inverse transforms of their divisions can then run in parallel.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.slot_order import SlotOrder, slot_order, spare_slots
from ringsmith.graph import SubroutineGraph, SubroutineNode

_GATHER = 0.5
"""Cost of sending the sums of b and a parts to other slots and adding, in transforms."""


@dataclass(frozen=True)
class Layout:
    """Slots of a graph's limbs on a design.

    Attributes:
        order: The RPAU and modulus bank of every slot.
        limbs: The limb in each slot; the first ones are the limbs' own slots.
        moved: Value -> limb -> slots, for limbs that are not (or not only) in their own slot. If
            the value is a sum of key products, each slot holds a part of the sum.
        roots: (Sum of key products, limb) -> the slot where those parts are added.
    """

    order: SlotOrder
    limbs: tuple[int, ...]
    moved: Mapping[int, Mapping[int, tuple[int, ...]]] = field(default_factory=dict)
    roots: Mapping[tuple[int, int], int] = field(default_factory=dict)

    def slots(self, value: int, limbs: Sequence[int]) -> list[int]:
        """Slots of a value's limbs."""
        moved = self.moved.get(value, {})
        return [slot for limb in limbs for slot in moved.get(limb, (limb,))]

    def all_slots(self, values: Mapping[int, int]) -> dict[int, int]:
        """Values by limb as values by slot, for every slot of those limbs."""
        return {slot: values[limb] for slot, limb in enumerate(self.limbs) if limb in values}


def layouts(graph: SubroutineGraph, design: RpauDesign) -> list[Layout]:
    """Layouts of a graph's limbs: each limb in its own slot, and alternatives that may be faster.

    A layout that shares the special prime's work needs more memory, and sometimes more cycles.

    Raises:
        ProgramError: If more primes need wide words, or narrow ones, than there are such RPAUs.
    """
    order = slot_order(graph.primes, graph.special, design)
    own = Layout(order, tuple(range(len(graph.primes))))
    shared = _shared(graph, design, order)
    return [own, shared] if shared.moved else [own]


def _shared(graph: SubroutineGraph, design: RpauDesign, order: SlotOrder) -> Layout:
    """Gives the special prime of key switching to slots that no limb needs."""
    own = tuple(range(len(graph.primes)))
    if len(graph.special) != 1:
        return Layout(order, own)
    special = graph.special[0]
    spare = spare_slots(graph.primes[special], len(own), order, design)
    if not spare:
        return Layout(order, own)
    moved: dict[int, dict[int, tuple[int, ...]]] = {}
    roots: dict[tuple[int, int], int] = {}
    for sums in _key_switches(graph, special):
        digits, roots_here = _share(order, sums[0].node, special, spare)
        for operand, slot in zip(sums[0].node.operands, digits, strict=True):
            for value in (operand, graph.nodes[operand].operands[0]):
                moved[value] = {special: (slot,)}
        for total in sums:
            for value in total.values:
                moved[value] = {special: tuple(dict.fromkeys(digits))}
                roots[value, special] = roots_here[total.node.attrs["half"]]
    used = [slot for each in moved.values() for slots in each.values() for slot in slots]
    last = max([*used, *roots.values(), len(own) - 1])
    return Layout(order, own + (special,) * (last + 1 - len(own)), moved, roots)


@dataclass(frozen=True)
class _Total:
    """A sum of key products.

    Attributes:
        node: The sum.
        values: Nodes whose limb in the special prime is the sum's: it, and the sum of it and a
            ``scaled`` value, if that is all it is used for.
        ends: The nodes that use the last of those.
    """

    node: SubroutineNode
    values: tuple[int, ...]
    ends: tuple[SubroutineNode, ...]


def _key_switches(graph: SubroutineGraph, special: int) -> list[list[_Total]]:
    """Sums of key products of the same digits, where every use of all of it is known."""
    users: dict[int, list[SubroutineNode]] = {node.id: [] for node in graph.nodes}
    for node in graph.nodes:
        for operand in node.operands:
            users[operand].append(node)
    groups: dict[tuple[int, ...], list[_Total]] = {}
    for node in graph.nodes:
        if node.op == "ksk_inner_product" and special in node.type.base:
            groups.setdefault(node.operands, []).append(_total(graph, node, users))
    found = []
    for operands, sums in groups.items():
        if any(graph.nodes[operand].op != "ntt" for operand in operands):
            continue
        raised = [graph.nodes[graph.nodes[operand].operands[0]] for operand in operands]
        nodes = [total.node for total in sums]
        known = (
            len(set(operands)) == len(operands),
            all(_is_digit(node, special) for node in raised),
            all(users[operand] == nodes for operand in operands),
            all(len(users[node.id]) == 1 for node in raised),
            all(_is_division(end, special) for total in sums for end in total.ends),
        )
        if all(known):
            found.append(sums)
    return found


def _total(
    graph: SubroutineGraph, node: SubroutineNode, users: Mapping[int, Sequence[SubroutineNode]]
) -> _Total:
    """A sum of key products with what follows it."""
    if len(users[node.id]) == 1 and users[node.id][0].op == "add":
        (total,) = users[node.id]
        others = [operand for operand in total.operands if operand != node.id]
        if others and is_scaled(graph.nodes[others[0]]) and len(users[others[0]]) == 1:
            return _Total(node, (node.id, total.id), tuple(users[total.id]))
    return _Total(node, (node.id,), tuple(users[node.id]))


def _is_digit(node: SubroutineNode, special: int) -> bool:
    """Whether a node is the ModUp of one data prime's digit."""
    if node.op != "mod_up" or node.attrs["variant"] != "rns_digit":
        return False
    return special not in node.attrs["digit"]


def _is_division(node: SubroutineNode, special: int) -> bool:
    return node.op == "mod_down" and special in node.attrs["drop"]


def is_scaled(node: SubroutineNode) -> bool:
    """Whether a node multiplies a value by primes that it adds to the base."""
    return node.op == "mod_up" and node.attrs["variant"] == "scaled"


def _share(
    order: SlotOrder,
    total: SubroutineNode,
    special: int,
    spare: Sequence[int],
) -> tuple[list[int], tuple[int, int]]:
    """The slot of the special prime for each digit, and for the division of b and a part sums.

    Counts transforms, and gives each task to the one that has the fewest.
    """
    load = dict.fromkeys(order.rpaus, 0.0)
    for limb in total.type.base:
        if limb != special:  # one inverse transform of its own, and every digit but its own
            load[order.rpau(limb)] += len(total.operands)
    second = min((special, *spare), key=lambda slot: (load[order.rpau(slot)], slot == special))
    roots = (special, second)
    for root in roots:
        load[order.rpau(root)] += 1
    held: list[int] = []
    for _ in total.operands:

        def cost(slot: int) -> tuple[float, bool, int]:
            gathered = 0.0 if slot in held or slot in roots else _GATHER
            return load[order.rpau(slot)] + 1 + gathered, slot != special, slot

        held.append(min((special, *spare), key=cost))
        load[order.rpau(held[-1])] += 1
    # An RPAU with other work takes the first digits, so that its sum is ready sooner.
    held.sort(key=lambda slot: (slot == special, slot in roots, slot))
    return held, roots
