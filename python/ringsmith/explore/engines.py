"""What tries points: this process, several processes, or a Ray cluster.

Every engine yields each job's result once. A worker that dies costs the point that it was at, which
is tried again; a point at which workers die ``ATTEMPTS`` times is given up by name.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
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


class Processes:
    """Tries points in worker processes, which are started anew when one dies."""

    def __init__(self, request: Request, host: Host, workers: int) -> None:
        self._request, self._host, self.workers = request, host, workers
        self._pool: ProcessPoolExecutor | None = None

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self.workers, get_context("spawn"), _start, (self._request, self._host)
            )
        return self._pool

    @property
    def process_ids(self) -> list[int]:
        """Of the workers that run."""
        return [] if self._pool is None else [*self._pool._processes]

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Tried]]:
        """See ``Engine.run``.

        Raises:
            ToolError: If workers died ``ATTEMPTS`` times at a point.
        """
        left, died = [*jobs], Counter[Job]()
        under_way: dict[Future[Tried], Job] = {}
        while left or under_way:
            try:
                while left and len(under_way) < _AHEAD * self.workers:
                    under_way[self._started().submit(_try, left[0])] = left[0]
                    left.pop(0)
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    result = future.result()
                    yield under_way.pop(future), result
            except BrokenProcessPool:
                lost = [*under_way.values()]
                died.update(lost[: self.workers])
                under_way.clear()
                self.close()
                self._check(died)
                left = lost + left

    @staticmethod
    def _check(died: Counter[Job]) -> None:
        for job, times in died.items():
            if times >= ATTEMPTS:
                raise ToolError(
                    f"a worker process ended {times} times at or near {job.architecture} "
                    f"{dict(job.values)}: it may need more memory than there is; take fewer "
                    "--workers"
                )

    def close(self) -> None:
        """Ends the workers."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


class Ray:
    """Tries points on a Ray cluster: the one in ``RAY_ADDRESS``, else one on this machine.

    Raises:
        ToolError: If Ray is not installed.
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
            ray.init(include_dashboard=False, log_to_driver=False, **options)
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
