"""Instruction selection: a subroutine graph becomes instructions on virtual polynomials.

RPAU i holds limb i of every residue polynomial, so a value of the graph is a map from RPAUs to
virtual polynomials. What comes out is a list in a valid sequential order; ``schedule`` puts it in
time and in memory.

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

from ringsmith.arch.rpau.isa import instruction
from ringsmith.arch.rpau.virtual import VirtualInstruction, mask_of
from ringsmith.errors import ProgramError
from ringsmith.lower import Form, SubroutineGraph, SubroutineNode

Location = dict[int, int]
"""RPAU -> virtual polynomial that holds that RPAU's limb of a value."""


@dataclass(frozen=True)
class KeyPolynomial:
    """One polynomial of a key-switching key: ``key[digit][half]``."""

    key: str
    digit: int
    half: int


@dataclass
class Selection:
    """The instructions of a program, with what they need around them.

    Attributes:
        instructions: In a valid sequential order.
        placement: For each virtual polynomial, the mask of RPAUs that hold it.
        constants: For each constant index, its value by RPAU.
        keys: For each key-store index, the polynomial there and the mask of RPAUs that need it.
        inputs: Input name -> location of its limbs.
        outputs: Output name -> location of its limbs.
    """

    instructions: list[VirtualInstruction] = field(default_factory=list)
    placement: list[int] = field(default_factory=list)
    constants: list[dict[int, int]] = field(default_factory=list)
    keys: dict[KeyPolynomial, tuple[int, int]] = field(default_factory=dict)
    inputs: dict[str, Location] = field(default_factory=dict)
    outputs: dict[str, Location] = field(default_factory=dict)


def select(graph: SubroutineGraph) -> Selection:
    """Selects the instructions of a checked graph.

    Raises:
        ProgramError: If a node has no form on this architecture.
    """
    selector = _Selector(graph)
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
    def __init__(self, graph: SubroutineGraph) -> None:
        self.graph = graph
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
        for rpau, poly in location.items():
            self.residents.setdefault((poly, rpau), set()).add(value)

    def _fresh(self, rpaus: Iterable[int]) -> int:
        self.out.placement.append(mask_of(rpaus))
        return len(self.out.placement) - 1

    def _dies(self, value: int, rpau: int, node: SubroutineNode) -> bool:
        """Whether nobody after ``node`` reads what stands where ``value`` stands in ``rpau``."""
        reads = self._reads(node)
        residents = self.residents[self.location[value][rpau], rpau]
        return all(self.pending[other, rpau] == reads[other, rpau] for other in residents)

    def _target(self, node: SubroutineNode, base: Iterable[int]) -> int:
        """Where to write the result of a pointwise node: over a dying operand if there is one."""
        rpaus = list(base)
        for operand in node.operands:
            homes = {self.location[operand][rpau] for rpau in rpaus}
            if len(homes) == 1 and all(self._dies(operand, rpau, node) for rpau in rpaus):
                return homes.pop()
        return self._fresh(rpaus)

    def _own(self, value: int, base: Iterable[int], node: SubroutineNode) -> Location:
        """A copy of ``value`` that may be overwritten: itself where it dies at ``node``."""
        rpaus = list(base)
        kept = [rpau for rpau in rpaus if not self._dies(value, rpau, node)]
        location = {rpau: self.location[value][rpau] for rpau in rpaus}
        if kept:
            copy = self._fresh(kept)
            self._emit_grouped(
                kept,
                "affine",
                dst=dict.fromkeys(kept, copy),
                a=location,
                k1=self._ones(),
                k2=self._zeros(),
            )
            location.update(dict.fromkeys(kept, copy))
        return location

    # Emission -------------------------------------------------------------------------------------

    def _emit(self, opcode: str, rpaus: Iterable[int], **fields: int) -> None:
        chosen = instruction(opcode, mask_of(rpaus), waits=(), **fields)
        self.out.instructions.append(VirtualInstruction(chosen, self.origin))

    def _emit_grouped(self, rpaus: Iterable[int], opcode: str, **operands: Location | int) -> None:
        """One instruction for each set of RPAUs whose operands stand in the same places."""
        groups: dict[tuple[tuple[str, int], ...], list[int]] = {}
        for rpau in rpaus:
            here = tuple(
                (name, o[rpau] if isinstance(o, dict) else o) for name, o in operands.items()
            )
            groups.setdefault(here, []).append(rpau)
        for here, members in groups.items():
            self._emit(opcode, members, **dict(here))

    def _constant(self, values: Mapping[int, int]) -> int:
        """Index of a constant with these values by RPAU, shared where no RPAU disagrees."""
        for index, entry in enumerate(self.out.constants):
            if all(entry.get(rpau, value) == value for rpau, value in values.items()):
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
        base = node.type.base
        location = dict.fromkeys(base, self._fresh(base))
        self.out.inputs[node.attrs["name"]] = location
        return location

    def _output(self, node: SubroutineNode) -> None:
        (value,) = node.operands
        self.out.outputs[node.attrs["name"]] = dict(self.location[value])
        self.pending.update(
            {(value, rpau): 2 for rpau in node.type.base}
        )  # stands until the program has ended

    def _pointwise(self, node: SubroutineNode, opcode: str) -> Location:
        a, b = (self.location[operand] for operand in node.operands)
        dst = dict.fromkeys(node.type.base, self._target(node, node.type.base))
        self._emit_grouped(node.type.base, opcode, dst=dst, a=a, b=b)
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
        self._emit_grouped(node.type.base, "mac", dst=dst, a=a, b=b)
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
        dst = dict.fromkeys(node.type.base, self._target(node, node.type.base))
        minus_one = self._constant({i: self.graph.primes[i] - 1 for i in node.type.base})
        a = self.location[node.operands[0]]
        self._emit_grouped(node.type.base, "affine", dst=dst, a=a, k1=minus_one, k2=self._zeros())
        return dst

    def _automorph(self, node: SubroutineNode) -> Location:
        if node.type.form != Form.NTT:
            raise ProgramError(
                f"node {node.id}: architecture rpau permutes polynomials in NTT form only: "
                "put the automorphism after an ntt node"
            )
        dst = dict.fromkeys(node.type.base, self._fresh(node.type.base))
        a = self.location[node.operands[0]]
        self._emit_grouped(node.type.base, "automorph", dst=dst, a=a, element=node.attrs["element"])
        return dst

    def _intt(self, node: SubroutineNode) -> Location:
        location = self._own(node.operands[0], node.type.base, node)
        self._emit_grouped(node.type.base, "intt", dst=location)
        return location

    def _ntt(self, node: SubroutineNode) -> Location:
        location = self._own(node.operands[0], node.type.base, node)
        self._emit_grouped(node.type.base, "ntt", dst=location)
        return location

    def _mod_up(self, node: SubroutineNode) -> Location:
        (value,) = node.operands
        (digit,) = node.attrs["digit"]
        others = [rpau for rpau in node.type.base if rpau != digit]
        if not others:
            return {digit: self.location[value][digit]}
        up = self._fresh(others)
        a = self.location[value][digit]
        self._emit(
            "broadcast",
            [*others, digit],
            dst=up,
            a=a,
            src=digit,
            src_prime=0,
            k1=self._ones(),
            k2=self._zeros(),
        )
        location = dict.fromkeys(others, up)
        if digit in node.type.base:
            location[digit] = a
        return location

    def _ksk_inner_product(self, node: SubroutineNode) -> Location:
        total = self._fresh(node.type.base)
        dst = dict.fromkeys(node.type.base, total)
        for position, (digit, operand) in enumerate(
            zip(node.attrs["digits"], node.operands, strict=True)
        ):
            key = self._key(
                KeyPolynomial(node.attrs["key"], digit, node.attrs["half"]), node.type.base
            )
            opcode = "dmac_key" if position else "dmul_key"
            self._emit_grouped(node.type.base, opcode, dst=dst, a=self.location[operand], b_key=key)
        return dst

    def _key(self, polynomial: KeyPolynomial, base: Iterable[int]) -> int:
        index, mask = self.out.keys.get(polynomial, (len(self.out.keys), 0))
        self.out.keys[polynomial] = (index, mask | mask_of(base))
        return index

    def _mod_down(self, node: SubroutineNode) -> Location:
        (value,) = node.operands
        (dropped,) = node.attrs["drop"]
        p, primes = self.graph.primes[dropped], self.graph.primes
        inverse = {j: pow(p, -1, primes[j]) for j in node.type.base}
        shift = {j: -(p // 2) * inverse[j] % primes[j] for j in node.type.base}
        factor = self._constant({dropped: 1, **inverse})
        addend = self._constant({dropped: p // 2, **shift})
        last = {dropped: self.location[value][dropped]}
        if node.type.form == Form.NTT:
            last = self._own(value, [dropped], node)
            self._emit_grouped([dropped], "intt", dst=last)
        down = dict.fromkeys(node.type.base, self._fresh(node.type.base))
        mask = [*node.type.base, dropped]
        self._emit(
            "broadcast",
            mask,
            dst=down[node.type.base[0]],
            a=last[dropped],
            src=dropped,
            src_prime=0,
            k1=factor,
            k2=addend,
        )
        if node.type.form == Form.NTT:
            self._emit_grouped(node.type.base, "ntt", dst=down)
        self._emit_grouped(
            node.type.base, "scale_sub", dst=down, a=self.location[value], b=down, k1=factor
        )
        return down

    def _drop_limbs(self, node: SubroutineNode) -> Location:
        location = self.location[node.operands[0]]
        return {rpau: location[rpau] for rpau in node.type.base}
