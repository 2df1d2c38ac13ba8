"""The device files that AMD's XDMA driver for Linux makes of a card.

``PREFIX_user`` are the registers, four bytes an access. ``PREFIX_h2c_0`` and ``PREFIX_c2h_0`` move
bytes at the position of a write or read. ``PREFIX_events_K`` has four bytes to read when interrupt
K came; a poll waits for it. The driver does not isolate processes: a channel is claimed by a lock
on its file of interrupts, which the kernel takes back when the process ends, and the card's memory
is divided evenly among the channels.
"""

import fcntl
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ringsmith.backends.cards.files import EventFile, FilePort
from ringsmith.backends.cards.port import Claim
from ringsmith.errors import DeviceError, DeviceLostError
from ringsmith.forks import OneProcess

DEFAULT_MEMORY = 2 << 30
"""Bytes of a card's memory, where nothing else is said."""

_MOST_CHANNELS = 16
_ASKED_AGAIN = 0.02  # seconds between two tries for a channel that another process has


@dataclass(frozen=True)
class XdmaFiles:
    """A card behind the device files of the XDMA driver.

    Attributes:
        prefix: What the names of its files begin with, such as ``/dev/xdma0``.
        memory: Bytes of the card's memory.
        patience: Seconds after which a card that does not answer counts as lost.
    """

    prefix: str = "/dev/xdma0"
    memory: int = DEFAULT_MEMORY
    patience: float = 10.0

    def open(self) -> FilePort:
        """Opens the files; each channel's interrupts when it is claimed.

        Raises:
            DeviceError: If one is missing or may not be opened.
        """
        opened: list[_DeviceFile] = []
        try:
            for part, mode in (("user", os.O_RDWR), ("h2c_0", os.O_WRONLY), ("c2h_0", os.O_RDONLY)):
                opened.append(_DeviceFile(f"{self.prefix}_{part}", mode))
            locks = _Locks(self)
        except BaseException:
            for each in opened:
                each.close()
            raise
        user, to_card, to_host = opened
        return FilePort(self.prefix, self.patience, user, to_card, to_host, locks.events, locks)


class _DeviceFile:
    """A device file with a position in every access."""

    def __init__(self, path: str, mode: int) -> None:
        self._path = path
        try:
            self._number: int | None = os.open(path, mode | os.O_CLOEXEC)
        except OSError as failure:
            raise DeviceError(
                f"{path} cannot be opened ({failure.strerror}): load the card's driver, or name "
                "the card's files as they are called here"
            ) from None

    def read(self, addresses: Sequence[int]) -> list[int]:
        """Registers, four bytes a read."""
        return [int.from_bytes(self._whole(4, address), "little") for address in addresses]

    def write(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Registers, four bytes a write."""
        for address, value in pairs:
            if self.pwrite(value.to_bytes(4, "little"), address) != 4:
                raise DeviceLostError(f"{self._path} takes no register at {address:#x}")

    def pread(self, size: int, address: int) -> bytes:
        """Reads at a position."""
        try:
            return os.pread(self._open(), size, address)
        except OSError as failure:
            raise self._lost(failure, address) from None

    def pwrite(self, data: bytes | memoryview, address: int) -> int:
        """Writes at a position."""
        try:
            return os.pwrite(self._open(), data, address)
        except OSError as failure:
            raise self._lost(failure, address) from None

    def close(self) -> None:
        """Closes the file."""
        number, self._number = self._number, None
        if number is not None:
            os.close(number)

    def _whole(self, size: int, address: int) -> bytes:
        found = self.pread(size, address)
        if len(found) != size:
            raise DeviceLostError(f"{self._path} has no register at {address:#x}")
        return found

    def _open(self) -> int:
        if self._number is None:
            raise DeviceLostError(f"{self._path} is closed: open the card again")
        return self._number

    def _lost(self, failure: OSError, address: int) -> DeviceLostError:
        return DeviceLostError(
            f"{self._path} fails at address {address:#x} ({failure.strerror}): look whether the "
            "card is still there, and at the kernel's log"
        )


class _Locks:
    """Channels of a card by locks on their files of interrupts."""

    def __init__(self, files: XdmaFiles) -> None:
        self._files = files
        paths = (f"{files.prefix}_events_{number}" for number in range(_MOST_CHANNELS))
        self._paths = [path for path in paths if Path(path).exists()]
        if not self._paths:
            raise DeviceError(
                f"there is no {files.prefix}_events_0: build the card with an interrupt for each "
                "channel"
            )
        self._held: dict[int, int] = {}
        self._process = OneProcess(f"the card at {files.prefix}")

    def claim(self, seconds: float) -> Claim | None:
        """Tries all channels until one is free, or the time is over."""
        deadline = time.monotonic() + seconds
        while True:
            for channel, path in enumerate(self._paths):
                if channel not in self._held and self._lock(channel, path):
                    size = self._files.memory // len(self._paths) // 4096 * 4096
                    return Claim(channel, channel * size, size)
            if time.monotonic() >= deadline:
                return None
            time.sleep(_ASKED_AGAIN)

    def events(self, channel: int) -> EventFile:
        """The interrupts of a claimed channel."""
        return EventFile(self._held[channel], self._paths[channel], lambda: None)

    def release(self, channel: int) -> None:
        """Unlocks a channel."""
        number = self._held.pop(channel, None)
        if number is not None:
            if self._process.is_here:  # a forked process that has the file would keep the lock
                fcntl.flock(number, fcntl.LOCK_UN)
            os.close(number)

    def surplus(self) -> bool:
        """Locks tell nothing of those who wait."""
        return False

    def report(self) -> dict[str, object]:
        """A real card counts nothing but its registers."""
        return {}

    def close(self) -> None:
        """Unlocks all channels."""
        for channel in [*self._held]:
            self.release(channel)

    def _lock(self, channel: int, path: str) -> bool:
        try:
            number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as failure:
            raise DeviceError(f"{path} cannot be opened ({failure.strerror})") from None
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(number)
            return False
        self._held[channel] = number
        return True
