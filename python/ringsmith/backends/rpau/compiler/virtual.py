"""Instructions on virtual polynomials, before the scheduler gives them a place and a time."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ringsmith.backends.rpau.isa.instruction_set import Instruction


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
