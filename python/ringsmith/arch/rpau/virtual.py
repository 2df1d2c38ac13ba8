"""Instructions on virtual polynomials, before the scheduler gives them a place and a time."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ringsmith.arch.rpau.isa import Instruction, Operand
from ringsmith.arch.rpau.kinds import POLY


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

    @cached_property
    def reads(self) -> dict[int, int]:
        """Virtual polynomials whose contents are read, each with the mask of RPAUs that do."""
        return self._accesses(reads=True)

    @cached_property
    def writes(self) -> dict[int, int]:
        """Virtual polynomials that are written, each with the mask of RPAUs that do."""
        return self._accesses(reads=False)

    @cached_property
    def touched(self) -> dict[int, int]:
        """Virtual polynomials that are read or written, each with the mask of RPAUs that do."""
        masks = dict(self.reads)
        for poly, mask in self.writes.items():
            masks[poly] = masks.get(poly, 0) | mask
        return masks

    def _accesses(self, reads: bool) -> dict[int, int]:
        masks: dict[int, int] = {}
        for rpau in self.instruction.rpaus():
            for operand, poly in self.instruction.accesses(rpau):
                if operand.kind == POLY and (operand.reads if reads else operand.writes):
                    masks[poly] = masks.get(poly, 0) | 1 << rpau
        return masks

    def operands(self) -> Iterator[tuple[Operand, int]]:
        """The operands, each with its value."""
        return zip(self.instruction.operation.operands, self.instruction.values, strict=True)

    def place(self, slots: Mapping[int, int]) -> Instruction:
        """The instruction with a work polynomial in the place of each virtual one."""
        return placed(self.instruction, POLY, slots)


def placed(instruction: Instruction, kind: str, places: Mapping[int, int]) -> Instruction:
    """The instruction with the values of its operands of one kind replaced."""
    operands = zip(instruction.operation.operands, instruction.values, strict=True)
    values = tuple(places[value] if operand.kind == kind else value for operand, value in operands)
    return replace(instruction, values=values)
