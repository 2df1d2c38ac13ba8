"""Places for the values of tasks, and the instructions that work on them.

The order of tasks is fixed, so that every next use is known: where a bank is full, what is used
again last gives way (Belady), to memory if it is not there. What lies in memory and is used once
comes by a stream, without a place.

That is done several times: what gave way goes to memory as soon as it is made the next time, by the
store stream of the instruction that makes it; and where memory has time to spare, it is read again
rather than kept. The fastest programs count.
"""

from collections.abc import Mapping, Sequence

from ringsmith.backends.vector.compiler.scratchpads import Scratchpads, spilled_limb
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
    BANK_OPERANDS,
    FACTOR_STREAMS,
    MAX_ENTRIES,
    X_STREAM,
    Automorph,
    Constant,
    Entry,
    Limb,
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
    spilled: frozenset[Value] = frozenset()
    found: list[list[Program]] = []
    cycles = Cycles(design, shape)
    for choice in _TRIES:
        for _ in range(2):
            allocation = _Allocation(tasks, primes, design, shape, spilled, choice, cycles)
            found.append(allocation.programs())
            spilled = allocation.spilled
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
        self._tasks, self._design, self._shape, self._cycles = tasks, design, shape, cycles
        self._pads = Scratchpads(tasks, primes, design, shape, give_way, choice, cycles)
        made = {value: task for task in tasks for value in task.writes}
        self._direct = self._handed_out_at_once(made)

    @property
    def spilled(self) -> frozenset[Value]:
        """What gave way to memory."""
        return frozenset(self._pads.spilled)

    def _handed_out_at_once(self, made: Mapping[Value, Task]) -> dict[Value, Limb]:
        """Results of point tasks that nothing but an output wants."""
        found: dict[Value, Limb] = {}
        for task in self._tasks:
            if not isinstance(task.action, OutputTask):
                continue
            source = task.action.source
            maker = made.get(source)
            alone = (
                self._pads.users[source] == {task.cluster}
                and len(self._pads.uses[task.cluster, source]) == 1
            )
            if maker is None or not isinstance(maker.action, PointTask) or not alone:
                continue
            if maker.cluster == task.cluster:
                found[source] = task.action.limb
                self._pads.uses[task.cluster, source].clear()
        return found

    # ---- the whole -------------------------------------------------------------------------------

    def programs(self) -> list[Program]:
        for number in range(len(self._tasks)):
            self._pads.number = number
            self._pads.order_run()
            task = self._pads.tasks[number]
            action = task.action
            self._pads.pinned = set(task.reads)
            if isinstance(action, PointTask):
                self._point(task, action)
            elif isinstance(action, TransformTask):
                self._transform(task, action)
            elif isinstance(action, AutomorphTask):
                source = self._pads.resident(task, action.source, ())
                target = self._pads.place(task, action.target, {source.bank}, None)
                self._pads.emit(
                    task, Automorph(action.element, action.source.prime, source, target)
                )
            elif action.source not in self._direct:
                self._pads.store(task, action.source, action.limb)
            self._pads.forget(task, task.reads)
            self._share(task)
        return [
            Program(
                tuple(load for _, load in sorted(own.loads, key=lambda each: each[0])),
                with_gaps(own.operations, own.tables_before, own.origins, self._cycles),
                tuple(own.stores),
            )
            for own in self._pads.clusters
        ]

    def _share(self, task: Task) -> None:
        """Writes values that another cluster needs to memory; frees values without users."""
        for value in task.writes:
            if self._pads.goes_to_memory(task, value) and value not in self._pads.memory:
                self._pads.spill(task, value)
            if value not in self._direct and not self._pads.uses[task.cluster, value]:
                self._pads.release(task.cluster, value)

    # ---- tasks -----------------------------------------------------------------------------------

    def _point(self, task: Task, action: PointTask) -> None:
        x, factors, banks = self._operands(task, action)
        results: list[Result] = []
        taken: set[int] = set()
        own = self._pads.clusters[task.cluster]
        for index, each in enumerate(action.results):
            z = None if each.z is None else self._part(each.z, action.x, banks)
            limb, target = self._direct.get(each.target), None
            if limb is None and self._pads.goes_to_memory(task, each.target):
                limb = spilled_limb(each.target)
            used_soon = self._pads.next_use(task.cluster, each.target, self._pads.number) <= (
                self._pads.number + _LATER
            )
            if limb is None or (each.target not in self._direct and used_soon):
                instead = each.z if isinstance(each.z, Value) else None
                target = self._pads.place(task, each.target, taken, instead, index)
                taken.add(target.bank)
            results.append(
                Result(each.prime, factors[index], z, each.subtract, target, limb is not None)
            )
            if limb is not None:
                own.stores.append(Store(limb, self._shape.rows, index))
                if each.target not in self._direct:
                    self._pads.note_stored(task, each.target)
        self._pads.emit(task, Point(x, tuple(results)))

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

    def _operands(
        self, task: Task, action: PointTask
    ) -> tuple[Slot | Stream, list[Source], dict[Value, Slot]]:
        """Where x, each result's y, and what lies in banks come from."""
        own, results = self._pads.clusters[task.cluster], action.results
        summands = {each.z for each in results if isinstance(each.z, Value)} - {action.x}
        left = BANK_OPERANDS - len(summands)  # for factors from banks
        streamed: list[int] = []  # results whose y comes by a stream
        for index, each in enumerate(results):
            if isinstance(each.y, Limb):
                streamed.append(index)
            elif isinstance(each.y, Value) and each.y is not action.x:
                by_stream = (
                    left <= 0 if each.y in own.placed else self._pads.by_stream(task, each.y)
                )
                if each.y in self._pads.memory and (by_stream or left <= 0):
                    streamed.append(index)
                else:
                    left -= 1
        x_streamed = self._pads.by_stream(task, action.x)
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
            banks[value] = self._pads.resident(task, value, avoid, rather_not)
        numbers = [*range(FACTOR_STREAMS)] if len(streamed) > 1 else [self._pads.stream(task)]
        x: Slot | Stream = (
            self._pads.load(task, X_STREAM, action.x) if x_streamed else banks[action.x]
        )
        factors: list[Source] = []
        for index, each in enumerate(results):
            if index in streamed:
                assert isinstance(each.y, Value | Limb)
                factors.append(self._pads.load(task, numbers.pop(0), each.y))
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
        own, rows = self._pads.clusters[task.cluster], self._shape.rows
        tables = self._pads.tables(task, [turn.prime for turn in turns], inverse)
        most = self._design.stream_rows // rows
        streamed = [turn for turn in turns if self._pads.by_stream(task, turn.source)][:most]
        sources: dict[Value, Slot | Stream] = {
            turn.source: self._pads.resident(task, turn.source, ())
            for turn in turns
            if turn not in streamed
        }
        targets = {}
        for turn in turns:
            again = sum(other.source is turn.source for other in turns) > 1
            instead = None if again else turn.source
            targets[turn.target] = self._pads.place(task, turn.target, (), instead)
        entries = []
        late = self._pads.read_late(own)
        turns = sorted(
            turns,
            key=lambda turn: isinstance(at := sources.get(turn.source), Slot) and at.bank in late,
        )
        for turn in turns:
            source = sources.get(turn.source) or self._pads.load(task, X_STREAM, turn.source)
            entries.append(
                Entry(turn.prime, tables[turn.prime], source, targets[turn.target], turn.reduce)
            )
        self._pads.emit(task, Transform(inverse, tuple(entries)))
        for table in tables.values():
            own.table_users[table] = len(own.operations)
