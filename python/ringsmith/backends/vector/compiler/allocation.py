"""Places for the values of tasks, and the instructions that work on them.

The order of tasks is fixed, so that every next use is known: where a bank is full, what is used
again last gives way (Belady), to memory if it is not there. What lies in memory and is used once
comes by a stream, without a place.

That is done several times: what gave way goes to memory as soon as it is made the next time, by the
store stream of the instruction that makes it; and where memory has time to spare, it is read again
rather than kept. The fastest programs count.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ringsmith.backends.vector.compiler.tasks import (
    AutomorphTask,
    OutputTask,
    PointTask,
    Task,
    TransformTask,
    Turn,
    Value,
)
from ringsmith.backends.vector.compiler.timeline import HALVES, Cycles, schedule, total, with_gaps
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.word_layout import Shape, table_rows
from ringsmith.backends.vector.isa.instructions import (
    BESIDE,
    FACTOR_STREAMS,
    MAX_ENTRIES,
    SPILLED,
    X_STREAM,
    Automorph,
    Constant,
    Entry,
    Limb,
    Load,
    Operation,
    Point,
    Program,
    Result,
    Same,
    Slot,
    Source,
    Store,
    Stream,
    Transform,
)

_LATER = 200
"""Tasks within which a use makes it worth while to keep a result that goes to memory, too."""

_TABLE_AHEAD = 4
"""Instructions after a table's last user before whose loads another table takes its rows."""

_OFTEN = 3
"""Uses of a factor from which on something else gives way for it."""

KEPT_FREE = 4
"""Free places that are left for what is made."""

_TRIES = ((0, 0), (3, 0), (3, 4), (3, 1 << 20), (6, 1 << 20))
"""What is tried: uses up to which a stream is preferred to a place, and by how many limbs memory
may be behind the array for that.
"""

SOON = 12
"""Tasks within which a second use makes it worth while to keep a limb that comes from memory."""

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
    spilled: frozenset[Value] = frozenset()
    found: list[list[Program]] = []
    cycles = Cycles(design, shape)
    for choice in _TRIES:
        for _ in range(2):
            allocation = _Allocation(tasks, primes, design, shape, spilled, choice, cycles)
            found.append(allocation.programs())
            spilled = frozenset(allocation.spilled)
    return min(found, key=lambda programs: total(schedule(programs, design, cycles)))


def allocate_once(
    tasks: Sequence[Task],
    primes: Sequence[int],
    design: VectorDesign,
    shape: Shape,
    give_way: frozenset[Value],
    *,
    keep: bool,
) -> list[Program]:
    """Programs by one of the tries of ``allocate``, for an estimate: gaps may be too short.

    Where sums leave one bank to factors, these may have to come by streams more often; and in a
    scratchpad of few limbs it may be better to evict nothing early. Both are tried, too.

    Args:
        tasks: What is to be done, in order.
        primes: The graph's primes.
        design: The design.
        shape: Its array, in the graph's ring.
        give_way: What goes to memory as soon as it is made.
        keep: Whether places are preferred to streams: memory takes longer than the array.
    """
    cycles = Cycles(design, shape, halves=HALVES[-1:])
    usual = _KEEPING if keep else _USUAL
    choices = [(usual, give_way)]
    if design.banks - design.results < 2 and not keep:
        choices.append((_STREAMING, give_way))
    if give_way and design.banks * (design.bank_rows // shape.rows) <= _FEW_LIMBS:
        choices.append((usual, frozenset()))
    found = [
        _Allocation(tasks, primes, design, shape, gone, choice, cycles).programs()
        for choice, gone in choices
    ]
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda programs: total(schedule(programs, design, cycles)))


def unwanted_banks(
    value: Value, following: Task | None, uses: int, design: VectorDesign
) -> set[int]:
    """Banks in which a value would be in the way.

    A sum that is added to lies in the bank of its result's number, so that factors, which are
    used beside the sums of an instruction, lie in others.

    Args:
        value: The value.
        following: The task that uses it next; None: none.
        uses: How often it is still used.
        design: The design.
    """
    action = None if following is None else following.action
    if isinstance(action, TransformTask) and uses >= _OFTEN:
        # Digits are transformed in pairs, one after the other: the first from where no sum is.
        sums = range(design.results)
        return {b for b in range(design.banks) if (b in sums) != bool(value.prime % 2)}
    if not isinstance(action, PointTask):
        return set()
    for index, each in enumerate(action.results):
        if each.z is value:
            return set(range(design.banks)) - {index}
    several = len(action.results) > 1 or any(isinstance(r.z, Value) for r in action.results)
    return set(range(design.results)) if several else set()


def kept_out(unwanted: Collection[int], uses: int, design: VectorDesign) -> bool:
    """Whether a value lies in no unwanted bank, even if another one has to give way for it."""
    return unwanted == set(range(design.results)) and design.banks > 3 and uses >= _OFTEN


def _spilled(value: Value) -> Limb:
    """Where a value lies in memory that gave way."""
    return Limb(SPILLED, "", (value.number,))


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
        self.loads: list[tuple[int, Load]] = []  # with the instruction that they stand before
        self.stores: list[Store] = []
        self.operations: list[Operation] = []
        self.tables_before: list[int] = []
        self.origins: list[int] = []
        self.table_loads = 0
        self.turn = 0
        self.behind = 0  # cycles that memory is behind the array, as far as counted
        self.tables: dict[tuple[int, bool], int] = {}  # place by prime and direction, oldest first
        self.table_users: dict[int, int] = {}  # by place: instructions up to its last user


class _Allocation:
    def __init__(
        self,
        tasks: Sequence[Task],
        primes: Sequence[int],
        design: VectorDesign,
        shape: Shape,
        give_way: frozenset[Value],
        choice: tuple[int, int],
        cycles: Cycles,
    ) -> None:
        self._give_way, self._cycles = give_way, cycles
        self._few, limbs = choice
        self._patience = limbs * design.read_cycles(shape.rows)
        banks = range(design.banks)
        self._order = [*banks[::2], *banks[1::2]]  # neighbours in time in different halves
        self.spilled: set[Value] = set()
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
            if maker.cluster == task.cluster:
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
                self._emit(task, Automorph(action.element, action.source.prime, source, target))
            elif action.source not in self._direct:
                self._store(task, action.source, action.limb)
            self._forget(task, task.reads)
            self._share(task)
        return [
            Program(
                tuple(load for _, load in sorted(own.loads, key=lambda each: each[0])),
                with_gaps(own.operations, own.tables_before, own.origins, self._cycles),
                tuple(own.stores),
            )
            for own in self._clusters
        ]

    def _emit(self, task: Task, operation: Operation) -> None:
        own = self._clusters[task.cluster]
        own.operations.append(operation)
        ahead = -self._design.read_cycles(self._design.stream_rows)
        own.behind = max(ahead, own.behind - self._cycles.occupied(operation))
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
        """Writes values that another cluster needs to memory; frees values without users."""
        for value in task.writes:
            if self._goes_to_memory(task, value) and value not in self._memory:
                self._spill(task, value)
            if value not in self._direct and not self._uses[task.cluster, value]:
                self._release(task.cluster, value)

    # ---- memory ----------------------------------------------------------------------------------

    def _load(self, task: Task, stream: int, value: Value | Limb) -> Stream:
        stored = _Stored(value, None) if isinstance(value, Limb) else self._memory[value]
        own = self._clusters[task.cluster]
        load = Load(stored.limb, self._shape.rows, stream, after_store=stored.after)
        own.loads.append((len(own.operations), load))
        own.behind += self._design.read_cycles(self._shape.rows)
        return Stream(stream)

    def _copy(self, value: Value, source: Slot | Stream, target: Slot | None) -> Point:
        """A value to another place; without one, to memory."""
        one = Constant(self._design.factor(self._primes[value.prime]))
        return Point(source, (Result(value.prime, one, None, False, target, target is None),))

    def _store(self, task: Task, value: Value, limb: Limb) -> None:
        own = self._clusters[task.cluster]
        source = own.placed.get(value) or self._load(task, X_STREAM, value)
        self._emit(task, self._copy(value, source, None))
        own.stores.append(Store(limb, self._shape.rows, 0))

    def _spill(self, task: Task, value: Value) -> None:
        self._store(task, value, _spilled(value))
        self._note_stored(task, value)

    def _note_stored(self, task: Task, value: Value) -> None:
        """A value is in memory from the last store on."""
        stores = len(self._clusters[task.cluster].stores)
        self._memory[value] = _Stored(_spilled(value), (task.cluster, stores))
        self.spilled.add(value)

    def _stream(self, task: Task) -> int:
        """The load stream for a factor that may come by any: they take turns."""
        own = self._clusters[task.cluster]
        own.turn = (own.turn + 1) % FACTOR_STREAMS
        return own.turn

    # ---- places ----------------------------------------------------------------------------------

    def _next_use(self, cluster: int, value: Value, after: int) -> int:
        for use in self._uses[cluster, value]:
            if use > after:
                return use
        return len(self._tasks)

    def _free_slot(
        self,
        task: Task,
        avoid: Collection[int],
        rather_not: Collection[int],
        beside: Collection[int] = (),
    ) -> Slot:
        """A place in a bank that is not to be avoided."""
        own = self._clusters[task.cluster]
        banks = [bank for bank in self._order if bank not in avoid]
        with_room = [bank for bank in banks if own.free[bank]]
        if not with_room:
            self._make_room(task, banks)
            with_room = [bank for bank in banks if own.free[bank]]
        bank = max(
            with_room,
            key=lambda one: (one not in rather_not, one not in beside, len(own.free[one])),
        )
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

    def _place(
        self,
        task: Task,
        value: Value,
        avoid: Collection[int],
        instead: Value | None,
        result: int | None = None,
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
        avoid = {*avoid, *self._factor_banks(task, value, avoid)}
        beside = self._beside(task, value)
        slot = self._free_slot(task, avoid, self._unwanted(task, value), beside)
        own.placed[value] = slot
        self._pinned.add(value)
        return slot

    def _unwanted(self, task: Task, value: Value) -> set[int]:
        """Banks in which a value would be in the way."""
        number = self._next_use(task.cluster, value, self._number)
        following = None if number == len(self._tasks) else self._tasks[number]
        uses = len(self._uses[task.cluster, value])
        return unwanted_banks(value, following, uses, self._design)

    def _factor_banks(self, task: Task, value: Value, avoid: Collection[int]) -> set[int]:
        """Banks that a value is kept out of, even if another one has to give way for it."""
        unwanted = self._unwanted(task, value)
        uses = len(self._uses[task.cluster, value])
        banks = set(range(self._design.banks)) - set(avoid)
        return unwanted if kept_out(unwanted, uses, self._design) and banks - unwanted else set()

    def _beside(self, task: Task, value: Value) -> set[int]:
        """Banks of what the next task that uses a value uses with it."""
        number = self._next_use(task.cluster, value, self._number)
        if number == len(self._tasks):
            return set()
        own, following = self._clusters[task.cluster], self._tasks[number]
        if not isinstance(following.action, PointTask):
            return set()
        others = [other for other in following.reads if other is not value and other in own.placed]
        return {own.placed[other].bank for other in others}

    def _resident(
        self,
        task: Task,
        value: Value,
        avoid: Collection[int],
        rather_not: Collection[int] | None = None,
    ) -> Slot:
        """A value's place in none of some banks; it is fetched from memory, or moved."""
        own = self._clusters[task.cluster]
        there = own.placed.get(value)
        if there is not None and there.bank not in avoid:
            return there
        avoid = {*avoid, *self._factor_banks(task, value, avoid)}
        unwanted = self._unwanted(task, value) if rather_not is None else rather_not
        slot = self._free_slot(task, avoid, unwanted)
        source: Slot | Stream = there or self._load(task, X_STREAM, value)
        self._emit(task, self._copy(value, source, slot))
        self._release(task.cluster, value)
        own.placed[value] = slot
        return slot

    def _by_stream(self, task: Task, value: Value) -> bool:
        """Whether a value comes by a stream: it lies in memory, and a place is not worth while."""
        own = self._clusters[task.cluster]
        if value in own.placed or value not in self._memory:
            return False
        following = self._next_use(task.cluster, value, self._number)
        if following == len(self._tasks):
            return True
        if len(self._uses[task.cluster, value]) <= self._few and own.behind <= self._patience:
            return True
        room = sum(map(len, own.free)) > KEPT_FREE
        return following > self._number + SOON and not room

    # ---- tasks -----------------------------------------------------------------------------------

    def _point(self, task: Task, action: PointTask) -> None:
        x, factors, banks = self._operands(task, action)
        results: list[Result] = []
        taken: set[int] = set()
        own = self._clusters[task.cluster]
        for index, each in enumerate(action.results):
            z = None if each.z is None else self._part(each.z, action.x, banks)
            limb, target = self._direct.get(each.target), None
            if limb is None and self._goes_to_memory(task, each.target):
                limb = _spilled(each.target)
            used_soon = self._next_use(task.cluster, each.target, self._number) <= (
                self._number + _LATER
            )
            if limb is None or (each.target not in self._direct and used_soon):
                instead = each.z if isinstance(each.z, Value) else None
                target = self._place(task, each.target, taken, instead, index)
                taken.add(target.bank)
            results.append(
                Result(each.prime, factors[index], z, each.subtract, target, limb is not None)
            )
            if limb is not None:
                own.stores.append(Store(limb, self._shape.rows, index))
                if each.target not in self._direct:
                    self._note_stored(task, each.target)
        self._emit(task, Point(x, tuple(results)))

    @staticmethod
    def _part(
        part: Value | Limb | Constant, x: Value, banks: Mapping[Value, Slot]
    ) -> Slot | Constant | Same:
        """Where a y or z that comes by no stream is read."""
        if part is x:
            return Same()
        if isinstance(part, Value):
            return banks[part]
        assert isinstance(part, Constant)  # limbs of keys come by streams
        return part

    def _goes_to_memory(self, task: Task, value: Value) -> bool:
        """Whether a value gave way the first time, or another cluster wants it."""
        return value in self._give_way or bool(self._users[value] - {task.cluster})

    def _operands(
        self, task: Task, action: PointTask
    ) -> tuple[Slot | Stream, list[Source], dict[Value, Slot]]:
        """Where x, each result's y, and what lies in banks come from."""
        own, results = self._clusters[task.cluster], action.results
        summands = {each.z for each in results if isinstance(each.z, Value)} - {action.x}
        room = BESIDE - len(summands)  # for factors from banks
        streamed: list[int] = []  # results whose y comes by a stream
        for index, each in enumerate(results):
            if isinstance(each.y, Limb):
                streamed.append(index)
            elif isinstance(each.y, Value) and each.y is not action.x:
                by_stream = room <= 0 if each.y in own.placed else self._by_stream(task, each.y)
                if each.y in self._memory and (by_stream or room <= 0):
                    streamed.append(index)
                else:
                    room -= 1
        x_streamed = self._by_stream(task, action.x)
        banks: dict[Value, Slot] = {}
        placed: list[Value] = [] if x_streamed else [action.x]
        placed += [each.z for each in results if each.z in summands]
        placed += [
            each.y
            for index, each in enumerate(results)
            if isinstance(each.y, Value) and each.y is not action.x and index not in streamed
        ]
        no_sums = range(self._design.results, self._design.banks)
        for value in dict.fromkeys(placed):
            avoid = {slot.bank for slot in banks.values()}
            rather_not = no_sums if value in summands else None
            banks[value] = self._resident(task, value, avoid, rather_not)
        numbers = [*range(FACTOR_STREAMS)] if len(streamed) > 1 else [self._stream(task)]
        x: Slot | Stream = self._load(task, X_STREAM, action.x) if x_streamed else banks[action.x]
        factors: list[Source] = []
        for index, each in enumerate(results):
            if index in streamed:
                assert isinstance(each.y, Value | Limb)
                factors.append(self._load(task, numbers.pop(0), each.y))
            else:
                factors.append(self._part(each.y, action.x, banks))
        return x, factors, banks

    def _transform(self, task: Task, action: TransformTask) -> None:
        """A transform; in several instructions where one has not entries, or tables, enough."""
        most = self._design.table_rows // table_rows(self._shape)
        turns: list[Turn] = []
        for turn in action.turns:
            primes = {each.prime for each in (*turns, turn)}
            if len(primes) > most or len(turns) == MAX_ENTRIES:
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
        late = self._read_late(own)
        turns = sorted(
            turns,
            key=lambda turn: isinstance(at := sources.get(turn.source), Slot) and at.bank in late,
        )
        for turn in turns:
            source = sources.get(turn.source) or self._load(task, X_STREAM, turn.source)
            entries.append(
                Entry(turn.prime, tables[turn.prime], source, targets[turn.target], turn.reduce)
            )
        self._emit(task, Transform(inverse, tuple(entries)))
        for table in tables.values():
            own.table_users[table] = len(own.operations)

    @staticmethod
    def _read_late(own: _Cluster) -> set[int]:
        """Banks that the last instruction still reads when it has issued all its rows."""
        last = own.operations[-1] if own.operations else None
        if not isinstance(last, Point):
            return set()
        parts = (part for each in last.results for part in (each.y, each.z))
        return {part.bank for part in parts if isinstance(part, Slot)}

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
            users = own.table_users.get(row, 0)
            limb = Limb("table", "", (key[0], int(inverse)))
            load = Load(limb, rows, None, row, after_computing=users)
            own.loads.append((min(users + _TABLE_AHEAD, len(own.operations)), load))
        return {prime: own.tables[prime, inverse] for prime in primes}
