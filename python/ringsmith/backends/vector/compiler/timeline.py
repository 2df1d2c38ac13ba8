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
at intervals that are known.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from ringsmith.backends.vector.design import package
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.word_layout import Shape, forward_passes, inverse_passes
from ringsmith.backends.vector.isa.instruction_set import ISA
from ringsmith.backends.vector.isa.instructions import (
    STREAMS,
    Automorph,
    Computing,
    Operation,
    Point,
    Program,
    Slot,
    Stream,
    Transform,
    sources,
    stores,
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
        self._halves = halves
        self.rows, self._passes = shape.rows, shape.passes
        self._forward, self._inverse = forward_passes(shape), inverse_passes(shape)
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

    def accesses(self, operation: Operation) -> tuple[list["Access"], list["Access"]]:
        """What an instruction reads from streams and the scratchpad, and writes, by halves."""
        if isinstance(operation, Transform):
            return self._transform(operation)
        if isinstance(operation, Automorph):
            return (
                [Access(operation.source, half, 0, self.rows, None) for half in self._halves],
                [
                    Access(operation.target, half, self.written(0, half), self.rows, 0)
                    for half in self._halves
                ],
            )
        return self._point(operation)

    def _transform(self, operation: Transform) -> tuple[list["Access"], list["Access"]]:
        reads, writes = [], []
        passes = self._inverse if operation.inverse else self._forward
        turns = [each.turn for each in passes]
        period, last = self.period(operation), self._passes - 1
        for number, entry in enumerate(operation.entries):
            first = number * self.rows
            for half in self._halves:
                reads.append(Access(entry.source, half, first, self.rows, turns[0]))
                for which, turn in enumerate(turns):
                    begin = first + which * period
                    if which:
                        reads.append(Access(entry.target, half, begin, self.rows, turn, True))
                    begin += self.pass_delay
                    inside = which != last
                    writes.append(Access(entry.target, half, begin, self.rows, turn, inside))
        return reads, writes

    def _point(self, operation: Point) -> tuple[list["Access"], list["Access"]]:
        reads, writes = [], []
        for half in self._halves:
            reads.append(Access(operation.x, half, 0, self.rows, 0))
            for number, each in enumerate(operation.results):
                for part, begin in (
                    (each.y, self.factor(number, half)),
                    (each.z, self.summand(number, half)),
                ):
                    if isinstance(part, Slot | Stream):
                        reads.append(Access(part, half, begin, self.rows, 0))
                if each.target is not None:
                    begin = self.written(number, half)
                    writes.append(Access(each.target, half, begin, self.rows, 0))
        return reads, writes


@dataclass(frozen=True)
class Access:
    """A limb's rows at a port of a bank, or a stream, in turn, in one half of the lanes.

    Attributes:
        slot: The limb, or the stream whose next one it is.
        half: One of ``HALVES``.
        begin: Cycles from the instruction's issue to the first row.
        rows: How many.
        turn: At time c comes row rotl(c, turn); None: in an order that an element gives.
        inside: Whether it is of a pass in the middle of an instruction.
    """

    slot: Slot | Stream
    half: int
    begin: int
    rows: int
    turn: int | None
    inside: bool = False

    @property
    def port(self) -> tuple[bool, int, int]:
        """Of a bank, or a stream; its number; the half."""
        if isinstance(self.slot, Slot):
            return True, self.slot.bank, self.half
        return False, self.slot.number, self.half

    @property
    def in_order(self) -> bool:
        """Whether rows come as they are numbered."""
        return self.turn == 0


def gaps(operations: Sequence[Operation], cycles: Cycles) -> list[int]:
    """How long after the one before each instruction may be issued.

    Operands are written then, and what results overwrite is read; or, where both go through
    rows in the same order, each row is. No half of a bank, or of a stream, is read twice in a
    cycle, or written twice. Between transforms of different directions the array turns.
    """
    found: list[int] = []
    first: dict[tuple[Slot | Stream, int], int] = {}  # when the first row of a limb can be read
    last: dict[tuple[Slot | Stream, int], int] = {}  # when all rows can
    passed: dict[tuple[Slot | Stream, int], int] = {}  # when the first row can be overwritten
    done: dict[tuple[Slot | Stream, int], int] = {}  # when all rows can
    read: dict[tuple[bool, int, int], int] = {}  # by port: until when it is taken
    written: dict[tuple[bool, int, int], int] = {}
    turned = {False: 0, True: 0}  # when a transform in a direction may begin
    before, free = 0, 0
    for operation in operations:
        at = free
        if isinstance(operation, Transform):
            at = max(at, turned[operation.inverse])
        reads, writes = cycles.accesses(operation)
        for each in reads:
            place = (each.slot, each.half)
            if not each.inside:
                there = first if each.in_order and place in first else last
                at = max(at, there.get(place, 0) - each.begin)
            at = max(at, read.get(each.port, 0) - each.begin)
        for each in writes:
            place = (each.slot, each.half)
            at = max(at, (passed if each.in_order else done).get(place, 0) - each.begin)
            at = max(at, written.get(each.port, 0) - each.begin)
        for each in reads:
            place, end = (each.slot, each.half), at + each.begin + each.rows
            read[each.port] = max(read.get(each.port, 0), end)
            done[place] = max(done.get(place, 0), end)
            passed[place] = max(passed.get(place, 0), at + each.begin + 1 if each.in_order else end)
        for each in writes:
            place = (each.slot, each.half)
            end = at + each.begin + each.rows
            written[each.port] = max(written.get(each.port, 0), end)
            if not each.inside:
                last[place] = end
                first.pop(place, None)
                if each.in_order:
                    first[place] = at + each.begin + 1
        found.append(at - before)
        before, free = at, at + cycles.occupied(operation)
        if isinstance(operation, Transform):
            turned[not operation.inverse] = free - 1 + cycles.turn
    return found


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


class Beats:
    """The cycles in which a port moves beats: all but the first ``pause`` of each interval."""

    def __init__(self, interval: int, pause: int) -> None:
        self._interval, self._pause = interval, pause

    def nth(self, begin: int, count: int) -> int:
        """The cycle of beat ``count``, from 0, of those that move in turn from ``begin`` on."""
        work = self._interval - self._pause
        intervals, rest = divmod(begin, self._interval)
        intervals, beat = divmod(intervals * work + max(0, rest - self._pause) + count, work)
        return intervals * self._interval + self._pause + beat


class _Ports:
    """A cluster's ports in one direction, as ``rs_vector_bursts`` uses them."""

    def __init__(self, beats: Beats, burst_beats: int) -> None:
        self._beats, self._burst = beats, burst_beats
        self.free = 0  # when what comes next may begin
        self._taken = self._served = -1  # the cycles of the last burst's address, and the last beat

    def move(self, begin: int, count: int, lead: int = 0) -> tuple[int, int]:
        """Moves beats for what begins in a cycle."""
        leaves = max(begin + 1, self._taken)
        taken = max(leaves + 1, self._served)
        first = max(taken + 1, begin + lead)
        # Any other burst's address is taken with the last beat of the burst before it, and the
        # burst after it leaves for the ports then.
        bursts = -(-count // self._burst)
        if bursts > 1:
            leaves = taken
            taken = self._beats.nth(first, (bursts - 1) * self._burst - 1)
        if bursts > 2:
            leaves = self._beats.nth(first, (bursts - 2) * self._burst - 1)
        self._taken, self._served = taken, self._beats.nth(first, count - 1)
        self.free = leaves + 1
        return self._beats.nth(first, 0), self._served


def read_ahead(programs: Sequence[Program], design: VectorDesign) -> int:
    """Cycles from the start to cycle 0 of the schedule, to read the first list entries."""
    memory = design.list_memory
    beats = Beats(memory.interval, memory.read_pause)
    most = 1
    for own in programs:
        count = package.INSTRUCTION_BEATS * min(len(own.computing), LISTED)
        for length, held in ((len(own.loads), SLOT_LOADS), (len(own.stores), SLOT_STORES)):
            count += package.SLOT_BEATS * min(-(-length // held), LIST_SLOTS)
        if count:
            most = max(most, beats.nth(2, count - 1) + 1 + memory.latency)
    return most


class _Cluster:
    """How far a cluster's lists are worked off."""

    def __init__(self, program: Program, design: VectorDesign, cycles: Cycles) -> None:
        self.program, self._cycles = program, cycles
        self.loads: list[Transfer] = []
        self.computing: list[Span] = []
        self.stores: list[Transfer] = []
        self._tables: list[int] = []  # when loads to the twiddle memory ended
        self._there: list[deque[int]] = [
            deque() for _ in range(STREAMS)
        ]  # limbs that wait in a stream
        self._free_rows = [_FreeRows(design.stream_rows) for _ in range(STREAMS)]
        self._free_store_rows = [_FreeRows(design.stream_rows) for _ in range(design.results)]
        memory = design.memory
        self._latency, self._row_beats = memory.latency, design.row_cycles
        self._reading = _Ports(Beats(memory.interval, memory.read_pause), design.burst_beats)
        self._writing = _Ports(Beats(memory.interval, memory.write_pause), design.burst_beats)
        self._handed: deque[int] = deque()

    def step(self, all_of_them: Sequence["_Cluster"]) -> bool:
        """Works off what can be; returns whether anything could."""
        moved = False
        while self._load(all_of_them) or self._compute() or self._store():
            moved = True
        return moved

    @property
    def ended(self) -> bool:
        own = self.program
        return (len(self.loads), len(self.computing), len(self.stores)) == (
            len(own.loads), len(own.computing), len(own.stores),
        )  # fmt: skip

    def _load(self, clusters: Sequence["_Cluster"]) -> bool:
        if len(self.loads) == len(self.program.loads):
            return False
        load = self.program.loads[len(self.loads)]
        begin = self._reading.free
        if load.after_store is not None:
            cluster, count = load.after_store
            if len(clusters[cluster].stores) < count:
                return False
            begin = max(begin, clusters[cluster].stores[count - 1].end)
        if load.after_computing:
            if len(self.computing) < load.after_computing:
                return False
            begin = max(begin, self.computing[load.after_computing - 1].end + NOTICE)
        if load.stream is not None:
            free = self._free_rows[load.stream].when(load.rows)
            if free is None:
                return False
            begin = max(begin, free)
        first, last = self._reading.move(begin, load.rows * self._row_beats)
        end = last + self._latency + ROW_NOTICE
        if load.stream is None:
            self._tables.append(end)
        else:
            self._free_rows[load.stream].take(load.rows)
            self._there[load.stream].append(end)
        self.loads.append(Transfer(begin, end, first, last + 1, self._reading.free))
        return True

    def _compute(self) -> bool:
        if len(self.computing) == len(self.program.computing):
            return False
        own = self.program.computing[len(self.computing)]
        before = self.computing[-1].begin if self.computing else 0
        begin = before + own.gap
        if own.tables > len(self._tables):
            return False
        if own.tables:
            begin = max(begin, self._tables[own.tables - 1])
        taken = [0] * STREAMS
        for source in sources(own.operation):
            if isinstance(source, Stream):
                number = source.number
                if len(self._there[number]) <= taken[number]:
                    return False
                begin = max(begin, self._there[number][taken[number]])
                taken[number] += 1
        handed = stores(own.operation)
        for number in handed:
            free = self._free_store_rows[number].when(self._cycles.rows)
            if free is None:
                return False
            begin = max(begin, free)
        for number, since in _stream_reads(own.operation, self._cycles):
            self._there[number].popleft()
            self._free_rows[number].give(self._cycles.rows, begin + since + NOTICE)
        end = begin + self._cycles.occupied(own.operation) + self._cycles.pass_delay
        for number in handed:
            self._free_store_rows[number].take(self._cycles.rows)
            written = begin + self._cycles.written(number, 1) + self._cycles.rows
            self._handed.append(written + NOTICE)
        self.computing.append(Span(begin, end))
        return True

    def _store(self) -> bool:
        if not self._handed:
            return False
        store = self.program.stores[len(self.stores)]
        begin = max(self._writing.free, self._handed.popleft())
        first, last = self._writing.move(begin, store.rows * self._row_beats, STORE_LEAD)
        end = last + self._latency + STORED_NOTICE
        self._free_store_rows[store.stream].give(store.rows, last + FREED_NOTICE)
        self.stores.append(Transfer(begin, end, first, last + 1, self._writing.free))
        return True


def _stream_reads(operation: Operation, cycles: Cycles) -> list[tuple[int, int]]:
    """Streams of which an instruction takes a limb, and from when on, counted from its issue."""
    if isinstance(operation, Transform):
        return [
            (entry.source.number, number * cycles.rows)
            for number, entry in enumerate(operation.entries)
            if isinstance(entry.source, Stream)
        ]
    if isinstance(operation, Automorph):
        return []
    found = []
    if isinstance(operation.x, Stream):
        found.append((operation.x.number, 0))
    for number, each in enumerate(operation.results):
        if isinstance(each.y, Stream):
            found.append((each.y.number, cycles.factor(number, 1)))
    return found


class _FreeRows:
    """Free rows of a stream: now, and those that will be given back, in order."""

    def __init__(self, rows: int) -> None:
        self._free, self._now = rows, 0
        self._coming: deque[tuple[int, int]] = deque()

    def when(self, rows: int) -> int | None:
        """From when on this many rows are free; None: not known yet."""
        free, now = self._free, self._now
        for count, time in self._coming:
            if free >= rows:
                break
            free, now = free + count, max(now, time)
        return now if free >= rows else None

    def take(self, rows: int) -> None:
        """Takes rows that ``when`` said were free."""
        while self._free < rows:
            count, time = self._coming.popleft()
            self._free, self._now = self._free + count, max(self._now, time)
        self._free -= rows

    def give(self, rows: int, time: int) -> None:
        """Gives rows back at a time."""
        self._coming.append((rows, time))


def schedule(programs: Sequence[Program], design: VectorDesign, cycles: Cycles) -> list[Schedule]:
    """When each cluster's instructions begin and end, behind a memory of the design's figures."""
    clusters = [_Cluster(program, design, cycles) for program in programs]
    while not all(cluster.ended for cluster in clusters):
        moved = sum(cluster.step(clusters) for cluster in clusters)
        if not moved:
            raise AssertionError("the lists of the clusters wait for each other")
    return [Schedule(tuple(own.loads), tuple(own.computing), tuple(own.stores)) for own in clusters]


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
