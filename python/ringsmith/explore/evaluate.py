"""One point: whether it is a design, whether it fits, what operations cost on it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, cast

import numpy as np

from ringsmith import _core
from ringsmith.backends.explorer import Explorer, Task
from ringsmith.backends.keys import core_key
from ringsmith.backends.random_operands import random_operands
from ringsmith.backends.registry import backend
from ringsmith.design_files import architecture_of, to_toml
from ringsmith.engines import Work
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.explore.points import Job, Tried
from ringsmith.explore.request import CPU, Request, explorer, graphs_of, task_of
from ringsmith.graph import SubroutineGraph

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ILLEGAL, CAPACITY, REFUSED = "illegal", "capacity", "refused"
"""Kinds of points that cannot be taken: no design, too large for the platform, an operation that
the design does not do."""


@dataclass
class Evaluator:
    """Tries points; one a process.

    Attributes:
        request: What is explored for.
        host: Architecture -> operation -> milliseconds of a host.
    """

    request: Request
    host: dict[str, dict[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.graphs: dict[str, SubroutineGraph] = graphs_of(self.request)
        self._tasks: dict[str, Task] = {}

    def task(self, architecture: str) -> Task:
        """What an architecture's explorer is asked."""
        if architecture not in self._tasks:
            host = self.host.get(architecture, {})
            self._tasks[architecture] = task_of(self.request, architecture, self.graphs, host)
        return self._tasks[architecture]

    def measure_host(self, architecture: str) -> None:
        """Measures what a host takes, where an architecture has one."""
        own = explorer(architecture)
        times = {name: own.with_host(graph) for name, graph in self.graphs.items()}
        found = {name: each for name, each in times.items() if each is not None}
        self._tasks.pop(architecture, None)
        if found:
            self.host[architecture] = found
            self.host[CPU] = {name: alone(graph) for name, graph in self.graphs.items()}

    def named(self, name: str) -> Tried:
        """Tries a named design, or one from a file, with the model's cycles.

        Raises:
            ParameterError: If there is no such design, or its architecture is not explored.
            ProgramError: If it does not do the operations.
        """
        architecture = architecture_of(name)
        design = backend(architecture).load_design(name)
        own, task = explorer(architecture), self.task(architecture)
        return Tried(
            architecture,
            (("design", name),),
            design.name,
            "; ".join(own.excess(design, task)),
            CAPACITY,
            own.usage(design),
            own.gigabytes_per_second(design, task),
            {each: own.exact(design, each, task) for each in task.graphs},
        )

    def design_file(self, point: Tried) -> str:
        """A point's design as the text of a design's file."""
        own = explorer(point.architecture)
        design = own.design(dict(point.values), self.task(point.architecture))
        return to_toml(cast("DataclassInstance", design), point.architecture)

    def tried(self, job: Job) -> Tried:
        """Tries a point."""
        own, task = explorer(job.architecture), self.task(job.architecture)
        found = Tried(job.architecture, job.values)
        try:
            design = own.design(dict(job.values), task)
            usage = own.usage(design)
        except ParameterError as error:
            return replace(found, reason=str(error), kind=ILLEGAL)
        found = replace(found, name=design.name, usage=usage)
        excess = own.excess(design, task)
        if excess:
            return replace(found, reason="; ".join(excess), kind=CAPACITY)
        if reason := _unknown_area(own, task):
            return replace(found, reason=reason, kind=REFUSED)
        ask = own.exact if job.exact else own.cost
        try:
            costs = {name: ask(design, name, task) for name in task.graphs}
            rate = own.gigabytes_per_second(design, task)
        except (ProgramError, ParameterError) as error:
            return replace(found, reason=str(error), kind=REFUSED)
        return replace(found, operations=costs, gigabytes_per_second=rate)


@dataclass(frozen=True)
class Known:
    """What a worker's evaluator is made of; see ``Evaluator``."""

    request: Request
    host: dict[str, dict[str, float]]


def work_of(evaluator: Evaluator) -> Work[Known, Job, Tried]:
    """What workers know and do: each tries points by an evaluator of its own."""
    return Work(Known(evaluator.request, evaluator.host), _started, str)


def _started(known: Known) -> Callable[[Job], Tried]:
    return Evaluator(known.request, known.host).tried


def _unknown_area(own: Explorer, task: Task) -> str:
    """Why a design that seems to fit does not count: areas are another family's."""
    family = task.platform.family
    if family in own.families:
        return ""
    return (
        f"areas of architecture {own.architecture} are known for {', '.join(own.families)} and "
        f"this platform is of {family}, where they are more: synthesize the design"
    )


REPEATS = 3


def alone(graph: SubroutineGraph) -> float:
    """The median of several runs, in milliseconds of one thread, on random residues and keys."""
    rng = np.random.default_rng(1)
    inputs, keys = random_operands(graph, rng)
    core, threads, times = graph.to_core(), _core.threads(), []
    whole = {name: core_key(key) for name, key in keys.items()}
    _core.set_threads(1)
    try:
        for _ in range(REPEATS):
            start = time.process_time()
            core.run(inputs, whole)
            times.append((time.process_time() - start) * 1e3)
    finally:
        _core.set_threads(threads)
    return median(times)
