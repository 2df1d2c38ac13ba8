"""A program in time: which instruction worked when, in which part of which cluster, and for whom.

A trace comes from an executable's schedule, which model and RTL keep to. Each event says what kept
it from beginning earlier.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.timeline import NOTICE, Cycles
from ringsmith.backends.vector.isa.instructions import (
    STREAMS,
    Automorph,
    Computing,
    Point,
    Stream,
    Transform,
    sources,
    stores,
)
from ringsmith.backends.vector.isa.text import computing_text, load_text, store_text

LOADS, COMPUTING, STORES = "loads", "computing", "stores"
"""The lists of a cluster."""

READING, ARRAY, NETWORK, SCRATCHPAD, WRITING = (
    "memory, reading", "array", "network", "scratchpad", "memory, writing",
)  # fmt: skip
PARTS = (READING, ARRAY, NETWORK, SCRATCHPAD, WRITING)
"""Parts of a cluster, as ``VectorExecutable.busy`` calls them."""

NO_OPERATION = "(none)"
"""Stands for an HE operation where an instruction serves none."""
START = "(start)"
"""Stands for an HE operation until the first instruction is issued."""

_PARTS_OF = {
    Transform: (ARRAY, NETWORK, SCRATCHPAD),
    Point: (ARRAY, SCRATCHPAD),
    Automorph: (NETWORK, SCRATCHPAD),
}

ORDER = "the instruction before it"
_OPERANDS, _TABLES = "operands from memory", "factors of transforms"
_SPACE, _AFTER_STORE, _AFTER_COMPUTING = "space in a stream", "a store", "an instruction"


@dataclass(frozen=True)
class Event:
    """One instruction in time.

    Attributes:
        cluster: Number of its cluster.
        list_name: Its list: ``LOADS``, ``COMPUTING`` or ``STORES``.
        index: Its place there, from 0.
        name: What it does: ``load``, ``transform``, ``point``, ``automorph`` or ``store``.
        begin: Cycle in which it begins; of a load or a store, in which its first row moves.
        end: First cycle in which its parts can take the next one.
        busy: Cycles of these in which a row moves.
        parts: The parts that it keeps busy.
        origin: The HE operation that it serves, such as ``rotate:12``.
        waited: What it waited for last, in words.
        text: The instruction as text.
    """

    cluster: int
    list_name: str
    index: int
    name: str
    begin: int
    end: int
    busy: int
    parts: tuple[str, ...]
    origin: str
    waited: str
    text: str

    @property
    def operation(self) -> str:
        """Kind of HE operation that it serves: ``rotate`` of ``rotate:12``."""
        return self.origin.partition(":")[0]


@dataclass(frozen=True)
class Trace:
    """A program in time.

    Attributes:
        executable: The program.
        clusters: The events of each cluster: loads, then computing, then stores, each in order.
    """

    executable: VectorExecutable
    clusters: tuple[tuple[Event, ...], ...]

    @classmethod
    def of_executable(cls, executable: VectorExecutable) -> "Trace":
        """The trace of the schedule."""
        numbers = range(len(executable.programs))
        return cls(executable, tuple(tuple(_Events(executable, each).all()) for each in numbers))

    @property
    def cycles(self) -> int:
        """Cycles of the schedule, until the last result is in memory."""
        return self.executable.scheduled

    @property
    def instructions(self) -> int:
        """Of all lists of all clusters."""
        return self.executable.instructions

    def lane(self, cluster: int, part: str) -> list[Event]:
        """What a part of a cluster works on, in order."""
        return [event for event in self.clusters[cluster] if part in event.parts]

    def listed(self, cluster: int, list_name: str) -> list[Event]:
        """The events of a list of a cluster."""
        return [event for event in self.clusters[cluster] if event.list_name == list_name]

    def busy(self, cluster: int, part: str) -> float:
        """Share of the cycles in which a part of a cluster works, 0 to 1."""
        return sum(event.busy for event in self.lane(cluster, part)) / max(1, self.cycles)


class _Events:
    """Makes the events of a cluster."""

    def __init__(self, executable: VectorExecutable, cluster: int) -> None:
        self._executable, self._cluster = executable, cluster
        self._program = executable.programs[cluster]
        self._times = executable.schedules[cluster]
        self._cycles = Cycles(executable.design, executable.shape)

    def all(self) -> Iterator[Event]:
        """Loads, computing, stores."""
        yield from self._loads()
        yield from self._computing()
        yield from self._stores()

    @cached_property
    def _taken(self) -> list[list[int]]:
        """By instruction of list computing: the loads that it is the first to need."""
        streams: list[deque[int]] = [deque() for _ in range(STREAMS)]
        tables: deque[int] = deque()
        for index, load in enumerate(self._program.loads):
            (tables if load.stream is None else streams[load.stream]).append(index)
        found, loaded = [], 0
        for each in self._program.computing:
            needed = [
                streams[source.number].popleft()
                for source in sources(each.operation)
                if isinstance(source, Stream)
            ]
            while loaded < each.tables:
                needed.append(tables.popleft())
                loaded += 1
            found.append(needed)
        return found

    def _origin(self, each: Computing) -> str:
        return self._executable.operation_names.get(each.origin, NO_OPERATION)

    def _loads(self) -> Iterator[Event]:
        program, times = self._program, self._times.loads
        origins = {
            load: self._origin(each)
            for each, needed in zip(program.computing, self._taken, strict=True)
            for load in needed
        }
        free = 0
        for index, (load, span) in enumerate(zip(program.loads, times, strict=True)):
            busy = load.rows * self._executable.design.row_cycles
            waited = self._load_waited(index, span.begin, free)
            free = span.free
            origin = origins.get(index, NO_OPERATION)
            yield Event(
                self._cluster, LOADS, index, "load", span.first, span.until, busy, (READING,),
                origin, waited, load_text(load),
            )  # fmt: skip

    def _load_waited(self, index: int, begin: int, free: int) -> str:
        load, schedules = self._program.loads[index], self._executable.schedules
        if begin == free:
            return ORDER
        if load.after_store is not None:
            cluster, count = load.after_store
            if begin == schedules[cluster].stores[count - 1].end:
                return f"{_AFTER_STORE}, #{count - 1} of cluster {cluster}"
        if load.after_computing:
            last = load.after_computing - 1
            if begin == self._times.computing[last].end + NOTICE:
                return f"{_AFTER_COMPUTING}, #{last}"
        return _SPACE

    def _computing(self) -> Iterator[Event]:
        before = 0
        for index, each in enumerate(self._program.computing):
            begin = self._times.computing[index].begin
            waited = self._computing_waited(index, begin, before)
            operation, before = each.operation, begin
            yield Event(
                self._cluster,
                COMPUTING,
                index,
                type(operation).__name__.lower(),
                begin,
                begin + self._cycles.occupied(operation),
                self._cycles.busy(operation),
                _PARTS_OF[type(operation)],
                self._origin(each),
                waited,
                computing_text(each),
            )

    def _computing_waited(self, index: int, begin: int, before: int) -> str:
        each = self._program.computing[index]
        if begin == before + each.gap:
            return ORDER
        for load in self._taken[index]:
            if self._times.loads[load].end == begin:
                table = self._program.loads[load].stream is None
                return f"{_TABLES if table else _OPERANDS}, load #{load}"
        return _SPACE

    def _stores(self) -> Iterator[Event]:
        program, times = self._program, self._times.stores
        origins = [self._origin(each) for each in program.computing for _ in stores(each.operation)]
        free = 0
        for index, (store, span, origin) in enumerate(
            zip(program.stores, times, origins, strict=True)
        ):
            busy = store.rows * self._executable.design.row_cycles
            waited = ORDER if span.begin == free else _AFTER_COMPUTING
            free = span.free
            yield Event(
                self._cluster, STORES, index, "store", span.first, span.until, busy, (WRITING,),
                origin, waited, store_text(store),
            )  # fmt: skip
