"""What lies where while instructions are made: scratchpads, memory, and what clusters still use.

Where a bank is full, what is used again last gives way (Belady), to memory if it is not there. What
lies in memory and is used once comes by a stream, without a place.
"""

from bisect import insort
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ringsmith.backends.vector.compiler.runs import Run, runs, with_terms
from ringsmith.backends.vector.compiler.tasks import (
    PointTask,
    Task,
    TransformTask,
    Value,
)
from ringsmith.backends.vector.compiler.timeline import Cycles
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.word_layout import Shape, table_rows
from ringsmith.backends.vector.isa.instructions import (
    FACTOR_STREAMS,
    SPILLED,
    X_STREAM,
    Constant,
    Limb,
    Load,
    Operation,
    Point,
    Result,
    Slot,
    Store,
    Stream,
)

_TABLE_AHEAD = 4
"""Instructions after a table's last user before whose loads another table takes its rows."""

_OFTEN = 3
"""Uses of a factor from which on something else gives way for it."""

KEPT_FREE = 4
"""Free places that are left for what is made."""

SOON = 12
"""Tasks within which a second use makes it worth while to keep a limb that comes from memory."""


def unwanted_banks(
    value: Value, following: Task | None, uses: int, design: VectorDesign
) -> set[int]:
    """Banks in which a value would be in the way.

    A sum that is added to lies in the bank of its result's number, so that factors, which are
    used together with the sums of an instruction, lie in others.

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
    if len(action.results) == 1:
        return set()
    for index, each in enumerate(action.results):
        if each.z is value:
            return set(range(design.banks)) - {index}
    several = len(action.results) > 1 or any(isinstance(r.z, Value) for r in action.results)
    return set(range(design.results)) if several else set()


def kept_out(unwanted: Collection[int], uses: int, design: VectorDesign) -> bool:
    """Whether a value lies in no unwanted bank, even if another one has to give way for it."""
    return unwanted == set(range(design.results)) and design.banks > 3 and uses >= _OFTEN


def _factor(task: Task) -> Value:
    """The factor of a term of a run."""
    assert isinstance(task.action, PointTask)
    return task.action.x


def _spread(tasks: Sequence[Task], others: Sequence[Task]) -> list[Task]:
    """Tasks in order, with others between them at equal distances."""
    places = [(index + 1) / (len(tasks) + 1) for index in range(len(tasks))]
    between = [(index + 0.5) / len(others) for index in range(len(others))]
    both = [*zip(places, tasks, strict=True), *zip(between, others, strict=True)]
    return [task for _, task in sorted(both, key=lambda each: each[0])]


def spilled_limb(value: Value) -> Limb:
    """Where a value lies in memory that gave way."""
    return Limb(SPILLED, "", (value.number,))


@dataclass(frozen=True)
class Stored:
    """A value in memory.

    Attributes:
        limb: Where.
        after: Cluster and number of the store that puts it there; None: it is there from the start.
    """

    limb: Limb
    after: tuple[int, int] | None


class Cluster:
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


class Scratchpads:
    """The clusters' lists and scratchpads, task by task.

    Args:
        tasks: What is to be done, in order.
        primes: The graph's primes.
        design: The design.
        shape: Its array, in the graph's ring.
        give_way: What goes to memory as soon as it is made.
        choice: Uses up to which a stream is preferred to a place, and by how many limbs memory may
            be behind the array for that.
        cycles: Cycles of the design's instructions.
    """

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
        self.tasks, self._primes, self._design, self._shape = [*tasks], primes, design, shape
        self._runs = runs(tasks)
        self.spilled: set[Value] = set()
        self.clusters = [Cluster(design, shape) for _ in range(design.clusters)]
        self.memory: dict[Value, Stored] = {}
        self.uses: dict[tuple[int, Value], deque[int]] = defaultdict(deque)
        self.users: dict[Value, set[int]] = defaultdict(set)
        for number, task in enumerate(tasks):
            for value in dict.fromkeys(task.reads):
                self.uses[task.cluster, value].append(number)
                self.users[value].add(task.cluster)
                if value.memory is not None:
                    self.memory[value] = Stored(value.memory, None)
        self.number = 0
        self.pinned: set[Value] = set()

    # ---- runs ------------------------------------------------------------------------------------

    def order_run(self) -> None:
        """Takes the terms of the run that begins now bank by bank."""
        run = self._runs.get(self.number)
        if run is None or run[0] != self.number:
            return
        terms = [self.tasks[number] for number in run]
        own = self.clusters[terms[0].cluster]
        by_bank: dict[int | None, list[Task]] = defaultdict(list)
        for term in terms:
            slot = own.placed.get(_factor(term))
            by_bank[None if slot is None else slot.bank].append(term)
        from_memory = by_bank.pop(None, [])
        sums = {own.placed[z].bank for z in terms[0].reads[1:] if z in own.placed}
        banks = sorted(by_bank, key=lambda bank: (bank in sums, -len(by_bank[bank]), bank))
        ordered = [term for bank in banks for term in by_bank[bank]]
        cluster = terms[0].cluster
        for number, term in zip(run, terms, strict=True):
            self.uses[cluster, _factor(term)].remove(number)
        for number, term in zip(run, _spread(ordered, from_memory), strict=True):
            self.tasks[number] = with_terms(self.tasks[number], term)
            insort(self.uses[cluster, _factor(term)], number)

    def _bank_of_next_term(self, cluster: int) -> set[int]:
        """The bank of the next term's factor in the run that a task is in."""
        run = self._runs.get(self.number)
        if run is None or run[-1] == self.number:
            return set()
        following = self.tasks[run[run.index(self.number) + 1]]
        slot = self.clusters[cluster].placed.get(_factor(following))
        return set() if slot is None else {slot.bank}

    def _run_bank(self, cluster: int, run: Run) -> set[int]:
        """The bank where factors of a run are, or should be."""
        own = self.clusters[cluster]
        counts = Counter(
            slot.bank for number in run if (slot := own.placed.get(_factor(self.tasks[number])))
        )
        banks = [bank for bank in self._order if len(own.free[bank]) > KEPT_FREE // 2]
        if not banks:
            return set()
        return {max(banks, key=lambda bank: (counts[bank], len(own.free[bank])))}

    # ---- lists -----------------------------------------------------------------------------------

    def emit(self, task: Task, operation: Operation) -> None:
        """Writes an instruction of a task to list ``computing`` of its cluster."""
        own = self.clusters[task.cluster]
        own.operations.append(operation)
        ahead = -self._design.read_cycles(self._design.stream_rows)
        own.behind = max(ahead, own.behind - self._cycles.occupied(operation))
        own.tables_before.append(own.table_loads)
        own.origins.append(task.origin)

    def forget(self, task: Task, values: Iterable[Value]) -> None:
        """Frees the places of what the cluster uses no more."""
        for value in dict.fromkeys(values):
            uses = self.uses[task.cluster, value]
            while uses and uses[0] <= self.number:
                uses.popleft()
            if not uses:
                self.release(task.cluster, value)

    def release(self, cluster: int, value: Value) -> None:
        """Frees the place of a value in the scratchpad of a cluster, if it has one."""
        own = self.clusters[cluster]
        slot = own.placed.pop(value, None)
        if slot is not None:
            own.free[slot.bank].append(slot.index)

    def load(self, task: Task, stream: int, value: Value | Limb) -> Stream:
        """Writes a load of a value, or of a limb in memory, to a stream."""
        stored = Stored(value, None) if isinstance(value, Limb) else self.memory[value]
        own = self.clusters[task.cluster]
        load = Load(stored.limb, self._shape.rows, stream, after_store=stored.after)
        own.loads.append((len(own.operations), load))
        own.behind += self._design.read_cycles(self._shape.rows)
        return Stream(stream)

    def _copy(self, value: Value, source: Slot | Stream, target: Slot | None) -> Point:
        """A value to another place; without one, to memory."""
        one = Constant(self._design.factor(self._primes[value.prime]))
        return Point(source, (Result(value.prime, one, None, False, target, target is None),))

    def store(self, task: Task, value: Value, limb: Limb) -> None:
        """Writes a value to a limb of memory."""
        own = self.clusters[task.cluster]
        source = own.placed.get(value) or self.load(task, X_STREAM, value)
        self.emit(task, self._copy(value, source, None))
        own.stores.append(Store(limb, self._shape.rows, 0))

    def spill(self, task: Task, value: Value) -> None:
        """Writes a value to memory, from where it can be read again."""
        self.store(task, value, spilled_limb(value))
        self.note_stored(task, value)

    def note_stored(self, task: Task, value: Value) -> None:
        """A value is in memory from the last store on."""
        stores = len(self.clusters[task.cluster].stores)
        self.memory[value] = Stored(spilled_limb(value), (task.cluster, stores))
        self.spilled.add(value)

    def stream(self, task: Task) -> int:
        """The load stream for a factor that may come by any: they take turns."""
        own = self.clusters[task.cluster]
        own.turn = (own.turn + 1) % FACTOR_STREAMS
        return own.turn

    def next_use(self, cluster: int, value: Value, after: int) -> int:
        """Returns the next task of a cluster that uses a value; the number of tasks: none does."""
        for use in self.uses[cluster, value]:
            if use > after:
                return use
        return len(self.tasks)

    def _free_slot(
        self,
        task: Task,
        avoid: Collection[int],
        rather_not: Collection[int],
        used_together: Collection[int] = (),
    ) -> Slot:
        """A place in a bank that is not to be avoided."""
        own = self.clusters[task.cluster]
        banks = [bank for bank in self._order if bank not in avoid]
        with_space = [bank for bank in banks if own.free[bank]]
        if not with_space:
            self._make_space(task, banks)
            with_space = [bank for bank in banks if own.free[bank]]
        bank = max(
            with_space,
            key=lambda one: (one not in rather_not, one not in used_together, len(own.free[one])),
        )
        return Slot(bank, own.free[bank].pop())

    def _make_space(self, task: Task, banks: Collection[int]) -> None:
        own = self.clusters[task.cluster]
        there = [
            value
            for value, slot in own.placed.items()
            if slot.bank in banks and value not in self.pinned
        ]
        victim = max(there, key=lambda value: self.next_use(task.cluster, value, self.number - 1))
        if victim not in self.memory and self.next_use(task.cluster, victim, self.number - 1) < len(
            self.tasks
        ):
            self.spill(task, victim)
        self.release(task.cluster, victim)

    def place(
        self,
        task: Task,
        value: Value,
        avoid: Collection[int],
        instead: Value | None,
        result: int | None = None,
    ) -> Slot:
        """A place for a result: that of an operand that is used no more, or a free one."""
        own = self.clusters[task.cluster]
        avoid = {*avoid, *self._bank_of_next_term(task.cluster)}
        if instead is not None and instead in own.placed:
            slot = own.placed[instead]
            last = self.next_use(task.cluster, instead, self.number) == len(self.tasks)
            if last and slot.bank not in avoid:
                del own.placed[instead]
                own.placed[value] = slot
                self.pinned.add(value)
                return slot
        avoid = {*avoid, *self._factor_banks(task, value, avoid)}
        used_together = self._used_together(task, value)
        slot = self._free_slot(task, avoid, self._unwanted(task, value), used_together)
        own.placed[value] = slot
        self.pinned.add(value)
        return slot

    def _unwanted(self, task: Task, value: Value) -> set[int]:
        """Banks in which a value would be in the way."""
        number = self.next_use(task.cluster, value, self.number)
        if (run := self._runs.get(number)) is not None:
            own = self._run_bank(task.cluster, run)
            is_term = _factor(self.tasks[number]) is value
            return set(range(self._design.banks)) - own if is_term else own
        following = None if number == len(self.tasks) else self.tasks[number]
        uses = len(self.uses[task.cluster, value])
        return unwanted_banks(value, following, uses, self._design)

    def _factor_banks(self, task: Task, value: Value, avoid: Collection[int]) -> set[int]:
        """Banks that a value is kept out of, even if another one has to give way for it."""
        unwanted = self._unwanted(task, value)
        uses = len(self.uses[task.cluster, value])
        banks = set(range(self._design.banks)) - set(avoid)
        return unwanted if kept_out(unwanted, uses, self._design) and banks - unwanted else set()

    def _used_together(self, task: Task, value: Value) -> set[int]:
        """Banks of what the next task that uses a value uses with it."""
        number = self.next_use(task.cluster, value, self.number)
        if number == len(self.tasks):
            return set()
        own, following = self.clusters[task.cluster], self.tasks[number]
        if not isinstance(following.action, PointTask):
            return set()
        others = [other for other in following.reads if other is not value and other in own.placed]
        return {own.placed[other].bank for other in others}

    def resident(
        self,
        task: Task,
        value: Value,
        avoid: Collection[int],
        rather_not: Collection[int] | None = None,
    ) -> Slot:
        """A value's place in none of some banks; it is fetched from memory, or moved."""
        own = self.clusters[task.cluster]
        there = own.placed.get(value)
        if there is not None and there.bank not in avoid:
            return there
        avoid = {*avoid, *self._factor_banks(task, value, avoid)}
        unwanted = self._unwanted(task, value) if rather_not is None else rather_not
        slot = self._free_slot(task, avoid, unwanted)
        source: Slot | Stream = there or self.load(task, X_STREAM, value)
        self.emit(task, self._copy(value, source, slot))
        self.release(task.cluster, value)
        own.placed[value] = slot
        return slot

    def by_stream(self, task: Task, value: Value) -> bool:
        """Whether a value comes by a stream: it lies in memory, and a place is not worth while."""
        own = self.clusters[task.cluster]
        if value in own.placed or value not in self.memory:
            return False
        following = self.next_use(task.cluster, value, self.number)
        if following == len(self.tasks):
            return True
        if len(self.uses[task.cluster, value]) <= self._few and own.behind <= self._patience:
            return True
        if following <= self.number + SOON or sum(map(len, own.free)) > KEPT_FREE:
            return False
        often = len(self.uses[task.cluster, value]) >= _OFTEN
        return not (often and self._is_held_for_later(task.cluster, following))

    def _is_held_for_later(self, cluster: int, following: int) -> bool:
        """Whether a value in memory has a place, too, and is used after another one's next use."""
        return any(
            value in self.memory and self.next_use(cluster, value, self.number - 1) > following
            for value in self.clusters[cluster].placed
        )

    def goes_to_memory(self, task: Task, value: Value) -> bool:
        """Whether a value gave way the first time, or another cluster wants it."""
        return value in self._give_way or bool(self.users[value] - {task.cluster})

    def tables(self, task: Task, primes: Sequence[int], inverse: bool) -> dict[int, int]:
        """Rows of the tables of some primes in the twiddle memory, where they are put."""
        own, rows = self.clusters[task.cluster], table_rows(self._shape)
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

    @staticmethod
    def read_late(own: Cluster) -> set[int]:
        """Banks that the last instruction still reads when it has issued all its rows."""
        last = own.operations[-1] if own.operations else None
        if not isinstance(last, Point):
            return set()
        parts = (part for each in last.results for part in (each.y, each.z))
        return {part.bank for part in parts if isinstance(part, Slot)}
