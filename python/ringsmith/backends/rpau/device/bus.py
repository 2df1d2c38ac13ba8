"""The interface of a device's buses, simulated or of a card, and the addresses on its data path."""

from typing import Protocol

from ringsmith.backends.rpau.device.interface import AddressSpace, Words


class DataPath(Protocol):
    """The AXI4 bus of a device's data path: blocks of words of 64 bits at byte addresses.

    A block begins at a beat and is made of whole ones. Both methods raise DeviceError if the bus
    answers with an error or not at all.
    """

    def write_block(self, address: int, words: Words) -> None:
        """Writes consecutive words."""
        ...

    def read_block(self, address: int, count: int) -> Words:
        """Reads consecutive words."""
        ...


class RegisterBus(Protocol):
    """Registers of 32 bits, and of 64 bits in two halves, at byte addresses.

    Every method raises DeviceError if the bus answers with an error or not at all.
    """

    @property
    def data(self) -> DataPath | None:
        """How the host reaches the device's data path; None where it does not."""
        ...

    def write(self, address: int, value: int) -> None:
        """Writes a register of 32 bits."""
        ...

    def read(self, address: int) -> int:
        """Reads a register of 32 bits."""
        ...

    def write_words(self, address: int, words: Words) -> None:
        """Writes words to a register of 64 bits, one after another, each its lower half first."""
        ...

    def read_words(self, address: int, count: int) -> Words:
        """Reads a register of 64 bits ``count`` times, each time its lower half first."""
        ...

    def pause(self, cycles: int) -> None:
        """Lets at least this number of cycles of the device pass."""
        ...

    def close(self) -> None:
        """Ends the connection; the bus cannot be used afterwards. More calls do nothing."""
        ...


BEAT_BITS = 512
BEAT_WORDS = BEAT_BITS // 64
BEAT_BYTES = BEAT_BITS // 8
SPACES = (AddressSpace.POLY, AddressSpace.KEY)
"""What the data path reaches; work polynomials are read, too."""

_UNIT_BITS = 4
_INDEX_BITS = 12


def polynomial_address(degree: int, space: AddressSpace, unit: int, index: int) -> int:
    """The byte address of a polynomial's word 0; those after it follow, eight bytes each.

    Args:
        degree: The degree N of the design.
        space: One of ``SPACES``.
        unit: The RPAU.
        index: The polynomial.
    """
    place = (SPACES.index(space) << _UNIT_BITS | unit) << _INDEX_BITS | index
    return place * 8 * degree
