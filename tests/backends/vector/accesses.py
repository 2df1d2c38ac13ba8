"""What instructions read and write, and when: a check of schedules, which C++ makes."""

from dataclasses import dataclass

from ringsmith.backends.vector.compiler.timeline import HALVES, Cycles
from ringsmith.backends.vector.design.word_layout import Shape, forward_passes, inverse_passes
from ringsmith.backends.vector.isa.instructions import (
    Automorph,
    Operation,
    Point,
    Slot,
    Stream,
    Transform,
)


@dataclass(frozen=True)
class Access:
    """A limb's rows at a port of a bank, or a stream, in turn, in one half of the lanes.

    Attributes:
        slot: The limb, or the stream whose next one it is.
        half: One of ``HALVES``.
        begin: Cycles from the instruction's issue to the first row.
        turn: At time c comes row rotl(c, turn); None: in an order that an element gives.
    """

    slot: Slot | Stream
    half: int
    begin: int
    turn: int | None

    @property
    def port(self) -> tuple[bool, int, int]:
        """Of a bank, or a stream; its number; the half."""
        if isinstance(self.slot, Slot):
            return True, self.slot.bank, self.half
        return False, self.slot.number, self.half


Both = tuple[list[Access], list[Access]]
"""What is read, and what is written."""


def accesses(operation: Operation, cycles: Cycles, shape: Shape) -> Both:
    """What an instruction reads from streams and the scratchpad, and writes, by halves."""
    if isinstance(operation, Transform):
        return _of_transform(operation, cycles, shape)
    if isinstance(operation, Point):
        return _of_point(operation, cycles)
    assert isinstance(operation, Automorph)
    reads = [Access(operation.source, half, 0, None) for half in HALVES]
    writes = [Access(operation.target, half, cycles.written(0, half), 0) for half in HALVES]
    return reads, writes


def _of_transform(operation: Transform, cycles: Cycles, shape: Shape) -> Both:
    reads, writes = [], []
    passes = (inverse_passes if operation.inverse else forward_passes)(shape)
    for number, entry in enumerate(operation.entries):
        for half in HALVES:
            for which, each in enumerate(passes):
                begin = number * shape.rows + which * cycles.period(operation)
                source = entry.target if which else entry.source
                reads.append(Access(source, half, begin, each.turn))
                begin += cycles.pass_delay
                writes.append(Access(entry.target, half, begin, each.turn))
    return reads, writes


def _of_point(operation: Point, cycles: Cycles) -> Both:
    reads, writes = [], []
    for half in HALVES:
        reads.append(Access(operation.x, half, 0, 0))
        for number, each in enumerate(operation.results):
            for part, begin in (
                (each.y, cycles.factor(number, half)),
                (each.z, cycles.summand(number, half)),
            ):
                if isinstance(part, Slot | Stream):
                    reads.append(Access(part, half, begin, 0))
            if each.target is not None:
                writes.append(Access(each.target, half, cycles.written(number, half), 0))
    return reads, writes
