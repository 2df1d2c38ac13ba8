"""Emission: instructions on virtual polynomials, one for all RPAUs that do the same."""

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from ringsmith.backends.rpau.compiler.limb_layout import Layout
from ringsmith.backends.rpau.compiler.virtual import Location, VirtualInstruction, VirtualMemory
from ringsmith.backends.rpau.design.constants import source_sub_poly, sub_poly_stages
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.isa.instruction_set import ISA, instruction
from ringsmith.backends.rpau.isa.kinds import KEY_POLY, POLY, SUB_POLY
from ringsmith.graph import SubroutineGraph
from ringsmith.hdl.base_conversion import Conversion

_KEY_PRODUCTS = ("mul_key", "mac_key", "dmul_key", "dmac_key", "dmul_seed", "dmac_seed")
_SUMS = ("reduce", "scale_add", "scale_sub", "add", "sub")
_PER_RPAU = frozenset({"ntt", "intt", "split", "join", *_SUMS, *_KEY_PRODUCTS})
"""Opcodes of key switching that RPAUs need not begin in the same cycle."""


class Emitter:
    """Appends instructions and constants in the order in which they are asked for.

    It reorders nothing, and does not know what the virtual polynomials hold: its caller answers for
    that. A *group* is some slots of one modulus bank whose operands are the same virtual
    polynomials: one instruction serves it. In a ring larger than the design's N each instruction
    is appended once for each sub-polynomial.

    Attributes:
        memory: Where virtual polynomials come from.
        instructions: What was emitted so far.
        constants: For each constant index, its value by slot.
        conversions: What base conversions do, by their index.
        origin: The HE operation that the next instructions serve.
    """

    def __init__(
        self,
        graph: SubroutineGraph,
        design: RpauDesign,
        layout: Layout,
        memory: VirtualMemory,
        *,
        per_rpau: bool,
    ) -> None:
        """Makes an emitter for a graph's ring and primes.

        Args:
            graph: The graph; its nodes are not looked at.
            design: The accelerator.
            layout: Where limbs go.
            memory: Where virtual polynomials come from.
            per_rpau: Whether RPAUs get instructions of their own in key switching.
        """
        self.memory = memory
        self.instructions: list[VirtualInstruction] = []
        self.constants: list[dict[int, int]] = []
        self.conversions: list[Conversion] = []
        self.origin = ""
        self._primes, self._roots = graph.primes, graph.roots
        self._design = design
        self._layout = layout
        self._log_degree = graph.n.bit_length() - 1
        self._per_rpau = per_rpau

    def constant(self, by_limb: Mapping[int, int]) -> int:
        """Index of a constant with these values by limb, shared where no slot disagrees."""
        values = self._layout.all_slots(by_limb)
        for index, entry in enumerate(self.constants):
            if all(entry.get(slot, value) == value for slot, value in values.items()):
                entry.update(values)
                return index
        self.constants.append(dict(values))
        return len(self.constants) - 1

    def conversion(self, conversion: Conversion) -> int:
        """Index of a conversion."""
        if conversion not in self.conversions:
            self.conversions.append(conversion)
        return self.conversions.index(conversion)

    def zeros(self) -> int:
        """Index of the constant 0 in every prime."""
        return self.constant(dict.fromkeys(range(len(self._primes)), 0))

    def ones(self) -> int:
        """Index of the constant 1 in every prime."""
        return self.constant(dict.fromkeys(range(len(self._primes)), 1))

    def prime_product(self, base: Iterable[int], limbs: Iterable[int]) -> int:
        """Index of the product of the primes of ``limbs``, modulo those of ``base``."""
        product = prod(self._primes[limb] for limb in limbs)
        return self.constant({limb: product % self._primes[limb] for limb in base})

    def emit(self, slots: Iterable[int], opcode: str, **operands: Location | int) -> None:
        """One instruction for each group of slots, or for each slot where RPAUs get their own."""
        for group in self._groups(slots, opcode, **operands):
            here = {n: o[group[0]] if isinstance(o, dict) else o for n, o in operands.items()}
            self.emit_group(opcode, self.memory.mask(group), self._bank(group), **here)

    def emit_group(self, opcode: str, mask: int, modulus_bank: int, **operands: int) -> None:
        """One instruction for the RPAUs of a mask, on each sub-polynomial."""
        numbered = any(operand.kind == SUB_POLY for operand in ISA.operation(opcode).operands)
        for number in range(self.memory.sub_polynomials):
            here = {
                name: value + (number if ISA.fields[name].kind in (POLY, KEY_POLY) else 0)
                for name, value in operands.items()
            }
            if numbered:
                here["sub_poly"] = number
            self._append(opcode, mask, modulus_bank, **here)

    def copy(self, slots: Iterable[int], dst: Location, a: Location) -> None:
        """Copies limbs that are not where they are to be."""
        moved = [slot for slot in slots if dst[slot] != a[slot]]
        self.emit(moved, "affine", dst=dst, a=a, k1=self.ones(), k2=self.zeros())

    def transform(self, slots: Iterable[int], opcode: str, dst: Location, a: Location) -> None:
        """``ntt`` or ``intt``, with the stages between sub-polynomials before or after it."""
        slots, count = list(slots), self.memory.sub_polynomials
        if opcode == "ntt" and count > 1:
            self.copy(slots, dst, a)
            self._between_sub_polynomials(slots, "split", dst)
            a = dst
        for number in range(count):
            self._emit_one(slots, opcode, (dst, number), (a, number), sub_poly=number)
        if opcode == "intt" and count > 1:
            self._between_sub_polynomials(slots, "join", dst)

    def permute(self, slots: Iterable[int], dst: Location, a: Location, element: int) -> None:
        """``automorph``: each sub-polynomial of the result comes from one of the source."""
        slots = list(slots)
        for number in range(self.memory.sub_polynomials):
            source = source_sub_poly(self._design, self._log_degree, element, number)
            self._emit_one(
                slots, "automorph", (dst, number), (a, source), element=element, sub_poly=number
            )

    def _between_sub_polynomials(self, slots: Sequence[int], opcode: str, dst: Location) -> None:
        """The stages of a transform on pairs of sub-polynomials: ``split``, or ``join`` back."""
        by_prime = [
            sub_poly_stages(prime, root, self._design, self._log_degree)
            for prime, root in zip(self._primes, self._roots, strict=True)
        ]
        stages = list(zip(*by_prime, strict=True))
        for stage in stages if opcode == "split" else reversed(stages):
            for pair in zip(*stage, strict=True):
                factors = {limb: getattr(each, opcode) for limb, each in enumerate(pair)}
                first, second = pair[0].first, pair[0].second
                for group in self._groups(slots, opcode, dst=dst):
                    here = dst[group[0]]
                    self._append(
                        opcode,
                        self.memory.mask(group),
                        self._bank(group),
                        dst=here + first,
                        b=here + second,
                        k1=self.constant(factors),
                    )

    def _emit_one(
        self,
        slots: Sequence[int],
        opcode: str,
        dst: tuple[Location, int],
        a: tuple[Location, int],
        **others: int,
    ) -> None:
        """Instructions from one numbered sub-polynomial of a value to one of another."""
        for group in self._groups(slots, opcode, dst=dst[0], a=a[0]):
            operands = {"dst": dst[0][group[0]] + dst[1], "a": a[0][group[0]] + a[1], **others}
            self._append(opcode, self.memory.mask(group), self._bank(group), **operands)

    def _groups(
        self, slots: Iterable[int], opcode: str, **operands: Location | int
    ) -> list[list[int]]:
        groups: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        alone = self._per_rpau and opcode in _PER_RPAU
        for slot in slots:
            here = tuple(o[slot] for o in operands.values() if isinstance(o, dict))
            groups.setdefault((slot if alone else self._bank([slot]), here), []).append(slot)
        return list(groups.values())

    def _bank(self, group: Sequence[int]) -> int:
        """The modulus bank of slots that have the same one."""
        return self.memory.order.bank(group[0])

    def _append(self, opcode: str, mask: int, modulus_bank: int, **operands: int) -> None:
        chosen = instruction(opcode, mask, prime=modulus_bank, waits=(), **operands)
        self.instructions.append(VirtualInstruction(chosen, self.origin))
