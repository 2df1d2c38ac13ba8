"""Point tasks put together: sums into products before them, and two products with a common factor.

Only tasks near each other are looked at: a fused result is computed sooner than
before, and occupies a slot from then on.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ringsmith.backends.vector.compiler.tasks import PointTask, ResultTask, Task, Value
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.isa.instructions import BANK_OPERANDS, Constant

_NEAR = 8
"""Tasks that are looked back."""


def fused(tasks: Sequence[Task], primes: Sequence[int], design: VectorDesign) -> list[Task]:
    """The same results from fewer tasks.

    Args:
        tasks: What is to be done, in order.
        primes: The graph's primes.
        design: The design, whose array has this many results for each lane.
    """
    ones = [design.factor(q) for q in primes]
    found = _with_sums(tasks, ones)
    return _in_pairs(found) if design.results > 1 else found


Single = tuple[PointTask, ResultTask]


def _single(task: Task) -> Single | None:
    """A point task with one result, and that result."""
    action = task.action
    if isinstance(action, PointTask) and len(action.results) == 1:
        return action, action.results[0]
    return None


def _with_sums(tasks: Sequence[Task], ones: Sequence[int]) -> list[Task]:
    """x*y, and later its sum with something that was there before: one task."""
    uses = Counter(value for task in tasks for value in task.reads)
    kept: list[Task] = []
    places: dict[Value, int] = {}  # where a product without a summand was made
    made: dict[Value, int] = {}
    for task in tasks:
        own = _single(task)
        total = None if own is None else _as_sum(*own, ones)
        done = False
        if own is not None and total is not None:
            for product, other in (total, total[::-1]):
                place = places.get(product)
                if place is None or uses[product] != 1 or len(kept) - place > _NEAR:
                    continue
                if made.get(other, -1) >= place or kept[place].cluster != task.cluster:
                    continue
                action = kept[place].action
                assert isinstance(action, PointTask)
                result = replace(action.results[0], z=other, target=own[1].target)
                kept[place] = replace(
                    kept[place], action=PointTask(action.x, (result,)), origin=task.origin
                )
                made[own[1].target] = place
                del places[product]
                done = True
                break
        if done:
            continue
        if own is not None and own[1].z is None:
            places[own[1].target] = len(kept)
        made.update((value, len(kept)) for value in task.writes)
        kept.append(task)
    return kept


def _as_sum(
    action: PointTask, result: ResultTask, ones: Sequence[int]
) -> tuple[Value, Value] | None:
    """The two summands of a task that adds; None: it does something else.

    A residue modulo another prime is no summand, which must be below the result's.
    """
    adds = (
        action.x.prime == result.prime
        and result.y == Constant(ones[result.prime])
        and isinstance(result.z, Value)
        and not result.subtract
    )
    return (action.x, result.z) if adds and isinstance(result.z, Value) else None


def _in_pairs(tasks: Sequence[Task]) -> list[Task]:
    """Two tasks of one result each that share a factor: one task of two results."""
    kept: list[Task] = []
    made: dict[Value, int] = {}
    for task in tasks:
        own = _single(task)
        place = None if own is None else _partner(kept, made, task, *own)
        if place is None:
            made.update((value, len(kept)) for value in task.writes)
            kept.append(task)
            continue
        action = kept[place].action
        assert isinstance(action, PointTask)
        assert own is not None
        x = next(value for value in _factors(*own) if value in _factors(action, action.results[0]))
        both = tuple(_times(x, *each) for each in ((action, action.results[0]), own))
        kept[place] = replace(kept[place], action=PointTask(x, both))
        made[own[1].target] = place
    return kept


def _factors(action: PointTask, result: ResultTask) -> list[Value]:
    return [value for value in (result.y, action.x) if isinstance(value, Value)]


def _times(x: Value, action: PointTask, result: ResultTask) -> ResultTask:
    """A result of which x is to be the shared factor."""
    return result if action.x is x else replace(result, y=action.x)


def _partner(
    kept: Sequence[Task],
    made: dict[Value, int],
    task: Task,
    action: PointTask,
    result: ResultTask,
) -> int | None:
    """Where a task is that another one can be made with; None: there is none."""
    for place in range(len(kept) - 1, max(-1, len(kept) - 1 - _NEAR), -1):
        other = _single(kept[place])
        if other is None or kept[place].cluster != task.cluster:
            continue
        if any(made.get(value, -1) >= place for value in task.reads):
            return None
        if _go_together((action, result), other):
            return place
    return None


def _go_together(one: Single, other: Single) -> bool:
    """Whether two tasks share a factor, and need no more limbs of banks than are read at once.

    Each result's stage reads its own limbs, some cycles after the one before: so all differ.
    """
    shared = [value for value in _factors(*one) if value in _factors(*other)]
    squares = any(action.x is result.y for action, result in (one, other))
    if not shared or squares:
        return False
    x = shared[0]
    summands = [each.z for _, each in (one, other) if isinstance(each.z, Value)]
    factors = [value for each in (one, other) for value in _factors(*each) if value is not x]
    placed = sum(value.memory is None for value in factors) + len(summands)
    others = [*factors, *summands]
    return placed <= BANK_OPERANDS and x not in summands and len(set(others)) == len(others)
