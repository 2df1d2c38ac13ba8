"""Where the entries of an array lie: which slot of which ciphertext holds which entry.

The address of a slot is its number in its ciphertext and, above that, the number of the ciphertext.
In BFV, which has two rows of slots, the highest bit of the slot is that of the row. A layout says
of every bit of the address what it stands for: a bit of the index of an axis, a copy of the same
entries, or a gap. Fhelipe (Krastev, Samardzic, Langowski, Devadas, Sanchez 2024, "A tensor
compiler with automatic data packing for simple and efficient fully homomorphic encryption", section
4) describes layouts of this kind. What slots without entries hold is not said here: the ranges of
the recorded operations know it (``ringsmith.program.spans``).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringsmith.short_repr import short_repr

Addresses = NDArray[np.int64]


class Bit(NamedTuple):
    """What a bit of the address stands for.

    Attributes:
        axis: The axis; -1: entries are repeated along the bit; -2: entries lie where it is 0.
        bit: The bit of the axis's index.
    """

    axis: int
    bit: int = 0


COPY = Bit(-1)
"""Both values of the bit hold the same entries."""
GAP = Bit(-2)
"""Entries lie where the bit is 0; other slots hold anything."""


def bits_for(length: int) -> int:
    """Returns how many bits the index of an axis has."""
    return (length - 1).bit_length()


@short_repr
@dataclass(frozen=True)
class Layout:
    """A layout.

    Attributes:
        shape: Shape of the array.
        bits: What each bit of the address stands for, from the lowest. The first ``slot_bits`` are
            of the slot, the others of the ciphertext.
        slot_bits: Bits of the slot in its ciphertext.
    """

    shape: tuple[int, ...]
    bits: tuple[Bit, ...]
    slot_bits: int

    @staticmethod
    def dense(
        shape: tuple[int, ...], slot_bits: int, order: Iterable[int] = (), rest: Bit = COPY
    ) -> "Layout":
        """Returns a layout without gaps between axes.

        Args:
            shape: Shape of the array.
            slot_bits: Bits of the slot.
            order: The axes from the lowest bits; without it the last axis comes first.
            rest: What the bits of the slot that are left stand for.
        """
        axes = tuple(order) or tuple(reversed(range(len(shape))))
        bits = [Bit(axis, bit) for axis in axes for bit in range(bits_for(shape[axis]))]
        bits += [rest] * (slot_bits - len(bits))
        return Layout(shape, tuple(bits), slot_bits)

    @property
    def slots(self) -> int:
        """Slots of a ciphertext."""
        return 1 << self.slot_bits

    @property
    def ciphertexts(self) -> int:
        """Ciphertexts, also such that hold no entry."""
        return 1 << (len(self.bits) - self.slot_bits)

    @cached_property
    def addresses(self) -> Addresses:
        """The address of each entry, in the shape of the array; of copies the lowest."""
        total = np.zeros(self.shape, np.int64)
        for axis in range(len(self.shape)):
            others = tuple(i for i in range(len(self.shape)) if i != axis)
            total += np.expand_dims(self.along(axis), others)
        return total

    def along(self, axis: int) -> Addresses:
        """Returns what each index of an axis adds to the address, shape (length,)."""
        index = np.arange(self.shape[axis], dtype=np.int64)
        total = np.zeros_like(index)
        for bit, address in self.of_axis(axis).items():
            total += (index >> bit & 1) << address
        return total

    @property
    def used_bits(self) -> int:
        """Bits of the slot up to the highest one of an axis."""
        return max(
            (i + 1 for i, bit in enumerate(self.bits[: self.slot_bits]) if bit.axis >= 0), default=0
        )

    @cached_property
    def copies(self) -> Addresses:
        """What is added to an address for each copy, from 0."""
        return sums_of(1 << i for i, bit in enumerate(self.bits) if bit == COPY)

    @cached_property
    def table(self) -> Addresses:
        """For every address the number of its entry in the flat array from 1, or 0."""
        table = np.zeros(1 << len(self.bits), np.int64)
        entries = self.addresses.reshape(-1)
        table[entries[:, None] + self.copies] = np.arange(1, entries.size + 1)[:, None]
        table.setflags(write=False)
        return table

    @cached_property
    def entries(self) -> NDArray[np.bool_]:
        """Which slots hold entries or copies, shape (ciphertexts, slots)."""
        return (self.table > 0).reshape(self.ciphertexts, self.slots)

    @property
    def words(self) -> str:
        """The bits from the lowest, in runs of one axis; without copies above all axes."""
        top = max((i for i, bit in enumerate(self.bits) if bit.axis >= 0), default=-1)
        words = []
        for axis, run in groupby(self.bits[: top + 1], key=lambda bit: bit.axis):
            count = len(list(run))
            whole = axis >= 0 and count == bits_for(self.shape[axis])
            name = f"axis {axis}" if axis >= 0 else "copies" if axis == COPY.axis else "gaps"
            words.append(name if whole else f"{count} bits of {name}")
        return ", ".join(words) or "one number"

    @property
    def period_bits(self) -> int:
        """Bits of the slot after which everything repeats up to the last slot."""
        top = self.slot_bits
        while top and self.bits[top - 1] == COPY:
            top -= 1
        return top

    def of_axis(self, axis: int) -> dict[int, int]:
        """Returns the address's bit of each bit of an axis."""
        return {bit.bit: i for i, bit in enumerate(self.bits) if bit.axis == axis}

    def over(self, axis: int, length: int) -> NDArray[np.bool_]:
        """Which slots would hold entries if an axis had another length, as ``entries``."""
        shape = (*self.shape[:axis], length, *self.shape[axis + 1 :])
        return Layout(shape, self.bits, self.slot_bits).entries

    def renamed(self, shape: tuple[int, ...], axes: Sequence[int]) -> "Layout":
        """Returns the layout with axis i named ``axes[i]``, in an array of another shape."""
        bits = [bit if bit.axis < 0 else Bit(axes[bit.axis], bit.bit) for bit in self.bits]
        return Layout(shape, tuple(bits), self.slot_bits)

    def broadcast(self, rank: int) -> "Layout":
        """Returns the layout with axes of length 1 before the others, up to ``rank`` axes."""
        more = rank - len(self.shape)
        return self.renamed((1,) * more + self.shape, range(more, rank))


def sums_of(values: Iterable[int]) -> Addresses:
    """Returns all sums of some of the values, ascending if these are powers of two in order."""
    sums = np.zeros(1, np.int64)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums
