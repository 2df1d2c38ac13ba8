"""Emission of instructions on virtual polynomials: one for RPAUs that do the same, piece by piece.

A *group* is some places of one prime set whose operands are the same virtual polynomials: one
instruction serves it.
"""

from collections.abc import Iterable, Mapping, Sequence

from ringsmith.backends.rpau.compiler.layout import Layout
from ringsmith.backends.rpau.compiler.selection import Location, Selection
from ringsmith.backends.rpau.compiler.virtual import VirtualInstruction, mask_of
from ringsmith.backends.rpau.constants import piece_stages, source_piece
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.backends.rpau.isa.instruction_set import ISA, instruction
from ringsmith.backends.rpau.isa.kinds import KEY_POLY, PIECE, POLY
from ringsmith.graph import SubroutineGraph

_KEY_PRODUCTS = ("mul_key", "mac_key", "dmul_key", "dmac_key", "dmul_seed", "dmac_seed")
_SUMS = ("reduce", "scale_add", "scale_sub", "add", "sub")
_LONG = frozenset({"ntt", "intt", "split", "join", *_SUMS, *_KEY_PRODUCTS})
"""What an RPAU of key switching need not begin in the same cycle as the others."""


class Emitter:
    """Makes polynomials, constants and instructions.

    Attributes:
        graph: The graph whose ring and primes they have.
        layout: Where limbs go.
        pieces: Virtual polynomials of a limb.
        out: What was selected so far.
        origin: The HE operation that is being served.
        apart: Whether RPAUs get instructions of their own in key switching.
    """

    def __init__(
        self, graph: SubroutineGraph, design: RpauDesign, layout: Layout, *, apart: bool
    ) -> None:
        self.graph = graph
        self.design = design
        self.layout = layout
        self.apart = apart
        self.rpaus = design.rpaus
        self.log_degree = graph.n.bit_length() - 1
        self.pieces = design.pieces(self.log_degree)
        self.out = Selection(self.log_degree, self.pieces, layout.limbs)
        self.origin = ""

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
        """A new virtual polynomial, or all pieces of one, in the RPAUs of a mask."""
        self.out.placement.extend([mask] * self.pieces)
        return len(self.out.placement) - self.pieces

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

    def emit(self, places: Iterable[int], opcode: str, **operands: Location | int) -> None:
        """One instruction for each group of places with one prime set and equal operands.

        Or one for each place, where RPAUs are to go their own ways.
        """
        for group in self._groups(places, opcode, **operands):
            here = {n: o[group[0]] if isinstance(o, dict) else o for n, o in operands.items()}
            self.append(opcode, self.mask(group), group[0] // self.rpaus, **here)

    def append(self, opcode: str, mask: int, prime_set: int, **operands: int) -> None:
        """Appends one instruction for each piece, which does the same to all of them."""
        told = any(operand.kind == PIECE for operand in ISA.operation(opcode).operands)
        for piece in range(self.pieces):
            here = {
                name: value + (piece if ISA.fields[name].kind in (POLY, KEY_POLY) else 0)
                for name, value in operands.items()
            }
            if told:
                here["piece"] = piece
            self._append(opcode, mask, prime_set, **here)

    def transform(self, places: Iterable[int], opcode: str, dst: Location, a: Location) -> None:
        """``ntt`` or ``intt``, with the stages between pieces before or after it."""
        places = list(places)
        if opcode == "ntt" and self.pieces > 1:
            copied = [place for place in places if dst[place] != a[place]]
            self.emit(copied, "affine", dst=dst, a=a, k1=self.ones(), k2=self.zeros())
            self._between_pieces(places, "split", dst)
            a = dst
        for piece in range(self.pieces):
            self._emit_piece(places, opcode, dst, piece, a, piece, piece=piece)
        if opcode == "intt" and self.pieces > 1:
            self._between_pieces(places, "join", dst)

    def permute(self, places: Iterable[int], dst: Location, a: Location, element: int) -> None:
        """``automorph``: every piece of the result comes from one piece."""
        places = list(places)
        for piece in range(self.pieces):
            source = source_piece(self.design, self.log_degree, element, piece)
            self._emit_piece(
                places, "automorph", dst, piece, a, source, element=element, piece=piece
            )

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

        Words of a smaller prime that only need to be carried are residues already. Where work
        polynomials share the ports of UltraRAM banks, they are reduced all the same: what arrives
        waits there, and is transformed in block RAM. The special prime's residues are a polynomial
        of their own, which does not wait for memory in the other RPAUs.
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
            and not self.design.uram_banks
            and place % self.rpaus in away
            and primes[limbs[source]] <= primes[limbs[place]]
            and sum(other % self.rpaus == place % self.rpaus for other in places) == 1
        }
        rest = [place for place in places if place not in whole]
        apart = self.graph.special if self.design.uram_banks else ()
        special = [place for place in rest if limbs[place] in apart]
        arrived = self.fresh(set(rest) - set(special)) | self.fresh(special)
        self.emit(arrived, "reduce", dst=arrived, a=raw, k1=factor, k2=addend)
        return arrived | whole

    def _leaving(self, source: int, poly: int, factor: int, addend: int) -> int:
        """A limb times a constant plus another: itself where they are 1 and 0."""
        if (factor, addend) == (self.ones(), self.zeros()):
            return poly
        changed = self.fresh([source])
        self.emit([source], "affine", dst=changed, a=poly, k1=factor, k2=addend)
        return changed[source]

    def _between_pieces(self, places: Sequence[int], opcode: str, dst: Location) -> None:
        """The stages of a transform that work on pairs of pieces: all of them, or ``join`` back."""
        graph = self.graph
        by_prime = [
            piece_stages(prime, root, self.design, self.log_degree)
            for prime, root in zip(graph.primes, graph.roots, strict=True)
        ]
        stages = list(zip(*by_prime, strict=True))
        for stage in stages if opcode == "split" else reversed(stages):
            for pair in zip(*stage, strict=True):
                factors = {limb: getattr(each, opcode) for limb, each in enumerate(pair)}
                first, second = pair[0].first, pair[0].second
                for group in self._groups(places, opcode, dst=dst):
                    here = dst[group[0]]
                    self._append(
                        opcode,
                        self.mask(group),
                        group[0] // self.rpaus,
                        dst=here + first,
                        b=here + second,
                        k1=self.constant(factors),
                    )

    def _emit_piece(
        self,
        places: Sequence[int],
        opcode: str,
        dst: Location,
        to: int,
        a: Location,
        source: int,
        **others: int,
    ) -> None:
        """One instruction from piece ``source`` of ``a`` to piece ``to`` of ``dst``."""
        for group in self._groups(places, opcode, dst=dst, a=a):
            operands = {"dst": dst[group[0]] + to, "a": a[group[0]] + source, **others}
            self._append(opcode, self.mask(group), group[0] // self.rpaus, **operands)

    def _groups(
        self, places: Iterable[int], opcode: str, **operands: Location | int
    ) -> list[list[int]]:
        groups: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        lone = self.apart and opcode in _LONG
        for place in places:
            here = tuple(o[place] for o in operands.values() if isinstance(o, dict))
            groups.setdefault((place if lone else place // self.rpaus, here), []).append(place)
        return list(groups.values())

    def _append(self, opcode: str, mask: int, prime_set: int, **operands: int) -> None:
        chosen = instruction(opcode, mask, prime=prime_set, waits=(), **operands)
        self.out.instructions.append(VirtualInstruction(chosen, self.origin))
