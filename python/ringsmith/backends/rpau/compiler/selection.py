"""What instruction selection yields: instructions on virtual polynomials, and what they need.

Placement: where the values of a graph are, who still reads them, what may be written over.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ringsmith.backends.rpau.compiler.emission import Emitter
from ringsmith.backends.rpau.compiler.limb_layout import Layout, digit_prime
from ringsmith.backends.rpau.compiler.transfer import Transfer
from ringsmith.backends.rpau.compiler.virtual import Location, VirtualInstruction, VirtualMemory
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.slot_order import SlotOrder
from ringsmith.graph import SubroutineGraph, SubroutineNode
from ringsmith.graph.expand import Expanded
from ringsmith.hdl.base_conversion import Conversion


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


@dataclass(frozen=True)
class KeyPolynomial:
    """Limbs of one modulus bank of a polynomial of a key-switching key: ``key[digit][half]``.

    Or, in a larger ring, a sub-polynomial of them.
    """

    key: str
    digit: int
    half: int
    modulus_bank: int
    sub_polynomial: int


@dataclass(frozen=True)
class KeySeed:
    """The seed of a key, with the limbs of one modulus bank that are expanded from it."""

    key: str
    modulus_bank: int


@dataclass(frozen=True)
class Selection:
    """The instructions of a program, with what they need around them.

    Attributes:
        log_degree: log2 of the degree of the ring.
        sub_polynomials: Virtual polynomials of a limb.
        order: The RPAU and modulus bank of every slot.
        limbs: The limb in each slot.
        instructions: In a valid sequential order.
        masks: For each virtual polynomial, the mask of RPAUs that hold it.
        constants: For each constant index, its value by slot.
        conversions: What base conversions do, by their index.
        keys: For each key polynomial, its key-store index and the mask of RPAUs that need it.
        seeds: For each seed, its seed-store index and the mask of RPAUs that need it.
        inputs: Input name -> location of its limbs.
        outputs: Output name -> location of its limbs.
    """

    log_degree: int
    sub_polynomials: int
    order: SlotOrder
    limbs: tuple[int, ...]
    instructions: Sequence[VirtualInstruction]
    masks: Sequence[int]
    constants: Sequence[Mapping[int, int]]
    conversions: Sequence[Conversion]
    keys: Mapping[KeyPolynomial, tuple[int, int]]
    seeds: Mapping[KeySeed, tuple[int, int]]
    inputs: Mapping[str, Location]
    outputs: Mapping[str, Location]


# What the parts of instruction selection share: the program, and how it is placed and emitted


@dataclass(frozen=True)
class SelectionContext:
    """One program for one design, while its instructions are selected.

    Attributes:
        graph: The program, in primitives.
        sources: For each of its nodes, the id that its user knows.
        design: The accelerator.
        layout: Where limbs go.
        memory: Where virtual polynomials come from.
        placement: Where values are.
        emitter: Takes instructions.
        transfer: Sends limbs.
    """

    graph: SubroutineGraph
    sources: Sequence[int]
    design: RpauDesign
    layout: Layout
    memory: VirtualMemory
    placement: Placement
    emitter: Emitter
    transfer: Transfer

    @classmethod
    def of(
        cls, expanded: Expanded, design: RpauDesign, layout: Layout, *, per_rpau: bool
    ) -> "SelectionContext":
        """Nothing is placed or emitted yet; ``per_rpau`` as for ``Emitter``."""
        graph = expanded.graph
        sub_polys = design.sub_polys(graph.n.bit_length() - 1)
        memory = VirtualMemory(layout.order, sub_polys, graph.extension)
        emitter = Emitter(graph, design, layout, memory, per_rpau=per_rpau)
        return cls(
            graph,
            expanded.sources,
            design,
            layout,
            memory,
            Placement(expanded, layout, memory),
            emitter,
            Transfer(graph, design, layout, emitter),
        )

    def own(self, value: int, slots: Iterable[int], node: SubroutineNode) -> Location:
        """A copy of ``value`` that may be written over: itself where it dies at ``node``."""
        a, location = self.placement.location[value], self.placement.over(value, slots, node)
        if any(location[slot] != a[slot] for slot in location):
            self.emitter.copy(location, location, a)
        return location
