"""Which work polynomials are taken, and which of them may share a memory's ports.

Work polynomials in block RAM have a memory each. Those in UltraRAM share banks of one read and one
write port, so that two polynomials that an instruction reads at once may not lie in one of them,
and what is transformed there keeps its bank's ports from the other units for the whole transform.
Every virtual polynomial therefore may have a **home**: the UltraRAM bank that it may lie in. Those
whose ports are idle for most of their life lie at home, the others in block RAM while there is some
free.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.arch.rpau.virtual import VirtualInstruction, bits_of


@dataclass(frozen=True)
class Homes:
    """Where virtual polynomials lie.

    Attributes:
        banks: Virtual polynomial -> the UltraRAM bank that it may lie in; those without one lie in
            block RAM.
        idle: Those that lie at home rather than in block RAM.
    """

    banks: Mapping[int, int]
    idle: frozenset[int]


class Memory:
    """Which work polynomials are taken, in which RPAU, and since when the others are free."""

    def __init__(self, design: RpauDesign, homes: Homes, limit: int | None) -> None:
        """Makes an empty memory.

        Args:
            design: The accelerator.
            homes: Where virtual polynomials lie.
            limit: Work polynomials; None: as many as are asked for, each with ports of its own.
        """
        self._homes = homes
        self._limit = limit
        self._banks = [design.uram_bank(slot) for slot in range(limit or 0)]
        self._taken = [0] * (limit or 0)
        self._freed: dict[tuple[int, int], int] = {}
        self._used: set[int] = set()
        self.slots: dict[int, int] = {}
        self.peak = 0

    def find(self, poly: int, mask: int) -> int | None:
        """A slot that is free in all RPAUs of the mask and takes the polynomial; None if none is.

        What is idle comes home first, all else to block RAM; then come the slots that were used
        before, the one first that has been free for longest.
        """
        home, idle = self._homes.banks.get(poly), poly in self._homes.idle
        free = [slot for slot, taken in enumerate(self._taken) if not taken & mask]
        if self._limit is None:
            return min(free, key=lambda slot: self._since(slot, mask), default=len(self._taken))
        fitting = [slot for slot in free if self._banks[slot] in (None, home)]
        return min(
            fitting,
            key=lambda slot: (
                (self._banks[slot] is None) == idle,
                slot not in self._used,
                self._since(slot, mask),
            ),
            default=None,
        )

    def take(self, poly: int, slot: int, mask: int) -> None:
        """Gives a slot to a virtual polynomial in the RPAUs of the mask."""
        self._taken.extend([0] * (slot + 1 - len(self._taken)))
        self._taken[slot] |= mask
        self._used.add(slot)
        self.slots[poly] = slot
        for rpau in bits_of(mask):
            self.peak = max(self.peak, sum(taken >> rpau & 1 for taken in self._taken))

    def release(self, poly: int, rpau: int, cycle: int) -> None:
        """Frees a virtual polynomial's slot in one RPAU, from a cycle on."""
        slot = self.slots[poly]
        self._taken[slot] &= ~(1 << rpau)
        self._freed[slot, rpau] = cycle

    def _since(self, slot: int, mask: int) -> int:
        """From when on a slot is free in all RPAUs of the mask."""
        return max(self._freed.get((slot, rpau), 0) for rpau in bits_of(mask))


def homes(
    instructions: Sequence[VirtualInstruction],
    latencies: Mapping[str, int],
    pinned: Mapping[int, int],
    design: RpauDesign,
    busy: float,
) -> Homes | None:
    """Homes of virtual polynomials.

    Those whose ports are busy for the smallest part of their life choose their banks first. None
    where two that are read at once lie in one bank already.

    Args:
        instructions: In sequential order.
        latencies: Cycles of each operation.
        pinned: Virtual polynomial -> slot, for those that lie there already.
        design: The accelerator.
        busy: Those are idle whose ports are busy for at most this part of their life.
    """
    together = _together(instructions)
    part = _busy_parts(instructions, latencies)
    places = {poly: design.uram_bank(slot) for poly, slot in pinned.items()}
    banks = {poly: bank for poly, bank in places.items() if bank is not None}
    if any(banks.get(other) == banks[poly] for poly in banks for other in together.get(poly, ())):
        return None
    for poly in sorted(part, key=lambda poly: part[poly]):
        if poly not in pinned:
            taken = {banks.get(other) for other in together.get(poly, ())}
            bank = next((bank for bank in range(design.uram_banks) if bank not in taken), None)
            if bank is not None:
                banks[poly] = bank
    return Homes(banks, frozenset(poly for poly in banks if part.get(poly, 0.0) <= busy))


def _together(instructions: Sequence[VirtualInstruction]) -> dict[int, set[int]]:
    """For each virtual polynomial the others that are read at once with it."""
    together: dict[int, set[int]] = {}
    for virtual in instructions:
        for poly in virtual.reads:
            together.setdefault(poly, set()).update(virtual.reads.keys() - {poly})
    return together


def _busy_parts(
    instructions: Sequence[VirtualInstruction], latencies: Mapping[str, int]
) -> dict[int, float]:
    """For how much of a virtual polynomial's life it is read or written, one thing at a time."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    busy: dict[int, int] = {}
    cycle = 0
    for virtual in instructions:
        cycles = latencies[virtual.instruction.operation.name]
        for poly in virtual.touched:
            first.setdefault(poly, cycle)
            last[poly] = cycle + cycles
            busy[poly] = busy.get(poly, 0) + cycles
        cycle += cycles
    return {poly: busy[poly] / (last[poly] - first[poly]) for poly in busy}
