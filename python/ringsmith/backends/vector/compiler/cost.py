"""What a graph costs on a design: by the compiler's fastest programs, or by one of its tries.

The compiler places limbs several times and takes the fastest programs. An estimate does that once,
with the compiler's own rules for banks, copies and streams, and its schedule. Which limbs give way
is known there from the try before. Here a walk over the tasks finds them: a scratchpad of as many
limbs without banks, in which what is used again last gives way (Belady).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ringsmith.backends.vector.compiler.allocation import estimated
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.lowering import lower
from ringsmith.backends.vector.compiler.memory_map import check_size
from ringsmith.backends.vector.compiler.quotients import moduli_of
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
    keep = _mostly_moves(tasks, design, shape)
    moduli = moduli_of(graph, design)
    programs = estimated(tasks, moduli, design, shape, keep=keep)
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
