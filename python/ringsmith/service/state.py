"""The state that all requests of a server share, and its rules: quotas, keys, jobs."""

import asyncio
import hashlib
import secrets
import shutil
import time
from collections import Counter, deque
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ringsmith.backends.fair_queue import QueueFullError
from ringsmith.service.bodies import Part
from ringsmith.service.database import (
    Client,
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
from ringsmith.service.problems import ProblemError, not_found
from ringsmith.service.published import Publication
from ringsmith.service.settings import Settings
from ringsmith.service.tasks import Device, KeyFile, Outcome, Task

_PIECE = 1 << 20
_REMEMBERED = 1024
"""Jobs whose times the operator's page shows."""
_KEPT = (KeyState.CHECKING, KeyState.READY)
"""Keys that no upload replaces."""


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
        """Counts an event.

        Args:
            now: Its time, in seconds since 1970.
        """
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
class State:
    """A server's state.

    Attributes:
        folder: Its persistent data.
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
    settings: Settings
    device: Device
    programs: Mapping[str, Publication]
    metrics: Metrics
    dispatcher: Dispatcher = field(init=False)
    timings: deque[Timing] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    done: LastMinute = field(default_factory=LastMinute)
    started: float = field(default_factory=time.time)
    _uploading: set[tuple[int, str, str]] = field(default_factory=set)
    _arriving: Counter[int] = field(default_factory=Counter)
    _arriving_bytes: Counter[int] = field(default_factory=Counter)
    _background: set[asyncio.Task[None]] = field(default_factory=set)

    def ended(self, job: JobRecord, outcome: Outcome) -> None:
        """Records a job that has ended; the dispatcher calls this."""
        now = job.ended or time.time()
        whole = now - job.created
        self.metrics.job_ended(job, outcome.seconds, whole)
        if job.state is RunState.DONE:
            queue = (job.started or now) - job.created
            self.timings.append(Timing(queue, outcome.seconds, whole))
            self.done.add(now)

    def begin(self) -> None:
        """Resumes the unfinished work of a previous server."""
        self.folder.sweep()
        for key in self.folder.database.all_keys():
            if key.state is KeyState.CHECKING:
                self._spawn(self._check_again(key))
        self._spawn(self._sweep())
        for job in self.folder.database.jobs_in((RunState.WAITING, RunState.RUNNING)):
            program = self.programs.get(job.program)
            if program is None or program.revision != job.revision:
                self.folder.database.end_job(
                    job.id,
                    RunState.FAILED,
                    code="program-gone",
                    message=f"revision {job.revision} of program {job.program!r} is not offered "
                    "any more: ask again with the one that is",
                )
                continue
            if job.state is RunState.RUNNING:
                self.folder.database.wait_again(job.id)
            self.dispatcher.submit(job, self._task(job, program))

    async def close(self) -> None:
        """Ends workers and background tasks."""
        for task in [*self._background]:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self.dispatcher.close()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _sweep(self) -> None:
        """Periodically removes old jobs, their results, and old records of device time."""
        while True:
            keep = self.settings.limits.keep_seconds
            for identifier in self.folder.database.ended_before(time.time() - keep):
                self.folder.remove_job(identifier)
            self.folder.database.forget_hours()
            await asyncio.sleep(min(60.0, keep / 2))

    # ---- programs ------------------------------------------------------------------------------

    def program(self, name: str) -> Publication:
        """Returns a program by its name.

        Raises:
            ProblemError: If there is none.
        """
        found = self.programs.get(name)
        if found is None:
            raise not_found(f"program {name!r:.80}; GET /v1/programs names them")
        return found

    def programs_with(self, parameters: str) -> Iterable[Publication]:
        """Returns the programs with the given parameters."""
        return (one for one in self.programs.values() if one.parameters_id == parameters)

    # ---- keys ----------------------------------------------------------------------------------

    def key(self, client: Client, program: Publication, digest: str) -> KeyRecord:
        """Returns a client's keys.

        Raises:
            ProblemError: If there are none.
        """
        found = self.folder.database.key(client.id, program.parameters_id, digest)
        if found is None:
            raise not_found(f"key {digest:.64}")
        return found

    def begin_upload(
        self, client: Client, program: Publication, digest: str, media: str, first: int, size: int
    ) -> KeyRecord:
        """Checks that a part of keys may be uploaded, and records it; ``end_upload`` follows.

        Raises:
            ProblemError: If the part is not the next one, exceeds the quota, or another is being
                uploaded.
        """
        database = self.folder.database
        found = database.key(client.id, program.parameters_id, digest)
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
            quota = self.settings.of(client.name).key_bytes
            taken = database.key_bytes(client.id) - (0 if found is None else found.size)
            if taken + size > quota:
                raise ProblemError(
                    429,
                    "quota",
                    f"{size} bytes of keys beside {taken} that are here, and this client may have "
                    f"{quota}: DELETE keys that are not needed",
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
                f"a piece from byte {first} on, and the next one begins at {found.received}",
                {"Upload-Offset": str(found.received)},
            )
        place = (client.id, program.parameters_id, digest)
        if place in self._uploading:
            raise ProblemError(409, "under-way", "another request sends these keys: wait for it")
        self._uploading.add(place)
        self.folder.key(found).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        database.put_key(found)
        return found

    def end_upload(self, key: KeyRecord) -> None:
        """Records that the upload of a part has ended, complete or not."""
        self._uploading.discard((key.client, key.parameters, key.digest))

    async def complete(self, key: KeyRecord, program: Publication) -> KeyRecord:
        """Checks completely uploaded keys: their digest, then their contents.

        Returns:
            The keys in their new state: ready or refused.
        """
        database, part = self.folder.database, self.folder.key_part(key)
        key = replace(key, state=KeyState.CHECKING)
        database.put_key(key)
        found = await asyncio.to_thread(_digest, part)
        detail = ""
        if found != key.digest:
            detail = f"the bytes have the SHA-256 {found}, and not the one of the address: damaged"
        else:
            name = f"check {secrets.token_hex(8)}"
            files = (KeyFile(str(part), key.media),)
            outcome = await self.dispatcher.check(Task(name, program.name, "", files))
            detail = outcome.message
        key = replace(key, state=KeyState.REFUSED if detail else KeyState.READY, detail=detail)
        if detail:
            part.unlink(missing_ok=True)
            key = replace(key, received=0)
        else:
            part.rename(self.folder.key(key))
        database.put_key(key)
        return key

    async def _check_again(self, key: KeyRecord) -> None:
        """Checks keys whose check a previous server did not finish."""
        program = next(iter(self.programs_with(key.parameters)), None)
        if self.folder.key(key).exists():
            self.folder.database.put_key(replace(key, state=KeyState.READY))
        elif program is None:
            self.folder.database.put_key(replace(key, state=KeyState.REFUSED, received=0))
        else:
            await self.complete(key, program)

    def remove_key(self, key: KeyRecord) -> None:
        """Removes keys that no job needs.

        Raises:
            ProblemError: If a job needs them.
        """
        jobs = self.folder.database.jobs_in((RunState.WAITING, RunState.RUNNING))
        if any(job.client == key.client and key.digest in job.keys for job in jobs):
            raise ProblemError(409, "in-use", "a job needs these keys: wait for it, or cancel it")
        if (key.client, key.parameters, key.digest) in self._uploading:
            raise ProblemError(409, "under-way", "another request sends these keys: wait for it")
        self.folder.remove_key(key)

    # ---- jobs ----------------------------------------------------------------------------------

    @contextmanager
    def arriving(self, client: Client, program: Publication) -> Iterator[None]:
        """Counts a job whose inputs arrive, so that parallel requests stay within the quota."""
        size = sum(program.input_bytes.values())
        self._arriving[client.id] += 1
        self._arriving_bytes[client.id] += size
        try:
            yield
        finally:
            self._arriving[client.id] -= 1
            self._arriving_bytes[client.id] -= size
            if not self._arriving[client.id]:
                del self._arriving[client.id], self._arriving_bytes[client.id]

    def check_quota(self, client: Client, program: Publication) -> None:
        """Refuses a new job that would exceed a quota; jobs whose inputs arrive count.

        Raises:
            ProblemError: If so; says when to retry.
        """
        quota, database = self.settings.of(client.name), self.folder.database
        open_jobs = database.open_jobs(client.id) + self._arriving[client.id]
        if open_jobs >= quota.waiting_jobs:
            raise _over_quota(f"{open_jobs} jobs arrive, wait or run", f"{quota.waiting_jobs}", 5)
        used = database.seconds_used(client.id)
        if used >= quota.compute_seconds:
            more = seconds_to_next_hour()
            raise _over_quota(f"{used:.0f} seconds this hour", f"{quota.compute_seconds:g}", more)
        size = sum(program.input_bytes.values())
        kept = database.job_bytes(client.id) + self._arriving_bytes[client.id]
        if kept + size > quota.job_bytes:
            raise _over_quota(
                f"{kept} bytes of jobs are kept or arrive, and this one may add {size}",
                f"{quota.job_bytes}: DELETE jobs whose results were read",
                60,
            )
        try:
            self.dispatcher.check_room()
        except QueueFullError as error:
            raise ProblemError(503, "queue-full", f"{error}", {"Retry-After": "5"}) from None

    def job(self, client: Client, identifier: str) -> JobRecord:
        """Returns a client's job.

        Raises:
            ProblemError: If there is none.
        """
        found = self.folder.database.job(identifier, client.id)
        if found is None:
            raise not_found(f"job {identifier:.64}")
        return found

    def accept(
        self,
        client: Client,
        program: Publication,
        identifier: str,
        request: str | None,
        parts: Mapping[str, Part],
    ) -> JobRecord:
        """Makes a job from a received form; its inputs are already in its folder.

        Returns:
            The job, or an earlier job of the same request.

        Raises:
            ProblemError: If a part is missing or unknown, or does not fit the program.
        """
        keys = self._named_keys(client, program, parts)
        digests = {name: part.digest for name, part in parts.items() if part.path is not None}
        job = JobRecord(
            identifier,
            client.id,
            program.name,
            program.revision,
            tuple(key.digest for key in keys),
            request,
            _fingerprint(program, keys, digests),
            RunState.WAITING,
            0,
            sum(part.size for part in parts.values()),
            time.time(),
        )
        if request is not None:
            before = self.folder.database.job_of_request(client.id, request)
            if before is not None:
                check_same_request(before, job.fingerprint)
                return before
        # Other jobs of this client may have been accepted while this body arrived.
        self.check_quota(client, program)
        found = self.folder.database.add_job(job)
        if found.id == job.id:
            self.metrics.job_began(job)
            self.dispatcher.submit(job, self._task(job, program))
        return found

    def _named_keys(
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
        text = parts["keys"].text.decode("utf-8", "replace") if "keys" in parts else ""
        digests = sorted(set(text.replace(",", " ").split()))
        needs = program.kit.key_needs
        if not digests and (needs.relin is not None or needs.galois):
            raise ProblemError(
                422,
                "keys-missing",
                f"program {program.name!r} needs evaluation keys: PUT them, and name their SHA-256 "
                "in the field 'keys'",
            )
        keys = []
        for digest in digests:
            key = self.folder.database.key(client.id, program.parameters_id, digest)
            if key is None or key.state is not KeyState.READY:
                raise ProblemError(
                    409,
                    "keys-missing",
                    f"keys {digest:.64} are not here for parameters {program.parameters_id[:8]}: "
                    "PUT them first",
                )
            keys.append(key)
        return keys

    def _task(self, job: JobRecord, program: Publication) -> Task:
        database, files = self.folder.database, []
        for digest in job.keys:
            key = database.key(job.client, program.parameters_id, digest)
            assert key is not None, "keys of open jobs are not removed"
            files.append(KeyFile(str(self.folder.key(key)), key.media))
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

        Raises:
            ProblemError: If the job is not done, or has no output of that name.
        """
        if job.state is not RunState.DONE:
            raise ProblemError(
                409, "not-done", f"the job is {job.state}: {job.message or 'ask later'}"
            )
        names = [*job.outcome["outputs"]]
        if name not in names:
            raise not_found(f"output {name!r:.80} of this job")
        return Path(job.outcome["folder"]) / str(names.index(name))

    def discard(self, identifier: str) -> None:
        """Removes the folder of a job that was not accepted."""
        shutil.rmtree(self.folder.job(identifier), ignore_errors=True)


def _fingerprint(
    program: Publication, keys: Iterable[KeyRecord], digests: Mapping[str, str]
) -> str:
    """Returns a digest of everything on which a run depends."""
    text = [program.name, program.revision, *(key.digest for key in keys)]
    for name, digest in sorted(digests.items()):
        text += [name, digest]
    return hashlib.sha256("\0".join(text).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _over_quota(what: str, limit: str, seconds: int) -> ProblemError:
    return ProblemError(
        429,
        "quota",
        f"{what}, and this client may have {limit}",
        {"Retry-After": str(seconds)},
    )
