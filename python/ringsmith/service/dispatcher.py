"""Dispatches jobs from the queue to workers, handles failures, and reports ends of jobs.

Everything here runs in the server's event loop. A job is stored in the database before it enters
the queue. Its end is stored before it is reported.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ringsmith.backends.fair_queue import FairQueue, QueueFullError, Ticket
from ringsmith.errors import DeviceError
from ringsmith.service.database import Database, JobRecord, RunState
from ringsmith.service.engine import Engine, Replica, WorkerLostError
from ringsmith.service.settings import Limits
from ringsmith.service.tasks import AHEAD, CANCELLED, Outcome, Task

log = logging.getLogger("ringsmith.service")

_LARGEST_QUEUE = 1 << 20
_FIRST_COST = 0.1
"""Assumed run time of a program, in seconds, before its first run."""
_MEMORY = 0.8
"""Weight of the previous estimate of a program's run time when a new run is averaged in."""
_CANCEL_SECONDS = 5.0
"""Seconds after which a worker that does not stop a cancelled job is killed."""
_RESTART_SECONDS = (0.0, 1.0, 5.0, 15.0)
"""Pauses before a lost worker is restarted; the last one is repeated."""


@dataclass
class Worker:
    """A replica and its state.

    Attributes:
        replica: The replica.
        running: Running tasks by name.
        held: Groups whose keys it has in memory.
        key_bytes: Memory that they take.
        jobs: Number of jobs that it has ended.
        busy_seconds: Seconds in which its device was busy.
        restarts: How often it was restarted.
        starting: Whether it is being restarted.
        alone: Whether it runs a job during which a worker died, and therefore no other job.
    """

    replica: Replica
    running: dict[str, Task] = field(default_factory=dict)
    held: frozenset[str] = frozenset()
    key_bytes: int = 0
    jobs: int = 0
    busy_seconds: float = 0.0
    restarts: int = 0
    starting: bool = False
    alone: bool = False

    @property
    def jobs_running(self) -> int:
        """Jobs that it has."""
        return sum(not task.is_check for task in self.running.values())

    @property
    def free(self) -> int:
        """How many more jobs it accepts; it reads some while others run."""
        if self.alone or not self.replica.places:
            return 0
        return self.replica.places + AHEAD - self.jobs_running


@dataclass(eq=False)
class _Waiting:
    """A job in the queue or in a worker."""

    task: Task
    client: int
    created: float
    ticket: "Ticket[_Waiting] | None" = None
    cancelled: bool = False


class Dispatcher:
    """Gives jobs to workers.

    Attributes:
        workers: All workers.
    """

    def __init__(
        self,
        database: Database,
        engine: Engine,
        limits: Limits,
        ended: Callable[[JobRecord, Outcome], None],
    ) -> None:
        """Makes a dispatcher that gives out no jobs before ``start``.

        Args:
            database: Stores the jobs.
            engine: Provides the workers.
            limits: Limits of queue and times.
            ended: Called for each job that has ended.
        """
        self._database, self._engine, self._limits = database, engine, limits
        self._ended = ended
        self._queue: FairQueue[_Waiting] = FairQueue(
            _LARGEST_QUEUE, _LARGEST_QUEUE, limits.patience_seconds
        )
        self._known: dict[str, _Waiting] = {}
        self._again: deque[_Waiting] = deque()
        """Jobs whose worker died: each is restarted in a worker that runs no other job."""
        self._checks: deque[tuple[Task, asyncio.Future[Outcome]]] = deque()
        self._told: dict[str, list[asyncio.Future[JobRecord]]] = {}
        self._costs: dict[str, float] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._closing = False
        self.workers = [Worker(replica) for replica in engine.replicas]

    async def start(self) -> None:
        """Starts all workers.

        Raises:
            DeviceError: If one does not start.
        """
        await asyncio.gather(*(worker.replica.start() for worker in self.workers))
        self._match()
        self._spawn(self._sweep())

    async def close(self) -> None:
        """Ends workers; jobs stay in the database for the next server."""
        self._closing = True
        for task in [*self._background]:
            task.cancel()
        await asyncio.gather(*(worker.replica.close() for worker in self.workers))
        await self._engine.close()
        await asyncio.gather(*self._background, return_exceptions=True)

    @property
    def waiting(self) -> int:
        """Number of jobs that no worker has."""
        return len(self._queue) + len(self._again)

    def submit(self, job: JobRecord, task: Task) -> None:
        """Puts a job of the database into the queue."""
        waiting = self._known[job.id] = _Waiting(task, job.client, job.created)
        self._put(waiting)
        self._match()

    def check_room(self) -> None:
        """Refuses a job if the queue is full.

        Raises:
            QueueFullError: If the queue is full.
        """
        if len(self._queue) >= self._limits.waiting_jobs:
            raise QueueFullError(f"{len(self._queue)} jobs wait, the most that this server takes")

    async def wait(self, identifier: str, seconds: float) -> JobRecord:
        """Waits until a job has ended or some time has passed; returns the job."""
        record = self._database.job(identifier)
        assert record is not None, "whoever waits has looked it up"
        if identifier not in self._known:
            return record
        future: asyncio.Future[JobRecord] = asyncio.get_running_loop().create_future()
        told = self._told.setdefault(identifier, [])
        told.append(future)
        try:
            async with asyncio.timeout(seconds):
                return await future
        except TimeoutError:
            return self._database.job(identifier) or record
        finally:
            with suppress(ValueError):
                told.remove(future)
            if not told:
                self._told.pop(identifier, None)

    async def check(self, task: Task) -> Outcome:
        """Makes a worker check uploaded keys; waits until a worker is available."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._checks.append((task, future))
        self._match()
        return await future

    def cancel(self, identifier: str) -> None:
        """Cancels a job, if it has not ended."""
        waiting = self._known.get(identifier)
        if waiting is None:
            return
        waiting.cancelled = True
        again = waiting in self._again
        if again:
            self._again.remove(waiting)
        if again or (waiting.ticket is not None and self._queue.remove(waiting.ticket)):
            self._end(waiting, Outcome(identifier, CANCELLED, "the job was cancelled"))
            return
        for worker in self.workers:
            if identifier in worker.running:
                self._spawn(self._cancel(worker, identifier))

    async def _cancel(self, worker: Worker, identifier: str) -> None:
        await worker.replica.cancel(identifier)
        await asyncio.sleep(_CANCEL_SECONDS)
        if identifier in worker.running:
            worker.replica.kill()

    # ---- handing out ---------------------------------------------------------------------------

    def _put(self, waiting: _Waiting) -> None:
        task = waiting.task
        cost = self._costs.get(task.program, _FIRST_COST)
        waiting.ticket = self._queue.put(waiting, str(waiting.client), task.group, cost)

    def _match(self) -> None:
        """Gives waiting jobs to free workers."""
        if self._closing:
            return
        ready = [worker for worker in self.workers if worker.replica.places]
        while self._checks and ready:
            task, future = self._checks.popleft()
            worker = min(ready, key=lambda one: len(one.running))
            worker.running[task.job] = task
            self._spawn(self._carry_out_check(worker, task, future))
        for worker in ready:
            if self._again and not worker.jobs_running:
                worker.alone = True
                self._hand_out(worker, self._again.popleft())
        while free := [worker for worker in ready if worker.free > 0]:
            held: Collection[str] = frozenset().union(*(worker.held for worker in free))
            ticket = self._queue.take(held)
            if ticket is None:
                return
            ticket.item.ticket = None
            self._hand_out(_best(free, ticket.item.task.group), ticket.item)

    def _hand_out(self, worker: Worker, waiting: _Waiting) -> None:
        worker.running[waiting.task.job] = waiting.task
        self._spawn(self._carry_out(worker, waiting))

    async def _carry_out_check(
        self, worker: Worker, task: Task, future: asyncio.Future[Outcome]
    ) -> None:
        try:
            outcome = await worker.replica.run(task)
        except WorkerLostError as error:
            self._restart(worker)
            outcome = Outcome(task.job, "worker-lost", str(error))
        finally:
            worker.running.pop(task.job, None)
        if not future.done():
            future.set_result(outcome)

    async def _carry_out(self, worker: Worker, waiting: _Waiting) -> None:
        task = waiting.task
        attempts = self._database.begin_job(task.job)
        folder = f"{task.folder}/attempt-{attempts}"
        limit = self._limits.run_seconds
        try:
            async with asyncio.timeout(limit):
                outcome = await worker.replica.run(replace(task, folder=folder))
        except TimeoutError:
            worker.replica.kill()
            text = f"the job ran for {limit:g} seconds, the most that this server allows"
            outcome = Outcome(task.job, "run-time", text)
        except WorkerLostError as error:
            self._restart(worker)
            outcome = self._lost(waiting, attempts, str(error))
        else:
            worker.held, worker.key_bytes = frozenset(outcome.held), outcome.key_bytes
            worker.busy_seconds += outcome.seconds
            worker.jobs += 1
            if outcome.lost:
                worker.replica.kill()
                outcome = self._lost(waiting, attempts, outcome.message)
        finally:
            worker.running.pop(task.job, None)
            worker.alone = worker.alone and worker.jobs_running > 0
        if outcome.code == "again":
            self._database.wait_again(task.job)
            self._again.append(waiting)
        else:
            self._end(waiting, outcome, folder)
        self._match()

    def _lost(self, waiting: _Waiting, attempts: int, why: str) -> Outcome:
        """Restarts or fails a job whose worker or device is gone."""
        job = waiting.task.job
        if waiting.cancelled:
            return Outcome(job, CANCELLED, "the job was cancelled")
        if attempts >= self._limits.attempts:
            return Outcome(
                job,
                "worker-lost",
                f"the job was begun {attempts} times, and each time its worker or device was lost; "
                f"at last: {why}",
            )
        log.warning("job %s is begun again: %s", job, why)
        return Outcome(job, "again")

    def _end(self, waiting: _Waiting, outcome: Outcome, folder: str = "") -> None:
        """Stores a job's end, and notifies those who wait for it."""
        job = waiting.task.job
        self._known.pop(job, None)
        if outcome.code == CANCELLED or waiting.cancelled:
            state = RunState.CANCELLED
            outcome = replace(outcome, code=CANCELLED, message="the job was cancelled")
        else:
            state = RunState.FAILED if outcome.code else RunState.DONE
        facts = {
            "seconds": outcome.seconds,
            "load_seconds": outcome.load_seconds,
            "outputs": dict(outcome.outputs),
            "figures": dict(outcome.figures),
            "folder": folder,
        }
        self._database.end_job(
            job,
            state,
            code=outcome.code,
            message=outcome.message,
            outcome=facts if state is RunState.DONE else {},
            more_bytes=sum(outcome.outputs.values()) if state is RunState.DONE else 0,
            seconds=outcome.seconds,
        )
        if outcome.seconds:
            known = self._costs.get(waiting.task.program, outcome.seconds)
            self._costs[waiting.task.program] = max(
                _MEMORY * known + (1 - _MEMORY) * outcome.seconds, 1e-6
            )
        record = self._database.job(job)
        assert record is not None, "it was in the queue"
        self._ended(record, outcome)
        for future in self._told.pop(job, []):
            if not future.done():
                future.set_result(record)

    # ---- background tasks ----------------------------------------------------------------------

    def _restart(self, worker: Worker) -> None:
        """Restarts a lost worker, unless a restart is in progress."""
        if not (self._closing or worker.replica.places or worker.starting):
            worker.starting = True
            worker.restarts += 1
            worker.held, worker.key_bytes = frozenset(), 0
            self._spawn(self._make_anew(worker))

    async def _make_anew(self, worker: Worker) -> None:
        try:
            for attempt in range(1 << 30):
                await asyncio.sleep(_RESTART_SECONDS[min(attempt, len(_RESTART_SECONDS) - 1)])
                try:
                    await worker.replica.start()
                    break
                except DeviceError as error:
                    log.error("%s", error)
        finally:
            worker.starting = False
        self._match()

    async def _sweep(self) -> None:
        """Ends jobs that have waited too long, and finds workers that died while idle."""
        while True:
            await asyncio.sleep(min(1.0, self._limits.wait_seconds / 4))
            for worker in self.workers:
                if not worker.replica.places:
                    self._restart(worker)
            limit = self._limits.wait_seconds
            for ticket in [*self._queue]:
                waiting = ticket.item
                if time.time() - waiting.created >= limit and self._queue.remove(ticket):
                    text = f"the job waited {limit:g} seconds for a device, the most that it may"
                    self._end(waiting, Outcome(waiting.task.job, "queue-time", text))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._background.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("an error of the server's", exc_info=task.exception())


def _best(free: Sequence[Worker], group: str) -> Worker:
    """Chooses the worker for a job: first one that can run it at once, then one with its keys."""

    def order(worker: Worker) -> tuple[bool, bool, int]:
        idle = worker.jobs_running < worker.replica.places
        return not idle, group not in worker.held, worker.jobs_running

    return min(free, key=order)
