"""Places for the values of tasks, and the instructions that work on them.

The order of tasks is fixed, so that every next use is known: where a bank is full, what is used
again last gives way (Belady), to memory if it is not there. What lies in memory and is used once
comes by a stream, without a place.

That is done several times: what gave way goes to memory as soon as it is made the next time, by the
store stream of the instruction that makes it; and where memory has time to spare, it is read again
rather than kept. The fastest programs count.
"""

from collections.abc import Iterable, Sequence

from ringsmith.backends.vector.compiler._allocator import total
from ringsmith.backends.vector.compiler.arrays import TaskArrays
from ringsmith.backends.vector.compiler.tasks import Task
from ringsmith.backends.vector.compiler.timeline import HALVES, Cycles
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.word_layout import Shape
from ringsmith.backends.vector.isa.instructions import Program

_TRIES = ((0, 0), (3, 0), (3, 4), (3, 1 << 20), (6, 1 << 20))
"""What is tried: uses up to which a stream is preferred to a place, and by how many limbs memory
may be behind the array for that.
"""

_FEW_LIMBS = 16
"""Limbs of a scratchpad up to which an estimate tries to evict nothing early."""

_KEEPING, _USUAL, _STREAMING = _TRIES[0], _TRIES[2], _TRIES[-1]
"""What estimates try."""


def allocate(
    tasks: Sequence[Task], primes: Sequence[int], design: VectorDesign, shape: Shape
) -> list[Program]:
    """The programs of a design's clusters.

    Args:
        tasks: What is to be done, in order.
        primes: The graph's primes.
        design: The design.
        shape: Its array, in the graph's ring.
    """
    allocator = _Allocator(tasks, primes, design, Cycles(design, shape))
    spilled: list[int] = []
    for choice in _TRIES:
        for _ in range(2):
            spilled = allocator.attempt(choice, spilled)
    return allocator.best()


def estimated(
    tasks: Sequence[Task],
    primes: Sequence[int],
    design: VectorDesign,
    shape: Shape,
    *,
    keep: bool,
) -> list[Program]:
    """Programs by one of the tries of ``allocate``, for an estimate: gaps may be too short.

    Which limbs give way is known there from the try before. Here a walk over the tasks finds them:
    a scratchpad of as many limbs without banks, in which what is used again last gives way.

    Where sums leave one bank to factors, these may have to come by streams more often; and in a
    scratchpad of few limbs it may be better to evict nothing early. Both are tried, too.

    Args:
        tasks: What is to be done, in order.
        primes: The graph's primes.
        design: The design.
        shape: Its array, in the graph's ring.
        keep: Whether places are preferred to streams: memory takes longer than the array.
    """
    allocator = _Allocator(tasks, primes, design, Cycles(design, shape, halves=HALVES[-1:]))
    give_way = allocator.giving_way()
    usual = _KEEPING if keep else _USUAL
    allocator.attempt(usual, give_way)
    if design.banks - design.results < 2 and not keep:
        allocator.attempt(_STREAMING, give_way)
    if give_way and design.banks * (design.bank_rows // shape.rows) <= _FEW_LIMBS:
        allocator.attempt(usual, ())
    return allocator.best()


class _Allocator:
    """Tries of one program, and the fastest of them."""

    def __init__(
        self, tasks: Sequence[Task], primes: Sequence[int], design: VectorDesign, cycles: Cycles
    ) -> None:
        self._cycles = cycles
        self._arrays = TaskArrays(tasks, primes, design, cycles.machine)
        self._fewest: int | None = None

    def giving_way(self) -> list[int]:
        """Values that are made, do not stay in the scratchpad, and are used again."""
        return self._arrays.problem.giving_way()

    def attempt(self, choice: tuple[int, int], give_way: Iterable[int]) -> list[int]:
        """Places limbs once; returns the values that gave way to memory.

        Args:
            choice: One of ``_TRIES``.
            give_way: Values that go to memory as soon as they are made.
        """
        found = self._arrays.problem.allocate([*give_way], *choice, self._cycles.halves)
        cycles = total(found, self._cycles.machine)
        if self._fewest is None or cycles < self._fewest:
            self._fewest, self._best = cycles, found
        return found.spilled

    def best(self) -> list[Program]:
        """The programs of the fastest try."""
        return [self._arrays.program_of(own) for own in self._best.programs]
