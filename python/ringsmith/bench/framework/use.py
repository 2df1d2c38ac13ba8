"""How busy the array is, beside the paper's figure 9: shares of cycles in which it takes a row."""

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.timeline import Cycles
from ringsmith.backends.vector.isa.instructions import Point, Transform

PARTS: Mapping[str, str] = MappingProxyType(
    {
        "array": "rows that the array took over all cycles",
        "transforms": "rows of transforms over cycles from their first row to their last",
        "transforms_waits": "rows of transforms over those cycles and the waits before transforms",
        "points_waits": "rows of point instructions, which make basis conversions, sums and "
        "products, over their cycles and the waits before them",
    }
)
"""What is counted of an operation, and how."""


def array_share(executable: VectorExecutable) -> float:
    """Rows that the array took over all cycles of all clusters."""
    use = executable.use
    return (use.transforms + use.points) / (executable.design.clusters * executable.cycles)


def shares(executable: VectorExecutable) -> Iterator[tuple[str, float]]:
    """Each of ``PARTS`` that the program has, of 1."""
    yield "array", array_share(executable)
    cycles = Cycles(executable.design, executable.shape)
    busy: Counter[type] = Counter()
    occupied: Counter[type] = Counter()
    waits: Counter[type] = Counter()
    for program, times in zip(executable.programs, executable.schedules, strict=True):
        free = 0
        for each, span in zip(program.computing, times.computing, strict=True):
            kind, own = type(each.operation), cycles.occupied(each.operation)
            busy[kind] += cycles.busy(each.operation)
            occupied[kind] += own
            waits[kind] += span.begin - free
            free = span.begin + own
    if busy[Transform]:
        yield "transforms", busy[Transform] / occupied[Transform]
        both = occupied[Transform] + waits[Transform]
        yield "transforms_waits", busy[Transform] / both
    if busy[Point]:
        yield "points_waits", busy[Point] / (occupied[Point] + waits[Point])
