"""Virtual polynomials, and instructions on them, which the scheduler gives memory and time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ringsmith.backends.rpau.design.slot_order import SlotOrder
from ringsmith.backends.rpau.isa.instruction_set import Instruction

Location = dict[int, int]
"""Slot -> the virtual polynomial that holds the limb of this slot, or the first of several.

A limb of a ring larger than the design's N is cut into sub-polynomials, which are as many virtual
polynomials, one after the other; key polynomials likewise.
"""


def mask_of(rpaus: Iterable[int]) -> int:
    """The mask with one bit for each RPAU."""
    mask = 0
    for rpau in rpaus:
        mask |= 1 << rpau
    return mask


def bits_of(mask: int) -> Iterator[int]:
    """The RPAUs of a mask, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class VirtualMemory:
    """Numbers virtual polynomials: as many as are requested, each number once.

    Attributes:
        order: The RPAU and modulus bank of every slot.
        sub_polynomials: Virtual polynomials of a limb.
        masks: For each virtual polynomial so far, the mask of RPAUs that hold it.
    """

    def __init__(
        self, order: SlotOrder, sub_polynomials: int, extension: Sequence[int] = ()
    ) -> None:
        """Begins without virtual polynomials.

        Args:
            order: The RPAU and modulus bank of every slot.
            sub_polynomials: Virtual polynomials of a limb.
            extension: Slots of the extension primes, which base conversions take together.
        """
        self.order = order
        self.sub_polynomials = sub_polynomials
        self.masks: list[int] = []
        self._extension = frozenset(extension)

    def by_bank(self, slots: Iterable[int]) -> dict[int, list[int]]:
        """The slots of each modulus bank."""
        banks: dict[int, list[int]] = {}
        for slot in slots:
            banks.setdefault(self.order.bank(slot), []).append(slot)
        return banks

    def groups(self, slots: Iterable[int]) -> list[list[int]]:
        """The slots of each virtual polynomial that their limbs take: those of a modulus bank.

        Limbs of the extension are separate from others, and one polynomial where no two of them lie
        in one RPAU: so a base conversion takes or yields it whole.
        """
        slots = list(slots)
        extension = [slot for slot in slots if slot in self._extension]
        others = [slot for slot in slots if slot not in self._extension]
        found = list(self.by_bank(others).values())
        if len({self.order.rpau(slot) for slot in extension}) == len(extension) > 0:
            return [*found, extension]
        return [*found, *self.by_bank(extension).values()]

    def mask(self, slots: Iterable[int]) -> int:
        """The RPAUs of some slots."""
        return mask_of(map(self.order.rpau, slots))

    def reserve(self, mask: int) -> int:
        """A limb's new virtual polynomial, or the first of several, in the RPAUs of a mask."""
        self.masks.extend([mask] * self.sub_polynomials)
        return len(self.masks) - self.sub_polynomials

    def fresh(self, slots: Iterable[int]) -> Location:
        """New virtual polynomials for limbs: one for each of their groups, in all its RPAUs.

        That of the extension is in every RPAU, since base conversions read it in every one; where
        it has no limb, what is read counts for nothing.
        """
        location: Location = {}
        for members in self.groups(slots):
            everywhere = len(self._extension.intersection(members)) == len(members)
            mask = mask_of(self.order.rpaus) if everywhere else self.mask(members)
            location.update(dict.fromkeys(members, self.reserve(mask)))
        return location


@dataclass(frozen=True)
class VirtualInstruction:
    """An instruction whose work polynomials are virtual.

    Attributes:
        instruction: What is done. Its work-polynomial operands count virtual polynomials, its
            key-store operands the key polynomials of the whole program.
        origin: The HE operation that it serves.
    """

    instruction: Instruction
    origin: str

    def place(self, places: Mapping[str, Mapping[int, int]]) -> Instruction:
        """The instruction with its operands placed.

        Args:
            places: For each kind of operand that is to be placed, its new value by its old one.
        """
        operands = zip(self.instruction.operation.operands, self.instruction.values, strict=True)
        values = tuple(
            places[operand.kind][value] if operand.kind in places else value
            for operand, value in operands
        )
        return replace(self.instruction, values=values)
