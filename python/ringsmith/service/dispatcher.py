"""Dispatches jobs from the queue to workers, handles failures, and reports ends of jobs.

Everything here runs in the server's event loop. A job is stored in the database before it enters
the queue. Its end is stored before it is reported. While the database cannot be written, workers
are free again when their jobs have ended, and ends wait to be stored.
"""

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ringsmith.backends.fair_queue import FairQueue, QueueFullError, Ticket
from ringsmith.errors import DeviceError
from ringsmith.service.clock import elapsed, now
from ringsmith.service.database import ENDED, JobRecord, RunState
from ringsmith.service.engine import Engine, Replica, WorkerLostError
from ringsmith.service.settings import Limits
from ringsmith.service.storage import Storage
from ringsmith.service.tasks import AHEAD, CANCELLED, Outcome, Task

log = logging.getLogger("ringsmith.service")

_LARGEST_QUEUE = 1 << 20
_FIRST_COST = 0.1
"""Assumed run time of a program, in seconds, before its first run."""
_MEMORY = 0.8
"""Weight of the previous estimate of a program's run time when a new run is averaged in."""
_CANCEL_SECONDS = 5.0
"""Seconds after which a worker that does not stop a cancelled job is killed."""
_AGAIN = "again"
"""The code of an attempt after which the job is started again."""
_STRAY_SECONDS = 0.25
_CLOSE_SECONDS = 2.0
"""How long a server that ends waits for ends of jobs to be stored."""
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
class _Open:
    """A job that has not ended: in the queue, in a worker, or to be stored.

    Attributes:
        task: What a worker gets.
        record: The job as it is stored.
        deadline: When it has waited for too long; see ``clock.elapsed``.
        ticket: Its place in the queue.
        cancelled: Whether its client cancelled it.
        given: Whether a worker has it.
        ending: Whether its end is being stored.
    """

    task: Task
    record: JobRecord
    deadline: float
    ticket: "Ticket[_Open] | None" = None
    cancelled: bool = False
    given: bool = False
    ending: bool = False


@dataclass(eq=False)
class _Check:
    """A check of keys, and who waits for it."""

    task: Task
    future: asyncio.Future[Outcome]
    attempts: int = 0


class Dispatcher:
    """Gives jobs to workers."""

    def __init__(
        self,
        storage: Storage,
        engine: Engine,
        limits: Limits,
        ended: Callable[[JobRecord, Outcome], None],
    ) -> None:
        """Makes a dispatcher that gives out no jobs before ``start``."""
        self._storage, self._engine, self._limits = storage, engine, limits
        self._ended = ended
        self._queue: FairQueue[_Open] = FairQueue(
            _LARGEST_QUEUE, _LARGEST_QUEUE, limits.patience_seconds
        )
        self._known: dict[str, _Open] = {}
        self._again: deque[_Open] = deque()
        """Jobs whose worker died: each is restarted in a worker that runs no other job."""
        self._checks: deque[_Check] = deque()
        self._waiting_for: dict[str, list[asyncio.Future[JobRecord]]] = {}
        self._costs: dict[str, float] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._ends: set[asyncio.Task[None]] = set()
        self._closing = False
        self.workers = [Worker(replica) for replica in engine.replicas]

    async def start(self) -> None:
        """Starts all workers. Raises DeviceError if one does not start."""
        await asyncio.gather(*(worker.replica.start() for worker in self.workers))
        self._match()
        self._spawn(self._sweep())

    async def close(self) -> None:
        """Ends workers; jobs stay in the database for the next server."""
        self._closing = True
        if self._ends:
            await asyncio.wait(self._ends, timeout=_CLOSE_SECONDS)
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
        waited = max(now() - job.created, 0.0)
        one = _Open(task, job, elapsed() + self._limits.wait_seconds - waited)
        self._known[job.id] = one
        self._put(one)
        self._match()

    def record(self, identifier: str) -> JobRecord | None:
        """Returns a job that has not ended, from memory; None: it has, or there is none."""
        one = self._known.get(identifier)
        return None if one is None else one.record

    def check_capacity(self) -> None:
        """Refuses a job if the queue is full. Raises QueueFullError if the queue is full."""
        if len(self._queue) >= self._limits.waiting_jobs:
            raise QueueFullError(f"{len(self._queue)} jobs wait, the most that this server takes")

    async def wait(self, job: JobRecord, seconds: float) -> JobRecord | None:
        """Waits until a job has ended or some time has passed.

        Returns:
            The job; None: it was removed.
        """
        one = self._known.get(job.id)
        if one is None:
            found = await self._storage.read(lambda database: database.job(job.id))
            if found is not None and found.state not in ENDED:  # nothing here ends it
                await asyncio.sleep(min(seconds, _STRAY_SECONDS))
            return found
        future: asyncio.Future[JobRecord] = asyncio.get_running_loop().create_future()
        waiting = self._waiting_for.setdefault(job.id, [])
        waiting.append(future)
        try:
            async with asyncio.timeout(seconds):
                return await future
        except TimeoutError:
            return one.record
        finally:
            with suppress(ValueError):
                waiting.remove(future)
            if not waiting:
                self._waiting_for.pop(job.id, None)

    async def check(self, task: Task) -> Outcome:
        """Makes a worker check uploaded keys; waits until a worker is available."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._checks.append(_Check(task, future))
        self._match()
        return await future

    async def cancel(self, identifier: str, seconds: float) -> None:
        """Cancels a job, if it has not ended."""
        one = self._known.get(identifier)
        if one is None or one.ending:
            return
        one.cancelled = True
        again = one in self._again
        if again:
            self._again.remove(one)
        if again or (one.ticket is not None and self._queue.remove(one.ticket)):
            outcome = Outcome(identifier, CANCELLED, "the job was cancelled")
            await asyncio.wait({self._end(one, outcome)}, timeout=seconds)
            return
        for worker in self.workers:
            if identifier in worker.running and one.given:
                self._spawn(self._cancel(worker, identifier))

    async def _cancel(self, worker: Worker, identifier: str) -> None:
        await worker.replica.cancel(identifier)
        await asyncio.sleep(_CANCEL_SECONDS)
        if identifier in worker.running:
            worker.replica.kill()

    # ---- handing out ---------------------------------------------------------------------------

    def _put(self, one: _Open) -> None:
        task = one.task
        cost = self._costs.get(task.program, _FIRST_COST)
        one.ticket = self._queue.put(one, str(one.record.client), task.group, cost)

    def _match(self) -> None:
        """Gives waiting jobs to free workers."""
        if self._closing:
            return
        ready = [worker for worker in self.workers if worker.replica.places]
        while self._checks and ready:
            check = self._checks.popleft()
            worker = min(ready, key=lambda one: len(one.running))
            worker.running[check.task.job] = check.task
            self._spawn(self._carry_out_check(worker, check))
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

    def _hand_out(self, worker: Worker, one: _Open) -> None:
        worker.running[one.task.job] = one.task
        self._spawn(self._carry_out(worker, one))

    async def _carry_out_check(self, worker: Worker, check: _Check) -> None:
        check.attempts += 1
        task = check.task
        try:
            outcome = await worker.replica.run(task)
        except WorkerLostError as error:
            self._restart(worker)
            if check.attempts < self._limits.attempts:
                log.warning("%s is started again: %s", task.job, error)
                self._checks.append(check)
                self._match()
                return
            text = (
                f"the check was started {check.attempts} times, and each time its worker was lost; "
                f"at last: {error}"
            )
            outcome = Outcome(task.job, "worker-lost", text)
        except Exception as error:
            log.exception("an internal error")
            outcome = Outcome(task.job, "internal", _internal(error))
        finally:
            worker.running.pop(task.job, None)
        if not check.future.done():
            check.future.set_result(outcome)
        self._match()

    async def _carry_out(self, worker: Worker, one: _Open) -> None:
        job, attempt = one.task.job, one.record.attempts + 1
        # No attempt meets what an earlier one left, also of one that the database has forgotten.
        folder = f"{one.task.folder}/attempt-{attempt}-{secrets.token_hex(4)}"
        try:
            one.record = await self._storage.write_surely(
                lambda database: database.begin_job(job, attempt)
            )
            if one.cancelled:
                outcome = Outcome(job, CANCELLED, "the job was cancelled")
            else:
                outcome = await self._attempt(worker, one, folder)
        except Exception as error:
            log.exception("an internal error")
            outcome = Outcome(job, "internal", _internal(error))
        finally:
            one.given = False
            worker.running.pop(job, None)
            worker.alone = worker.alone and worker.jobs_running > 0
        if outcome.code == _AGAIN:
            one.record = await self._storage.write_surely(lambda database: database.wait_again(job))
            if one.cancelled:
                self._end(one, Outcome(job, CANCELLED, "the job was cancelled"))
            else:
                self._again.append(one)
        else:
            self._end(one, outcome, folder)
        self._match()

    async def _attempt(self, worker: Worker, one: _Open, folder: str) -> Outcome:
        """Runs a job in a worker, once."""
        task, limit = one.task, self._limits.run_seconds
        one.given, started = True, elapsed()
        try:
            async with asyncio.timeout(limit):
                outcome = await worker.replica.run(replace(task, folder=folder))
        except TimeoutError:
            worker.replica.kill()
            text = f"the job ran for {limit:g} seconds, the most that this server allows"
            return Outcome(task.job, "run-time", text, load_seconds=elapsed() - started)
        except WorkerLostError as error:
            self._restart(worker)
            return replace(self._lost(one, str(error)), load_seconds=elapsed() - started)
        worker.held, worker.key_bytes = frozenset(outcome.held), outcome.key_bytes
        worker.busy_seconds += outcome.seconds
        worker.jobs += 1
        if outcome.lost:
            worker.replica.kill()
            return self._lost(one, outcome.message)
        return outcome

    def _lost(self, one: _Open, why: str) -> Outcome:
        """Restarts or fails a job whose worker or device is gone."""
        job, attempts = one.task.job, one.record.attempts
        if one.cancelled:
            return Outcome(job, CANCELLED, "the job was cancelled")
        if attempts >= self._limits.attempts:
            return Outcome(
                job,
                "worker-lost",
                f"the job was started {attempts} times, and each time its worker or device was "
                f"lost; at last: {why}",
            )
        log.warning("job %s is started again: %s", job, why)
        return Outcome(job, _AGAIN)

    def _end(self, one: _Open, outcome: Outcome, folder: str = "") -> "asyncio.Task[None]":
        """Stores a job's end, and notifies those who wait for it, in the background."""
        one.ending = True
        task = self._spawn(self._store_end(one, outcome, folder))
        self._ends.add(task)
        task.add_done_callback(self._ends.discard)
        return task

    async def _store_end(self, one: _Open, outcome: Outcome, folder: str) -> None:
        job = one.task.job
        if outcome.code == CANCELLED or one.cancelled:
            state = RunState.CANCELLED
            outcome = replace(outcome, code=CANCELLED, message="the job was cancelled")
        else:
            state = RunState.FAILED if outcome.code else RunState.DONE
        ended = {
            "seconds": outcome.seconds,
            "load_seconds": outcome.load_seconds,
            "outputs": dict(outcome.outputs),
            "figures": dict(outcome.figures),
            "folder": folder,
        }
        record = await self._storage.write_surely(
            lambda database: database.end_job(
                job,
                state,
                code=outcome.code,
                message=outcome.message,
                outcome=ended if state is RunState.DONE else {},
                more_bytes=sum(outcome.outputs.values()) if state is RunState.DONE else 0,
                seconds=outcome.seconds + outcome.load_seconds,
            )
        )
        self._known.pop(job, None)
        if outcome.seconds:
            known = self._costs.get(one.task.program, outcome.seconds)
            self._costs[one.task.program] = max(
                _MEMORY * known + (1 - _MEMORY) * outcome.seconds, 1e-6
            )
        self._ended(record, outcome)
        for future in self._waiting_for.pop(job, []):
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
                one = ticket.item
                if elapsed() >= one.deadline and self._queue.remove(ticket):
                    text = f"the job waited {limit:g} seconds for a device, the most that it may"
                    self._end(one, Outcome(one.task.job, "queue-time", text))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._background.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("an internal error", exc_info=task.exception())


def _internal(error: Exception) -> str:
    return f"an internal error: {type(error).__name__}"


def _best(free: Sequence[Worker], group: str) -> Worker:
    """Chooses the worker for a job: first one that can run it at once, then one with its keys."""

    def order(worker: Worker) -> tuple[bool, bool, int]:
        idle = worker.jobs_running < worker.replica.places
        return not idle, group not in worker.held, worker.jobs_running

    return min(free, key=order)
