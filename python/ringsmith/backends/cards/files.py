"""A card as files: registers, one way to its memory and one back, and interrupts.

Which files they are is for each transport to say. What is done with them is the same: a read or a
write at a position, in chunks that the file accepts.
"""

import contextlib
import os
import select
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol

import numpy as np

from ringsmith.backends.cards.port import Claim, Words
from ringsmith.errors import DeviceError, DeviceLostError
from ringsmith.forks import leave_in_children

CHUNK = 1 << 20
"""Bytes of the card's memory that one access moves at most."""

_HALF = 32


class _Closing(Protocol):
    """What can be closed."""

    @property
    def close(self) -> Callable[[], None]:
        """Closes it."""
        ...


class RegisterFile(Protocol):
    """Registers of 32 bits at byte addresses."""

    def read(self, addresses: Sequence[int]) -> list[int]:
        """Reads registers, one after another."""
        ...

    def write(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Writes registers, one after another: pairs of address and value."""
        ...

    def close(self) -> None:
        """Closes it."""
        ...


class MemoryFile(Protocol):
    """One way to the card's memory, or back."""

    def pread(self, size: int, address: int) -> bytes:
        """Reads bytes; as many as were asked for, or fewer."""
        ...

    def pwrite(self, data: bytes | memoryview, address: int) -> int:
        """Writes bytes; returns how many."""
        ...

    def close(self) -> None:
        """Closes it."""
        ...


class Channels(Protocol):
    """Who may use which channel: see the methods of ``CardPort``."""

    def claim(self, seconds: float) -> Claim | None:
        """Waits for a free channel."""
        ...

    def release(self, channel: int) -> None:
        """Gives one back."""
        ...

    def surplus(self) -> bool:
        """Whether one should be given back."""
        ...

    def report(self) -> dict[str, object]:
        """What a simulated card counts."""
        ...

    def close(self) -> None:
        """Gives all back."""
        ...


class EventFile:
    """A file that has four bytes to read whenever there was an interrupt.

    Args:
        number: Its file descriptor.
        name: What it is called.
        close: Closes it.
    """

    def __init__(self, number: int, name: str, close: Callable[[], None]) -> None:
        self._number, self._name, self.close = number, name, close
        self._poll = select.poll()
        self._poll.register(number, select.POLLIN)

    def wait(self, seconds: float) -> bool:
        """Waits for an interrupt; whether there was one."""
        try:
            if not self._poll.poll(seconds * 1000):
                return False
            found = os.read(self._number, 4)
        except OSError as failure:
            raise DeviceLostError(f"{self._name} is gone ({failure.strerror})") from None
        if not found:
            raise DeviceLostError(f"{self._name} is gone: the card's process has ended")
        return True


@dataclass(eq=False)
class FilePort:
    """A card by its files; see ``CardPort``.

    Attributes:
        name: What people call the card.
        patience: Seconds after which a card that does not answer counts as lost.
        user: Its registers.
        to_card: From the host to the card's memory.
        to_host: From the card's memory to the host.
        events: Opens the interrupts of a channel.
        channels: Who has which channel.
    """

    name: str
    patience: float
    user: RegisterFile
    to_card: MemoryFile
    to_host: MemoryFile
    events: Callable[[int], EventFile]
    channels: Channels
    _opened: dict[int, EventFile] = field(default_factory=dict, init=False)
    _closed: bool = field(default=False, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def __post_init__(self) -> None:
        leave_in_children(self)

    def claim(self, seconds: float) -> Claim | None:
        """Waits for a free channel, and opens its interrupts."""
        claim = self.channels.claim(seconds)
        if claim is not None:
            with self._lock:
                self._opened[claim.channel] = self.events(claim.channel)
        return claim

    def release(self, channel: int) -> None:
        """Gives a channel back."""
        with self._lock:
            opened = self._opened.pop(channel, None)
        if opened is not None:
            opened.close()
        self.channels.release(channel)

    def surplus(self) -> bool:
        """Whether a channel should be given back."""
        return self.channels.surplus()

    def report(self) -> dict[str, object]:
        """What a simulated card counts."""
        return self.channels.report()

    def read_register(self, address: int) -> int:
        """Reads a register of 32 bits."""
        return self.user.read([address])[0]

    def write_register(self, address: int, value: int) -> None:
        """Writes a register of 32 bits."""
        self.user.write([(address, value)])

    def read_words(self, address: int, count: int) -> Words:
        """Reads a register of 64 bits several times."""
        halves = np.array(self.user.read([address, address + 4] * count), dtype=np.uint64)
        return np.asarray(halves[0::2] | halves[1::2] << np.uint64(_HALF), dtype=np.uint64)

    def write_words(self, address: int, words: Words) -> None:
        """Writes words to a register of 64 bits."""
        mask = (1 << _HALF) - 1
        self.user.write(
            [
                pair
                for word in words.tolist()
                for pair in ((address, word & mask), (address + 4, word >> _HALF))
            ]
        )

    def write_memory(self, address: int, data: bytes | memoryview) -> None:
        """Copies bytes to the card."""
        left = memoryview(data).cast("B")
        while left:
            done = self.to_card.pwrite(left[:CHUNK], address)
            if done <= 0:
                raise DeviceError(f"{self.name} takes no bytes at address {address:#x}")
            address, left = address + done, left[done:]

    def read_memory(self, address: int, size: int) -> bytes:
        """Copies bytes from the card."""
        parts: list[bytes] = []
        while size > 0:
            part = self.to_host.pread(min(size, CHUNK), address)
            if not part:
                raise DeviceError(f"{self.name} gives no bytes at address {address:#x}")
            parts.append(part)
            address, size = address + len(part), size - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def wait_interrupt(self, channel: int, seconds: float) -> bool:
        """Waits for a channel's interrupt."""
        with self._lock:
            events, closed = self._opened.get(channel), self._closed
        if closed:  # another job has found the card lost
            raise DeviceLostError(f"{self.name} is closed: open the card again")
        if events is None:
            raise DeviceError(f"channel {channel} of {self.name} is not claimed: claim it first")
        return events.wait(seconds)

    def close(self) -> None:
        """Gives all channels back and closes all files."""
        with self._lock:
            opened, self._opened, self._closed = [*self._opened.values()], {}, True
        files: list[_Closing] = [*opened, self.user, self.to_card, self.to_host, self.channels]
        for each in files:
            with contextlib.suppress(DeviceError, OSError):
                each.close()

    def leave(self) -> None:
        """Closes the files of a forked process; its parent has its own."""
        self._lock = Lock()  # a thread of the parent's may have held the old one
        self.close()
