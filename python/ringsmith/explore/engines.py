"""What tries points: this process, several processes, or a Ray cluster.

Every engine yields each job's result once. A worker that dies costs the point that it was at, which
is tried again; a point at which workers die ``ATTEMPTS`` times is given up by name.
"""

import os
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from ringsmith.errors import ParameterError, ToolError
from ringsmith.explore.evaluate import Evaluator
from ringsmith.explore.points import Job, Tried
from ringsmith.explore.request import Request

PROCESSES, RAY = "processes", "ray"
ENGINES = (PROCESSES, RAY)

ATTEMPTS = 3

_AHEAD = 4
"""Jobs for each worker that are handed out before the first one ends."""

_own: list[Evaluator] = []
"""A worker's evaluator, made when it starts."""

Host = dict[str, dict[str, float]]


class Engine(Protocol):
    """Tries points."""

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Tried]]:
        """Each job with what was found, in the order in which they end."""
        ...

    def close(self) -> None:
        """Ends workers."""
        ...


class InProcess:
    """Tries points in this process."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Tried]]:
        """See ``Engine.run``."""
        for job in jobs:
            yield job, self._evaluator.tried(job)

    def close(self) -> None:
        """Nothing is to be ended."""


def _start(request: Request, host: Host) -> None:
    _own[:] = [Evaluator(request, host)]


def _try(job: Job) -> Tried:
    return _own[0].tried(job)


def _serve(connection: Connection, request: Request, host: Host) -> None:
    """Tries the points that come over a connection until it is closed."""
    _start(request, host)
    while True:
        try:
            job: Job = connection.recv()
        except EOFError:
            return
        connection.send(_try(job))


@dataclass
class _Worker:
    """A worker process, the connection to it, and what it is at."""

    process: BaseProcess
    connection: Connection
    job: Job | None = None


class Processes:
    """Tries points in worker processes; one that dies is replaced.

    Each has a connection of its own: a worker that dies takes no lock with it.
    """

    def __init__(self, request: Request, host: Host, workers: int) -> None:
        self._request, self._host, self._count = request, host, workers
        self._workers: list[_Worker] = []

    @property
    def process_ids(self) -> list[int]:
        """Of the workers that run."""
        return [each.process.pid for each in self._workers if each.process.pid is not None]

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Tried]]:
        """See ``Engine.run``.

        Raises:
            ToolError: If workers died ``ATTEMPTS`` times at a point.
        """
        left, died = deque(jobs), Counter[Job]()
        while left or any(each.job for each in self._workers):
            while len(self._workers) < min(self._count, len(left) + self._busy()):
                self._workers.append(self._started())
            for each in self._workers:
                if each.job is None and left:
                    each.job = left.popleft()
                    with suppress(BrokenPipeError):  # it died: seen below
                        each.connection.send(each.job)
            ready = wait([each.connection for each in self._workers if each.job])
            for each in [one for one in self._workers if one.connection in ready]:
                job = each.job
                assert job is not None
                try:
                    found: Tried = each.connection.recv()
                except (EOFError, ConnectionError):
                    self._workers.remove(each)
                    _end(each)
                    died[job] += 1
                    _check_died(job, died[job])
                    left.appendleft(job)
                else:
                    each.job = None
                    yield job, found

    def _busy(self) -> int:
        return sum(each.job is not None for each in self._workers)

    def _started(self) -> _Worker:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        arguments = (theirs, self._request, self._host)
        process = context.Process(target=_serve, args=arguments, daemon=True)
        process.start()
        theirs.close()  # so that its end closes ours
        return _Worker(process, ours)

    def close(self) -> None:
        """Ends the workers."""
        while self._workers:
            _end(self._workers.pop())


def _end(worker: _Worker) -> None:
    worker.connection.close()
    worker.process.terminate()
    worker.process.join()


def _check_died(job: Job, times: int) -> None:
    """Gives up a point at which workers die.

    Raises:
        ToolError: If they did ``ATTEMPTS`` times.
    """
    if times >= ATTEMPTS:
        raise ToolError(
            f"worker processes ended {times} times at {job.architecture} {dict(job.values)}: it "
            "may need more memory than there is; take fewer --workers"
        )


class Ray:
    """Tries points on a Ray cluster: the one in ``RAY_ADDRESS``, else one on this machine.

    Raises:
        ToolError: If Ray is not installed, or its cluster does not start.
    """

    def __init__(self, request: Request, host: Host, workers: int) -> None:
        try:
            import ray
        except ImportError:
            raise ToolError(
                "--engine ray needs Ray, which is not installed: pip install 'ringsmith[ray]', or "
                "leave --engine out"
            ) from None
        self._ray: Any = ray
        address = os.environ.get("RAY_ADDRESS")
        if not ray.is_initialized():
            options = {"address": address} if address else {"num_cpus": workers}
            try:
                ray.init(include_dashboard=False, log_to_driver=False, **options)
            except Exception as error:  # Ray raises bare exceptions where a cluster is too slow
                raise ToolError(
                    f"Ray's cluster did not start: {error}: try again on a machine that is less "
                    "busy, set RAY_ADDRESS to a cluster that runs, or leave --engine out"
                ) from None
        self._context = ray.put((request, host))
        self._remote = ray.remote(num_cpus=1, max_retries=ATTEMPTS)(_try_remotely)
        self.workers = workers

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Tried]]:
        """See ``Engine.run``; Ray tries a task again whose worker died.

        Raises:
            ToolError: If workers died more than ``ATTEMPTS`` times at a point.
        """
        left = [*jobs]
        under_way: dict[Any, Job] = {}
        while left or under_way:
            while left and len(under_way) < _AHEAD * self.workers:
                job = left.pop(0)
                under_way[self._remote.remote(self._context, job)] = job
            done, _ = self._ray.wait([*under_way], num_returns=1)
            for reference in done:
                job = under_way.pop(reference)
                try:
                    found = self._ray.get(reference)
                except self._ray.exceptions.WorkerCrashedError:
                    raise ToolError(
                        f"Ray's workers died at {job.architecture} {dict(job.values)}: see Ray's "
                        "logs, or leave --engine out"
                    ) from None
                yield job, found

    def close(self) -> None:
        """Leaves the cluster."""
        self._ray.shutdown()


def _try_remotely(context: tuple[Request, Host], job: Job) -> Tried:
    """Tries a point in a worker of Ray's, whose evaluator is kept as long as it is the same."""
    request, host = context
    if not _own or _own[0].request != request or _own[0].host != host:
        _start(request, host)
    return _try(job)


def engine(name: str, evaluator: Evaluator, workers: int) -> Engine:
    """An engine by its name.

    Raises:
        ParameterError: If there is none of that name, or no worker.
        ToolError: If what it needs is not installed.
    """
    if name not in ENGINES:
        raise ParameterError(f"no engine {name!r}: choose one of {', '.join(ENGINES)}")
    if workers < 1:
        raise ParameterError(f"{workers} workers: give at least one")
    if name == RAY:
        return Ray(evaluator.request, evaluator.host, workers)
    if workers == 1:
        return InProcess(evaluator)
    return Processes(evaluator.request, evaluator.host, workers)
