"""Worker processes of this machine."""

import signal
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic

from ringsmith.engines.work import ATTEMPTS, Context, Job, Outcome, Result, Work, attempt
from ringsmith.errors import ToolError


def _serve(connection: Connection, work: Work[Any, Any, Any]) -> None:
    """Does the jobs that come over a connection until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends its workers
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        connection.send(attempt(work, job))


@dataclass
class _Worker(Generic[Job]):
    """A worker process, the connection to it, and what it is at."""

    process: BaseProcess
    connection: Connection
    job: Job | None = None

    def end(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.join()


class Processes(Generic[Job, Result]):
    """Does jobs in worker processes; one that dies is replaced.

    Each has a connection of its own: a worker that dies takes no lock with it.

    Args:
        work: What workers know and do.
        workers: How many there are at most.
    """

    def __init__(self, work: Work[Context, Job, Result], workers: int) -> None:
        self._work, self._count = work, workers
        self._workers: list[_Worker[Job]] = []

    @property
    def process_ids(self) -> list[int]:
        """Of the workers that run."""
        return [each.process.pid for each in self._workers if each.process.pid is not None]

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Result]]:
        """See ``Engine.run``."""
        left, died = deque(jobs), Counter[Job]()
        while left or self._busy():
            while len(self._workers) < min(self._count, len(left) + self._busy()):
                self._workers.append(self._started())
            for each in self._workers:
                if each.job is None and left:
                    each.job = left.popleft()
                    with suppress(BrokenPipeError):  # it died: seen below
                        each.connection.send(each.job)
            ready = wait([each.connection for each in self._workers if each.job is not None])
            for each in [one for one in self._workers if one.connection in ready]:
                job = each.job
                assert job is not None
                try:
                    found: Outcome[Result] = each.connection.recv()
                except (EOFError, ConnectionError):
                    self._workers.remove(each)
                    each.end()
                    died[job] += 1
                    self._check_died(job, died[job])
                    left.appendleft(job)
                else:
                    each.job = None
                    yield job, found.value()

    def _busy(self) -> int:
        return sum(each.job is not None for each in self._workers)

    def _started(self) -> _Worker[Job]:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._work), daemon=True)
        process.start()
        theirs.close()  # so that its end closes ours
        return _Worker(process, ours)

    def _check_died(self, job: Job, times: int) -> None:
        """Gives up a job at which workers die."""
        if times >= ATTEMPTS:
            raise ToolError(
                f"worker processes ended {times} times at {self._work.name(job)}: it may need more "
                "memory than there is; take fewer --workers"
            )

    def close(self) -> None:
        """Ends the workers."""
        while self._workers:
            self._workers.pop().end()
