"""Places of limbs, and times, of the vector architecture (C++ in ``allocator/``).

Arrays have a record a row, of 64-bit integers; ``arrays.py`` writes and reads them.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

class AllocatorError(RuntimeError):
    """Tasks for which there is no place, or lists that wait for each other."""

class Beats:
    """The cycles in which a port moves beats: all but the first ``pause`` of each interval."""

    def __init__(self, interval: int, pause: int) -> None: ...
    def nth(self, begin: int, count: int) -> int:
        """The cycle of beat ``count``, from 0, of those that move in turn from ``begin`` on."""

class Machine:
    """The numbers of a design, in one ring, that places and times follow from."""

    def __init__(self, numbers: Mapping[str, int], lists: Mapping[str, Sequence[int]]) -> None: ...

class Lists:
    """The lists of a cluster."""

    def __init__(
        self,
        loads: NDArray[np.int64],
        computing: NDArray[np.int64],
        entries: NDArray[np.int64],
        stores: NDArray[np.int64],
    ) -> None: ...
    @property
    def loads(self) -> bytes: ...
    @property
    def computing(self) -> bytes: ...
    @property
    def entries(self) -> bytes: ...
    @property
    def stores(self) -> bytes: ...

class Allocation:
    """Programs of all clusters, and the values that gave way to memory."""

    @property
    def programs(self) -> list[Lists]: ...
    @property
    def spilled(self) -> list[int]: ...

class Problem:
    """Tasks, in an order in which each finds its operands there."""

    def __init__(
        self,
        machine: Machine,
        tasks: NDArray[np.int64],
        parts: NDArray[np.int64],
        primes: Sequence[int],
        memory: Sequence[int],
        ones: Sequence[int],
    ) -> None: ...
    @property
    def runs(self) -> list[list[int]]:
        """Point tasks that add to the same sums, whose order is free: numbers, ascending."""

    def giving_way(self) -> list[int]:
        """Values that are made, do not stay in the scratchpad, and are used again."""

    def allocate(
        self, give_way: Sequence[int], few: int, limbs: int, halves: Sequence[int]
    ) -> Allocation:
        """Places limbs once. Raises AllocatorError where a scratchpad is too small.

        Args:
            give_way: Values that go to memory as soon as they are made.
            few: Uses up to which a stream is preferred to a place,
            limbs: and by how many limbs memory may be behind the array for that.
            halves: Those of a unit's lanes that gaps are computed of.
        """

def gaps(lists: Lists, machine: Machine, halves: Sequence[int]) -> list[int]:
    """How long after the one before each instruction may be issued."""

def schedule(programs: Sequence[Lists], machine: Machine) -> list[tuple[bytes, bytes, bytes]]:
    """Times of each cluster's loads, instructions and stores. Raises AllocatorError."""

def total(allocation: Allocation, machine: Machine) -> int:
    """Cycles from the start to the end of all that clusters do."""
