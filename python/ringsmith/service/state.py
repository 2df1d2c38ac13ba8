"""The state that all requests of a server share, and its rules: quotas, keys, jobs."""

import asyncio
import hashlib
import logging
import re
import secrets
import shutil
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from ringsmith.backends.fair_queue import QueueFullError
from ringsmith.service.bodies import Part
from ringsmith.service.clock import now
from ringsmith.service.database import (
    ENDED,
    Client,
    Database,
    JobRecord,
    KeyRecord,
    KeyState,
    RunState,
    check_same_request,
    seconds_to_next_hour,
)
from ringsmith.service.dispatcher import Dispatcher
from ringsmith.service.folder import Folder
from ringsmith.service.metrics import Metrics
from ringsmith.service.protocol import API_VERSION, ProblemError, not_found
from ringsmith.service.published import Publication
from ringsmith.service.settings import Quota, Settings
from ringsmith.service.storage import PATIENCE_SECONDS, Storage, disk_problems, storage_problem
from ringsmith.service.tasks import DeviceChoice, KeyFile, Outcome, Task

log = logging.getLogger("ringsmith.service")

_REMEMBERED = 1024
"""Jobs whose times the operator's page shows."""
_CANCEL_SECONDS = 2.0
"""How long a client that cancels a job waits until that is stored."""
_KEPT = (KeyState.CHECKING, KeyState.READY)
"""Keys that no upload replaces."""
_ADDRESS = re.compile(rf"/v{API_VERSION}/jobs/([0-9a-f]{{32}})/outputs/([^/]{{1,1000}})")
_LARGEST = 3
"""Jobs that the answer to a full quota names."""


@dataclass(frozen=True)
class Timing:
    """The time of a job in seconds: in the queue, on the device, and in total."""

    queue: float
    device: float
    whole: float


class LastMinute:
    """Counts the events of the last minute, with a resolution of a second, in fixed memory."""

    def __init__(self) -> None:
        self._seconds: deque[tuple[int, int]] = deque()

    def add(self, now: float) -> None:
        """Counts an event."""
        second, count = int(now), 1
        if self._seconds and self._seconds[-1][0] >= second:  # clocks may be set back
            second, before = self._seconds.pop()
            count += before
        self._seconds.append((second, count))
        self.count(now)

    def count(self, now: float) -> int:
        """Returns how many events happened in the 60 seconds before ``now``."""
        while self._seconds and self._seconds[0][0] <= now - 60:
            self._seconds.popleft()
        return sum(count for _, count in self._seconds)


@dataclass(eq=False)
class Arrival:
    """A job whose inputs arrive."""

    client: int
    size: int
    counted: bool = True


@dataclass(eq=False)
class State:
    """A server's state.

    Attributes:
        folder: Its files.
        storage: Its database.
        settings: Its limits and quotas.
        device: The device that workers open.
        programs: The offered programs, by name.
        metrics: Its counters.
        dispatcher: Gives jobs to workers; set by ``begin``.
        timings: Times of the last jobs that were done.
        done: Counts the jobs done in the last minute.
        started: When it started, in seconds since 1970.
    """

    folder: Folder
    storage: Storage
    settings: Settings
    device: DeviceChoice
    programs: Mapping[str, Publication]
    metrics: Metrics
    dispatcher: Dispatcher = field(init=False)
    timings: deque[Timing] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    done: LastMinute = field(default_factory=LastMinute)
    started: float = field(default_factory=now)
    _uploading: set[tuple[int, str, str]] = field(default_factory=set)
    _checking: set[tuple[int, str, str]] = field(default_factory=set)
    _arriving: Counter[int] = field(default_factory=Counter)
    _arriving_bytes: Counter[int] = field(default_factory=Counter)
    _turns: dict[int, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    """For each client: held from the check of a quota until what it allows is recorded."""
    _background: set[asyncio.Task[None]] = field(default_factory=set)

    def ended(self, job: JobRecord, outcome: Outcome) -> None:
        """Records a job that has ended; the dispatcher calls this."""
        end = job.ended or now()
        whole = end - job.created
        self.metrics.job_ended(job, outcome.seconds, whole)
        if job.state is RunState.DONE:
            queue = (job.started or end) - job.created
            self.timings.append(Timing(queue, outcome.seconds, whole))
            self.done.add(end)

    async def begin(self) -> None:
        """Resumes the unfinished work of a previous server.

        Raises ProblemError if the database fails.
        """
        read = self.storage.read
        keys = await read(Database.all_keys)
        ids = await read(Database.job_ids)
        await asyncio.to_thread(self.folder.sweep, ids, keys)
        for key in keys:
            if key.state is KeyState.CHECKING:
                self._spawn(self._check_again(key))
        self._spawn(self._sweep())
        self._spawn(self.storage.watch())
        open_states = (RunState.WAITING, RunState.RUNNING)
        for job in await read(lambda database: database.jobs_in(open_states)):
            await self._resume(job)

    async def _resume(self, job: JobRecord) -> None:
        """Puts a job of a previous server into the queue, or ends it."""
        program = self.programs.get(job.program)
        if program is None or program.revision != job.revision:
            await self._give_up(
                job,
                "program-gone",
                f"revision {job.revision} of program {job.program!r} is not offered any more: ask "
                "again with the one that is",
            )
            return
        inputs = self.folder.input_files(job.id, [*program.kit.inputs])
        task = await self._task(job, program)
        files = [*inputs.values(), *(key.path for key in task.keys)]
        if len(task.keys) < len(job.keys) or not all(Path(path).is_file() for path in files):
            await self._give_up(
                job,
                "lost-files",
                "inputs or keys of this job are not on the server's disk any more: send them again",
            )
            return
        if job.state is RunState.RUNNING:
            job = await self.storage.write_surely(lambda database: database.wait_again(job.id))
        self.dispatcher.submit(job, task)

    async def _give_up(self, job: JobRecord, code: str, message: str) -> None:
        """Ends a job that cannot be run."""
        await self.storage.write_surely(
            lambda database: database.end_job(job.id, RunState.FAILED, code=code, message=message)
        )

    async def close(self) -> None:
        """Ends workers and background tasks."""
        for task in [*self._background]:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self.dispatcher.close()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._ended_task)
        return task

    def _ended_task(self, task: "asyncio.Task[None]") -> None:
        self._background.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("an internal error", exc_info=task.exception())

    async def _sweep(self) -> None:
        """Periodically removes what is old: jobs with their results, and records of time."""
        strays: set[str] = set()
        while True:
            try:
                strays = await self._sweep_once(strays)
            except (ProblemError, OSError) as error:
                log.warning("old jobs are removed later: %s", error)
            await asyncio.sleep(min(60.0, self.settings.limits.keep_seconds / 2))

    async def _sweep_once(self, strays: set[str]) -> set[str]:
        """Removes what is old; returns open jobs of the database that nothing here knows."""
        oldest, storage = now() - self.settings.limits.keep_seconds, self.storage
        for identifier in await storage.read(lambda database: database.ended_before(oldest)):
            await self.remove_job(identifier)
        for key in await storage.read(lambda database: database.stale_keys(oldest)):
            with suppress(ProblemError):  # a job needs them, or they are being uploaded
                await self.remove_key(key)
        await storage.write(Database.forget_hours)
        states = (RunState.WAITING, RunState.RUNNING)
        jobs = await storage.read(lambda database: database.jobs_in(states))
        unknown = [job for job in jobs if self.dispatcher.record(job.id) is None]
        for job in unknown:
            if job.id in strays:
                await self._give_up(job, "storage", "the job was not accepted: send it again")
        return {job.id for job in unknown}

    # ---- programs ------------------------------------------------------------------------------

    def program(self, name: str) -> Publication:
        """Returns a program by its name. Raises ProblemError if there is none."""
        found = self.programs.get(name)
        if found is None:
            raise not_found(f"program {name!r:.80}; GET /v1/programs names them")
        return found

    def programs_with(self, parameters: str) -> Iterable[Publication]:
        """Returns the programs with the given parameters."""
        return (one for one in self.programs.values() if one.parameters_id == parameters)

    # ---- keys ----------------------------------------------------------------------------------

    async def key(self, client: Client, program: Publication, digest: str) -> KeyRecord:
        """Returns a client's keys. Raises ProblemError if there are none."""
        found = await self._key(client.id, program, digest)
        if found is None:
            raise not_found(f"key {digest:.64}")
        return found

    async def _key(self, client: int, program: Publication, digest: str) -> KeyRecord | None:
        """Returns keys of the database as far as their files are there; None: there are none."""
        found = await self.storage.read(
            lambda database: database.key(client, program.parameters_id, digest)
        )
        return None if found is None else self._as_it_is(found)

    def _as_it_is(self, key: KeyRecord) -> KeyRecord:
        """Returns keys as far as their file is there: the disk or the database may have lost some.

        Keys that nothing here checks came completely, and their check begins with the last byte.
        """
        if key.state is KeyState.READY and not self.folder.key(key).is_file():
            return replace(key, state=KeyState.PARTIAL, received=0)
        stray = key.state is KeyState.CHECKING and _place(key) not in self._checking
        if key.state is KeyState.PARTIAL or stray:
            path = self.folder.key_part(key)
            size = path.stat().st_size if path.exists() else 0
            received = min(key.received, size, key.size - 1)
            return replace(key, state=KeyState.PARTIAL, received=received)
        return key

    async def begin_upload(
        self, client: Client, program: Publication, digest: str, media: str, first: int, size: int
    ) -> KeyRecord:
        """Checks that a part of keys may be uploaded, and records it; ``end_upload`` follows.

        Raises ProblemError if the part is not the next one, exceeds the quota, or another is being
        uploaded.
        """
        async with self._turns[client.id]:
            return await self._begin_upload(client, program, digest, media, first, size)

    async def _begin_upload(
        self, client: Client, program: Publication, digest: str, media: str, first: int, size: int
    ) -> KeyRecord:
        found = await self._key(client.id, program, digest)
        if found is not None and found.size != size and found.state in _KEPT:
            raise ProblemError(
                409,
                "wrong-size",
                f"{size} bytes of keys, and those of this SHA-256 that are here have {found.size}",
                {"Connection": "close"},
            )
        if found is None or found.state is KeyState.REFUSED or found.size != size:
            if size > program.key_bytes:
                raise ProblemError(
                    413,
                    "too-large",
                    f"{size} bytes of keys, and keys of {program.name!r} have at most "
                    f"{program.key_bytes}",
                )
            taken, files, used = await self.storage.read(
                lambda database: (
                    database.key_bytes(client.id),
                    database.key_files(client.id),
                    database.seconds_used(client.id),
                )
            )
            own = self.settings.of(client.name)
            _check_compute(used, own)
            if found is None and files >= own.key_files:
                raise ProblemError(
                    429,
                    "quota",
                    f"{files} uploads of keys are here, also unfinished ones, and this client may "
                    f"have {own.key_files}: DELETE keys that are not needed",
                )
            taken -= 0 if found is None else found.size
            if taken + size > own.key_bytes:
                raise ProblemError(
                    429,
                    "quota",
                    f"{size} bytes of keys and {taken} that are here already, and this client may "
                    f"have {own.key_bytes}: DELETE keys that are not needed",
                )
            found = KeyRecord(
                *(client.id, program.parameters_id, digest, media, size, 0, KeyState.PARTIAL, "")
            )
        if found.state is not KeyState.PARTIAL:
            return found
        if first != found.received:
            raise ProblemError(
                409,
                "wrong-offset",
                f"a chunk from byte {first} on, and the next one begins at {found.received}",
                {"Upload-Offset": str(found.received)},
            )
        place = (client.id, program.parameters_id, digest)
        if place in self._uploading:
            raise ProblemError(409, "under-way", "another request sends these keys: wait for it")
        record = found
        await self.storage.write(lambda database: database.put_key(record))
        self.folder.key(record).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._uploading.add(place)
        return record

    def end_upload(self, key: KeyRecord) -> None:
        """Records that the upload of a part has ended, complete or not."""
        self._uploading.discard(_place(key))

    async def complete(self, key: KeyRecord, program: Publication) -> KeyRecord:
        """Checks completely uploaded keys: their digest, then their contents.

        Raises ProblemError if the database fails: the upload can be completed again.

        Returns:
            The keys in their new state: ready or refused.
        """
        stored: asyncio.Task[None] | None = None
        self._checking.add(_place(key))
        try:
            key, seconds = await self._checked(key, program)
            stored = self._spawn(self._store_check(key, seconds))
            await asyncio.wait({stored}, timeout=PATIENCE_SECONDS)
        finally:
            if stored is None or stored.done():
                self._checking.discard(_place(key))
            else:
                stored.add_done_callback(lambda _: self._checking.discard(_place(key)))
        if not stored.done():
            raise storage_problem("the result of the check is not stored yet")
        return key

    async def _checked(self, key: KeyRecord, program: Publication) -> tuple[KeyRecord, float]:
        """Checks keys; returns them in their new state, and the seconds that refused ones cost."""
        part, checking = self.folder.key_part(key), replace(key, state=KeyState.CHECKING)
        await self.storage.write(lambda database: database.put_key(checking))
        found = await asyncio.to_thread(_digest, part)
        detail, seconds = "", 0.0
        if found != key.digest:
            detail = f"the bytes have the SHA-256 {found}, and not the one of the address: damaged"
        else:
            name = f"check {secrets.token_hex(8)}"
            files = (KeyFile(str(part), key.media),)
            outcome = await self.dispatcher.check(Task(name, program.name, "", files))
            detail, seconds = outcome.message, outcome.load_seconds
        if detail:
            part.unlink(missing_ok=True)
            return replace(key, state=KeyState.REFUSED, detail=detail, received=0), seconds
        part.rename(self.folder.key(key))
        return replace(key, state=KeyState.READY, detail=""), 0.0

    async def _store_check(self, key: KeyRecord, seconds: float) -> None:
        if seconds:
            await self.storage.write_surely(lambda database: database.charge(key.client, seconds))
        await self._put_key(key)

    async def _put_key(self, key: KeyRecord) -> None:
        await self.storage.write_surely(lambda database: database.put_key(key))

    async def _check_again(self, key: KeyRecord) -> None:
        """Checks keys whose check a previous server did not finish."""
        program = next(iter(self.programs_with(key.parameters)), None)
        if self.folder.key(key).exists():
            await self._put_key(replace(key, state=KeyState.READY))
        elif program is None:
            await self._put_key(replace(key, state=KeyState.REFUSED, received=0))
        elif not self.folder.key_part(key).exists():
            await self._put_key(replace(key, state=KeyState.PARTIAL, received=0))
        else:
            while not {_place(key)} & (self._checking | self._uploading):
                try:
                    await self.complete(key, program)
                    return
                except ProblemError as error:
                    log.warning("a check of keys is started later: %s", error)
                    await asyncio.sleep(1)

    async def remove_key(self, key: KeyRecord) -> None:
        """Removes keys that no job needs.

        Raises ProblemError if a job needs them, or the database fails.
        """
        async with self._turns[key.client]:
            if _place(key) in self._uploading:
                text = "another request sends these keys: wait for it"
                raise ProblemError(409, "under-way", text)
            if not await self.storage.write(lambda database: database.remove_key(key)):
                text = "a job needs these keys: wait for it, or cancel it"
                raise ProblemError(409, "in-use", text)
            self.folder.remove_key(key)

    # ---- jobs ----------------------------------------------------------------------------------

    @asynccontextmanager
    async def arriving(
        self, client: Client, program: Publication, request: str | None
    ) -> AsyncIterator[Arrival]:
        """Counts a job whose inputs arrive, so that parallel requests stay within the quota.

        Raises ProblemError if the job would exceed a quota.
        """
        arrival = Arrival(client.id, sum(program.input_bytes.values()))
        async with self._turns[client.id]:
            if await self._job_of_request(client, request) is None:
                await self._check_quota(client, program)
            else:
                self._check_arrivals(client, arrival)
            self._arriving[client.id] += 1
            self._arriving_bytes[client.id] += arrival.size
        try:
            yield arrival
        finally:
            self._arrived(arrival)

    def _check_arrivals(self, client: Client, arrival: Arrival) -> None:
        """Refuses the body of a job that is here already, if too many of a client arrive.

        Raises ProblemError if so.
        """
        quota, number = self.settings.of(client.name), self._arriving[client.id]
        size = self._arriving_bytes[client.id]
        if number >= quota.waiting_jobs:
            raise _over_quota(f"{number} jobs arrive", f"{quota.waiting_jobs}", 5)
        if size + arrival.size > quota.job_bytes and number:
            raise _over_quota(f"{size} bytes of jobs arrive", f"{quota.job_bytes}", 5)

    def _arrived(self, arrival: Arrival) -> None:
        if arrival.counted:
            arrival.counted = False
            self._arriving[arrival.client] -= 1
            self._arriving_bytes[arrival.client] -= arrival.size

    async def _job_of_request(self, client: Client, request: str | None) -> JobRecord | None:
        """Returns the job that a client named so before."""
        if request is None:
            return None
        return await self.storage.read(lambda database: database.job_of_request(client.id, request))

    async def _check_quota(self, client: Client, program: Publication) -> None:
        """Refuses a new job that would exceed a quota; jobs whose inputs arrive count.

        Raises ProblemError if so; says when to retry.
        """
        quota = self.settings.of(client.name)
        stored, used, kept = await self.storage.read(
            lambda database: (
                database.open_jobs(client.id),
                database.seconds_used(client.id),
                database.job_bytes(client.id),
            )
        )
        open_jobs = stored + self._arriving[client.id]
        if open_jobs >= quota.waiting_jobs:
            raise _over_quota(f"{open_jobs} jobs arrive, wait or run", f"{quota.waiting_jobs}", 5)
        _check_compute(used, quota)
        size = sum(program.input_bytes.values())
        kept += self._arriving_bytes[client.id]
        if kept + size > quota.job_bytes:
            raise _over_quota(
                f"{kept} bytes of jobs are kept or arrive, and this one may add {size}",
                f"{quota.job_bytes}: DELETE kept outputs, and jobs whose results were read"
                f"{await self._largest(client)}",
                60,
            )
        try:
            self.dispatcher.check_capacity()
        except QueueFullError as error:
            raise ProblemError(503, "queue-full", f"{error}", {"Retry-After": "5"}) from None

    async def _largest(self, client: Client) -> str:
        """Says which jobs of a client take most of its quota, and which outputs they keep."""
        jobs = await self.storage.read(lambda database: database.largest_jobs(client.id, _LARGEST))
        said = []
        for job in jobs:
            kept = [f"{name} {job.outputs[name]}" for name in job.keep if name in job.outputs]
            of_them = f" (kept outputs: {', '.join(kept)})" if kept else ""
            said.append(f"job {job.id} {job.bytes}{of_them}")
        return f"; most bytes have {', '.join(said)}" if said else ""

    async def _is_stray(self, job: JobRecord) -> bool:
        """Whether a job was stored by a write that seemed to fail: its request was refused.

        To be asked in the turn of its client, so that no job is between the database and the queue.
        """
        if job.state in ENDED or self.dispatcher.record(job.id) is not None:
            return False
        found = await self.storage.read(lambda database: database.job(job.id))
        return found is None or found.state not in ENDED  # it may have ended since it was read

    async def job(self, client: Client, identifier: str) -> JobRecord:
        """Returns a client's job: from memory if it has not ended.

        Raises ProblemError if there is none.
        """
        found = self.dispatcher.record(identifier)
        if found is None:
            found = await self.storage.read(lambda database: database.job(identifier))
        if found is None or found.client != client.id:
            raise not_found(f"job {identifier:.64}")
        return found

    async def remove_job(self, identifier: str) -> None:
        """Removes a job that has ended, and its files.

        Raises ProblemError if the database fails.
        """
        await self.storage.write(lambda database: database.remove_job(identifier))
        await asyncio.to_thread(self.folder.remove_job, identifier)

    async def cancel(self, client: Client, job: JobRecord) -> JobRecord:
        """Cancels a job that has not ended; returns it as it is then."""
        await self.dispatcher.cancel(job.id, _CANCEL_SECONDS)
        return await self.job(client, job.id)

    async def accept(
        self,
        client: Client,
        program: Publication,
        arrival: Arrival,
        identifier: str,
        request: str | None,
        parts: Mapping[str, Part],
    ) -> JobRecord:
        """Makes a job from a received form; its inputs are already in its folder.

        Returns the job, or an earlier job of the same request. Raises ProblemError if a part is
        missing or unknown, or does not fit the program.
        """
        async with self._turns[client.id]:
            keys = await self._named_keys(client, program, parts)
            keep = _named_outputs(program, parts)
            given = {name: parts[name] for name in program.kit.inputs}
            addresses = {
                name: part.text.decode("utf-8", "replace").strip()
                for name, part in given.items()
                if part.path is None
            }
            digests = {name: part.digest for name, part in given.items()} | addresses
            job = JobRecord(
                identifier,
                client.id,
                program.name,
                program.revision,
                tuple(key.digest for key in keys),
                request,
                _fingerprint(program, keys, keep, digests),
                RunState.WAITING,
                0,
                sum(part.size for part in parts.values()),
                now(),
                keep=keep,
            )
            before = await self._job_of_request(client, request)
            if before is not None:
                check_same_request(before, job.fingerprint)
                if not await self._is_stray(before):
                    return before
                await self.remove_job(before.id)
            linked = await self._link_kept(client, program, identifier, addresses)
            job = replace(job, bytes=job.bytes + linked)
            # Other jobs of this client may have been accepted while this body arrived.
            self._arrived(arrival)
            await self._check_quota(client, program)
            task = await self._task(job, program)
            found = await self.storage.write(
                lambda database: database.add_job(job), lambda database: database.remove_job(job.id)
            )
            if found.id == job.id:
                self.metrics.job_began(job)
                self.dispatcher.submit(job, task)
            return found

    async def _link_kept(
        self,
        client: Client,
        program: Publication,
        identifier: str,
        addresses: Mapping[str, str],
    ) -> int:
        """Makes kept outputs the inputs of a job; returns their bytes.

        Raises ProblemError if an address is of no kept output of this client, or a file is larger
        than the input may be.
        """
        total = 0
        for name, address in addresses.items():
            found = _ADDRESS.fullmatch(address)
            if found is None:
                raise ProblemError(
                    422,
                    "wrong-parts",
                    f"input {name!r}: {address!r:.120} is no address of an output: give the 'href' "
                    f"that the job's status has, such as /v{API_VERSION}/jobs/ID/outputs/NAME",
                )
            job = await self.job(client, found[1])
            path = self.kept_output(job, unquote(found[2]))
            with disk_problems(), _lost_files():
                size = path.stat().st_size
                if size > program.input_bytes[name]:
                    raise ProblemError(
                        413,
                        "too-large",
                        f"input {name!r}: {address} has {size} bytes, and this input has at most "
                        f"{program.input_bytes[name]}: it has more limbs, or other parameters",
                    )
                self.folder.link_input(path, identifier, [*program.kit.inputs].index(name))
            total += size
        return total

    async def _named_keys(
        self, client: Client, program: Publication, parts: Mapping[str, Part]
    ) -> list[KeyRecord]:
        """Returns the keys of a run in a fixed order; also checks the run's other fields."""
        inputs = program.kit.inputs
        missing = sorted(inputs.keys() - parts.keys())
        if missing:
            raise ProblemError(
                422,
                "wrong-parts",
                f"program {program.name!r} takes the inputs {sorted(inputs)}: missing are "
                f"{missing}"[:1000],
            )
        revision = parts["revision"].text.decode("utf-8", "replace") if "revision" in parts else ""
        if revision and revision != program.revision:
            raise ProblemError(
                409,
                "other-revision",
                f"revision {revision:.64} of {program.name!r} was asked for, and this server "
                f"offers {program.revision}: get the program anew",
            )
        digests = _words(parts.get("keys"))
        needs = program.kit.key_needs
        if not digests and needs.count:
            raise ProblemError(
                422,
                "keys-missing",
                f"program {program.name!r} needs evaluation keys: PUT them, and name their SHA-256 "
                "in the field 'keys'",
            )
        keys = []
        for digest in digests:
            key = await self._key(client.id, program, digest)
            if key is None or key.state is not KeyState.READY:
                raise ProblemError(
                    409,
                    "keys-missing",
                    f"keys {digest:.64} are not here for parameters {program.parameters_id[:8]}: "
                    "PUT them first",
                )
            keys.append(key)
        return keys

    async def _task(self, job: JobRecord, program: Publication) -> Task:
        """Returns what a worker does for a job; without keys that are lost."""
        parameters = program.parameters_id
        keys = await self.storage.read(
            lambda database: [database.key(job.client, parameters, digest) for digest in job.keys]
        )
        files = [KeyFile(str(self.folder.key(key)), key.media) for key in keys if key is not None]
        return Task(
            job.id,
            program.name,
            f"{job.client} {program.parameters_id} {' '.join(job.keys)}",
            tuple(files),
            self.folder.input_files(job.id, [*program.kit.inputs]),
            str(self.folder.job(job.id)),
            str(job.client),
        )

    def output(self, job: JobRecord, name: str) -> Path:
        """Returns the path of a job's output.

        Raises ProblemError if the job is not done, or has no output of that name.
        """
        if job.state is not RunState.DONE:
            raise ProblemError(
                409, "not-done", f"the job is {job.state}: {job.message or 'ask later'}"
            )
        names = [*job.outcome["outputs"]]
        if name not in names:
            raise not_found(f"output {name!r:.80} of this job")
        if name not in job.outputs:
            raise ProblemError(
                410, "freed", f"output {name!r} of job {job.id} was removed: run the job again"
            )
        path = Path(job.outcome["folder"]) / str(names.index(name))
        with _lost_files():
            if not path.is_file():
                raise FileNotFoundError
        return path

    def kept_output(self, job: JobRecord, name: str) -> Path:
        """Returns the path of an output that was to be kept.

        Raises ProblemError as ``output``, and if the job was to keep others or none.
        """
        path = self.output(job, name)
        if name not in job.keep:
            raise ProblemError(
                409,
                "not-kept",
                f"output {name!r} of job {job.id} is a result, which was not to be kept: run it "
                f"again with {name!r} in the field 'keep'",
            )
        return path

    async def free_output(self, job: JobRecord, name: str) -> None:
        """Removes a kept output; jobs that have it as an input still do.

        Raises ProblemError as ``kept_output``, or if the database fails.
        """
        path = self.kept_output(job, name)
        await self.storage.write(lambda database: database.free_output(job.id, name))
        path.unlink(missing_ok=True)

    def discard(self, identifier: str) -> None:
        """Removes the folder of a job that was not accepted."""
        shutil.rmtree(self.folder.job(identifier), ignore_errors=True)


def _place(key: KeyRecord) -> tuple[int, str, str]:
    return key.client, key.parameters, key.digest


@contextmanager
def _lost_files() -> Iterator[None]:
    """Raises ProblemError if an output's file is gone."""
    try:
        yield
    except FileNotFoundError:
        raise ProblemError(
            410, "lost-files", "this result is not on the server's disk any more: run it again"
        ) from None


def _words(part: Part | None) -> list[str]:
    """Returns the words of a field, which spaces or commas separate, in order and once."""
    text = "" if part is None else part.text.decode("utf-8", "replace")
    return sorted(set(text.replace(",", " ").split()))


def _named_outputs(program: Publication, parts: Mapping[str, Part]) -> tuple[str, ...]:
    """Returns the outputs that a run is to keep. Raises ProblemError if one is unknown."""
    names = _words(parts.get("keep"))
    unknown = [name for name in names if name not in program.kit.outputs]
    if unknown:
        raise ProblemError(
            422,
            "wrong-parts",
            f"keep: program {program.name!r} has the outputs {sorted(program.kit.outputs)!s:.500}, "
            f"and not {unknown[0]!r:.80}",
        )
    return tuple(names)


def address_of(job: JobRecord, output: str) -> str:
    """Returns the address of a job's output, without the server's."""
    return f"/v{API_VERSION}/jobs/{job.id}/outputs/{quote(output)}"


def _fingerprint(
    program: Publication,
    keys: Iterable[KeyRecord],
    keep: Iterable[str],
    digests: Mapping[str, str],
) -> str:
    """Returns a digest of everything on which a run depends."""
    text = [program.name, program.revision, " ".join(keep), *(key.digest for key in keys)]
    for name, digest in sorted(digests.items()):
        text += [name, digest]
    return hashlib.sha256("\0".join(text).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_compute(used: float, quota: Quota) -> None:
    """Refuses work of a client that used all its seconds of this hour.

    Raises ProblemError if so.
    """
    if used >= quota.compute_seconds:
        more = seconds_to_next_hour()
        raise _over_quota(f"{used:.0f} seconds this hour", f"{quota.compute_seconds:g}", more)


def _over_quota(what: str, limit: str, seconds: int) -> ProblemError:
    return ProblemError(
        429, "quota", f"{what}, and this client may have {limit}", {"Retry-After": str(seconds)}
    )
