"""Jobs: work that is submitted to a device, and can be polled, waited for and cancelled.

A device has one or more slots. Each slot runs one job at a time, and other jobs wait in order. A
run submits a job and waits for it.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import copy_context
from enum import StrEnum
from itertools import count
from threading import Condition, Lock, Thread
from typing import Any, ClassVar, Generic, TypeVar, overload
from weakref import WeakSet, ref

from ringsmith import progress
from ringsmith.backends.fair_queue import FairQueue, Ticket
from ringsmith.backends.handles import (
    DeviceMemory,
    Handle,
    HostResident,
    KeySet,
    KeysHandle,
    Resident,
    Traffic,
    limits_of,
)
from ringsmith.backends.keys import AnyKey
from ringsmith.backends.types import (
    NOTHING_ON_DEVICE,
    Capabilities,
    CompiledGraph,
    GraphResult,
    InputsOnDemand,
    OnDevice,
)
from ringsmith.errors import DeviceError
from ringsmith.objects import Ciphertext, Residues, keys_by_name

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
    """

    def __init__(
        self,
        places: int | None = 1,
        held: Callable[[int], Collection[str]] = lambda _: (),
        *,
        wait_seconds: float | None = None,
    ) -> None:
        self.places = places
        self._held, self._wait_seconds = held, wait_seconds
        self._taken: set[int] = set()
        self._begin()

    def _begin(self) -> None:
        """Begins with an empty queue and free slots, in the process that is to use them."""
        self._process = os.getpid()
        self._change = Condition()
        self._queue: FairQueue[Job[Any]] = FairQueue(_CAPACITY, _CAPACITY)
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
        self._traffic, self._counting = Traffic(), Lock()

    @property
    def places(self) -> int | None:
        """How many jobs run in it at once; None: no limit."""
        return self._slots.places

    @property
    def traffic(self) -> Traffic:
        """Bytes of ciphertexts that crossed between host and device since it was opened.

        None on the CPU, whose memory is the host's. Keys, tables and programs are not counted.
        """
        return self._traffic

    def _crossed(self, to_device: int = 0, to_host: int = 0) -> None:
        """Counts bytes of ciphertexts."""
        with self._counting:
            self._traffic += Traffic(to_device, to_host)

    # ---- jobs ----------------------------------------------------------------------------------

    def submit(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
        client: str = "",
        on_device: OnDevice = NOTHING_ON_DEVICE,
    ) -> Job[GraphResult]:
        """Submits a graph, and returns at once; arguments and errors are those of ``execute``.

        Errors in the arguments are raised here, others by the job. Jobs of
        several clients take turns.
        """
        work = self._counted(compiled, inputs, keys, on_device)
        return self._slots.submit(work, client, self.group(keys))

    def execute(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
        on_device: OnDevice = NOTHING_ON_DEVICE,
    ) -> GraphResult:
        """Submits a graph and waits for it.

        Args:
            compiled: The graph.
            inputs: Input name -> residues (limbs, N), canonical, checked by the caller;
                ``InputsOnDemand`` where not all are in memory.
            keys: Key name -> key-switching key, checked by the caller. Only devices with the
                capability ``any_keys`` get keys expanded on the fly and precomputed keys.
            on_device: The other inputs, which lie on this device, and the outputs that stay here.
        """
        work = self._counted(compiled, inputs, keys, on_device)
        return self._slots.run(work, group=self.group(keys))

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

    def work_on_residents(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
        on_device: OnDevice,
    ) -> Work[GraphResult]:
        """Returns the work of a run with residents.

        A device without memory of its own for operands, as here, keeps residents on its host.
        """
        work = self.work(compiled, with_residents(inputs, on_device.inputs), keys)
        return lambda slot: self.kept(compiled, work(slot), on_device.keep)

    def kept(
        self, compiled: CompiledGraph, result: GraphResult, keep: Collection[str]
    ) -> GraphResult:
        """Returns a result whose outputs of these names are residents, without a crossing."""
        graph = compiled.graph
        kept: dict[str, Resident] = {
            name: self.resident(
                f"output {name!r}",
                result.outputs[name],
                [graph.primes[limb] for limb in graph.outputs[name].base],
            )
            for name in keep
        }
        others = {name: words for name, words in result.outputs.items() if name not in kept}
        return GraphResult(others, result.report, kept)

    def _counted(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
        on_device: OnDevice,
    ) -> Work[GraphResult]:
        """The work of a run, which adds to ``traffic``."""
        if on_device.inputs or on_device.keep:
            work = self.work_on_residents(compiled, inputs, keys, on_device)
        else:
            work = self.work(compiled, inputs, keys)

        def counted(slot: int) -> GraphResult:
            result = work(slot)
            self._crossed(result.report.input_bytes, result.report.output_bytes)
            return result

        return counted

    # ---- residents -----------------------------------------------------------------------------

    @overload
    def put(self, what: Ciphertext, name: str = ...) -> Handle: ...

    @overload
    def put(self, what: KeySet, name: str = ...) -> KeysHandle: ...

    def put(self, what: Ciphertext | KeySet, name: str = "") -> Handle | KeysHandle:
        """Puts a ciphertext or evaluation keys into the device's memory, where they stay.

        Args:
            what: The ciphertext or the keys.
            name: Its name in messages, such as that of a full device.

        Returns:
            A handle, for runs on this device. The ``cpu`` keeps the arrays themselves: do not
            write to them.

        Raises:
            DeviceError: If the memory does not suffice; says what holds how much.
            TypeError: If it is neither.
        """
        if isinstance(what, Ciphertext):
            label = f"ciphertext {name!r}" if name else "a ciphertext"
            found = [self.put_words(label, words) for words in what.data]
            return self.handle_of(found, what)
        if not hasattr(what, "relin"):
            raise TypeError(
                f"{type(what).__name__} was given where a ciphertext or evaluation keys belong: "
                "encrypt it, or give the third of generate_keys"
            )
        return KeysHandle(self, what, [self.hold_keys(f"keys {name!r}" if name else "keys", what)])

    def handle_of(self, residents: list[Resident], like: Ciphertext) -> Handle:
        """Returns the handle of residents that are a ciphertext like another one."""
        return Handle(
            self,
            like.size,
            like.limbs,
            like.scale,
            like.history,
            "",
            like.contents,
            residents,
            parameters_id=like.parameters_id,
            key_tag=like.key_tag,
        )

    def put_words(self, label: str, words: Residues) -> Resident:
        """Brings a polynomial's residues (limbs, N) from the host to the device."""
        return self.resident(label, words, limits_of(words))

    def resident(self, label: str, words: Residues, below: Sequence[int]) -> Resident:
        """Returns a resident of residues that are on the device already.

        Args:
            label: Its name in messages.
            words: The residues (limbs, N).
            below: What each limb's residues are below.
        """
        return HostResident(self, label, words, below)

    def hold_keys(self, label: str, keys: KeySet) -> object:
        """Holds keys on the device as long as the returned object is there."""
        return keys


class DeviceWithMemory(Device):
    """A simulated device whose memory for operands is modelled by this process's.

    Args:
        memory: How large it is, and what holds it.
        word_bytes: Bytes of a word there.
    """

    def __init__(self, memory: DeviceMemory, word_bytes: int) -> None:
        super().__init__()
        self.memory, self.word_bytes = memory, word_bytes
        self._keys: WeakSet[_HeldKeys] = WeakSet()

    def put_words(self, label: str, words: Residues) -> Resident:
        """Counts the crossing; see ``Device.put_words``."""
        found = self.resident(label, words.copy(), limits_of(words))
        self._crossed(to_device=found.nbytes)
        return found

    def resident(self, label: str, words: Residues, below: Sequence[int]) -> Resident:
        """Takes memory; see ``Device.resident``."""
        device = ref(self)

        def crossed(count: int) -> None:
            found = device()
            if found is not None:
                found._crossed(to_host=count)

        found = HostResident(self, label, words, below, self.word_bytes, crossed)
        self.memory.take(found, label, found.nbytes)
        return found

    def hold_keys(self, label: str, keys: KeySet) -> object:
        """Takes memory for the keys."""
        found = _HeldKeys(keys)
        self.memory.take(found, label, found.size * self.word_bytes)
        self._keys.add(found)
        return found

    def holds_key(self, words: Residues) -> bool:
        """Whether a key's residues lie on the device, by ``put``."""
        return any(words is each for held in self._keys for each in held.words)


class _HeldKeys:
    """Keys on a device; ``words`` are their residues."""

    def __init__(self, keys: KeySet) -> None:
        every = keys_by_name(keys).values()
        self.words = [key.data for key in every if hasattr(key, "data")]
        self.size = sum(words.size for words in self.words)


def with_residents(
    inputs: Mapping[str, Residues], residents: Mapping[str, Resident]
) -> Mapping[str, Residues]:
    """Returns all inputs of a run whose residents are in this process's memory."""
    words = {name: each.words for name, each in residents.items() if isinstance(each, HostResident)}
    return with_words(inputs, words)


def with_words(
    inputs: Mapping[str, Residues], words: Mapping[str, Residues]
) -> Mapping[str, Residues]:
    """Returns inputs and more of them."""
    if isinstance(inputs, InputsOnDemand):
        return InputsOnDemand({**inputs.given, **words}, inputs.made, inputs.shortened)
    return {**inputs, **words}
