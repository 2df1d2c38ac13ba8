"""What instruction selection yields: instructions on virtual polynomials, and what they need."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ringsmith.backends.rpau.compiler.emission import Emitter
from ringsmith.backends.rpau.compiler.limb_layout import Layout
from ringsmith.backends.rpau.compiler.placement import Placement
from ringsmith.backends.rpau.compiler.transfer import Transfer
from ringsmith.backends.rpau.compiler.virtual import Location, VirtualInstruction, VirtualMemory
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.slot_order import SlotOrder
from ringsmith.graph import SubroutineGraph, SubroutineNode
from ringsmith.graph.expand import Expanded
from ringsmith.hdl.base_conversion import Conversion


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
