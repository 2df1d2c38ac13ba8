"""Sums of digits times keys, while instructions are selected."""

from collections.abc import Collection, Iterable
from typing import TypeVar

from ringsmith.backends.rpau.compiler.fusion import Fusion
from ringsmith.backends.rpau.compiler.selection import KeyPolynomial, KeySeed, SelectionContext
from ringsmith.backends.rpau.compiler.virtual import Location
from ringsmith.graph import SubroutineNode

T = TypeVar("T")


class KeySums:
    """Multiplies digits by keys and adds the products, each sum in its own accumulator.

    ``served`` is called after each node of the graph, in order, and adds the products of a digit
    that are to follow it at once; ``total`` adds those that are left and says where the sum is. An
    accumulator is pre-initialised if ``fusion`` has a value for it; otherwise its first products
    initialise it.

    Attributes:
        keys: For each key polynomial, its key-store index and the mask of RPAUs that need it.
        seeds: For each seed, its seed-store index and the mask of RPAUs that need it.
    """

    def __init__(self, context: SelectionContext, fusion: Fusion, seeded: Collection[str]) -> None:
        """Begins with no sums; ``seeded``: names of keys whose a part the design expands."""
        self.keys: dict[KeyPolynomial, tuple[int, int]] = {}
        self.seeds: dict[KeySeed, tuple[int, int]] = {}
        self._context = context
        self._fusion = fusion
        self._seeded = seeded
        self._accumulators: dict[int, Location] = {}
        self._initialised: dict[int, set[int]] = {}
        """Sum -> the slots where its accumulator holds something."""
        self._unit = "d" if context.design.dyadic_cores else ""

    def served(self, node: SubroutineNode) -> None:
        """Adds the products that follow a node at once, which is a digit."""
        for total, index in self._fusion.eager.get(node.id, ()):
            self._add(total, index)

    def total(self, node: SubroutineNode) -> Location:
        """Where the sum of a ``ksk_inner_product`` is."""
        for index, operand in enumerate(node.operands):
            if operand not in self._fusion.eager:
                self._add(node, index)
        return self._accumulators[node.id]

    def _add(self, node: SubroutineNode, index: int) -> None:
        """Adds one digit's products to a sum."""
        if index == 0:
            self._begin(node)
        total, initialised = self._accumulators[node.id], self._initialised[node.id]
        operand = node.operands[index]
        slots = self._context.layout.slots(operand, node.type.base)
        suffix, source = self._key_factor(node, index, slots)
        a = self._context.placement.location[operand]
        for opcode, members in (
            ("mul", [slot for slot in slots if slot not in initialised]),
            ("mac", [slot for slot in slots if slot in initialised]),
        ):
            name = self._unit + opcode + suffix
            self._context.emitter.emit(members, name, dst=total, a=a, **source)
        initialised.update(slots)

    def _begin(self, node: SubroutineNode) -> None:
        """Makes a sum's accumulator, pre-initialised where it is to be."""
        emitter, total = self._context.emitter, self._accumulator(node)
        self._accumulators[node.id], self._initialised[node.id] = total, set()
        if initial := self._fusion.initial.get(node.id):
            a = self._context.placement.location[initial.value]
            factor = emitter.prime_product(initial.base, initial.primes)
            emitter.emit(initial.base, "affine", dst=total, a=a, k1=factor, k2=emitter.zeros())
            self._initialised[node.id].update(initial.base)

    def _accumulator(self, node: SubroutineNode) -> Location:
        """Where a sum grows; one of a limb in several slots begins at digits of its own in each."""
        layout, memory = self._context.layout, self._context.memory
        spread = [limb for limb in node.type.base if len(layout.slots(node.id, [limb])) > 1]
        together = [limb for limb in node.type.base if limb not in spread]
        location = memory.fresh(layout.slots(node.id, together))
        for slot in layout.slots(node.id, spread):
            location.update(memory.fresh([slot]))
        return location

    def _key_factor(
        self, node: SubroutineNode, index: int, slots: Iterable[int]
    ) -> tuple[str, dict[str, Location | int]]:
        """What products with a key polynomial are called, and their second source.

        That is a polynomial of the key store, or a seed and the digit that is expanded from it.
        """
        key, half, digit = node.attrs["key"], node.attrs["half"], node.attrs["digits"][index]
        memory, expanded = self._context.memory, half == 1 and key in self._seeded
        indices: Location = {}
        for modulus_bank, members in memory.by_bank(slots).items():
            mask = memory.mask(members)
            if expanded:
                entry = _needed(self.seeds, KeySeed(key, modulus_bank), mask)
            else:
                polynomials = [
                    KeyPolynomial(key, digit, half, modulus_bank, number)
                    for number in range(memory.sub_polynomials)
                ]
                entry = min(_needed(self.keys, each, mask) for each in polynomials)
            indices.update(dict.fromkeys(members, entry))
        if expanded:
            return "_seed", {"seed": indices, "digit": digit}
        return "_key", {"b_key": indices}


def _needed(store: dict[T, tuple[int, int]], entry: T, mask: int) -> int:
    """Index of an entry of the key or seed store, which the RPAUs of the mask need, too."""
    index, others = store.get(entry, (len(store), 0))
    store[entry] = (index, others | mask)
    return index
