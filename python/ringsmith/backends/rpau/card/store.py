"""What a host keeps in a claimed part of a card's memory: jobs' words, and keys and tables."""

import mmap
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock

import numpy as np

from ringsmith.backends.cards.port import Claim
from ringsmith.backends.handles import full
from ringsmith.errors import DeviceError, ParameterError

_PAGE = 4096


@dataclass(eq=False)
class Block:
    """Bytes of the card's memory.

    Attributes:
        address: Of the first one.
        size: How many.
        users: Jobs that use it now.
        ready: Whether its content is there.
    """

    address: int
    size: int
    users: int = 0
    ready: bool = False


class CardStore:
    """Allocates blocks in a part of a card's memory. Threads may share it.

    Blocks kept by name stay until their memory is needed: the least recently used goes first,
    and what a job uses stays. Blocks that are held stay until they are released.

    Args:
        claim: The part.
        pinned: Whether what is kept by a name stays, whatever needs its memory.
    """

    def __init__(
        self, claim: Claim, pinned: Callable[[Hashable], bool] = lambda name: False
    ) -> None:
        self._claim, self._pinned = claim, pinned
        self._held: dict[Block, str] = {}
        self._free = [(claim.first, claim.first + claim.size)]
        self._kept: OrderedDict[Hashable, Block] = OrderedDict()
        self._lock = RLock()

    @property
    def names(self) -> list[Hashable]:
        """What is kept, the longest unused first."""
        with self._lock:
            return [*self._kept]

    @property
    def held(self) -> int:
        """Bytes of blocks that are held."""
        return sum(block.size for block in [*self._held])

    def has_space(self, size: int) -> bool:
        """Whether that many bytes are not held."""
        return _pages(size) <= self._claim.size - self.held

    def hold(self, size: int, label: str) -> Block:
        """Allocates memory until ``release``.

        Args:
            size: Bytes.
            label: What lies there, for messages.

        Raises:
            DeviceError: If it does not suffice; says what holds how much.
        """
        with self._lock:
            block = self._take(size, label)
            self._held[block] = label
            return block

    def release(self, block: Block) -> None:
        """Frees a held block."""
        with self._lock:
            del self._held[block]
            self._give(block)

    def forget(self) -> None:
        """Keeps nothing any more: the card may have lost it."""
        with self._lock:
            for name in [name for name, block in self._kept.items() if not block.users]:
                self._drop(name)
            for block in self._kept.values():
                block.ready = False

    @contextmanager
    def taken(self, size: int) -> Iterator[Block]:
        """Allocates memory for a job's words, for the duration of the ``with`` block."""
        block = self._take(size)
        try:
            yield block
        finally:
            self._give(block)

    @contextmanager
    def kept(self, name: Hashable, size: int, fill: Callable[[int], None]) -> Iterator[Block]:
        """What is kept by a name; used, and so not removed, as long as the block of code lasts.

        Args:
            name: Its name.
            size: Its bytes.
            fill: Writes it at an address; called where it is not there yet.
        """
        with self._lock:
            block = self._kept.get(name)
            if block is None:
                block = self._kept[name] = self._take(size)
            self._kept.move_to_end(name)
            block.users += 1
            try:
                if not block.ready:
                    fill(block.address)
                    block.ready = True
            except BaseException:
                block.users -= 1
                self._drop(name)
                raise
        try:
            yield block
        finally:
            with self._lock:
                block.users -= 1

    def _take(self, size: int, what: str = "a job") -> Block:
        """Allocates a block of whole pages; evicts kept blocks if needed."""
        wanted = _pages(size)
        with self._lock:
            while True:
                for number, (first, end) in enumerate(self._free):
                    if end - first >= wanted:
                        self._free[number : number + 1] = (
                            [(first + wanted, end)] if end - first > wanted else []
                        )
                        return Block(first, wanted)
                unused = next(
                    (n for n, b in self._kept.items() if not b.users and not self._pinned(n)), None
                )
                if unused is None and self._held:
                    held = [(label, block.size) for block, label in self._held.items()]
                    held += [("keys and tables", block.size) for block in self._kept.values()]
                    raise full("card, this coprocessor", self._claim.size, what, wanted, held)
                if unused is None:
                    raise DeviceError(
                        f"a job needs {wanted} bytes of the card's memory, of whose "
                        f"{self._claim.size} for this channel others have the rest: give the card "
                        "more memory"
                    )
                self._drop(unused)

    def _drop(self, name: Hashable) -> None:
        block = self._kept.get(name)
        if block is not None and not block.users:
            del self._kept[name]
            self._give(block)

    def _give(self, block: Block) -> None:
        """Frees a block, and merges it with adjacent free blocks."""
        with self._lock:
            ranges = sorted([*self._free, (block.address, block.address + block.size)])
            self._free = []
            for first, end in ranges:
                if self._free and self._free[-1][1] == first:
                    self._free[-1] = (self._free[-1][0], end)
                else:
                    self._free.append((first, end))


def _pages(size: int) -> int:
    """Bytes of whole pages."""
    return max(1, -(-size // _PAGE)) * _PAGE


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
