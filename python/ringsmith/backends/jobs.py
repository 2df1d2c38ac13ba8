"""Jobs: work that is submitted to a device, and can be polled, waited for and cancelled.

A device has one or more slots. Each slot runs one job at a time, and other jobs wait in order. A
run submits a job and waits for it.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from contextvars import copy_context
from enum import StrEnum
from itertools import count
from threading import Condition, Thread
from typing import Any, ClassVar, Generic, TypeVar

from ringsmith import progress
from ringsmith.backends.fair_queue import FairQueue, Ticket
from ringsmith.backends.keys import AnyKey
from ringsmith.backends.types import Capabilities, CompiledGraph, GraphResult
from ringsmith.errors import DeviceError
from ringsmith.objects import Residues

T = TypeVar("T")
U = TypeVar("U")
Work = Callable[[int], T]
"""The work of a job, in the slot of that number."""


_CAPACITY = 1 << 20
"""Default limit of waiting jobs."""


class JobState(StrEnum):
    """How far a job is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


_ENDED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class _CancelledError(Exception):
    """Unwinds the work of a job that was cancelled."""


class Job(Generic[T]):
    """A job on a device; safe to use from several threads."""

    def __init__(self, change: Condition, leave: Callable[["Job[T]"], None]) -> None:
        self._change, self._leave = change, leave
        self._state = JobState.WAITING
        self._wanted = True
        self._result: T
        self._error: BaseException | None = None

    def poll(self) -> JobState:
        """How far it is, at once."""
        return self._state

    def wait(self, timeout_seconds: float | None = None) -> T:
        """Its result, when it is done.

        Args:
            timeout_seconds: How long to wait; None: until it ends.

        Raises:
            DeviceError: If it was cancelled, or has not ended in time; then it goes on.
            RingsmithError: What it failed with.
        """
        with self._change:
            if not self._change.wait_for(lambda: self._state in _ENDED, timeout_seconds):
                raise DeviceError(
                    f"the job is {self._state} after {timeout_seconds} seconds: wait longer, or "
                    "cancel it"
                )
        if self._state is JobState.CANCELLED:
            raise DeviceError("the job was cancelled, and has no result: submit it again")
        if self._error is not None:
            raise self._error
        return self._result

    def cancel(self) -> bool:
        """Cancels the job, and returns at once.

        A waiting job never starts. A running one stops when its work reports progress, as each
        architecture defines. The interpreter of the cpu reports none: it finishes its graph, and
        the job is done.

        Returns:
            Whether the job had not ended yet.
        """
        with self._change:
            ended = self._state in _ENDED
            self._wanted = False
            if self._state is JobState.WAITING:
                self._state = JobState.CANCELLED
                self._leave(self)
            self._change.notify_all()
            return not ended

    def then(self, change: Callable[[T], U]) -> "ChangedJob[T, U]":
        """The same job, with another form of its result."""
        return ChangedJob(self, change)

    def check_wanted(self) -> None:
        """Unwinds the work of a job that was cancelled."""
        if not self._wanted:
            raise _CancelledError


class ChangedJob(Generic[T, U]):
    """A job whose result is returned in another form."""

    def __init__(self, job: Job[T], change: Callable[[T], U]) -> None:
        self._job, self._form = job, change

    def poll(self) -> JobState:
        """How far it is, at once."""
        return self._job.poll()

    def wait(self, timeout_seconds: float | None = None) -> U:
        """Its result, when it is done; see ``Job.wait``."""
        return self._form(self._job.wait(timeout_seconds))

    def cancel(self) -> bool:
        """Cancels the job; see ``Job.cancel``."""
        return self._job.cancel()


class Slots:
    """The slots of a device in which jobs run.

    Jobs wait in a queue that is fair over clients (``fair_queue``). Jobs of one client run in
    order. Among several candidates, a job whose keys the free slot holds goes first.

    Args:
        places: The number of slots; None: as many as there are jobs.
        held: Returns the groups of keys that a slot holds.
        wait_seconds: How long a job may wait for a slot; None: no limit.
        capacity: Maximum number of waiting jobs; more are refused.
    """

    def __init__(
        self,
        places: int | None = 1,
        held: Callable[[int], Collection[str]] = lambda _: (),
        *,
        wait_seconds: float | None = None,
        capacity: int = _CAPACITY,
    ) -> None:
        self.places = places
        self._held, self._wait_seconds, self._capacity = held, wait_seconds, capacity
        self._taken: set[int] = set()
        self._begin()

    def _begin(self) -> None:
        """Begins with an empty queue and free slots, in the process that is to use them."""
        self._process = os.getpid()
        self._change = Condition()
        self._queue: FairQueue[Job[Any]] = FairQueue(self._capacity, self._capacity)
        self._tickets: dict[Job[Any], Ticket[Job[Any]]] = {}
        self._given: dict[Job[Any], int] = {}
        self._taken.clear()

    def _check_process(self) -> None:
        """After a fork: leaves the parent's jobs, whose threads are not in this process."""
        if self._process == os.getpid():
            return
        if self.places is not None and self._taken:
            raise DeviceError(
                f"the device was computing in process {self._process} when process {os.getpid()} "
                "was forked from it: call open_device in this process"
            )
        self._begin()

    def submit(self, work: Work[T], client: str = "", group: str = "") -> Job[T]:
        """Runs work in its own thread, in turn.

        Raises:
            QueueFullError: If the queue is full.
        """
        job: Job[T] = self._enter(client, group)
        context = copy_context()
        Thread(target=context.run, args=(self._carry_out, job, work), daemon=True).start()
        return job

    def run(self, work: Work[T], client: str = "", group: str = "") -> T:
        """Submits work and waits for it, in the caller's thread, where Ctrl-C is noticed."""
        job: Job[T] = self._enter(client, group)
        self._carry_out(job, work)
        return job.wait()

    def _enter(self, client: str, group: str) -> Job[Any]:
        self._check_process()
        job: Job[Any] = Job(self._change, self._leave)
        with self._change:
            self._tickets[job] = self._queue.put(job, client, group)
            self._match()
        return job

    def _leave(self, job: Job[Any]) -> None:
        """Removes a waiting job."""
        ticket = self._tickets.pop(job, None)
        if ticket is not None:
            self._queue.remove(ticket)
        slot = self._given.pop(job, None)
        if slot is not None:
            self._taken.discard(slot)
            self._match()

    def _match(self) -> None:
        """Gives free slots to waiting jobs."""
        while self._tickets and (self.places is None or len(self._taken) < self.places):
            slot = next(number for number in count() if number not in self._taken)
            ticket = self._queue.take(self._held(slot))
            assert ticket is not None, "a job waits"
            del self._tickets[ticket.item]
            self._taken.add(slot)
            self._given[ticket.item] = slot
        self._change.notify_all()

    def _carry_out(self, job: Job[T], work: Work[T]) -> None:
        state, error = JobState.CANCELLED, None
        try:
            slot = self._take(job)
        except DeviceError as failure:
            self._end(job, JobState.FAILED, failure)
            return
        except BaseException:
            job.cancel()
            raise
        if slot is None:
            return
        try:
            with progress.reported_to(_Stopping(job, progress.reporter())):
                job._result = work(slot)
            state = JobState.DONE
        except _CancelledError:
            pass
        except Exception as failure:  # wait() raises it
            state, error = JobState.FAILED, failure
        finally:
            self._end(job, state, error, slot)

    def _end(
        self, job: Job[Any], state: JobState, error: Exception | None, slot: int | None = None
    ) -> None:
        with self._change:
            if slot is not None:
                self._taken.discard(slot)
            job._state, job._error = state, error
            self._match()

    def _take(self, job: Job[T]) -> int | None:
        """The slot of a job whose turn it is; None: it was cancelled before."""
        with self._change:
            there = self._change.wait_for(
                lambda: not job._wanted or job in self._given, self._wait_seconds
            )
            if not job._wanted:
                return None
            if not there:
                self._leave(job)
                raise DeviceError(
                    f"the job has waited {self._wait_seconds} seconds for a place on the device: "
                    "submit it again when less is to be done, or wait longer"
                )
            job._state = JobState.RUNNING
            self._change.notify_all()
            return self._given.pop(job)


class _Stopping:
    """A reporter that stops a cancelled job when its work reports progress."""

    def __init__(self, job: Job[T], reporter: progress.Reporter | None) -> None:
        self._job, self._reporter = job, reporter

    def started(self, task: progress.Task) -> None:
        if self._reporter is not None:
            self._reporter.started(task)

    def moved(self, task: progress.Task) -> None:
        self._job.check_wanted()
        if self._reporter is not None:
            self._reporter.moved(task)

    def ended(self, task: progress.Task) -> None:
        if self._reporter is not None:
            self._reporter.ended(task)

    def noted(self, line: str) -> None:
        if self._reporter is not None:
            self._reporter.noted(line)


class Device(ABC):
    """A device that executes compiled graphs, as jobs; each architecture defines the work.

    Attributes:
        name: Its kind for ``open_device``: ``cpu``, ``model``, ``rtl``.
        capabilities: The capabilities of its backend.
    """

    name: str
    capabilities: ClassVar[Capabilities]

    def __init__(self, places: int | None = 1, slots: Slots | None = None) -> None:
        self._slots = slots or Slots(places)

    @property
    def places(self) -> int | None:
        """How many jobs run in it at once; None: no limit."""
        return self._slots.places

    def submit(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
        client: str = "",
    ) -> Job[GraphResult]:
        """Submits a graph, and returns at once; arguments and errors are those of ``execute``.

        Errors in the arguments are raised here, others by the job. Jobs of
        several clients take turns.
        """
        work = self.work(compiled, inputs, keys)
        return self._slots.submit(work, client, self.group(keys))

    def execute(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> GraphResult:
        """Submits a graph and waits for it.

        Args:
            compiled: The graph.
            inputs: Input name -> residues (limbs, N), canonical, checked by the caller;
                ``InputsOnDemand`` where not all are in memory.
            keys: Key name -> key-switching key, checked by the caller. Only devices with the
                capability ``any_keys`` get keys expanded on the fly and precomputed keys.
        """
        return self._slots.run(self.work(compiled, inputs, keys), group=self.group(keys))

    def group(self, keys: Mapping[str, AnyKey]) -> str:
        """Returns a name for keys, by which jobs are grouped; empty: no grouping."""
        return ""

    @abstractmethod
    def work(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> Work[GraphResult]:
        """Checks the arguments, and returns the work for a slot.

        Raises:
            DeviceError: If the graph was compiled for another design.
            ProgramError: If the graph was compiled for no design, or a key is of a wrong form.
        """
