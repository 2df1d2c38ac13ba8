"""Instruction selection: a subroutine graph becomes instructions on virtual polynomials.

Limb l of every residue polynomial lies in RPAU l mod R, R the design's RPAUs, which computes on it
with prime set l div R; a value of the graph is a map from limbs to virtual polynomials. What comes
out is a list in a valid sequential order; ``schedule`` puts it in time and in memory.

Identities used here, all exact on canonical residues:

* The rounding division by a prime p (SEAL's ModDown and rescale; Medha, Algorithm 3) is, with h =
  floor(p/2) and r = (x_p + h) mod p, out_j = (x_j - ((r - h) mod q_j)) * p^-1 mod q_j. The factor
  p^-1 is moved in front of the NTT: the receivers of the broadcast compute r*p^-1 - h*p^-1, and the
  last step is x_j*p^-1 - NTT(...).
* A limb is dead as soon as the last node that reads this very limb is done: limb J of an INTT is
  read by the extension of digit J only, so that digit's own transform happens in place.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.arch.rpau.isa import instruction
from ringsmith.arch.rpau.virtual import VirtualInstruction, mask_of
from ringsmith.errors import ProgramError
from ringsmith.lower import Form, SubroutineGraph, SubroutineNode

Location = dict[int, int]
"""Limb -> virtual polynomial that holds it, in the limb's RPAU."""


@dataclass(frozen=True)
class KeyPolynomial:
    """Limbs of one prime set of a polynomial of a key-switching key: ``key[digit][half]``."""

    key: str
    digit: int
    half: int
    prime_set: int


@dataclass
class Selection:
    """The instructions of a program, with what they need around them.

    Attributes:
        instructions: In a valid sequential order.
        placement: For each virtual polynomial, the mask of RPAUs that hold it.
        constants: For each constant index, its value by limb.
        keys: For each key polynomial, its key-store index and the mask of RPAUs that need it.
        inputs: Input name -> location of its limbs.
        outputs: Output name -> location of its limbs.
    """

    instructions: list[VirtualInstruction] = field(default_factory=list)
    placement: list[int] = field(default_factory=list)
    constants: list[dict[int, int]] = field(default_factory=list)
    keys: dict[KeyPolynomial, tuple[int, int]] = field(default_factory=dict)
    inputs: dict[str, Location] = field(default_factory=dict)
    outputs: dict[str, Location] = field(default_factory=dict)


def select(graph: SubroutineGraph, design: RpauDesign) -> Selection:
    """Selects the instructions of a checked graph for a design that has enough prime sets.

    Raises:
        ProgramError: If a node has no form on this architecture.
    """
    selector = _Selector(graph, design)
    for node in graph.nodes:
        selector.node(node)
    return selector.out


def _refuse_unknown_variant(node: SubroutineNode) -> None:
    """Refuses what this architecture has no instructions for: conversion between larger bases."""
    known = {"mod_up": "rns_digit", "mod_down": "rounded"}.get(node.op)
    if known is not None and node.attrs["variant"] != known:
        raise ProgramError(
            f"node {node.id}: architecture rpau has {node.op} as {known!r} only, one prime at a "
            f"time, and the graph asks for {node.attrs['variant']!r} of "
            f"{len(node.attrs.get('digit', node.attrs.get('drop')))} primes: take parameters with "
            "one special prime and one prime a digit, or run on the cpu"
        )


class _Selector:
    def __init__(self, graph: SubroutineGraph, design: RpauDesign) -> None:
        self.graph = graph
        self.rpaus = design.rpaus
        self.key_unit = "d" if design.dyadic_cores else ""
        self.out = Selection()
        self.location: dict[int, Location] = {}
        self.residents: dict[tuple[int, int], set[int]] = {}
        self.pending: Counter[tuple[int, int]] = Counter()
        for node in graph.nodes:
            self.pending.update(self._reads(node))
        self.fused = self._products_to_accumulate()
        self.origin = ""

    def node(self, node: SubroutineNode) -> None:
        """Selects one node, whose operands are already placed."""
        if node.id in self.fused:
            return
        _refuse_unknown_variant(node)
        self.origin = f"{node.origin.op}:{node.origin.node}" if node.origin else node.op
        location = getattr(self, f"_{node.op}")(node)
        self.pending.subtract(self._reads(node))
        if location is not None:
            self._place(node.id, location)

    def _reads(self, node: SubroutineNode) -> Counter[tuple[int, int]]:
        """How often a node reads each (value, limb)."""
        reads: Counter[tuple[int, int]] = Counter()
        for operand in node.operands:
            if node.op == "mod_up":
                limbs = node.attrs["digit"]
            elif node.op == "mod_down":
                limbs = (*node.type.base, *node.attrs["drop"])
            else:
                limbs = node.type.base
            reads.update((operand, limb) for limb in limbs)
        return reads

    # Placement of values --------------------------------------------------------------------------

    def _place(self, value: int, location: Location) -> None:
        self.location[value] = location
        for limb, poly in location.items():
            self.residents.setdefault((poly, limb), set()).add(value)

    def _by_set(self, limbs: Iterable[int]) -> dict[int, list[int]]:
        """The limbs of each prime set."""
        sets: dict[int, list[int]] = {}
        for limb in limbs:
            sets.setdefault(limb // self.rpaus, []).append(limb)
        return sets

    def _mask(self, limbs: Iterable[int]) -> int:
        """The RPAUs of some limbs."""
        return mask_of(limb % self.rpaus for limb in limbs)

    def _fresh(self, limbs: Iterable[int]) -> Location:
        """A new virtual polynomial for each prime set, in all its RPAUs."""
        location: Location = {}
        for members in self._by_set(limbs).values():
            location.update(dict.fromkeys(members, len(self.out.placement)))
            self.out.placement.append(self._mask(members))
        return location

    def _dies(self, value: int, limb: int, node: SubroutineNode) -> bool:
        """Whether nobody after ``node`` reads what stands where ``value`` has its limb."""
        reads = self._reads(node)
        residents = self.residents[self.location[value][limb], limb]
        return all(self.pending[other, limb] == reads[other, limb] for other in residents)

    def _target(self, node: SubroutineNode) -> Location:
        """Where to write the result of a pointwise node: over a dying operand if there is one."""
        base = node.type.base
        sets = self._by_set(base).values()
        for operand in node.operands:
            location = self.location[operand]
            together = all(len({location[limb] for limb in members}) == 1 for members in sets)
            if together and all(self._dies(operand, limb, node) for limb in base):
                return {limb: location[limb] for limb in base}
        return self._fresh(base)

    def _own(self, value: int, base: Iterable[int], node: SubroutineNode) -> Location:
        """A copy of ``value`` that may be overwritten: itself where it dies at ``node``."""
        location = {limb: self.location[value][limb] for limb in base}
        kept = [limb for limb in location if not self._dies(value, limb, node)]
        if kept:
            copy = self._fresh(kept)
            self._emit(kept, "affine", dst=copy, a=location, k1=self._ones(), k2=self._zeros())
            location.update(copy)
        return location

    # Emission -------------------------------------------------------------------------------------

    def _emit(self, limbs: Iterable[int], opcode: str, **operands: Location | int) -> None:
        """One instruction for each prime set and each group of its limbs in the same places."""
        groups: dict[tuple[int, tuple[tuple[str, int], ...]], list[int]] = {}
        for limb in limbs:
            here = tuple(
                (name, o[limb] if isinstance(o, dict) else o) for name, o in operands.items()
            )
            groups.setdefault((limb // self.rpaus, here), []).append(limb)
        for (prime_set, here), members in groups.items():
            self._append(opcode, self._mask(members), prime_set, **dict(here))

    def _append(self, opcode: str, mask: int, prime_set: int, **operands: int) -> None:
        chosen = instruction(opcode, mask, prime=prime_set, waits=(), **operands)
        self.out.instructions.append(VirtualInstruction(chosen, self.origin))

    def _send(
        self, source: int, poly: int, limbs: Iterable[int], factor: int, addend: int
    ) -> Location:
        """Carries the limb ``source`` over to other limbs, and returns where it arrives.

        It is multiplied by one constant and increased by another twice: in its own prime where it
        leaves, in every other one where it arrives. The ring takes it to other RPAUs, for one prime
        set at a time; what its own RPAU holds of other limbs needs no ring.
        """
        home, from_set = source % self.rpaus, source // self.rpaus
        arrived = self._fresh(limbs)
        sent: Location = {}
        for prime_set, members in self._by_set(arrived).items():
            away = [limb for limb in members if limb % self.rpaus != home]
            if away:
                self._append(
                    "broadcast",
                    self._mask([*away, source]),
                    prime_set,
                    dst=arrived[away[0]],
                    a=poly,
                    src=home,
                    src_prime=from_set,
                    k1=factor,
                    k2=addend,
                )
            here = [limb for limb in members if limb % self.rpaus == home]
            if here and (factor, addend) == (self._ones(), self._zeros()):
                sent = {source: poly}
            elif here and not sent:
                sent = self._fresh([source])
                self._emit([source], "affine", dst=sent, a=poly, k1=factor, k2=addend)
            for limb in here:
                self._emit([limb], "reduce", dst=arrived, a=sent[source], k1=factor, k2=addend)
        return arrived

    def _constant(self, values: Mapping[int, int]) -> int:
        """Index of a constant with these values by limb, shared where no limb disagrees."""
        for index, entry in enumerate(self.out.constants):
            if all(entry.get(limb, value) == value for limb, value in values.items()):
                entry.update(values)
                return index
        self.out.constants.append(dict(values))
        return len(self.out.constants) - 1

    def _zeros(self) -> int:
        return self._constant(dict.fromkeys(range(len(self.graph.primes)), 0))

    def _ones(self) -> int:
        return self._constant(dict.fromkeys(range(len(self.graph.primes)), 1))

    # Nodes ----------------------------------------------------------------------------------------

    def _input(self, node: SubroutineNode) -> Location:
        location = self._fresh(node.type.base)
        self.out.inputs[node.attrs["name"]] = location
        return location

    def _output(self, node: SubroutineNode) -> None:
        (value,) = node.operands
        self.out.outputs[node.attrs["name"]] = dict(self.location[value])
        self.pending.update(
            {(value, limb): 2 for limb in node.type.base}
        )  # stands until the program has ended

    def _pointwise(self, node: SubroutineNode, opcode: str) -> Location:
        a, b = (self.location[operand] for operand in node.operands)
        dst = self._target(node)
        self._emit(node.type.base, opcode, dst=dst, a=a, b=b)
        return dst

    def _sub(self, node: SubroutineNode) -> Location:
        return self._pointwise(node, "sub")

    def _mul(self, node: SubroutineNode) -> Location:
        return self._pointwise(node, "mul")

    def _add(self, node: SubroutineNode) -> Location:
        product = next((operand for operand in node.operands if operand in self.fused), None)
        if product is None:
            return self._pointwise(node, "add")
        other = next(operand for operand in node.operands if operand != product)
        dst = self._own(other, node.type.base, node)
        factors = self.graph.nodes[product].operands
        a, b = (self.location[factor] for factor in factors)
        self._emit(node.type.base, "mac", dst=dst, a=a, b=b)
        self.pending.subtract(self._reads(self.graph.nodes[product]))
        return dst

    def _products_to_accumulate(self) -> set[int]:
        """Products whose only use is an addition: a multiply-accumulate does both."""
        users = Counter(operand for node in self.graph.nodes for operand in node.operands)
        fused: set[int] = set()
        for node in self.graph.nodes:
            if node.op != "add" or node.operands[0] == node.operands[1]:
                continue
            for operand in reversed(node.operands):
                if self.graph.nodes[operand].op == "mul" and users[operand] == 1:
                    fused.add(operand)
                    break
        return fused

    def _neg(self, node: SubroutineNode) -> Location:
        dst = self._target(node)
        minus_one = self._constant({i: self.graph.primes[i] - 1 for i in node.type.base})
        a = self.location[node.operands[0]]
        self._emit(node.type.base, "affine", dst=dst, a=a, k1=minus_one, k2=self._zeros())
        return dst

    def _automorph(self, node: SubroutineNode) -> Location:
        if node.type.form != Form.NTT:
            raise ProgramError(
                f"node {node.id}: architecture rpau permutes polynomials in NTT form only: "
                "put the automorphism after an ntt node"
            )
        dst = self._fresh(node.type.base)
        a = self.location[node.operands[0]]
        self._emit(node.type.base, "automorph", dst=dst, a=a, element=node.attrs["element"])
        return dst

    def _intt(self, node: SubroutineNode) -> Location:
        location = self._own(node.operands[0], node.type.base, node)
        self._emit(node.type.base, "intt", dst=location)
        return location

    def _ntt(self, node: SubroutineNode) -> Location:
        location = self._own(node.operands[0], node.type.base, node)
        self._emit(node.type.base, "ntt", dst=location)
        return location

    def _mod_up(self, node: SubroutineNode) -> Location:
        (value,) = node.operands
        (digit,) = node.attrs["digit"]
        others = [limb for limb in node.type.base if limb != digit]
        a = self.location[value][digit]
        location = self._send(digit, a, others, self._ones(), self._zeros()) if others else {}
        if digit in node.type.base:
            location[digit] = a
        return location

    def _ksk_inner_product(self, node: SubroutineNode) -> Location:
        total = self._fresh(node.type.base)
        for position, (digit, operand) in enumerate(
            zip(node.attrs["digits"], node.operands, strict=True)
        ):
            key = self._key(node.attrs["key"], digit, node.attrs["half"], node.type.base)
            opcode = f"{self.key_unit}{'mac' if position else 'mul'}_key"
            a = self.location[operand]
            self._emit(node.type.base, opcode, dst=total, a=a, b_key=key)
        return total

    def _key(self, key: str, digit: int, half: int, base: Iterable[int]) -> Location:
        """Key-store index of each limb of a key polynomial."""
        places: Location = {}
        for prime_set, members in self._by_set(base).items():
            polynomial = KeyPolynomial(key, digit, half, prime_set)
            index, mask = self.out.keys.get(polynomial, (len(self.out.keys), 0))
            self.out.keys[polynomial] = (index, mask | self._mask(members))
            places.update(dict.fromkeys(members, index))
        return places

    def _mod_down(self, node: SubroutineNode) -> Location:
        (value,) = node.operands
        (dropped,) = node.attrs["drop"]
        p, primes, base = self.graph.primes[dropped], self.graph.primes, node.type.base
        inverse = {j: pow(p, -1, primes[j]) for j in base}
        shift = {j: -(p // 2) * inverse[j] % primes[j] for j in base}
        factor = self._constant({dropped: 1, **inverse})
        addend = self._constant({dropped: p // 2, **shift})
        last = self.location[value][dropped]
        if node.type.form == Form.NTT:
            own = self._own(value, [dropped], node)
            self._emit([dropped], "intt", dst=own)
            last = own[dropped]
        down = self._send(dropped, last, base, factor, addend)
        if node.type.form == Form.NTT:
            self._emit(base, "ntt", dst=down)
        self._emit(base, "scale_sub", dst=down, a=self.location[value], b=down, k1=factor)
        return down

    def _drop_limbs(self, node: SubroutineNode) -> Location:
        location = self.location[node.operands[0]]
        return {limb: location[limb] for limb in node.type.base}
