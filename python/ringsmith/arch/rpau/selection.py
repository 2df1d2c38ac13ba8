"""A selection in the making: where values are, and instructions on virtual polynomials."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.arch.rpau.isa import instruction
from ringsmith.arch.rpau.layout import Layout
from ringsmith.arch.rpau.virtual import VirtualInstruction, mask_of
from ringsmith.lower import SubroutineGraph, SubroutineNode

Location = dict[int, int]
"""Place -> virtual polynomial that holds the limb that is there."""


@dataclass(frozen=True)
class KeyPolynomial:
    """Limbs of one prime set of a polynomial of a key-switching key: ``key[digit][half]``."""

    key: str
    digit: int
    half: int
    prime_set: int


@dataclass(frozen=True)
class KeySeed:
    """The seed of a key, with the limbs of one prime set that are expanded from it."""

    key: str
    prime_set: int


@dataclass
class Selection:
    """The instructions of a program, with what they need around them.

    Attributes:
        instructions: In a valid sequential order.
        placement: For each virtual polynomial, the mask of RPAUs that hold it.
        limbs: The limb at each place.
        constants: For each constant index, its value by place.
        keys: For each key polynomial, its key-store index and the mask of RPAUs that need it.
        seeds: For each seed, its seed-store index and the mask of RPAUs that need it.
        inputs: Input name -> location of its limbs.
        outputs: Output name -> location of its limbs.
    """

    limbs: tuple[int, ...]
    instructions: list[VirtualInstruction] = field(default_factory=list)
    placement: list[int] = field(default_factory=list)
    constants: list[dict[int, int]] = field(default_factory=list)
    keys: dict[KeyPolynomial, tuple[int, int]] = field(default_factory=dict)
    seeds: dict[KeySeed, tuple[int, int]] = field(default_factory=dict)
    inputs: dict[str, Location] = field(default_factory=dict)
    outputs: dict[str, Location] = field(default_factory=dict)


_KEY_PRODUCTS = ("mul_key", "mac_key", "dmul_key", "dmac_key", "dmul_seed", "dmac_seed")
_SUMS = ("reduce", "scale_add", "scale_sub", "add", "sub")
_LONG = frozenset({"ntt", "intt", *_SUMS, *_KEY_PRODUCTS})
"""What an RPAU of key switching need not begin in the same cycle as the others."""


class Selector:
    """Keeps account of values, polynomials and instructions while a graph is walked through.

    Attributes:
        graph: The graph.
        layout: Where limbs go.
        out: What was selected so far.
        location: Where the values of the nodes so far are.
        pending: How often each (value, place) is still to be read.
        origin: The HE operation that is being served.
        apart: Whether RPAUs get instructions of their own in key switching.
        seeded: Names of the keys whose half 1 is expanded.
    """

    def __init__(
        self,
        graph: SubroutineGraph,
        design: RpauDesign,
        layout: Layout,
        *,
        apart: bool,
        seeded: Collection[str],
    ) -> None:
        self.graph = graph
        self.apart = apart
        self.seeded = seeded
        self.rpaus = design.rpaus
        self.layout = layout
        self.out = Selection(self.layout.limbs)
        self.location: dict[int, Location] = {}
        self.residents: dict[tuple[int, int], set[int]] = {}
        self.pending: Counter[tuple[int, int]] = Counter()
        for node in graph.nodes:
            self.pending.update(self.reads(node))
        self.origin = ""

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

    # Placement of values --------------------------------------------------------------------------

    def place(self, value: int, location: Location) -> None:
        """Remembers where a value is."""
        self.location[value] = location
        for place, poly in location.items():
            self.residents.setdefault((poly, place), set()).add(value)

    def by_set(self, places: Iterable[int]) -> dict[int, list[int]]:
        """The places of each prime set."""
        sets: dict[int, list[int]] = {}
        for place in places:
            sets.setdefault(place // self.rpaus, []).append(place)
        return sets

    def mask(self, places: Iterable[int]) -> int:
        """The RPAUs of some places."""
        return mask_of(place % self.rpaus for place in places)

    def fresh(self, places: Iterable[int]) -> Location:
        """A new virtual polynomial for each prime set, in all its RPAUs."""
        location: Location = {}
        for members in self.by_set(places).values():
            location.update(dict.fromkeys(members, self.polynomial(self.mask(members))))
        return location

    def polynomial(self, mask: int) -> int:
        """A new virtual polynomial in the RPAUs of a mask."""
        self.out.placement.append(mask)
        return len(self.out.placement) - 1

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

    # Emission -------------------------------------------------------------------------------------

    def emit(self, places: Iterable[int], opcode: str, **operands: Location | int) -> None:
        """One instruction for each group of places with one prime set and equal operands.

        Or one for each place, where RPAUs are to go their own ways.
        """
        groups: dict[tuple[int, tuple[tuple[str, int], ...]], list[int]] = {}
        lone = self.apart and opcode in _LONG
        for place in places:
            here = tuple(
                (name, o[place] if isinstance(o, dict) else o) for name, o in operands.items()
            )
            groups.setdefault((place if lone else place // self.rpaus, here), []).append(place)
        for (_, here), members in groups.items():
            self.append(opcode, self.mask(members), members[0] // self.rpaus, **dict(here))

    def append(self, opcode: str, mask: int, prime_set: int, **operands: int) -> None:
        """Appends one instruction."""
        chosen = instruction(opcode, mask, prime=prime_set, waits=(), **operands)
        self.out.instructions.append(VirtualInstruction(chosen, self.origin))

    def send(
        self, source: int, poly: int, places: Iterable[int], factor: int, addend: int
    ) -> Location:
        """Carries a limb from its place to others, and returns where it arrives.

        It is multiplied by one constant and increased by another twice: in its own prime where it
        leaves, in every other one where it arrives. It goes to other RPAUs for one prime set at a
        time, on the main units; what its own RPAU holds of other limbs needs no sending.
        """
        home, from_set = source % self.rpaus, source // self.rpaus
        arrived = self.fresh(places)
        for prime_set, members in self.by_set(arrived).items():
            away = [place for place in members if place % self.rpaus != home]
            if away:
                self.append(
                    "broadcast",
                    self.mask([*away, source]),
                    prime_set,
                    dst=arrived[away[0]],
                    a=poly,
                    src=home,
                    src_prime=from_set,
                    k1=factor,
                    k2=addend,
                )
        here = {place: arrived[place] for place in arrived if place % self.rpaus == home}
        if here:
            sent = self._leaving(source, poly, factor, addend)
            self.emit(here, "reduce", dst=here, a=sent, k1=factor, k2=addend)
        return arrived

    def send_beside(
        self, source: int, poly: int, places: Iterable[int], factor: int, addend: int
    ) -> Location:
        """As ``send``, on the link units: what arrives is reduced afterwards, on either unit.

        Words of a smaller prime that only need to be carried are residues already.
        """
        home, limbs, primes = source % self.rpaus, self.layout.limbs, self.graph.primes
        carried = (factor, addend) == (self.ones(), self.zeros())
        sent = self._leaving(source, poly, factor, addend)
        places = list(places)
        away = {place % self.rpaus for place in places} - {home}
        words = self.polynomial(mask_of(away)) if away else -1
        if away:
            self.append("send", mask_of({*away, home}), 0, dst=words, a=sent, src=home)
        raw = {place: sent if place % self.rpaus == home else words for place in places}
        whole = {
            place: raw[place]
            for place in places
            if carried
            and place % self.rpaus in away
            and primes[limbs[source]] <= primes[limbs[place]]
            and sum(other % self.rpaus == place % self.rpaus for other in places) == 1
        }
        arrived = self.fresh(place for place in places if place not in whole)
        self.emit(arrived, "reduce", dst=arrived, a=raw, k1=factor, k2=addend)
        return arrived | whole

    def _leaving(self, source: int, poly: int, factor: int, addend: int) -> int:
        """A limb times a constant plus another: itself where they are 1 and 0."""
        if (factor, addend) == (self.ones(), self.zeros()):
            return poly
        changed = self.fresh([source])
        self.emit([source], "affine", dst=changed, a=poly, k1=factor, k2=addend)
        return changed[source]

    def constant(self, by_limb: Mapping[int, int]) -> int:
        """Index of a constant with these values by limb, shared where no place disagrees."""
        values = self.layout.all_places(by_limb)
        for index, entry in enumerate(self.out.constants):
            if all(entry.get(place, value) == value for place, value in values.items()):
                entry.update(values)
                return index
        self.out.constants.append(dict(values))
        return len(self.out.constants) - 1

    def zeros(self) -> int:
        """Index of the constant 0 in every prime."""
        return self.constant(dict.fromkeys(range(len(self.graph.primes)), 0))

    def ones(self) -> int:
        """Index of the constant 1 in every prime."""
        return self.constant(dict.fromkeys(range(len(self.graph.primes)), 1))
