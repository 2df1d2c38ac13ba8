"""Runs of terms whose order is free."""

from dataclasses import replace

from ringsmith.backends.vector.compiler.runs import runs, with_terms
from ringsmith.backends.vector.compiler.tasks import PointTask, ResultTask, Task, Value
from ringsmith.backends.vector.isa.instructions import Constant


def terms(count: int, first: int = 0) -> list[Task]:
    """Tasks that add products of values with numbers."""
    found, total = list[Task](), None
    for i in range(count):
        target = Value(first + 100 + i, 0)
        result = ResultTask(0, Constant(i), total, subtract=False, target=target)
        found.append(Task(0, PointTask(Value(first + i, 0), (result,)), -1))
        total = target
    return found


def test_sums_are_runs_with_other_tasks_between_them() -> None:
    one, other = terms(3), terms(2, 200)
    tasks = [one[0], other[0], one[1], other[1], one[2]]
    assert runs(tasks) == {0: (0, 2, 4), 2: (0, 2, 4), 4: (0, 2, 4), 1: (1, 3), 3: (1, 3)}


def test_a_sum_that_something_else_reads_ends_its_run() -> None:
    tasks = terms(4)
    second = tasks[1].writes[0]
    result = ResultTask(0, Constant(1), None, subtract=False, target=Value(999, 0))
    tasks.append(Task(0, PointTask(second, (result,)), -1))
    assert runs(tasks) == {0: (0, 1), 1: (0, 1), 2: (2, 3), 3: (2, 3)}


def test_a_factor_that_is_made_inside_a_run_begins_another() -> None:
    tasks = terms(4)
    factor = tasks[2].reads[0]
    made = ResultTask(0, Constant(1), None, subtract=False, target=factor)
    tasks.insert(1, Task(0, PointTask(Value(998, 0), (made,)), -1))
    assert runs(tasks) == {0: (0, 2), 2: (0, 2), 3: (3, 4), 4: (3, 4)}


def test_a_difference_is_no_term() -> None:
    tasks = terms(2)
    action = tasks[1].action
    assert isinstance(action, PointTask)
    minus = replace(action.results[0], subtract=True)
    assert runs([tasks[0], replace(tasks[1], action=PointTask(action.x, (minus,)))]) == {}


def test_terms_change_places_and_sums_do_not() -> None:
    first, second = terms(2)
    changed = with_terms(first, second)
    assert changed.writes == first.writes
    assert changed.reads == second.reads[:1]
