"""What a host has of a card: registers, memory, interrupts, and channels that are its own.

A card is a bus of registers, a memory on the card that the host writes and reads by DMA, and an
interrupt for each of its channels. Two transports carry this: Linux device files (:mod:`.xdma`)
and sockets of a simulated card (:mod:`.socket_files`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Claim:
    """A channel of a card that one process has for itself, and the card's memory that it may use.

    Attributes:
        channel: The channel's number, from 0 on.
        first: Address of the first byte.
        size: Bytes; 0: the card has no memory of its own.
    """

    channel: int
    first: int
    size: int


class CardPort(Protocol):
    """A card, as one process has it. Threads may share a port.

    All methods raise DeviceLostError if the card is gone, and DeviceError if it refuses an access.
    """

    @property
    def name(self) -> str:
        """What people call it: the path of its files or its socket."""
        ...

    @property
    def patience(self) -> float:
        """Seconds after which a card that does not answer counts as lost."""
        ...

    def claim(self, seconds: float) -> Claim | None:
        """Waits for a channel that no other process has; None: there was none in time.

        Claims of all processes are granted in their order.
        """
        ...

    def release(self, channel: int) -> None:
        """Gives a channel back. What lay in its memory is lost."""
        ...

    def surplus(self) -> bool:
        """Whether others wait for a channel and this process has more than its share."""
        ...

    def read_register(self, address: int) -> int:
        """Reads a register of 32 bits."""
        ...

    def write_register(self, address: int, value: int) -> None:
        """Writes a register of 32 bits."""
        ...

    def read_words(self, address: int, count: int) -> Words:
        """Reads a register of 64 bits ``count`` times, each time its lower half first."""
        ...

    def write_words(self, address: int, words: Words) -> None:
        """Writes words to a register of 64 bits, one after another, each its lower half first."""
        ...

    def write_memory(self, address: int, data: bytes | memoryview) -> None:
        """Copies bytes from the host to the card; returns when they are there."""
        ...

    def read_memory(self, address: int, size: int) -> bytes:
        """Copies bytes from the card to the host."""
        ...

    def wait_interrupt(self, channel: int, seconds: float) -> bool:
        """Waits for the interrupt of a claimed channel; whether it came."""
        ...

    def report(self) -> dict[str, object]:
        """What a simulated card counts, docs/guide/cards.md; empty: the card is not simulated."""
        ...

    def close(self) -> None:
        """Gives all channels back and ends the connection. More calls do nothing."""
        ...


def within(ranges: Sequence[tuple[int, int]], address: int, size: int) -> bool:
    """Whether bytes lie in ranges of first and last + 1, which may be adjacent."""
    left, last = address, address + size
    for first, end in sorted(ranges):
        if first <= left < end:
            left = end
    return size > 0 and left >= last
