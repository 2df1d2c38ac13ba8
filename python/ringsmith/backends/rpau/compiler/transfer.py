"""Transfers of limbs from one slot to others, while instructions are emitted."""

from collections.abc import Iterable, Sequence

from ringsmith.backends.rpau.compiler.emission import Emitter
from ringsmith.backends.rpau.compiler.limb_layout import Layout
from ringsmith.backends.rpau.compiler.virtual import Location, mask_of
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.graph import SubroutineGraph


class Transfer:
    """Sends limbs to other slots, reduced modulo the primes there.

    What is sent is multiplied by one constant and increased by another twice: in its own prime
    where it leaves, in every other one where it arrives. What arrives is always in virtual
    polynomials of its own, or in that of the source, which the caller then may not write over.
    """

    def __init__(
        self, graph: SubroutineGraph, design: RpauDesign, layout: Layout, emitter: Emitter
    ) -> None:
        self._graph = graph
        self._design = design
        self._limbs = layout.limbs
        self._emitter = emitter
        self._memory = emitter.memory

    def send(
        self, source: int, poly: int, slots: Iterable[int], factor: int, addend: int
    ) -> Location:
        """Sends a limb by the link units where the design has them, else by ``broadcast``.

        Args:
            source: The slot that it leaves.
            poly: The virtual polynomial that it is there.
            slots: Where it goes.
            factor: Index of the constant that it is multiplied by.
            addend: Index of the constant that is added.

        Returns:
            Where it arrives.
        """
        if self._design.link:
            return self._send_by_link(source, poly, list(slots), factor, addend)
        return self.broadcast(source, poly, slots, factor, addend)

    def broadcast(
        self, source: int, poly: int, slots: Iterable[int], factor: int, addend: int
    ) -> Location:
        """As ``send``, on the main units of every design: to one modulus bank at a time.

        What the limb's own RPAU holds of other limbs needs no sending.
        """
        own, from_bank = self._rpau(source), self._memory.order.bank(source)
        arrived = self._memory.fresh(slots)
        for modulus_bank, members in self._memory.by_bank(arrived).items():
            away = [slot for slot in members if self._rpau(slot) != own]
            if away:
                self._emitter.emit_group(
                    "broadcast",
                    self._memory.mask([*away, source]),
                    modulus_bank,
                    dst=arrived[away[0]],
                    a=poly,
                    src=own,
                    src_prime=from_bank,
                    k1=factor,
                    k2=addend,
                )
        here = {slot: arrived[slot] for slot in arrived if self._rpau(slot) == own}
        if here:
            sent = self._leaving(source, poly, factor, addend)
            self._emitter.emit(here, "reduce", dst=here, a=sent, k1=factor, k2=addend)
        return arrived

    def _send_by_link(
        self, source: int, poly: int, slots: Sequence[int], factor: int, addend: int
    ) -> Location:
        """As ``send``, in parallel to the transforms: either unit reduces the received words later.

        The special prime's residues are a polynomial of their own where work polynomials share the
        ports of UltraRAM banks: it does not wait for memory in the other RPAUs.
        """
        own = self._rpau(source)
        unchanged = self._is_identity(factor, addend)
        sent = self._leaving(source, poly, factor, addend)
        away = {self._rpau(slot) for slot in slots} - {own}
        words = self._memory.reserve(mask_of(away)) if away else -1
        if away:
            self._emitter.emit_group("send", mask_of({*away, own}), 0, dst=words, a=sent, src=own)
        raw = {slot: sent if self._rpau(slot) == own else words for slot in slots}
        final = {s: raw[s] for s in slots if unchanged and self._is_reduced(source, s, slots)}
        rest = [slot for slot in slots if slot not in final]
        separate = self._graph.special if self._design.shares_ports else ()
        special = [slot for slot in rest if self._limbs[slot] in separate]
        arrived = self._memory.fresh(set(rest) - set(special)) | self._memory.fresh(special)
        self._emitter.emit(arrived, "reduce", dst=arrived, a=raw, k1=factor, k2=addend)
        return arrived | final

    def _is_reduced(self, source: int, slot: int, slots: Sequence[int]) -> bool:
        """Whether words that arrive unchanged are residues already, and may stay where they are.

        Those of a smaller prime are residues. Where work polynomials share the ports of UltraRAM
        banks, they are reduced all the same: what arrives waits there, and is transformed in block
        RAM.
        """
        primes, limbs = self._graph.primes, self._limbs
        return (
            not self._design.shares_ports
            and self._rpau(slot) != self._rpau(source)
            and primes[limbs[source]] <= primes[limbs[slot]]
            and sum(self._rpau(other) == self._rpau(slot) for other in slots) == 1
        )

    def _leaving(self, source: int, poly: int, factor: int, addend: int) -> int:
        """A limb times a constant plus another: itself where they are 1 and 0."""
        if self._is_identity(factor, addend):
            return poly
        changed = self._memory.fresh([source])
        self._emitter.emit([source], "affine", dst=changed, a=poly, k1=factor, k2=addend)
        return changed[source]

    def _is_identity(self, factor: int, addend: int) -> bool:
        return (factor, addend) == (self._emitter.ones(), self._emitter.zeros())

    def _rpau(self, slot: int) -> int:
        return self._memory.order.rpau(slot)
