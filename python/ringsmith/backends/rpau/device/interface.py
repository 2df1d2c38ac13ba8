"""The interface of every device: address spaces, program store, command, completion, counters.

And that of its buses, simulated or of a card, with the addresses on its data path.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.register_table import AddressSpace
from ringsmith.errors import DeviceError
from ringsmith.progress import Task

__all__ = ["AddressSpace", "Coprocessor", "KeyPoly", "KeyStream", "SegmentReport", "Words"]

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class SegmentReport:
    """What one run of a program took.

    Attributes:
        cycles: Clock cycles from the start command accepted to completion, data resident.
        instructions: Instructions issued, ``halt`` included.
    """

    cycles: int
    instructions: int


@dataclass(frozen=True)
class KeyPoly:
    """A polynomial of the key store: the RPAU, its index there, its words, and the key's name."""

    unit: int
    index: int
    words: Words
    name: str


@dataclass(frozen=True)
class KeyStream:
    """Keys that come while a program runs, in the order in which it awaits them.

    Attributes:
        polys: The polynomials.
        arrivals: For each, the cycle in which its last row stands at the device's host port,
            counted from the start command: ascending, a row a cycle at most. Simulated devices
            take them as they are; a device behind a bus gets its keys as fast as the bus goes.
    """

    polys: tuple[KeyPoly, ...]
    arrivals: tuple[int, ...]

    def missing(self, arrived: int, awaited: int) -> DeviceError:
        """The error of a program that waits for ``awaited`` polynomials and has got ``arrived``."""
        count = len(self.polys)
        name = f"of {self.polys[arrived].name}, " if arrived < count else ""
        return DeviceError(
            f"the program waits for key polynomial {awaited} of {count}, and {arrived} have "
            f"arrived: the next one {name}did not come in time; the device was reset and can be "
            "used again: look at the link, or allow more cycles"
        )


class Coprocessor(Protocol):
    """An accelerator that executes programs of one design."""

    @property
    def name(self) -> str:
        """``model`` or ``rtl``."""
        ...

    @property
    def design(self) -> RpauDesign:
        """The design that the device says it was built from."""
        ...

    @property
    def streams(self) -> bool:
        """Whether keys may come while a program runs: ``run`` then takes a stream."""
        ...

    def set_ring(self, log_degree: int) -> None:
        """Chooses the ring that programs run in, of degree 2^log_degree; at first that of N.

        Sizes of address spaces and latencies are those of the ring. All that belongs to a ring is
        written anew after the choice: polynomials, keys, constants and twiddle tables. A polynomial
        of a ring larger than N lies in sub-polynomials of N words.

        Raises:
            DeviceError: If the design does not run the ring.
        """
        ...

    def write(self, space: AddressSpace, unit: int, index: int, words: Words) -> None:
        """Writes one polynomial or table.

        ``spaces.space_shape`` says how many there are in an address space, and how many words each
        has.

        Raises:
            DeviceError: On a wrong address space, unit, index or length, or a word that is too
                wide.
        """
        ...

    def read(self, space: AddressSpace, unit: int, index: int) -> Words:
        """Reads a work polynomial (address space POLY only). Raises DeviceError like ``write``."""
        ...

    def load_program(self, words: Words) -> None:
        """Loads instruction words.

        Raises:
            DeviceError: When they exceed the program store or end without ``halt``.
        """
        ...

    def run(
        self, max_cycles: int, task: Task | None = None, stream: KeyStream | None = None
    ) -> SegmentReport:
        """Runs the loaded program to its halt. Ctrl-C stops it within a second.

        A device that was stopped can load and run again; the polynomials in progress hold parts of
        results.

        Args:
            max_cycles: How many cycles the program may take.
            task: Advances by the cycles that the program takes.
            stream: Keys that come while it runs, of a design with a key stream; None: all keys that
                it awaits have been written.

        Raises:
            DeviceError: When it has not ended after ``max_cycles``; names the key where it waits
                for one.
        """
        ...


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
