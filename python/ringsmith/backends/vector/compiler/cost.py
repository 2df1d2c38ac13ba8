"""What a graph costs on a design: by the compiler's fastest programs, or by one of its tries.

The compiler places limbs several times and takes the fastest programs. An estimate does that once,
with the compiler's own rules for banks, copies and streams, and its schedule. Which limbs give way
is known there from the try before. Here a walk over the tasks finds them: a scratchpad of as many
limbs without banks, in which what is used again last gives way (Belady).
"""

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from ringsmith.backends.vector.compiler.allocation import allocate_once
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.lowering import lower
from ringsmith.backends.vector.compiler.memory_map import check_size
from ringsmith.backends.vector.compiler.quotients import moduli_of
from ringsmith.backends.vector.compiler.scratchpads import KEPT_FREE, SOON, kept_out, unwanted_banks
from ringsmith.backends.vector.compiler.tasks import (
    OutputTask,
    PointTask,
    Task,
    TransformTask,
    Value,
)
from ringsmith.backends.vector.compiler.timeline import Cycles
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.word_layout import Shape
from ringsmith.backends.vector.isa.instructions import (
    SPILLED,
    Limb,
    Load,
    Operation,
    Point,
    Store,
    Stream,
    Transform,
)
from ringsmith.backends.vector.isa.instructions import Automorph as AutomorphOperation
from ringsmith.caching import cached
from ringsmith.graph import SubroutineGraph

NTT, INTT, INNER, CONVERSIONS, AUTOMORPH = (
    "NTT", "inverse NTT", "inner product", "conversions, products, sums", "automorphism",
)  # fmt: skip
"""Subroutines by which cycles are reported."""


@dataclass(frozen=True)
class Cost:
    """Cycles of a graph, and what they are spent on.

    Attributes:
        cycles: From the start until the last result is in memory.
        compute: In which the array of the busiest cluster takes rows.
        permutation: In which its network does.
        memory: In which its memory hands out, or takes, what no scratchpad avoids.
        spilled: In which it moves, beyond that, what the design does not hold.
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


def estimate(graph: SubroutineGraph, design: VectorDesign) -> Cost:
    """Estimates a graph on a design.

    Raises:
        ProgramError: If a node is none that the architecture has, or memory is too small for the
            program.
    """
    shape = design.shape(graph.n.bit_length() - 1)
    together = Cycles(design, shape).together
    tasks = _tasks(_Asked(graph, design, id(graph), together, _capabilities(design)))
    give_way = _giving_way(tasks, design, shape.rows)
    keep = _mostly_moves(tasks, design, shape)
    moduli = moduli_of(graph, design)
    programs = allocate_once(tasks, moduli, design, shape, give_way, keep=keep)
    check_size(programs, design)
    return cost_of(VectorExecutable(design, graph, tuple(programs)))


def exact(graph: SubroutineGraph, design: VectorDesign) -> Cost:
    """Compiles a graph for a design, and counts.

    Raises:
        ProgramError: If it cannot be compiled; says why.
    """
    return cost_of(compile_graph(graph, design))


# ---- tasks, which many designs share -----------------------------------------------------------


@dataclass(frozen=True)
class _Asked:
    """A graph, and all of a design that its tasks follow from."""

    graph: SubroutineGraph = field(compare=False, repr=False)
    design: VectorDesign = field(compare=False, repr=False)
    number: int
    together: int
    capabilities: tuple[int | str, ...]


def _capabilities(design: VectorDesign) -> tuple[int | str, ...]:
    return design.results, design.clusters, design.reduction, design.word_bits, design.log_n


@cached
def _tasks(asked: _Asked) -> tuple[Task, ...]:
    return tuple(lower(asked.graph, asked.design, asked.together))


def _mostly_moves(tasks: Sequence[Task], design: VectorDesign, shape: Shape) -> bool:
    """Whether operands and keys take memory longer than computing takes the array."""
    operands: set[Value] = set()
    keys = rows = 0
    for task in tasks:
        operands.update(value for value in task.reads if value.memory is not None)
        action = task.action
        if isinstance(action, TransformTask):
            rows += shape.passes * len(action.turns)
        elif not isinstance(action, OutputTask):
            rows += 1
        if isinstance(action, PointTask):
            keys += sum(isinstance(each.y, Limb) for each in action.results)
    return design.read_cycles((len(operands) + keys) * shape.rows) > rows * shape.rows


# ---- what gives way ----------------------------------------------------------------------------


class _Scratchpad:
    """What a cluster holds, by when it is used again: in banks of sums, and in the others."""

    def __init__(self, tasks: Sequence[Task], design: VectorDesign, rows: int) -> None:
        self._tasks, self._design = tasks, design
        limbs, self._sums = design.bank_rows // rows, set(range(design.results))
        self._free = {True: limbs * design.results, False: limbs * (design.banks - design.results)}
        self._held: dict[Value, tuple[int, bool]] = {}  # -> its next use; whether in a bank of sums
        self._heaps: dict[bool, list[tuple[int, int, Value]]] = {True: [], False: []}
        self.uses: dict[Value, deque[int]] = defaultdict(deque)

    @property
    def free_slots(self) -> int:
        """Free slots of the banks."""
        return sum(self._free.values())

    def __contains__(self, value: Value) -> bool:
        return value in self._held

    def keep(self, value: Value, following: int) -> Value | None:
        """Holds a value that is used next by a task; returns what gives way."""
        uses = len(self.uses[value])
        unwanted = unwanted_banks(value, self._tasks[following], uses, self._design)
        where, victim = bool(unwanted - self._sums), None
        if not unwanted:
            where = self._free[True] > self._free[False]
        if not self._free[where]:
            if not kept_out(unwanted, uses, self._design) and self._free[not where]:
                where = not where
            else:
                both = (where,) if kept_out(unwanted, uses, self._design) else (True, False)
                victim, where = self._give_way(both)
        self._free[where] -= 1
        self._hold(value, following, where)
        return victim

    def _hold(self, value: Value, following: int, where: bool) -> None:
        self._held[value] = following, where
        heappush(self._heaps[where], (-following, value.number, value))

    def _give_way(self, banks: Sequence[bool]) -> tuple[Value, bool]:
        """Lets what is used last give way; returns it, and where it was."""
        for where in banks:
            heap = self._heaps[where]
            while self._held.get(heap[0][2]) != (-heap[0][0], where):
                heappop(heap)
        where = min(banks, key=lambda each: self._heaps[each][0])
        victim = heappop(self._heaps[where])[2]
        del self._held[victim]
        self._free[where] += 1
        return victim, where

    def used(self, value: Value, number: int) -> None:
        """Notes that a task has used a value."""
        uses = self.uses[value]
        while uses and uses[0] <= number:
            uses.popleft()
        if value in self._held:
            _, where = self._held[value]
            if uses:
                self._hold(value, uses[0], where)
            else:
                del self._held[value]
                self._free[where] += 1


def _giving_way(tasks: Sequence[Task], design: VectorDesign, rows: int) -> frozenset[Value]:
    """Values that are made, do not stay in the scratchpad, and are used again."""
    clusters = [_Scratchpad(tasks, design, rows) for _ in range(design.clusters)]
    for number, task in enumerate(tasks):
        for value in dict.fromkeys(task.reads):
            clusters[task.cluster].uses[value].append(number)
    gone: set[Value | None] = set()
    for number, task in enumerate(tasks):
        own, reads = clusters[task.cluster], dict.fromkeys(task.reads)
        for value in reads:
            if value in own or not (value.memory is not None or value in gone):
                continue
            uses = own.uses[value]
            if len(uses) > 1 and (uses[1] <= number + SOON or own.free_slots > KEPT_FREE):
                gone.add(own.keep(value, number))
        for value in _places_for_results(task):
            reads.pop(value, None)
            own.used(value, number)
        for value in task.writes:
            if uses := own.uses[value]:
                gone.add(own.keep(value, uses[0]))
        for value in reads:
            own.used(value, number)
    return frozenset(value for value in gone if value is not None and value.memory is None)


def _places_for_results(task: Task) -> list[Value]:
    """Operands whose places results take, where they are used no more."""
    action = task.action
    if isinstance(action, TransformTask):
        return task.reads
    if isinstance(action, PointTask):
        return [each.z for each in action.results if isinstance(each.z, Value)]
    return []


# ---- counts of a compiled graph ----------------------------------------------------------------


def cost_of(compiled: VectorExecutable) -> Cost:
    """What a compiled graph costs: bounds and parts are those of the busiest cluster."""
    design, cycles = compiled.design, Cycles(compiled.design, compiled.shape)
    found = []
    for own in compiled.programs:
        parts: Counter[str] = Counter()
        for each in own.computing:
            parts[subroutine(each.operation)] += cycles.busy(each.operation)
        seen: set[Limb] = set()
        needed = max(
            design.read_cycles(_first_rows(own.loads, seen)),
            design.write_cycles(_first_rows(own.stores, set())),
        )
        moved = max(
            design.read_cycles(sum(load.rows for load in own.loads)),
            design.write_cycles(sum(store.rows for store in own.stores)),
        )
        found.append((parts.total(), moved, needed, parts))
    compute, moved, needed, parts = max(found, key=lambda each: each[0])
    return Cost(
        compiled.cycles,
        compute,
        sum(parts[part] for part in (NTT, INTT, AUTOMORPH)),
        needed,
        moved - needed,
        dict(parts),
        compiled.bytes_read + compiled.bytes_written,
    )


def _first_rows(moves: Sequence[Load | Store], seen: set[Limb]) -> int:
    """Rows of what is moved for the first time, and not because a scratchpad is too small."""
    rows = 0
    for each in moves:
        if each.limb.kind != SPILLED and each.limb not in seen:
            seen.add(each.limb)
            rows += each.rows
    return rows


def subroutine(operation: Operation) -> str:
    """The subroutine of an instruction."""
    if isinstance(operation, Transform):
        return INTT if operation.inverse else NTT
    if isinstance(operation, AutomorphOperation):
        return AUTOMORPH
    assert isinstance(operation, Point)
    keyed = any(isinstance(each.y, Stream) and each.z is not None for each in operation.results)
    return INNER if keyed else CONVERSIONS
