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
from ringsmith.graph import Form, SubroutineGraph, SubroutineNode
from ringsmith.graph.expand import Digits, Expanded, KeyProduct

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


def layouts(expanded: Expanded, design: RpauDesign) -> list[Layout]:
    """Layouts of a graph's limbs: each limb in its own slot, and alternatives that may be faster.

    A layout that shares the special prime's work needs more memory, and sometimes more cycles.

    Raises:
        ProgramError: If more primes need wide words, or narrow ones, than there are such RPAUs.
    """
    graph = expanded.graph
    order = slot_order(graph.primes, graph.special, design)
    own = Layout(order, tuple(range(len(graph.primes))))
    shared = _shared(expanded, design, order)
    return [own, shared] if shared.moved else [own]


def _shared(expanded: Expanded, design: RpauDesign, order: SlotOrder) -> Layout:
    """The layout where the special prime's work is shared: in slots that no limb needs."""
    graph = expanded.graph
    own = tuple(range(len(graph.primes)))
    if len(graph.special) != 1:
        return Layout(order, own)
    special = graph.special[0]
    spare = spare_slots(graph.primes[special], len(own), order, design)
    if not spare:
        return Layout(order, own)
    moved: dict[int, dict[int, tuple[int, ...]]] = {}
    roots: dict[tuple[int, int], int] = {}
    for digits in expanded.switches:
        if not _can_share(graph, digits, special):
            continue
        base = graph.nodes[digits.transformed[0]].type.base
        held, roots_here = _share(order, base, digits, special, spare)
        for values in (digits.raised, digits.transformed, *(p.digits for p in digits.products)):
            for value, slot in zip(values, held, strict=True):
                moved[value] = {special: (slot,)}
        for product in digits.products:
            for half, (total, root) in enumerate(zip(product.sums, roots_here, strict=True)):
                for value in {total, product.totals[half]}:
                    moved[value] = {special: tuple(dict.fromkeys(held))}
                    roots[value, special] = root
    used = [slot for each in moved.values() for slots in each.values() for slot in slots]
    last = max([*used, *roots.values(), len(own) - 1])
    return Layout(order, own + (special,) * (last + 1 - len(own)), moved, roots)


def _can_share(graph: SubroutineGraph, digits: Digits, special: int) -> bool:
    """Whether the special limb of digits is only multiplied, and of their sums only divided away.

    What is added to a sum before that must have no such limb.
    """
    primes = [digit_prime(graph.nodes[raised]) for raised in digits.raised]
    return (
        special in graph.nodes[digits.transformed[0]].type.base
        and all(prime not in (None, special) for prime in primes)
        and len(digits.products) > 0
        and all(_is_divided(graph, product, special) for product in digits.products)
    )


def _is_divided(graph: SubroutineGraph, product: KeyProduct, special: int) -> bool:
    added = [value for value in product.initial if value is not None]
    return (
        len(product.divisions) > 0
        and all(graph.nodes[total].type.form is Form.NTT for total in product.totals)
        and all(special in graph.nodes[division].attrs["drop"] for division in product.divisions)
        and all(special not in graph.nodes[value].type.base for value in added)
    )


def digit_prime(raised: SubroutineNode) -> int | None:
    """The prime of a digit of one prime; None of other digits."""
    if raised.op != "mod_up" or raised.attrs["variant"] != "rns_digit":
        return None
    (prime,) = raised.attrs["digit"]
    return int(prime)


def is_scaled(node: SubroutineNode) -> bool:
    """Whether a node multiplies a value by primes that it adds to the base."""
    return node.op == "mod_up" and node.attrs["variant"] == "scaled"


def _share(
    order: SlotOrder, base: Sequence[int], digits: Digits, special: int, spare: Sequence[int]
) -> tuple[list[int], tuple[int, int]]:
    """The slot of the special prime for each digit, and for the division of b and a part sums.

    Counts transforms, and gives each task to the one that has the fewest.
    """
    count, products = len(digits.transformed), len(digits.products)
    load = dict.fromkeys(order.rpaus, 0.0)
    for limb in base:
        if limb != special:  # one inverse transform of its own, and every digit but its own
            load[order.rpau(limb)] += count
    second = min((special, *spare), key=lambda slot: (load[order.rpau(slot)], slot == special))
    roots = (special, second)
    for root in roots:
        load[order.rpau(root)] += products
    held: list[int] = []
    for _ in range(count):

        def cost(slot: int) -> tuple[float, bool, int]:
            gathered = 0.0 if slot in held or slot in roots else _GATHER * products
            return load[order.rpau(slot)] + 1 + gathered, slot != special, slot

        held.append(min((special, *spare), key=cost))
        load[order.rpau(held[-1])] += 1
    # An RPAU with other work takes the first digits, so that its sum is ready sooner.
    held.sort(key=lambda slot: (slot == special, slot in roots, slot))
    return held, roots
