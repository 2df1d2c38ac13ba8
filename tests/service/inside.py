"""A server inside the test's process, with workers that compute nothing, and faults on purpose."""

import asyncio
import hashlib
import random
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from ringsmith.remote.form import read_form, write_form
from ringsmith.service import database as database_module
from ringsmith.service.access import Access
from ringsmith.service.app import make_app
from ringsmith.service.database import Database
from ringsmith.service.dispatcher import Dispatcher
from ringsmith.service.engine import WorkerLostError
from ringsmith.service.folder import Folder
from ringsmith.service.metrics import Metrics
from ringsmith.service.published import Publication, publish_all, server_secret
from ringsmith.service.settings import Limits, Settings
from ringsmith.service.state import State
from ringsmith.service.storage import Storage
from ringsmith.service.tasks import DeviceChoice, Outcome, Task

KEYS = b"keys that no worker of these tests reads"
DIGEST = hashlib.sha256(KEYS).hexdigest()


def result_of(data: bytes) -> bytes:
    """What the workers here make of an input."""
    return b"result of " + hashlib.sha256(data).digest()


@dataclass(eq=False)
class Replica:
    """A worker that answers at once.

    Attributes:
        name: Its name.
        places: Jobs at once.
        runs: How often it ran each job.
        losses: So many runs to come lose the worker.
        seconds: How long a job takes.
    """

    name: str = "worker"
    places: int = 2
    trouble: str = ""
    process_id: int | None = None
    runs: Counter[str] = field(default_factory=Counter)
    losses: int = 0
    seconds: float = 0.0

    async def start(self) -> None:
        """Is there again."""
        self.places = 2

    async def run(self, task: Task) -> Outcome:
        """Writes the result of the job's input."""
        await asyncio.sleep(self.seconds)
        self.runs[task.job] += 1
        if self.losses:
            self.losses, self.places = self.losses - 1, 0
            raise WorkerLostError(f"{self.name}: lost on purpose")
        if task.is_check:
            return Outcome(task.job)
        folder = Path(task.folder)
        folder.mkdir()
        (path,) = task.inputs.values()
        data = result_of(Path(path).read_bytes())
        (folder / "0").write_bytes(data)
        return Outcome(task.job, outputs={"result": len(data)}, seconds=1e-3)

    async def cancel(self, job: str) -> None:
        """Does nothing."""

    def kill(self) -> None:
        """Does nothing."""

    async def close(self) -> None:
        """Does nothing."""


@dataclass(eq=False)
class Engine:
    """Replicas of a test."""

    replicas: list[Replica]

    async def close(self) -> None:
        """Does nothing."""


@dataclass
class Faults:
    """What goes wrong with statements that write.

    Attributes:
        rate: Probability that a statement fails.
        code: With which of SQLite's codes.
        after: Whether it is carried out all the same.
        seconds: How long each one takes.
    """

    rate: float = 0.0
    code: int = sqlite3.SQLITE_IOERR
    after: bool = False
    seconds: float = 0.0
    rng: random.Random = field(default_factory=lambda: random.Random(1))

    def clear(self) -> None:
        """Nothing goes wrong any more."""
        self.rate = self.seconds = 0.0


def faulty(monkeypatch: pytest.MonkeyPatch) -> Faults:
    """Makes databases that are opened from now on fail as the result says."""
    faults, connect = Faults(), sqlite3.connect

    class Connection(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:  # noqa: ANN401
            word = statement.split(maxsplit=1)[0]
            writes = word in ("INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT")
            writes = writes or statement.startswith("PRAGMA user_version =")
            if writes and faults.seconds:
                time.sleep(faults.seconds)
            fails = writes and faults.rng.random() < faults.rate
            if not fails or (faults.after and word != "BEGIN"):
                cursor = super().execute(statement, *values)
                if not fails:
                    return cursor
                if word != "COMMIT":
                    cursor.fetchall()
            error = sqlite3.OperationalError("a fault on purpose")
            error.sqlite_errorcode = faults.code
            raise error

    monkeypatch.setattr(
        database_module.sqlite3,
        "connect",
        lambda path, **options: connect(path, factory=Connection, **options),
    )
    return faults


@dataclass(eq=False)
class Inside:
    """A server and a client of it."""

    state: State
    replicas: Sequence[Replica]
    http: httpx.AsyncClient

    async def put_keys(self) -> None:
        """Uploads the keys of these tests, as often as it takes."""
        path = f"/v1/programs/score/keys/{DIGEST}"
        while (await self.http.put(path, content=KEYS)).status_code not in (200, 201):
            await asyncio.sleep(0.02)

    async def post(self, name: str, data: bytes, *, at_once: bool = False) -> httpx.Response:
        """Asks once for a run."""
        body, kind = write_form({"keys": DIGEST.encode()}, {"x": data})
        headers = {"Content-Type": kind, "Idempotency-Key": name}
        if at_once:
            headers["Prefer"] = "respond-async"
        return await self.http.post("/v1/programs/score/runs", content=body, headers=headers)

    async def run(self, name: str, data: bytes, seconds: float = 60) -> Counter[int]:
        """Asks until there is the right result; returns which other answers came before."""
        seen: Counter[int] = Counter()
        async with asyncio.timeout(seconds):
            while (answer := await self.post(name, data)).status_code != 200:
                assert answer.status_code in (202, 429, 503, 507), answer.text
                if answer.status_code != 202:
                    assert answer.headers["content-type"] == "application/problem+json"
                seen[answer.status_code] += 1
                await asyncio.sleep(0.02)
        parts = read_form(answer.headers["content-type"], answer.content)
        assert parts["result"] == result_of(data)
        return seen

    async def health(self) -> dict[str, Any]:
        """What the server says of itself."""
        found: dict[str, Any] = (await self.http.get("/v1/health")).json()
        return found

    async def becomes(self, status: str, storage: str, seconds: float = 20) -> None:
        """Waits until the server says so of itself."""
        async with asyncio.timeout(seconds):
            while True:
                found = await self.health()
                if (found["status"], found["storage"]) == (status, storage):
                    return
                await asyncio.sleep(0.02)


def published(programs: Sequence[Path], data: Path) -> dict[str, Publication]:
    """Programs as a server of ``data`` offers them."""
    folder = Folder(data, lock=False)
    found = publish_all(programs, folder.programs, DeviceChoice(), server_secret(data))
    folder.close()
    return found


@asynccontextmanager
async def inside(
    data: Path,
    programs: dict[str, Publication],
    limits: Limits | None = None,
    replicas: int = 1,
    settings: Settings | None = None,
) -> AsyncIterator[Inside]:
    """A server of a folder until the block ends."""
    folder, storage = Folder(data, lock=False), Storage(data / "service.sqlite3")
    settings = replace(settings or Settings(), limits=limits or Limits(answer_seconds=0.2))
    state = State(folder, storage, settings, DeviceChoice(), programs, Metrics())
    engine = Engine([Replica(f"worker {number}") for number in range(replicas)])
    state.dispatcher = Dispatcher(storage, engine, settings.limits, state.ended)
    await state.dispatcher.start()
    await state.begin()
    transport = httpx.ASGITransport(make_app(state, Access(storage, tokens=False)))
    try:
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8000", timeout=60
        ) as http:
            yield Inside(state, engine.replicas, http)
    finally:
        await state.close()
        storage.close()
        folder.close()


def jobs_of(data: Path) -> Counter[tuple[str, str]]:
    """How many jobs there are of each request and state."""
    database = Database(data / "service.sqlite3")
    rows = database._connection.execute("SELECT request, state FROM jobs").fetchall()
    database.close()
    return Counter((row["request"], row["state"]) for row in rows)
