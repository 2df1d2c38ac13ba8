"""Runs of point tasks that add to the same sums, whose order is free.

A cluster reads an instruction's operands from different banks. A factor that lies in the bank of a
sum would have to be copied first. So the terms of a run are taken bank by bank, and the sums are
written where the next term is not.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ringsmith.backends.vector.compiler.tasks import PointTask, Task, Value
from ringsmith.backends.vector.isa.instructions import Constant, Limb


def runs(tasks: Sequence[Task]) -> dict[int, range]:
    """Runs of two tasks or more, by the number of each task that is in one."""
    uses = Counter(value for task in tasks for value in task.reads)
    found: dict[int, range] = {}
    first = 0
    for number in range(1, len(tasks) + 1):
        if number < len(tasks) and _continues(tasks[first:number], tasks[number], uses):
            continue
        if number - first > 1:
            found.update(dict.fromkeys(range(first, number), range(first, number)))
        first = number
    return found


def _continues(before: Sequence[Task], task: Task, uses: Counter[Value]) -> bool:
    """Whether a task is a further term of the sums of those before."""
    last, own = before[-1].action, task.action
    if not isinstance(last, PointTask) or not isinstance(own, PointTask):
        return False
    if before[-1].cluster != task.cluster or len(last.results) != len(own.results):
        return False
    for each, sum_before in zip(own.results, last.results, strict=True):
        if each.z is not sum_before.target or each.subtract or uses[sum_before.target] != 1:
            return False
        if not isinstance(each.y, Constant | Limb) or not isinstance(sum_before.y, Constant | Limb):
            return False
    factors = [one.action.x for one in before if isinstance(one.action, PointTask)]
    return own.x not in factors and own.x not in before[-1].writes


def with_terms(task: Task, term: Task) -> Task:
    """A task of a run with the factors of another one of it."""
    own, other = task.action, term.action
    assert isinstance(own, PointTask)
    assert isinstance(other, PointTask)
    if own is other:
        return task
    results = tuple(
        replace(each, y=given.y) for each, given in zip(own.results, other.results, strict=True)
    )
    return replace(task, action=PointTask(other.x, results))
