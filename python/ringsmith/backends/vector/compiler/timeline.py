"""When instructions are issued, and how long a program takes.

An instruction occupies the array from its issue on for as many cycles as it issues rows. What a row
meets on its way through network and stages it meets a fixed number of cycles later: so instructions
of all kinds follow each other without a pause, but for transforms of the other direction. A point
instruction's y and z are read when x reaches the stage that takes them, and its results written
from there: the upper half of each unit's lanes in one stage, the lower half in the next.

A load begins when its stream has space for all of its rows, including those that an instruction has
started to read: memory hands out no more than a row a cycle, and neither memory nor
the array overtakes the other. The reader of a stream or of a list learns some cycles later what the
writer did, and the writer what the reader did.

Memory serves a port's bursts one after another, a beat a cycle but in pauses. All ports of a
cluster are asked for the same, so that one stands for all of them. A load or a store begins when
the last burst of the one before it has left for the ports, up to two bursts before memory has
served it: so memory need not wait. Times are computed a load or a store at a time, for pauses come
at intervals that are known. That is done in C++: ``allocator/timeline.cpp``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ringsmith.backends.vector.compiler import _allocator
from ringsmith.backends.vector.compiler.arrays import lists_of, rows_of
from ringsmith.backends.vector.design import package
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.word_layout import (
    Shape,
    forward_passes,
    inverse_passes,
    table_rows,
)
from ringsmith.backends.vector.isa.instruction_set import ISA
from ringsmith.backends.vector.isa.instructions import (
    BANK_OPERANDS,
    FACTOR_STREAMS,
    MAX_ENTRIES,
    STREAMS,
    X_STREAM,
    Computing,
    Operation,
    Program,
    Transform,
)

HALVES = (0, 1)
"""Of a unit's lanes: the upper, and the lower, which point instructions compute a stage later."""

NOTICE = 4
"""Cycles until the part at memory learns what an instruction has done, and the other way round."""

ROW_NOTICE = 3
"""Cycles from the last beat of a load at the ports until instructions may take its rows."""

STORED_NOTICE = 4
"""Cycles from memory's answer to a store until loads, of all clusters, may begin after it."""

FREED_NOTICE = 3
"""Cycles from the last beat of a store at the ports until its rows are free for instructions."""

STORE_LEAD = 7
"""Cycles from the begin of a store until its first beat can be at the ports."""

LISTED = 1 << package.LOG_LISTED
"""Instructions of list computing that are read ahead."""

LIST_SLOTS = (1 << package.LOG_LIST_BEATS) // package.SLOT_BEATS
"""Slots of loads, and of stores, that are read ahead."""

SLOT_LOADS, SLOT_STORES = (
    8 * package.SLOT_BYTES // ISA.structures[name].width for name in ("load", "store")
)
"""Loads, and stores, of a slot of their lists."""


class Cycles:
    """Cycles of instructions in a ring.

    Args:
        design: The design.
        shape: Its array, in the ring.
        halves: Those of ``HALVES`` that are looked at. All but the first instructions after a
            transform wait for the lower one, which is enough for an estimate.
    """

    def __init__(self, design: VectorDesign, shape: Shape, halves: Sequence[int] = HALVES) -> None:
        self._design, self._shape, self.halves = design, shape, halves
        self.rows, self._passes = shape.rows, shape.passes
        cfg, stages = design.cfg, range(design.log_radix)
        self.pass_delay = package.core_transform_latency(cfg)
        self.turn = package.array_turn(cfg)
        self._summand = [package.array_z_time(cfg, stage) for stage in stages]
        self._factor = [package.array_y_time(cfg, stage) for stage in stages]
        self._written = [package.core_point_latency(cfg, stage) for stage in stages]

    @property
    def together(self) -> int:
        """Limbs of a transform that hide the latency of its passes."""
        return -(-(self.rows + self.pass_delay) // self.rows)

    def summand(self, result: int, half: int) -> int:
        """From a row's issue to the reading of a point result's z."""
        return self._summand[2 * result + half]

    def factor(self, result: int, half: int) -> int:
        """From a row's issue to the reading of a point result's y."""
        return self._factor[2 * result + half]

    def written(self, result: int, half: int) -> int:
        """From a row's issue to the write of a point result."""
        return self._written[2 * result + half]

    def period(self, operation: Transform) -> int:
        """From the first row of a pass to that of the next one."""
        return max(len(operation.entries) * self.rows, self.rows + self.pass_delay)

    def occupied(self, operation: Operation) -> int:
        """Cycles in which it issues rows."""
        if not isinstance(operation, Transform):
            return self.rows
        last = len(operation.entries) * self.rows
        return (self._passes - 1) * self.period(operation) + last

    def busy(self, operation: Operation) -> int:
        """Those of them in which a row is issued."""
        if not isinstance(operation, Transform):
            return self.rows
        return self._passes * len(operation.entries) * self.rows

    @cached_property
    def machine(self) -> _allocator.Machine:
        """The numbers that the allocator, which is C++, takes."""
        design, memory = self._design, self._design.memory
        numbers = {
            "clusters": design.clusters,
            "banks": design.banks,
            "results": design.results,
            "slots": design.bank_rows // self.rows,
            "rows": self.rows,
            "passes": self._passes,
            "stream_rows": design.stream_rows,
            "tables": design.table_rows // table_rows(self._shape),
            "rows_of_table": table_rows(self._shape),
            "streams": STREAMS,
            "factor_streams": FACTOR_STREAMS,
            "x_stream": X_STREAM,
            "bank_operands": BANK_OPERANDS,
            "max_entries": MAX_ENTRIES,
            "row_beats": design.row_cycles,
            "burst_beats": design.burst_beats,
            "interval": memory.interval,
            "read_pause": memory.read_pause,
            "write_pause": memory.write_pause,
            "latency": memory.latency,
            "notice": NOTICE,
            "row_notice": ROW_NOTICE,
            "stored_notice": STORED_NOTICE,
            "freed_notice": FREED_NOTICE,
            "store_lead": STORE_LEAD,
            "pass_delay": self.pass_delay,
            "turn": self.turn,
        }
        lists = {
            "summand": self._summand,
            "factor": self._factor,
            "written": self._written,
            "forward_turns": [each.turn for each in forward_passes(self._shape)],
            "inverse_turns": [each.turn for each in inverse_passes(self._shape)],
        }
        return _allocator.Machine(numbers, lists)


def gaps(operations: Sequence[Operation], cycles: Cycles) -> list[int]:
    """How long after the one before each instruction may be issued.

    Operands are written then, and what results overwrite is read; or, where both go through
    rows in the same order, each row is. No half of a bank, or of a stream, is read twice in a
    cycle, or written twice. Between transforms of different directions the array turns.
    """
    every = tuple(Computing(operation, 0, 0, -1) for operation in operations)
    return _allocator.gaps(lists_of(Program((), every, ())), cycles.machine, cycles.halves)


@dataclass(frozen=True)
class Span:
    """When something began and ended, in cycles from the start."""

    begin: int
    end: int


@dataclass(frozen=True)
class Transfer(Span):
    """A load or a store in time.

    Attributes:
        first: The cycle of its first beat at the ports of memory.
        until: The cycle after its last one.
        free: When the next of its list may begin.
    """

    first: int
    until: int
    free: int


@dataclass(frozen=True)
class Schedule:
    """Times of a cluster's three lists, in their order."""

    loads: tuple[Transfer, ...]
    computing: tuple[Span, ...]
    stores: tuple[Transfer, ...]


def read_ahead(programs: Sequence[Program], design: VectorDesign) -> int:
    """Cycles from the start to cycle 0 of the schedule, to read the first list entries."""
    memory = design.list_memory
    beats = _allocator.Beats(memory.interval, memory.read_pause)
    most = 1
    for own in programs:
        count = package.INSTRUCTION_BEATS * min(len(own.computing), LISTED)
        for length, held in ((len(own.loads), SLOT_LOADS), (len(own.stores), SLOT_STORES)):
            count += package.SLOT_BEATS * min(-(-length // held), LIST_SLOTS)
        if count:
            most = max(most, beats.nth(2, count - 1) + 1 + memory.latency)
    return most


def schedule(programs: Sequence[Program], design: VectorDesign, cycles: Cycles) -> list[Schedule]:
    """When each cluster's instructions begin and end, behind a memory of the design's figures."""
    found = _allocator.schedule([lists_of(own) for own in programs], cycles.machine)
    return [
        Schedule(
            tuple(Transfer(*row) for row in rows_of(loads, 5).tolist()),
            tuple(Span(*row) for row in rows_of(computing, 2).tolist()),
            tuple(Transfer(*row) for row in rows_of(stores, 5).tolist()),
        )
        for loads, computing, stores in found
    ]


def total(schedules: Sequence[Schedule]) -> int:
    """Cycles from the start to the end of all that clusters do."""
    spans = (
        span for own in schedules for each in (own.loads, own.computing, own.stores)
        for span in each[-1:]
    )  # fmt: skip
    return max((span.end for span in spans), default=0)


def with_gaps(
    operations: Sequence[Operation], tables: Sequence[int], origins: Sequence[int], cycles: Cycles
) -> tuple[Computing, ...]:
    """The list ``computing`` of a cluster."""
    return tuple(
        Computing(operation, gap, table, origin)
        for operation, gap, table, origin in zip(
            operations, gaps(operations, cycles), tables, origins, strict=True
        )
    )
