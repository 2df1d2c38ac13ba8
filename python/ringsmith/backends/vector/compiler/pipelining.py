"""Work for the array between work that waits for memory.

In a phase, a group of primes begins with conversions and transforms, which need hardly any memory.
Products with keys and plaintexts follow, which mostly wait for it. So the first part of a cluster's
next group is taken between the tasks of the second part of its group.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate, groupby

from ringsmith.backends.vector.compiler.tasks import PointTask, Task, TransformTask
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.word_layout import Shape
from ringsmith.backends.vector.isa.instructions import Limb

_LITTLE = 0.1
"""What tasks that need no memory count for."""


def pipelined(tasks: Sequence[Task], design: VectorDesign, shape: Shape) -> list[Task]:
    """The same tasks in another order.

    Args:
        tasks: What is to be done, in order.
        design: The design.
        shape: Its array, in the graph's ring.
    """
    costs, found = _Costs(design, shape), list[Task]()
    for part, each in groupby(tasks, key=lambda task: task.step and task.step.phase):
        own = list(each)
        found += own if part is None else _phase(own, costs, design.clusters)
    return found


class _Costs:
    """Cycles of tasks, in rows of a limb."""

    def __init__(self, design: VectorDesign, shape: Shape) -> None:
        self._load = design.read_cycles(shape.rows) / shape.rows
        self._passes = shape.passes

    def array(self, task: Task) -> float:
        """Of the array."""
        action = task.action
        return self._passes * len(action.turns) if isinstance(action, TransformTask) else 1

    def memory(self, task: Task) -> float:
        """Of memory, for what lies there from the start; of any task at least a part of one."""
        results = task.action.results if isinstance(task.action, PointTask) else ()
        loads = sum(value.memory is not None for value in task.reads)
        loads += sum(isinstance(each.y, Limb) for each in results)
        return self._load * loads + _LITTLE


def _phase(tasks: Sequence[Task], costs: _Costs, clusters: int) -> list[Task]:
    """A phase: the first parts of groups ahead, cluster by cluster."""
    parts: dict[tuple[int, int, bool], list[Task]] = defaultdict(list)
    groups: dict[int, set[int]] = defaultdict(set)  # of each cluster
    for task in tasks:
        assert task.step is not None
        group = task.step.group
        parts[task.cluster, group, task.step.first].append(task)
        groups[task.cluster].add(group)
    found: list[Task] = []
    ordered = {cluster: range(min(own), max(own) + 1, clusters) for cluster, own in groups.items()}
    for cluster, own in ordered.items():
        found += parts[cluster, own[0], True]
    for number in range(max(map(len, ordered.values()))):
        for cluster, own in ordered.items():
            if number < len(own):
                ahead = parts[cluster, own[number + 1], True] if number + 1 < len(own) else []
                found += _merged(parts[cluster, own[number], False], ahead, costs)
    return found


def _merged(tasks: Sequence[Task], ahead: Sequence[Task], costs: _Costs) -> list[Task]:
    """Tasks, and others between them, by the share of memory's time that has passed."""
    memory, array = (
        list(accumulate(map(cost, each)))
        for cost, each in ((costs.memory, tasks), (costs.array, ahead))
    )
    found, taken = list[Task](), 0
    for task, passed in zip(tasks, memory, strict=True):
        found.append(task)
        while taken < len(ahead) and array[taken] * memory[-1] <= passed * array[-1]:
            found.append(ahead[taken])
            taken += 1
    return [*found, *ahead[taken:]]
