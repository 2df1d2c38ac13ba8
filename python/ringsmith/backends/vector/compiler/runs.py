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

Run = tuple[int, ...]
"""Numbers of tasks, ascending. Each adds to the sums of the one before."""


def runs(tasks: Sequence[Task]) -> dict[int, Run]:
    """Runs of two tasks or more, by the number of each task that is in one."""
    uses = Counter(value for task in tasks for value in task.reads)
    made: dict[Value, int] = {}
    growing: dict[Value, list[int]] = {}  # by their first sum
    for number, task in enumerate(tasks):
        if (own := _term(task)) is not None:
            z = own.results[0].z
            run = growing.get(z) if isinstance(z, Value) else None
            if isinstance(z, Value) and run and _continues(tasks, run, own, uses, made):
                del growing[z]
            else:
                run = []
            run.append(number)
            growing[own.results[0].target] = run
        made.update((value, number) for value in task.writes)
    return {number: tuple(run) for run in growing.values() if len(run) > 1 for number in run}


def _term(task: Task) -> PointTask | None:
    """A task that may be a term of sums."""
    action = task.action
    if not isinstance(action, PointTask):
        return None
    return action if all(isinstance(r.y, Constant | Limb) for r in action.results) else None


def _continues(
    tasks: Sequence[Task],
    run: Sequence[int],
    own: PointTask,
    uses: Counter[Value],
    made: dict[Value, int],
) -> bool:
    """Whether a task is a further term of the sums of a run."""
    last = tasks[run[-1]].action
    assert isinstance(last, PointTask)
    if len(last.results) != len(own.results) or made.get(own.x, -1) >= run[0]:
        return False
    if any(own.x is tasks[number].reads[0] for number in run):
        return False
    return all(
        each.z is before.target and not each.subtract and uses[before.target] == 1
        for each, before in zip(own.results, last.results, strict=True)
    )


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
