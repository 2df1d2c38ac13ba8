"""Placement: where the values of a graph are, who still reads them, what may be written over."""

from collections import Counter
from collections.abc import Iterable

from ringsmith.backends.rpau.compiler.limb_layout import Layout, digit_prime
from ringsmith.backends.rpau.compiler.virtual import Location, VirtualMemory
from ringsmith.graph import SubroutineNode
from ringsmith.graph.expand import Expanded


class Placement:
    """Keeps account of a graph's values while its nodes are served one after the other.

    Who serves a node asks where its operands are (``location``) and where its result may go
    (``target``, ``over``), and says afterwards that its operands have been read (``done``) and
    where its value is (``put``). No result of ``target`` or ``over`` destroys a limb that a later
    node reads. Nothing is computed here: a value is where ``put`` says.

    Attributes:
        location: Where the values of the nodes so far are.
    """

    def __init__(self, expanded: Expanded, layout: Layout, memory: VirtualMemory) -> None:
        self.location: dict[int, Location] = {}
        self._graph = expanded.graph
        self._copied = _copied_limbs(expanded)
        self._layout = layout
        self._memory = memory
        self._residents: dict[tuple[int, int], set[int]] = {}
        """(Virtual polynomial, slot) -> the values whose limb it is."""
        self._pending: Counter[tuple[int, int]] = Counter()
        """(Value, slot) -> how often it is still to be read."""
        for node in self._graph.nodes:
            self._pending.update(self._reads(node))

    def slots(self, node: SubroutineNode) -> list[int]:
        """Slots of what the node yields."""
        return self._layout.slots(node.id, node.type.base)

    def put(self, value: int, location: Location) -> None:
        """Remembers where a value is."""
        self.location[value] = location
        for slot, poly in location.items():
            self._residents.setdefault((poly, slot), set()).add(value)

    def done(self, node: SubroutineNode) -> None:
        """Counts the operands of a node as read."""
        self._pending.subtract(self._reads(node))

    def keep(self, value: int, limbs: Iterable[int]) -> None:
        """Keeps a value until the program has ended: it is never written over."""
        self._pending.update(dict.fromkeys([(value, limb) for limb in limbs], 2))

    def dies(self, value: int, slot: int, node: SubroutineNode) -> bool:
        """Whether no node after ``node`` reads what is where ``value`` has a limb."""
        reads = self._reads(node)
        residents = self._residents[self.location[value][slot], slot]
        return all(self._pending[other, slot] == reads[other, slot] for other in residents)

    def target(self, node: SubroutineNode) -> Location:
        """Where the result of a pointwise node goes: over an operand that dies, else anew."""
        slots = self.slots(node)
        groups = self._memory.groups(slots)
        for operand in node.operands:
            location = self.location[operand]
            if not set(slots) <= location.keys():
                continue
            together = all(len({location[slot] for slot in members}) == 1 for members in groups)
            if together and all(self.dies(operand, slot, node) for slot in slots):
                return {slot: location[slot] for slot in slots}
        return self._memory.fresh(slots)

    def over(self, value: int, slots: Iterable[int], node: SubroutineNode) -> Location:
        """Where what is made of ``value`` goes: over it in slots where it dies, else anew."""
        location = {slot: self.location[value][slot] for slot in slots}
        kept = [slot for slot in location if not self.dies(value, slot, node)]
        return location | self._memory.fresh(kept)

    def copied_limb(self, node: SubroutineNode) -> tuple[int, int] | None:
        """The (value, limb) that an NTT need not compute: that of a digit in its own prime.

        The digit is the inverse transform of this very limb.
        """
        return self._copied.get(node.id)

    def _reads(self, node: SubroutineNode) -> Counter[tuple[int, int]]:
        """How often a node reads each (value, slot)."""
        reads: Counter[tuple[int, int]] = Counter()
        copied = self.copied_limb(node)
        for operand in node.operands:
            if node.op == "mod_up":
                limbs = node.attrs["digit"]
            elif node.op == "mod_down":
                limbs = (*node.type.base, *node.attrs["drop"])
            elif node.op in ("lift", "scale"):
                limbs = self._graph.nodes[operand].type.base
            else:
                limbs = [limb for limb in node.type.base if copied is None or limb != copied[1]]
            reads.update((operand, slot) for slot in self._layout.slots(operand, limbs))
        if copied is not None:
            reads[copied] += 1
        return reads


def _copied_limbs(expanded: Expanded) -> dict[int, tuple[int, int]]:
    """For each digit of one prime, transformed, the limb that it has of the value it is cut of."""
    found: dict[int, tuple[int, int]] = {}
    for digits in expanded.switches:
        for raised, transformed in zip(digits.raised, digits.transformed, strict=True):
            prime = digit_prime(expanded.graph.nodes[raised])
            if digits.source is not None and prime is not None:
                found[transformed] = digits.source, prime
    return found
