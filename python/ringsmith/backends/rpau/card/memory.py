"""The memory of a simulated card: its bytes, who may reach which, and when they came there."""

import mmap

import numpy as np

from ringsmith.errors import ParameterError

_PAGE = 4096
LEAST = 1 << 20
MOST = 1 << 40


class CardMemory:
    """Bytes that use memory from their first write, with the time of each page's last write.

    Args:
        size: Bytes; whole pages.
    """

    def __init__(self, size: int) -> None:
        if not LEAST <= size <= MOST or size % _PAGE:
            raise ParameterError(
                f"a card with {size} bytes of memory: give a multiple of {_PAGE} from {LEAST} "
                f"to {MOST}"
            )
        self.size = size
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
        self._bytes = mmap.mmap(-1, size, flags)
        self._times = np.zeros(size // _PAGE, dtype=np.int64)

    def write(self, address: int, data: bytes | memoryview, time: int) -> None:
        """Writes bytes, which are there from a time on."""
        self._bytes[address : address + len(data)] = bytes(data)
        self._times[address // _PAGE : -(-(address + len(data)) // _PAGE)] = time

    def read(self, address: int, size: int) -> bytes:
        """Reads bytes."""
        return self._bytes[address : address + size]

    def ready(self, address: int, size: int) -> int:
        """From which time on bytes are there."""
        pages = self._times[address // _PAGE : -(-(address + size) // _PAGE)]
        return int(pages.max()) if pages.size else 0

    def wipe(self, first: int, size: int) -> None:
        """Empties whole pages."""
        if size:
            self._bytes.madvise(mmap.MADV_DONTNEED, first, size)
            self._times[first // _PAGE : (first + size) // _PAGE] = 0
