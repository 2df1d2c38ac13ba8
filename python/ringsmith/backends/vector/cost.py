"""What a graph costs on a design, without its program: a lower bound, nearly, in milliseconds.

The compiler gives every limb a place and tries several ways. Here the tasks that it begins with are
walked once. Three things go on in parallel, and each task waits for the latest of them:

- the array takes a task's rows, after those of the task before it;
- memory hands out what comes by streams, as far ahead as their FIFOs hold;
- an operand is there some cycles after it was made: a whole limb later for what is read in another
  order.

Capacity is a scratchpad of so many limbs in which what is used again last gives way (Belady), as
in the compiler. What is left out: banks, and so the copies and waits that they cost. The compiler's
cycles are up to a third more; ``tests/backends/vector/test_cost.py`` has the limits. So a search
compiles what this cannot rule out.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from ringsmith.backends.vector.allocation import _KEPT_FREE, _SOON
from ringsmith.backends.vector.design import VectorDesign
from ringsmith.backends.vector.instructions import STREAMS, Limb
from ringsmith.backends.vector.latency import pass_cycles, turn_cycles
from ringsmith.backends.vector.layout import Shape, table_rows
from ringsmith.backends.vector.lowering import lower
from ringsmith.backends.vector.tasks import (
    AutomorphTask,
    OutputTask,
    PointTask,
    Task,
    TransformTask,
    Value,
)
from ringsmith.backends.vector.timing import NOTICE, Cycles
from ringsmith.caching import cached
from ringsmith.graph import SubroutineGraph

NTT, INTT, INNER, CONVERSIONS, AUTOMORPH, COPIES = (
    "NTT", "inverse NTT", "inner product", "conversions, products, sums", "automorphism", "copies",
)  # fmt: skip
"""Subroutines that cycles are told by."""


@dataclass
class Estimate:
    """Cycles of a graph, and what they are spent on.

    Attributes:
        cycles: From the start until the last result is in memory.
        compute: In which the array of the busiest cluster takes rows.
        permutation: In which its network does.
        memory: In which its memory hands out, or takes, what no scratchpad avoids.
        spilled: In which it moves, beyond that, what the scratchpad does not hold.
        parts: Subroutine -> cycles of the array, of the busiest cluster.
        bytes: That memory moves, of all clusters.
    """

    cycles: int
    compute: int
    permutation: int
    memory: int
    spilled: int
    parts: Mapping[str, int]
    bytes: int


@dataclass(frozen=True)
class _Asked:
    """A graph, and all of a design that its tasks follow from."""

    graph: SubroutineGraph = field(compare=False, repr=False)
    design: VectorDesign = field(compare=False, repr=False)
    number: int
    together: int
    facts: tuple[int | str, ...]


@cached
def _tasks(asked: _Asked) -> tuple[Task, ...]:
    return tuple(lower(asked.graph, asked.design, asked.together))


def estimate(graph: SubroutineGraph, design: VectorDesign) -> Estimate:
    """Estimates a graph on a design.

    Raises:
        ProgramError: If a node is none that the architecture has.
    """
    shape = design.shape(graph.n.bit_length() - 1)
    cycles = Cycles(design, shape)
    facts = (design.results, design.clusters, design.reduction, design.word_bits, design.log_n)
    asked = _Asked(graph, design, id(graph), cycles.together, facts)
    return _Walk(_tasks(asked), design, shape).estimate()


class _Cluster:
    """How far a cluster is."""

    def __init__(self, slots: int, window: int) -> None:
        self.slots = slots
        self.held: dict[Value, int] = {}  # what is in the scratchpad -> its next use
        self.heap: list[tuple[int, int, Value]] = []
        self.array = self.reading = self.writing = 0  # until when they are taken
        self.waiting: deque[int] = deque(maxlen=window)  # when limbs that came were taken
        self.tables: dict[tuple[int, bool], int] = {}
        self.turned = {False: 0, True: 0}
        self.counted: Counter[str] = Counter()
        self.loads = self.avoidable = self.stores = self.spills = 0  # limbs
        self.table_loads = 0


class _Walk:
    def __init__(self, tasks: Sequence[Task], design: VectorDesign, shape: Shape) -> None:
        self._tasks, self._design = tasks, design
        self._rows, self._table = shape.rows, table_rows(shape)
        self._passes = shape.passes
        slots = design.banks * (design.bank_rows // self._rows)
        window = STREAMS * max(1, design.stream_rows // self._rows)
        self._clusters = [_Cluster(slots, window) for _ in range(design.clusters)]
        self._uses: dict[tuple[int, Value], deque[int]] = defaultdict(deque)
        self._users: dict[Value, set[int]] = defaultdict(set)
        for number, task in enumerate(tasks):
            for value in dict.fromkeys(task.reads):
                self._uses[task.cluster, value].append(number)
                self._users[value].add(task.cluster)
        self._made: dict[Value, int] = {}  # when its last row is written
        self._memory: dict[Value, int] = {}  # when it is in memory
        self._delay, self._turn = pass_cycles(design), turn_cycles(design)
        memory = design.memory
        self._latency = memory.latency
        self._read, self._read_table = map(design.read_cycles, (self._rows, self._table))
        beats = self._rows * design.row_cycles * memory.interval
        self._write = -(-beats // (memory.interval - memory.write_pause))
        self._tables_held = max(1, design.table_rows // self._table)

    def estimate(self) -> Estimate:
        for number, task in enumerate(self._tasks):
            self._do(number, task)
        ends = [max(own.array + self._delay, own.writing, own.reading) for own in self._clusters]
        last = self._latency + 2 * NOTICE
        busy = max(self._clusters, key=lambda own: own.array)
        tables = busy.table_loads * self._read_table
        needed = max(busy.loads * self._read + tables, busy.stores * self._write)
        reads = (busy.loads + busy.avoidable) * self._read + tables
        moved = max(reads, (busy.stores + busy.spills) * self._write)
        limbs = sum(o.loads + o.avoidable + o.stores + o.spills for o in self._clusters)
        tables = sum(own.table_loads for own in self._clusters) * self._table
        return Estimate(
            max(ends) + last,
            sum(busy.counted.values()),
            sum(busy.counted[part] for part in (NTT, INTT, AUTOMORPH)),
            needed,
            max(0, moved - needed),
            dict(busy.counted),
            (limbs * self._rows + tables) * self._design.row_bytes,
        )

    # ---- a task ----------------------------------------------------------------------------------

    def _do(self, number: int, task: Task) -> None:
        own, action = self._clusters[task.cluster], task.action
        if isinstance(action, OutputTask):
            self._output(task.cluster, action.source, number)
            return
        begin = max(own.array, self._tables_of(own, action))
        if isinstance(action, TransformTask):
            begin = max(begin, own.turned[action.inverse])
        in_order = isinstance(action, PointTask)
        for value in dict.fromkeys(task.reads):
            begin = max(begin, self._fetched(task.cluster, value, number, in_order))
        if isinstance(action, PointTask):
            for result in action.results:
                if isinstance(result.y, Limb):
                    begin = max(begin, self._load(own, avoidable=False))
        busy = self._busy(action)
        own.counted[_part(action)] += busy
        issued = busy
        if isinstance(action, TransformTask):
            least = (self._rows + self._delay) * (busy // (len(action.turns) * self._rows))
            issued = max(busy, least - self._delay)
            own.turned[not action.inverse] = begin + issued + self._turn - 1
        own.array = begin + issued
        self._forget(task.cluster, task.reads, number)
        for value in task.writes:
            self._keep(task.cluster, value, begin + issued + self._delay, number)

    def _busy(self, action: object) -> int:
        if isinstance(action, TransformTask):
            return self._passes * len(action.turns) * self._rows
        return self._rows

    def _tables_of(self, own: _Cluster, action: object) -> int:
        """When the tables of a transform's primes are there."""
        if not isinstance(action, TransformTask):
            return 0
        there = 0
        for prime in dict.fromkeys(turn.prime for turn in action.turns):
            key = (prime, action.inverse)
            if key in own.tables:
                own.tables[key] = own.tables.pop(key)
            else:
                if len(own.tables) >= self._tables_held:
                    own.tables.pop(next(iter(own.tables)))
                own.reading += self._read_table
                own.tables[key] = own.reading + self._latency
                own.table_loads += 1
            there = max(there, own.tables[key])
        return there

    # ---- limbs -----------------------------------------------------------------------------------

    def _load(self, own: _Cluster, *, avoidable: bool, after: int = 0) -> int:
        """Brings a limb by a stream; returns when it is there."""
        space = own.waiting[0] if len(own.waiting) == own.waiting.maxlen else 0
        begin = max(own.reading, space, after)
        own.reading = begin + self._read
        own.waiting.append(max(own.array, own.reading))
        if avoidable:
            own.avoidable += 1
        else:
            own.loads += 1
        return own.reading + self._latency

    def _fetched(self, cluster: int, value: Value, number: int, in_order: bool) -> int:
        """When an operand is there."""
        own = self._clusters[cluster]
        if value in own.held:
            made = self._made.get(value, 0)
            return made - self._rows + 1 if in_order else made
        first = value.memory is not None and value not in self._memory
        again = self._memory.get(value, 0)
        self._memory.setdefault(value, 0)
        there = self._load(own, avoidable=not first, after=again)
        uses = self._uses[cluster, value]
        if len(uses) > 1 and (uses[1] <= number + _SOON or own.slots - len(own.held) > _KEPT_FREE):
            own.array = max(own.array, there) + self._rows  # a point instruction puts it there
            own.counted[COPIES] += self._rows
            self._place(cluster, value, uses[1])
            return own.array + self._delay - self._rows if in_order else own.array + self._delay
        return there

    def _keep(self, cluster: int, value: Value, there: int, number: int) -> None:
        self._made[value] = there
        others = self._users[value] - {cluster}
        if others:
            self._store(cluster, value, there)
        uses = self._uses[cluster, value]
        if uses:
            self._place(cluster, value, uses[0])

    def _store(self, cluster: int, value: Value, there: int) -> None:
        own = self._clusters[cluster]
        own.writing = max(own.writing, there) + self._write
        own.spills += 1
        self._memory[value] = own.writing + self._latency

    def _output(self, cluster: int, value: Value, number: int) -> None:
        own = self._clusters[cluster]
        made = self._made.get(value, own.array)
        own.writing = max(own.writing, made - self._rows) + self._write
        own.stores += 1
        self._forget(cluster, [value], number)

    def _place(self, cluster: int, value: Value, following: int) -> None:
        """Puts a limb into the scratchpad; what is used again last gives way."""
        own = self._clusters[cluster]
        while len(own.held) >= own.slots:
            minus, _, victim = heappop(own.heap)
            if own.held.get(victim) != -minus:
                continue
            del own.held[victim]
            if victim not in self._memory and victim.memory is None:
                self._store(cluster, victim, max(own.array, self._made.get(victim, 0)))
        own.held[value] = following
        heappush(own.heap, (-following, value.number, value))

    def _forget(self, cluster: int, values: Sequence[Value], number: int) -> None:
        own = self._clusters[cluster]
        for value in dict.fromkeys(values):
            uses = self._uses[cluster, value]
            while uses and uses[0] <= number:
                uses.popleft()
            if value not in own.held:
                continue
            if uses:
                own.held[value] = uses[0]
                heappush(own.heap, (-uses[0], value.number, value))
            else:
                del own.held[value]


def _part(action: object) -> str:
    """The subroutine of a task."""
    if isinstance(action, TransformTask):
        return INTT if action.inverse else NTT
    if isinstance(action, AutomorphTask):
        return AUTOMORPH
    assert isinstance(action, PointTask)
    return INNER if any(isinstance(each.y, Limb) for each in action.results) else CONVERSIONS
