"""Tasks and lists as the arrays that the allocator, which is C++, takes and returns.

Records are those of ``allocator/tasks.h`` and ``allocator/lists.h``, a row each.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ringsmith.backends.vector.compiler._allocator import Lists, Machine, Problem
from ringsmith.backends.vector.compiler.tasks import (
    AutomorphTask,
    OutputTask,
    PointTask,
    Task,
    TransformTask,
    Value,
)
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.isa.instructions import (
    SPILLED,
    Automorph,
    Computing,
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
from ringsmith.caching import cached

_TRANSFORM, _POINT, _AUTOMORPH, _OUTPUT = range(4)
_NONE, _VALUE, _LIMB, _CONSTANT = range(4)
_SLOT, _STREAM, _WORD, _SAME = range(1, 5)
_IN_MEMORY, _SPILLED, _TABLE = range(3)
_BANK_SHIFT = 20


def rows_of(content: bytes, columns: int) -> NDArray[np.int64]:
    """Records of an array of the allocator's."""
    return np.frombuffer(content, np.int64).reshape(-1, columns)


def _array(rows: Iterable[int], columns: int) -> NDArray[np.int64]:
    return np.array(rows, np.int64).reshape(-1, columns)


# ---- tasks -------------------------------------------------------------------------------------


class TaskArrays:
    """Tasks as arrays.

    Args:
        tasks: What is to be done, in order.
        primes: The moduli of values.
        design: The design.
        machine: Its numbers, in the graph's ring.

    Attributes:
        problem: What the allocator takes.
    """

    def __init__(
        self, tasks: Sequence[Task], primes: Sequence[int], design: VectorDesign, machine: Machine
    ) -> None:
        self._limbs: dict[Limb, int] = {}
        self._primes: list[int] = []
        self._memory: list[int] = []
        rows: list[int] = []
        parts: list[int] = []
        first = 0
        for task in tasks:
            kind, extra = self._add(task, parts)
            count = len(parts) // 7 - first
            rows += (kind, task.cluster, task.origin, first, count, extra)
            first += count
        ones = [design.factor(q) for q in primes]
        self.problem = Problem(
            machine, _array(rows, 6), _array(parts, 7), self._primes, self._memory, ones
        )

    def _add(self, task: Task, parts: list[int]) -> tuple[int, int]:
        """Adds the parts of a task; returns its kind and what is common to them."""
        action = task.action
        if isinstance(action, PointTask):
            for each in action.results:
                parts.append(each.prime)
                parts += self._operand(each.y)
                parts += (_NONE, 0) if each.z is None else self._operand(each.z)
                parts += (each.subtract, self._value(each.target))
            return _POINT, self._value(action.x)
        if isinstance(action, TransformTask):
            for turn in action.turns:
                source, target = self._value(turn.source), self._value(turn.target)
                parts += (turn.prime, _VALUE, source, _NONE, 0, turn.reduce, target)
            return _TRANSFORM, action.inverse
        source, prime = self._value(action.source), action.source.prime
        target = self._value(action.target) if isinstance(action, AutomorphTask) else 0
        parts += (prime, _VALUE, source, _NONE, 0, False, target)
        if isinstance(action, OutputTask):
            return _OUTPUT, self._limb(action.limb)
        return _AUTOMORPH, action.element

    def _operand(self, part: Value | Limb | Constant) -> tuple[int, int]:
        if isinstance(part, Value):
            return _VALUE, self._value(part)
        if isinstance(part, Limb):
            return _LIMB, self._limb(part)
        return _CONSTANT, part.word

    def _value(self, value: Value) -> int:
        """The number of a value, which is noted."""
        missing = value.number + 1 - len(self._primes)
        if missing > 0:
            self._primes += [0] * missing
            self._memory += [-1] * missing
        self._primes[value.number] = value.prime
        if value.memory is not None:
            self._memory[value.number] = self._limb(value.memory)
        return value.number

    def _limb(self, limb: Limb) -> int:
        return self._limbs.setdefault(limb, len(self._limbs))

    def program_of(self, lists: Lists) -> Program:
        """The lists of a cluster that tasks became."""
        return _Program(tuple(self._limbs)).of(lists)


# ---- lists -------------------------------------------------------------------------------------


@cached
def _slot(code: int) -> Slot:
    return Slot(code >> _BANK_SHIFT, code & (1 << _BANK_SHIFT) - 1)


@cached
def _source(kind: int, value: int) -> Source:
    if kind == _SLOT:
        return _slot(value)
    return Stream(value) if kind == _STREAM else Constant(value) if kind == _WORD else Same()


class _Program:
    """Reads a cluster's lists."""

    def __init__(self, limbs: Sequence[Limb]) -> None:
        self._limbs = limbs

    def of(self, lists: Lists) -> Program:
        entries = rows_of(lists.entries, 9).tolist()
        return Program(
            tuple(map(self._load, rows_of(lists.loads, 8).tolist())),
            tuple(self._computing(row, entries) for row in rows_of(lists.computing, 9).tolist()),
            tuple(self._store(row) for row in rows_of(lists.stores, 4).tolist()),
        )

    def _limb(self, where: int, number: int) -> Limb:
        if where == _IN_MEMORY:
            return self._limbs[number]
        if where == _SPILLED:
            return Limb(SPILLED, "", (number,))
        return Limb("table", "", divmod(number, 2))

    def _load(self, row: Sequence[int]) -> Load:
        where, number, rows, stream, first, cluster, count, computing = row
        after = None if cluster < 0 else (cluster, count)
        own = None if stream < 0 else stream
        return Load(self._limb(where, number), rows, own, first, after, computing)

    def _store(self, row: Sequence[int]) -> Store:
        where, number, rows, stream = row
        return Store(self._limb(where, number), rows, stream)

    def _computing(self, row: Sequence[int], entries: Sequence[Sequence[int]]) -> Computing:
        kind, extra, x_kind, x, first, count, gap, tables, origin = row
        own = entries[first : first + count]
        operation: Operation
        if kind == _TRANSFORM:
            operation = Transform(bool(extra), tuple(map(self._entry, own)))
        elif kind == _POINT:
            source = _source(x_kind, x)
            assert isinstance(source, Slot | Stream)
            operation = Point(source, tuple(map(self._result, own)))
        else:
            prime, _, slot, _, _, _, target, _, _ = own[0]
            operation = Automorph(extra, prime, _slot(slot), _slot(target))
        return Computing(operation, gap, tables, origin)

    @staticmethod
    def _entry(row: Sequence[int]) -> Entry:
        prime, kind, source, _, _, reduce, target, _, table = row
        found = _source(kind, source)
        assert isinstance(found, Slot | Stream)
        return Entry(prime, table, found, _slot(target), bool(reduce))

    @staticmethod
    def _result(row: Sequence[int]) -> Result:
        prime, y_kind, y, z_kind, z, subtract, target, store, _ = row
        summand = _source(z_kind, z) if z_kind else None
        assert not isinstance(summand, Stream)
        place = None if target < 0 else _slot(target)
        return Result(prime, _source(y_kind, y), summand, bool(subtract), place, bool(store))


def lists_of(program: Program) -> Lists:
    """A cluster's lists as arrays, without what is loaded and stored, which times do not need."""
    loads: list[int] = []
    for load in program.loads:
        stream = -1 if load.stream is None else load.stream
        after = load.after_store or (-1, 0)
        loads += (0, 0, load.rows, stream, load.row, *after, load.after_computing)
    computing, entries = _operations(program.computing)
    stores: list[int] = []
    for store in program.stores:
        stores += (0, 0, store.rows, store.stream)
    return Lists(_array(loads, 8), computing, entries, _array(stores, 4))


def _operations(every: Sequence[Computing]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Instructions and their entries."""
    computing: list[int] = []
    entries: list[int] = []
    first = 0
    for each in every:
        own, x = each.operation, (_NONE, 0)
        if isinstance(own, Transform):
            kind, extra = _TRANSFORM, int(own.inverse)
            for entry in own.entries:
                source, target = _code(entry.source), _slot_code(entry.target)
                entries += (entry.prime, *source, 0, 0, entry.reduce, target, 0, entry.table)
        elif isinstance(own, Point):
            kind, extra, x = _POINT, 0, _code(own.x)
            for result in own.results:
                target = -1 if result.target is None else _slot_code(result.target)
                entries += (result.prime, *_code(result.y), *_code(result.z), result.subtract)
                entries += (target, result.store, 0)
        else:
            kind, extra = _AUTOMORPH, own.element
            source, target = _code(own.source), _slot_code(own.target)
            entries += (own.prime, *source, 0, 0, 0, target, 0, 0)
        count = len(entries) // 9 - first
        computing += (kind, extra, *x, first, count, each.gap, each.tables, each.origin)
        first += count
    return _array(computing, 9), _array(entries, 9)


def _slot_code(slot: Slot) -> int:
    return slot.bank << _BANK_SHIFT | slot.index


def _code(source: Source | None) -> tuple[int, int]:
    if source is None:
        return _NONE, 0
    if isinstance(source, Slot):
        return _SLOT, _slot_code(source)
    if isinstance(source, Stream):
        return _STREAM, source.number
    return (_WORD, source.word) if isinstance(source, Constant) else (_SAME, 0)
