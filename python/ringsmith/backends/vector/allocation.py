"""Places for the values of tasks, and the instructions that work on them.

The order of tasks is fixed, so that every next use is known: where a bank is full, what is used
again last gives way (Belady), to memory if it is not there. What lies in memory and is used once
comes by a stream, without a place.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ringsmith.backends.vector.design import VectorDesign
from ringsmith.backends.vector.instructions import (
    STREAMS,
    Automorph,
    Constant,
    Entry,
    Limb,
    Load,
    Operation,
    Point,
    Program,
    Result,
    Slot,
    Store,
    Stream,
    Transform,
)
from ringsmith.backends.vector.layout import Shape, table_rows
from ringsmith.backends.vector.tasks import (
    AutomorphTask,
    OutputTask,
    PointTask,
    Task,
    TransformTask,
    Turn,
    Value,
)
from ringsmith.backends.vector.timing import Cycles, with_gaps

_SOON = 12
"""Tasks within which a second use makes it worth while to keep a limb that comes from memory."""


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
    return _Allocation(tasks, primes, design, shape).programs()


@dataclass(frozen=True)
class _Stored:
    """A value in memory.

    Attributes:
        limb: Where.
        after: Cluster and number of the store that puts it there; None: it is there from the start.
    """

    limb: Limb
    after: tuple[int, int] | None


class _Cluster:
    """A cluster's lists as they grow, and what lies in its scratchpad."""

    def __init__(self, design: VectorDesign, shape: Shape) -> None:
        slots = design.bank_rows // shape.rows
        self.free = [[*range(slots)][::-1] for _ in range(design.banks)]
        self.placed: dict[Value, Slot] = {}
        self.loads: list[Load] = []
        self.stores: list[Store] = []
        self.operations: list[Operation] = []
        self.tables_before: list[int] = []
        self.origins: list[int] = []
        self.table_loads = 0
        self.tables: dict[tuple[int, bool], int] = {}  # place by prime and direction, oldest first
        self.table_users: dict[int, int] = {}  # by place: instructions up to its last user


class _Allocation:
    def __init__(
        self, tasks: Sequence[Task], primes: Sequence[int], design: VectorDesign, shape: Shape
    ) -> None:
        self._tasks, self._primes, self._design, self._shape = tasks, primes, design, shape
        self._clusters = [_Cluster(design, shape) for _ in range(design.clusters)]
        self._memory: dict[Value, _Stored] = {}
        self._uses: dict[tuple[int, Value], deque[int]] = defaultdict(deque)
        self._users: dict[Value, set[int]] = defaultdict(set)
        made: dict[Value, Task] = {}
        for number, task in enumerate(tasks):
            for value in dict.fromkeys(task.reads):
                self._uses[task.cluster, value].append(number)
                self._users[value].add(task.cluster)
                if value.memory is not None:
                    self._memory[value] = _Stored(value.memory, None)
            made.update((value, task) for value in task.writes)
        self._direct = self._handed_out_at_once(made)
        self._number = 0
        self._pinned: set[Value] = set()

    def _handed_out_at_once(self, made: Mapping[Value, Task]) -> dict[Value, Limb]:
        """Results of point tasks that nothing but an output wants."""
        found: dict[Value, Limb] = {}
        for task in self._tasks:
            if not isinstance(task.action, OutputTask):
                continue
            source = task.action.source
            maker = made.get(source)
            alone = (
                self._users[source] == {task.cluster} and len(self._uses[task.cluster, source]) == 1
            )
            if maker is None or not isinstance(maker.action, PointTask) or not alone:
                continue
            others = {each.target for each in maker.action.results} & found.keys()
            if maker.cluster == task.cluster and not others:
                found[source] = task.action.limb
                self._uses[task.cluster, source].clear()
        return found

    # ---- the whole -------------------------------------------------------------------------------

    def programs(self) -> list[Program]:
        for number, task in enumerate(self._tasks):
            action, self._number = task.action, number
            self._pinned = set(task.reads)
            if isinstance(action, PointTask):
                self._point(task, action)
            elif isinstance(action, TransformTask):
                self._transform(task, action)
            elif isinstance(action, AutomorphTask):
                source = self._resident(task, action.source, ())
                target = self._place(task, action.target, {source.bank}, None)
                self._emit(task, Automorph(action.element, source, target))
            elif action.source not in self._direct:
                self._store(task, action.source, action.limb)
            self._forget(task, task.reads)
            self._share(task)
        cycles = Cycles(self._design, self._shape)
        return [
            Program(
                tuple(own.loads),
                with_gaps(own.operations, own.tables_before, own.origins, cycles),
                tuple(own.stores),
            )
            for own in self._clusters
        ]

    def _emit(self, task: Task, operation: Operation) -> None:
        own = self._clusters[task.cluster]
        own.operations.append(operation)
        own.tables_before.append(own.table_loads)
        own.origins.append(task.origin)

    def _forget(self, task: Task, values: Iterable[Value]) -> None:
        """Frees the places of what the cluster uses no more."""
        for value in dict.fromkeys(values):
            uses = self._uses[task.cluster, value]
            while uses and uses[0] <= self._number:
                uses.popleft()
            if not uses:
                self._release(task.cluster, value)

    def _release(self, cluster: int, value: Value) -> None:
        own = self._clusters[cluster]
        slot = own.placed.pop(value, None)
        if slot is not None:
            own.free[slot.bank].append(slot.index)

    def _share(self, task: Task) -> None:
        """Hands what another cluster wants to memory; frees what nobody wants."""
        for value in task.writes:
            if self._users[value] - {task.cluster} and value not in self._memory:
                self._spill(task, value)
            if value not in self._direct and not self._uses[task.cluster, value]:
                self._release(task.cluster, value)

    # ---- memory ----------------------------------------------------------------------------------

    def _load(self, task: Task, stream: int, value: Value | Limb) -> Stream:
        stored = _Stored(value, None) if isinstance(value, Limb) else self._memory[value]
        self._clusters[task.cluster].loads.append(
            Load(stored.limb, self._shape.rows, stream, after_store=stored.after)
        )
        return Stream(stream)

    def _copy(self, value: Value, source: Slot | Stream, target: Slot | None) -> Point:
        one = Constant(self._design.factor(self._primes[value.prime]))
        return Point(source, (Result(value.prime, one, None, False, target),))

    def _store(self, task: Task, value: Value, limb: Limb) -> None:
        own = self._clusters[task.cluster]
        source = own.placed.get(value) or self._load(task, 0, value)
        self._emit(task, self._copy(value, source, None))
        own.stores.append(Store(limb, self._shape.rows))

    def _spill(self, task: Task, value: Value) -> None:
        limb = Limb("spill", "", (value.number,))
        self._store(task, value, limb)
        own = self._clusters[task.cluster]
        self._memory[value] = _Stored(limb, (task.cluster, len(own.stores)))

    # ---- places ----------------------------------------------------------------------------------

    def _next_use(self, cluster: int, value: Value, after: int) -> int:
        for use in self._uses[cluster, value]:
            if use > after:
                return use
        return len(self._tasks)

    def _free_slot(self, task: Task, avoid: Collection[int], rather_not: Collection[int]) -> Slot:
        """A place in a bank that is not to be avoided."""
        own = self._clusters[task.cluster]
        banks = [bank for bank in range(self._design.banks) if bank not in avoid]
        with_room = [bank for bank in banks if own.free[bank]]
        if not with_room:
            self._make_room(task, banks)
            with_room = [bank for bank in banks if own.free[bank]]
        bank = max(with_room, key=lambda one: (one not in rather_not, len(own.free[one])))
        return Slot(bank, own.free[bank].pop())

    def _make_room(self, task: Task, banks: Collection[int]) -> None:
        own = self._clusters[task.cluster]
        there = [
            value
            for value, slot in own.placed.items()
            if slot.bank in banks and value not in self._pinned
        ]
        victim = max(there, key=lambda value: self._next_use(task.cluster, value, self._number - 1))
        if victim not in self._memory and self._next_use(
            task.cluster, victim, self._number - 1
        ) < len(self._tasks):
            self._spill(task, victim)
        self._release(task.cluster, victim)

    def _beside(self, task: Task, value: Value) -> set[int]:
        """Banks of what the next task that uses a value uses with it."""
        number = self._next_use(task.cluster, value, self._number)
        if number == len(self._tasks):
            return set()
        own = self._clusters[task.cluster]
        following = self._tasks[number]
        if isinstance(following.action, TransformTask):
            return set()
        return {
            own.placed[other].bank
            for other in following.reads
            if other is not value and other in own.placed
        }

    def _place(
        self, task: Task, value: Value, avoid: Collection[int], instead: Value | None
    ) -> Slot:
        """A place for a result: that of an operand that is used no more, or a free one."""
        own = self._clusters[task.cluster]
        if instead is not None and instead in own.placed:
            slot = own.placed[instead]
            last = self._next_use(task.cluster, instead, self._number) == len(self._tasks)
            if last and slot.bank not in avoid:
                del own.placed[instead]
                own.placed[value] = slot
                self._pinned.add(value)
                return slot
        slot = self._free_slot(task, avoid, self._beside(task, value))
        own.placed[value] = slot
        self._pinned.add(value)
        return slot

    def _resident(self, task: Task, value: Value, avoid: Collection[int]) -> Slot:
        """A value's place in none of some banks; it is fetched from memory, or moved."""
        own = self._clusters[task.cluster]
        there = own.placed.get(value)
        if there is not None and there.bank not in avoid:
            return there
        slot = self._free_slot(task, avoid, self._beside(task, value))
        source: Slot | Stream = there if there is not None else self._load(task, 0, value)
        self._emit(task, self._copy(value, source, slot))
        self._release(task.cluster, value)
        own.placed[value] = slot
        return slot

    def _by_stream(self, task: Task, value: Value) -> bool:
        """Whether a value comes by a stream: it lies in memory, and is not used again soon."""
        if value in self._clusters[task.cluster].placed:
            return False
        return self._next_use(task.cluster, value, self._number) > self._number + _SOON

    # ---- tasks -----------------------------------------------------------------------------------

    def _point(self, task: Task, action: PointTask) -> None:
        keys = sum(isinstance(each.y, Limb) for each in action.results)
        banks: dict[Value, Slot] = {}

        def slot(value: Value) -> Slot:
            if value not in banks:
                banks[value] = self._resident(task, value, {one.bank for one in banks.values()})
            return banks[value]

        streamed = keys < STREAMS and self._by_stream(task, action.x)
        if not streamed:
            slot(action.x)
        for each in action.results:
            if isinstance(each.z, Value) and each.z is not action.x:
                slot(each.z)
        streams = [number for number in range(STREAMS) if not (streamed and number == 0)]
        wanted: dict[int, int] = {}  # streams of the factors, by result
        for index, each in enumerate(action.results):
            able = [one for one in streams if one >= index and one not in wanted.values()]
            by_stream = isinstance(each.y, Limb) or (
                isinstance(each.y, Value)
                and each.y is not action.x
                and each.y not in banks
                and len(able) > sum(isinstance(o.y, Limb) for o in action.results[index + 1 :])
                and self._by_stream(task, each.y)
            )
            if by_stream:
                wanted[index] = able[0]
            elif isinstance(each.y, Value) and each.y is not action.x:
                slot(each.y)
        if action.x not in banks and any(
            each.y is action.x or each.z is action.x for each in action.results
        ):
            slot(action.x)
            streamed = False
        x: Slot | Stream = self._load(task, 0, action.x) if streamed else banks[action.x]
        factors: dict[int, Slot | Stream | Constant] = {}
        for index, each in enumerate(action.results):
            if index in wanted:
                assert isinstance(each.y, Limb | Value)
                factors[index] = self._load(task, wanted[index], each.y)
            else:
                factors[index] = banks[each.y] if isinstance(each.y, Value) else self._word(each.y)
        results: list[Result] = []
        taken: set[int] = set()
        handed: list[Store] = []
        for index, each in enumerate(action.results):
            z = banks[each.z] if isinstance(each.z, Value) else each.z
            if each.target in self._direct:
                handed.append(Store(self._direct[each.target], self._shape.rows))
                target = None
            else:
                instead = each.z if isinstance(each.z, Value) else None
                target = self._place(task, each.target, taken, instead)
                taken.add(target.bank)
            results.append(Result(each.prime, factors[index], z, each.subtract, target))
        self._emit(task, Point(x, tuple(results)))
        self._clusters[task.cluster].stores += handed

    @staticmethod
    def _word(y: object) -> Constant:
        assert isinstance(y, Constant)
        return y

    def _transform(self, task: Task, action: TransformTask) -> None:
        """A transform; in several instructions where there are not tables enough for one."""
        most = self._design.table_rows // table_rows(self._shape)
        turns: list[Turn] = []
        for turn in action.turns:
            if len({each.prime for each in (*turns, turn)}) > most:
                self._transform_of(task, action.inverse, turns)
                turns = []
            turns.append(turn)
        self._transform_of(task, action.inverse, turns)

    def _transform_of(self, task: Task, inverse: bool, turns: Sequence[Turn]) -> None:
        own, rows = self._clusters[task.cluster], self._shape.rows
        tables = self._tables(task, [turn.prime for turn in turns], inverse)
        most = self._design.stream_rows // rows
        streamed = [turn for turn in turns if self._by_stream(task, turn.source)][:most]
        sources: dict[Value, Slot | Stream] = {
            turn.source: self._resident(task, turn.source, ())
            for turn in turns
            if turn not in streamed
        }
        targets = {}
        for turn in turns:
            again = sum(other.source is turn.source for other in turns) > 1
            instead = None if again else turn.source
            targets[turn.target] = self._place(task, turn.target, (), instead)
        entries = []
        for turn in turns:
            source = sources.get(turn.source) or self._load(task, 0, turn.source)
            entries.append(
                Entry(turn.prime, tables[turn.prime], source, targets[turn.target], turn.reduce)
            )
        self._emit(task, Transform(inverse, tuple(entries)))
        for table in tables.values():
            own.table_users[table] = len(own.operations)

    def _tables(self, task: Task, primes: Sequence[int], inverse: bool) -> dict[int, int]:
        """Rows of the tables of some primes in the twiddle memory, where they are put."""
        own, rows = self._clusters[task.cluster], table_rows(self._shape)
        wanted = [(prime, inverse) for prime in dict.fromkeys(primes)]
        for key in wanted:
            if key in own.tables:
                own.tables[key] = own.tables.pop(key)  # used last
                continue
            if len(own.tables) < self._design.table_rows // rows:
                row = len(own.tables) * rows
            else:
                oldest = next(one for one in own.tables if one not in wanted)
                row = own.tables.pop(oldest)
            own.tables[key] = row
            own.table_loads += 1
            own.loads.append(
                Load(
                    Limb("table", "", (key[0], int(inverse))),
                    rows,
                    None,
                    row,
                    after_computing=own.table_users.get(row, 0),
                )
            )
        return {prime: own.tables[prime, inverse] for prime in primes}
