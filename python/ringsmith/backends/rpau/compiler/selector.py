"""Account of a graph's values while instructions are selected: where they are, who reads them."""

from collections import Counter
from collections.abc import Iterable

from ringsmith.backends.rpau.compiler.emission import Emitter
from ringsmith.backends.rpau.compiler.layout import Layout
from ringsmith.backends.rpau.compiler.selection import Location
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.graph import SubroutineGraph, SubroutineNode


class Selector(Emitter):
    """Keeps account of values while a graph is walked through.

    Attributes:
        location: Where the values of the nodes so far are.
        pending: How often each (value, place) is still to be read.
    """

    def __init__(
        self, graph: SubroutineGraph, design: RpauDesign, layout: Layout, *, apart: bool
    ) -> None:
        super().__init__(graph, design, layout, apart=apart)
        self.location: dict[int, Location] = {}
        self.residents: dict[tuple[int, int], set[int]] = {}
        self.pending: Counter[tuple[int, int]] = Counter()
        for node in graph.nodes:
            self.pending.update(self.reads(node))

    def reads(self, node: SubroutineNode) -> Counter[tuple[int, int]]:
        """How often a node reads each (value, place)."""
        reads: Counter[tuple[int, int]] = Counter()
        copied = self.copied_limb(node)
        for operand in node.operands:
            if node.op == "mod_up":
                limbs = node.attrs["digit"]
            elif node.op == "mod_down":
                limbs = (*node.type.base, *node.attrs["drop"])
            else:
                limbs = [limb for limb in node.type.base if copied is None or limb != copied[1]]
            reads.update((operand, place) for place in self.layout.places(operand, limbs))
        if copied is not None:
            reads[copied] += 1
        return reads

    def copied_limb(self, node: SubroutineNode) -> tuple[int, int] | None:
        """The (value, limb) that an NTT need not compute: that of a digit in its own prime.

        The digit is the inverse transform of this very limb.
        """
        if node.op != "ntt":
            return None
        raised = self.graph.nodes[node.operands[0]]
        if raised.op != "mod_up" or raised.attrs["variant"] != "rns_digit":
            return None
        inverse = self.graph.nodes[raised.operands[0]]
        (digit,) = raised.attrs["digit"]
        if inverse.op != "intt" or digit not in node.type.base:
            return None
        return inverse.operands[0], digit

    def base(self, node: SubroutineNode) -> list[int]:
        """Places of what the node yields."""
        return self.layout.places(node.id, node.type.base)

    def place(self, value: int, location: Location) -> None:
        """Remembers where a value is."""
        self.location[value] = location
        for place, poly in location.items():
            self.residents.setdefault((poly, place), set()).add(value)

    def dies(self, value: int, place: int, node: SubroutineNode) -> bool:
        """Whether nobody after ``node`` reads what stands where ``value`` has a limb."""
        reads = self.reads(node)
        residents = self.residents[self.location[value][place], place]
        return all(self.pending[other, place] == reads[other, place] for other in residents)

    def target(self, node: SubroutineNode) -> Location:
        """Where to write the result of a pointwise node: over a dying operand if there is one."""
        base = self.base(node)
        sets = self.by_set(base).values()
        for operand in node.operands:
            location = self.location[operand]
            if not set(base) <= location.keys():
                continue
            together = all(len({location[place] for place in members}) == 1 for members in sets)
            if together and all(self.dies(operand, place, node) for place in base):
                return {place: location[place] for place in base}
        return self.fresh(base)

    def over(self, value: int, base: Iterable[int], node: SubroutineNode) -> Location:
        """Where what is made of ``value`` goes: over it where it dies at ``node``, else anew."""
        location = {place: self.location[value][place] for place in base}
        kept = [place for place in location if not self.dies(value, place, node)]
        return location | self.fresh(kept)

    def own(self, value: int, base: Iterable[int], node: SubroutineNode) -> Location:
        """A copy of ``value`` that may be overwritten: itself where it dies at ``node``."""
        a, location = self.location[value], self.over(value, base, node)
        copied = [place for place in location if location[place] != a[place]]
        if copied:
            self.emit(copied, "affine", dst=location, a=a, k1=self.ones(), k2=self.zeros())
        return location
