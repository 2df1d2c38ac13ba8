"""What the parts of instruction selection share: the program, and how it is placed and emitted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ringsmith.backends.rpau.compiler.emission import Emitter
from ringsmith.backends.rpau.compiler.limb_layout import Layout
from ringsmith.backends.rpau.compiler.placement import Placement
from ringsmith.backends.rpau.compiler.transfer import Transfer
from ringsmith.backends.rpau.compiler.virtual import Location, VirtualMemory
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.graph import SubroutineGraph, SubroutineNode
from ringsmith.graph.expand import Expanded


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
