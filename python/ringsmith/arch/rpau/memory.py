"""Which work polynomials are taken, and which of them may share a memory's ports.

Work polynomials in block RAM have a memory each. Those in UltraRAM share banks of one read and one
write port, so that two polynomials that an instruction reads at once may not lie in one of them,
and what is transformed there keeps its bank's ports from the other units for the whole transform.
Every virtual polynomial therefore has a **home**: the UltraRAM bank that it may lie in, if any.
"""

from collections.abc import Mapping, Sequence

from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.arch.rpau.virtual import VirtualInstruction, bits_of

_TRANSFORMS = frozenset({"ntt", "intt", "split", "join"})


class Memory:
    """Which work polynomials are taken, in which RPAU, and since when the others are free."""

    def __init__(self, design: RpauDesign, homes: Mapping[int, int], limit: int | None) -> None:
        """Makes an empty memory.

        Args:
            design: The accelerator.
            homes: Virtual polynomial -> the UltraRAM bank that it may lie in.
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

        Its home comes first, or block RAM where it has none; then the slots that were used before,
        the one first that has been free for longest.
        """
        home = self._homes.get(poly)
        free = [slot for slot, taken in enumerate(self._taken) if not taken & mask]
        if self._limit is None:
            return min(free, key=lambda slot: self._since(slot, mask), default=len(self._taken))
        fitting = [slot for slot in free if self._banks[slot] in (None, home)]
        return min(
            fitting,
            key=lambda slot: (
                self._banks[slot] != home,
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
    pinned: Mapping[int, int],
    design: RpauDesign,
    transforms: bool,
) -> dict[int, int] | None:
    """Homes of virtual polynomials; those without one lie in block RAM.

    Those that live longest come first, those that are transformed last. None where two that are
    read at once lie in one bank already.

    Args:
        instructions: In sequential order.
        pinned: Virtual polynomial -> slot, for those that lie there already.
        design: The accelerator.
        transforms: Whether polynomials that are transformed may lie in UltraRAM.
    """
    together: dict[int, set[int]] = {}
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    transformed: dict[int, int] = {}
    for index, virtual in enumerate(instructions):
        for poly in virtual.reads:
            together.setdefault(poly, set()).update(virtual.reads)
        for poly in virtual.touched:
            first.setdefault(poly, index)
            last[poly] = index
            is_transform = virtual.instruction.operation.name in _TRANSFORMS
            transformed[poly] = transformed.get(poly, 0) + is_transform

    def beside(poly: int) -> set[int]:
        return together.get(poly, set()) - {poly}

    banks = {poly: design.uram_bank(slot) for poly, slot in pinned.items()}
    found = {poly: bank for poly, bank in banks.items() if bank is not None}
    if any(found.get(other) == found[poly] for poly in found for other in beside(poly)):
        return None
    order = sorted(first, key=lambda poly: (transformed[poly], first[poly] - last[poly]))
    for poly in order:
        if poly in pinned or (transformed[poly] and not transforms):
            continue
        taken = {found.get(other) for other in beside(poly)}
        bank = next((bank for bank in range(design.uram_banks) if bank not in taken), None)
        if bank is not None:
            found[poly] = bank
    return found
