"""The server's persistent data in SQLite: clients, keys, jobs and used device time.

Write-ahead log, synchronous NORMAL: a killed process loses no committed data. A power failure may
lose the last transactions only. One thread at a time uses a ``Database``.
"""

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from ringsmith.errors import ParameterError
from ringsmith.service.clock import now
from ringsmith.service.protocol import ProblemError

SCHEMA_VERSION = 1
LOCAL = "local"
"""The client of all requests if there are no tokens."""
TOKEN_BYTES = 32
_HOUR = 3600

_SCHEMA = """
CREATE TABLE clients (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, token BLOB UNIQUE,
  operator INTEGER NOT NULL DEFAULT 0, created REAL NOT NULL);
CREATE TABLE keys (
  client INTEGER NOT NULL REFERENCES clients(id), parameters TEXT NOT NULL, digest TEXT NOT NULL,
  media TEXT NOT NULL, size INTEGER NOT NULL, received INTEGER NOT NULL, state TEXT NOT NULL,
  detail TEXT NOT NULL DEFAULT '', created REAL NOT NULL, used REAL NOT NULL,
  PRIMARY KEY (client, parameters, digest));
CREATE TABLE jobs (
  id TEXT PRIMARY KEY, client INTEGER NOT NULL REFERENCES clients(id), program TEXT NOT NULL,
  revision TEXT NOT NULL, keys TEXT NOT NULL, keep TEXT NOT NULL, request TEXT,
  fingerprint TEXT NOT NULL,
  state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL,
  created REAL NOT NULL, started REAL, ended REAL, code TEXT NOT NULL DEFAULT '',
  message TEXT NOT NULL DEFAULT '', outcome TEXT NOT NULL DEFAULT '{}',
  UNIQUE (client, request));
CREATE INDEX jobs_by_state ON jobs (state, created);
CREATE INDEX jobs_by_client ON jobs (client, created);
CREATE TABLE used (
  client INTEGER NOT NULL REFERENCES clients(id), hour INTEGER NOT NULL, seconds REAL NOT NULL,
  PRIMARY KEY (client, hour));
"""


class KeyState(StrEnum):
    """How far uploaded keys are."""

    PARTIAL = "partial"
    CHECKING = "checking"
    READY = "ready"
    REFUSED = "refused"


class RunState(StrEnum):
    """How far a job of the service is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = (RunState.DONE, RunState.FAILED, RunState.CANCELLED)


@dataclass(frozen=True)
class Client:
    """A client of the server."""

    id: int
    name: str
    operator: bool


@dataclass(frozen=True)
class KeyRecord:
    """Uploaded keys.

    Attributes:
        client: The number of their owner.
        parameters: The identity of their parameters, in hexadecimal.
        digest: SHA-256 of all bytes, in hexadecimal.
        media: The media type of the bytes.
        size: The total number of bytes.
        received: The number of bytes received.
        state: The state of the upload.
        detail: Why they were refused.
    """

    client: int
    parameters: str
    digest: str
    media: str
    size: int
    received: int
    state: KeyState
    detail: str


@dataclass(frozen=True)
class JobRecord:
    """A job.

    Attributes:
        id: Its name, random.
        client: The number of its owner.
        program: The program's name.
        revision: The program's revision.
        keys: Digests of the keys that it uses.
        request: The client's own name for it (``Idempotency-Key``); None: it gave none.
        fingerprint: A digest of the whole request.
        state: Its state.
        attempts: How often it was started.
        bytes: Size of its inputs and results.
        created: Time of the request, in seconds since 1970; ``started`` and ``ended`` likewise.
        code: The error code if it failed.
        message: The error message if it failed.
        outcome: The cost of the run, its outputs, and which of them were freed.
        keep: Names of the outputs that later jobs may take as inputs.
    """

    id: str
    client: int
    program: str
    revision: str
    keys: tuple[str, ...]
    request: str | None
    fingerprint: str
    state: RunState
    attempts: int
    bytes: int
    created: float
    started: float | None = None
    ended: float | None = None
    code: str = ""
    message: str = ""
    outcome: dict[str, Any] = field(default_factory=dict)
    keep: tuple[str, ...] = ()

    @property
    def outputs(self) -> dict[str, int]:
        """Bytes of each output that is stored, by name."""
        sizes, freed = self.outcome.get("outputs", {}), self.outcome.get("freed", ())
        return {name: size for name, size in sizes.items() if name not in freed}


def token_digest(token: str) -> bytes:
    """Returns a token's stored digest. A token has 256 random bits, so a plain hash is safe."""
    return hashlib.sha256(token.encode()).digest()


class Database:
    """The tables of a server's folder."""

    def __init__(self, path: Path, *, busy_seconds: float = 5.0) -> None:
        """Opens a database; creates it if there is none.

        Raises ParameterError if it is damaged, or of a newer Ringsmith.
        """
        self._path, self._busy_seconds = path, busy_seconds
        self._local: Client | None = None
        self._connection = self._opened()

    def _opened(self) -> sqlite3.Connection:
        path = self._path
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        try:
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * self._busy_seconds)}")
            for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
                connection.execute(f"PRAGMA {pragma}")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version == 0:
                with _transaction(connection):
                    for statement in filter(str.strip, _SCHEMA.split(";")):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        except sqlite3.DatabaseError as error:
            connection.close()
            raise ParameterError(f"{path}: not a service's database: {error}") from None
        if version not in (0, SCHEMA_VERSION):
            connection.close()
            raise ParameterError(
                f"{path}: version {version} of the service's tables, and this Ringsmith knows "
                f"{SCHEMA_VERSION}: serve it with a newer Ringsmith, or choose another --data"
            )
        return connection

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()

    def reopen(self) -> None:
        """Opens the file anew after a failure. Raises ParameterError if it cannot be opened."""
        self._connection.close()
        self._connection = self._opened()

    def probe(self) -> None:
        """Writes something that changes nothing."""
        self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _transaction(self) -> AbstractContextManager[None]:
        return _transaction(self._connection)

    @contextmanager
    def _durable(self) -> Iterator[None]:
        """Makes what is written survive a power failure."""
        self._connection.execute("PRAGMA synchronous = FULL")
        try:
            yield
        finally:
            self._connection.execute("PRAGMA synchronous = NORMAL")

    def _one(self, statement: str, *values: object) -> sqlite3.Row | None:
        found: sqlite3.Row | None = self._connection.execute(statement, values).fetchone()
        return found

    def _number(self, statement: str, *values: object) -> float:
        row = self._one(statement, *values)
        return 0 if row is None or row[0] is None else row[0]

    # ---- clients -------------------------------------------------------------------------------

    def add_client(self, name: str, *, operator: bool = False) -> str:
        """Makes a client and returns its token, which is not stored.

        Raises ParameterError if the name is taken or empty.
        """
        if not 1 <= len(name) <= 64 or not name.isprintable() or name == LOCAL:
            raise ParameterError(
                f"client {name!r:.80}: take a name of 1 to 64 printable characters, and not {LOCAL}"
            )
        token = "rs_" + secrets.token_urlsafe(TOKEN_BYTES)
        try:
            with self._durable():
                self._connection.execute(
                    "INSERT INTO clients (name, token, operator, created) VALUES (?, ?, ?, ?)",
                    (name, token_digest(token), operator, now()),
                )
        except sqlite3.IntegrityError:
            raise ParameterError(
                f"client {name!r} exists: remove it, or take another name"
            ) from None
        return token

    def remove_client(self, name: str) -> int:
        """Revokes a client's token permanently, and returns its number; jobs and keys remain.

        Raises ParameterError if there is no such client.
        """
        row = self._one("SELECT id FROM clients WHERE name = ? AND token IS NOT NULL", name)
        if row is None:
            raise ParameterError(f"there is no client {name!r:.80}")
        gone = f"{name} (removed {secrets.token_hex(4)})"
        with self._durable():
            self._connection.execute(
                "UPDATE clients SET token = NULL, name = ? WHERE id = ?", (gone, row["id"])
            )
        return int(row["id"])

    def clients(self) -> list[Client]:
        """Returns all clients that have tokens."""
        rows = self._connection.execute("SELECT * FROM clients WHERE token IS NOT NULL ORDER BY id")
        return [_client(row) for row in rows]

    def client_of(self, token: str) -> Client | None:
        """Returns the client of a token; None: the token is unknown."""
        row = self._one("SELECT * FROM clients WHERE token = ?", token_digest(token))
        return None if row is None else _client(row)

    def local_client(self) -> Client:
        """Returns the client without a token, which may do everything."""
        if self._local is None:
            self._connection.execute(
                "INSERT OR IGNORE INTO clients (name, operator, created) VALUES (?, 1, ?)",
                (LOCAL, now()),
            )
            row = self._one("SELECT * FROM clients WHERE name = ?", LOCAL)
            assert row is not None, "it was made"
            self._local = _client(row)
        return self._local

    def has_tokens(self) -> bool:
        """Returns whether a client could show a token."""
        return self._one("SELECT 1 FROM clients WHERE token IS NOT NULL LIMIT 1") is not None

    def needs_tokens(self) -> bool:
        """Returns whether requests need tokens: from the first token on, also after its removal.

        Clients stay in the table when their tokens are removed.
        """
        return self._one("SELECT 1 FROM clients WHERE name <> ? LIMIT 1", LOCAL) is not None

    def client_names(self) -> dict[int, str]:
        """Returns the clients' names by number, also of clients without tokens."""
        rows = self._connection.execute("SELECT id, name FROM clients")
        return {row["id"]: row["name"] for row in rows}

    # ---- keys ----------------------------------------------------------------------------------

    def key(self, client: int, parameters: str, digest: str) -> KeyRecord | None:
        """Returns a client's keys by their digest; None: there are none."""
        row = self._one(
            "SELECT * FROM keys WHERE client = ? AND parameters = ? AND digest = ?",
            client,
            parameters,
            digest,
        )
        return None if row is None else _key(row)

    def all_keys(self, client: int | None = None) -> list[KeyRecord]:
        """Returns a client's keys, or all keys."""
        rows = self._connection.execute(
            "SELECT * FROM keys WHERE ? IS NULL OR client = ? ORDER BY created", (client, client)
        )
        return [_key(row) for row in rows]

    def put_key(self, key: KeyRecord) -> None:
        """Adds or updates keys."""
        time = now()
        self._connection.execute(
            "INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
            "received = excluded.received, state = excluded.state, detail = excluded.detail, "
            "media = excluded.media, size = excluded.size, used = excluded.used",
            (
                *(key.client, key.parameters, key.digest, key.media, key.size, key.received),
                *(key.state.value, key.detail, time, time),
            ),
        )

    def remove_key(self, key: KeyRecord) -> bool:
        """Removes keys; returns whether: not while an open job of their owner needs them."""
        with self._transaction():
            jobs = self.jobs_in((RunState.WAITING, RunState.RUNNING))
            if any(job.client == key.client and key.digest in job.keys for job in jobs):
                return False
            self._connection.execute(
                "DELETE FROM keys WHERE client = ? AND parameters = ? AND digest = ?",
                (key.client, key.parameters, key.digest),
            )
        return True

    def stale_keys(self, moment: float) -> list[KeyRecord]:
        """Returns keys that can be removed.

        Args:
            moment: Of uploads that are not complete, or were refused: nothing came since then. Keys
                of clients whose tokens were removed are returned, too.
        """
        rows = self._connection.execute(
            "SELECT keys.* FROM keys JOIN clients ON clients.id = keys.client "
            "WHERE (keys.used < ? AND keys.state IN (?, ?)) "
            "OR (clients.token IS NULL AND clients.name <> ?)",
            (moment, KeyState.PARTIAL.value, KeyState.REFUSED.value, LOCAL),
        )
        return [_key(row) for row in rows]

    def key_files(self, client: int) -> int:
        """Returns how many uploads a client has."""
        return int(self._number("SELECT COUNT(*) FROM keys WHERE client = ?", client))

    def key_bytes(self, client: int) -> int:
        """Returns the bytes of a client's keys, including running uploads at full size."""
        return int(self._number("SELECT SUM(size) FROM keys WHERE client = ?", client))

    # ---- jobs ----------------------------------------------------------------------------------

    def add_job(self, job: JobRecord) -> JobRecord:
        """Adds a job, or finds the job of the same client and request.

        Returns the stored job. Another id shows that it existed before. Raises ProblemError if the
        client used that name for a different request.
        """
        try:
            self._connection.execute(
                "INSERT INTO jobs (id, client, program, revision, keys, keep, request, "
                "fingerprint, state, bytes, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(job.id, job.client, job.program, job.revision, json.dumps(job.keys)),
                    *(json.dumps(job.keep), job.request, job.fingerprint),
                    *(job.state.value, job.bytes, job.created),
                ),
            )
        except sqlite3.IntegrityError:
            if (
                stored := self.job(job.id)
            ) is not None:  # written by an attempt that seemed to fail
                return stored
            found = None if job.request is None else self.job_of_request(job.client, job.request)
            if found is None:
                raise
            check_same_request(found, job.fingerprint)
            return found
        return job

    def job(self, identifier: str, client: int | None = None) -> JobRecord | None:
        """Returns a job by its id if it is the client's; client None: of any client."""
        row = self._one(
            "SELECT * FROM jobs WHERE id = ? AND (? IS NULL OR client = ?)",
            identifier,
            client,
            client,
        )
        return None if row is None else _job(row)

    def job_of_request(self, client: int, request: str) -> JobRecord | None:
        """Returns a client's job by the client's own name for it."""
        row = self._one("SELECT * FROM jobs WHERE client = ? AND request = ?", client, request)
        return None if row is None else _job(row)

    def jobs(self, client: int, most: int) -> list[JobRecord]:
        """Returns the newest jobs of a client."""
        rows = self._connection.execute(
            "SELECT * FROM jobs WHERE client = ? ORDER BY created DESC LIMIT ?", (client, most)
        )
        return [_job(row) for row in rows]

    def jobs_in(self, states: Sequence[RunState]) -> list[JobRecord]:
        """Returns all jobs in the given states, oldest first."""
        marks = ", ".join("?" * len(states))
        rows = self._connection.execute(
            f"SELECT * FROM jobs WHERE state IN ({marks}) ORDER BY created",  # noqa: S608
            [state.value for state in states],
        )
        return [_job(row) for row in rows]

    def failures(self, most: int) -> list[JobRecord]:
        """Returns the last jobs that failed."""
        rows = self._connection.execute(
            "SELECT * FROM jobs WHERE state = ? ORDER BY ended DESC LIMIT ?",
            (RunState.FAILED.value, most),
        )
        return [_job(row) for row in rows]

    def begin_job(self, identifier: str, attempt: int) -> JobRecord:
        """Marks a job as running for the given time; returns the job."""
        row = self._one(
            "UPDATE jobs SET state = ?, attempts = ?, started = ? WHERE id = ? RETURNING *",
            *(RunState.RUNNING.value, attempt, now(), identifier),
        )
        assert row is not None, "it was waiting"
        return _job(row)

    def wait_again(self, identifier: str) -> JobRecord:
        """Marks a running job as waiting again; returns the job."""
        row = self._one(
            "UPDATE jobs SET state = ?, started = NULL WHERE id = ? RETURNING *",
            *(RunState.WAITING.value, identifier),
        )
        assert row is not None, "it was running"
        return _job(row)

    def end_job(
        self,
        identifier: str,
        state: RunState,
        *,
        code: str = "",
        message: str = "",
        outcome: dict[str, Any] | None = None,
        more_bytes: int = 0,
        seconds: float = 0.0,
    ) -> JobRecord:
        """Marks a job as ended, if it had not ended before; returns the job.

        Args:
            identifier: The job.
            state: Its final state.
            code: The error code if it failed.
            message: The error message if it failed.
            outcome: The cost of the run and its outputs.
            more_bytes: Bytes of its results.
            seconds: Of a worker, which count towards the client's quota.
        """
        with self._transaction():
            row = self._one(
                "UPDATE jobs SET state = ?, ended = ?, code = ?, message = ?, outcome = ?, "
                "bytes = bytes + ? WHERE id = ? AND state IN (?, ?) RETURNING client",
                *(state.value, now(), code, message, json.dumps(outcome or {}), more_bytes),
                *(identifier, RunState.WAITING.value, RunState.RUNNING.value),
            )
            if row is not None and seconds:
                self.charge(row["client"], seconds)
        ended = self.job(identifier)
        assert ended is not None, "only ended jobs are removed"
        return ended

    def job_ids(self) -> set[str]:
        """Returns the ids of all jobs."""
        return {row["id"] for row in self._connection.execute("SELECT id FROM jobs")}

    def remove_job(self, identifier: str) -> None:
        """Removes a job."""
        self._connection.execute("DELETE FROM jobs WHERE id = ?", (identifier,))

    def ended_before(self, moment: float) -> list[str]:
        """Returns the ids of jobs that ended before a time."""
        marks = ", ".join("?" * len(ENDED))
        rows = self._connection.execute(
            f"SELECT id FROM jobs WHERE ended < ? AND state IN ({marks})",  # noqa: S608
            (moment, *(state.value for state in ENDED)),
        )
        return [row["id"] for row in rows]

    def free_output(self, identifier: str, name: str) -> None:
        """Records that an output of a job is not stored any more; does nothing if it is so."""
        with self._transaction():
            job = self.job(identifier)
            if job is None or name not in job.outputs:
                return
            outcome = {**job.outcome, "freed": [*job.outcome.get("freed", ()), name]}
            self._connection.execute(
                "UPDATE jobs SET outcome = ?, bytes = bytes - ? WHERE id = ?",
                (json.dumps(outcome), job.outputs[name], identifier),
            )

    def largest_jobs(self, client: int, most: int) -> list[JobRecord]:
        """Returns the jobs of a client that take most bytes."""
        rows = self._connection.execute(
            "SELECT * FROM jobs WHERE client = ? ORDER BY bytes DESC LIMIT ?", (client, most)
        )
        return [_job(row) for row in rows]

    def job_bytes(self, client: int) -> int:
        """Returns the bytes of a client's jobs."""
        return int(self._number("SELECT SUM(bytes) FROM jobs WHERE client = ?", client))

    def open_jobs(self, client: int) -> int:
        """Returns how many jobs of a client wait or run."""
        return int(
            self._number(
                "SELECT COUNT(*) FROM jobs WHERE client = ? AND state IN (?, ?)",
                client,
                RunState.WAITING.value,
                RunState.RUNNING.value,
            )
        )

    def counts(self) -> dict[int, dict[str, int]]:
        """Returns the number of jobs of each client by state."""
        found: dict[int, dict[str, int]] = {}
        for row in self._connection.execute(
            "SELECT client, state, COUNT(*) AS jobs FROM jobs GROUP BY client, state"
        ):
            found.setdefault(row["client"], {})[row["state"]] = row["jobs"]
        return found

    # ---- time ----------------------------------------------------------------------------------

    def charge(self, client: int, seconds: float) -> None:
        """Counts seconds of a worker towards a client's quota."""
        self._connection.execute(
            "INSERT INTO used VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET "
            "seconds = seconds + excluded.seconds",
            (client, int(now()) // _HOUR, seconds),
        )

    def seconds_used(self, client: int) -> float:
        """Returns the seconds of workers that a client used in this hour."""
        hour = int(now()) // _HOUR
        return self._number("SELECT seconds FROM used WHERE client = ? AND hour = ?", client, hour)

    def forget_hours(self) -> None:
        """Removes records of device time before this day."""
        self._connection.execute("DELETE FROM used WHERE hour < ?", (int(now()) // _HOUR - 24,))


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # some errors end the transaction themselves
            connection.execute("ROLLBACK")
        raise


def seconds_to_next_hour() -> int:
    """Returns the seconds until a client's quota is reset."""
    return _HOUR - int(now()) % _HOUR


def check_same_request(found: JobRecord, fingerprint: str) -> None:
    """Refuses a different request under a name that was used before.

    Raises ProblemError if the requests differ.
    """
    if found.fingerprint != fingerprint:
        raise ProblemError(
            422,
            "other-request",
            f"Idempotency-Key {found.request!r:.80} was given before with other inputs, keys or "
            "program: take a new one for each new request",
        )


def _client(row: sqlite3.Row) -> Client:
    return Client(row["id"], row["name"], bool(row["operator"]))


def _key(row: sqlite3.Row) -> KeyRecord:
    return KeyRecord(
        *(row["client"], row["parameters"], row["digest"], row["media"]),
        *(row["size"], row["received"], KeyState(row["state"]), row["detail"]),
    )


def _job(row: sqlite3.Row) -> JobRecord:
    values = {name: row[name] for name in row.keys()}  # noqa: SIM118 - a Row is no mapping
    values["keys"] = tuple(json.loads(values["keys"]))
    values["keep"] = tuple(json.loads(values["keep"]))
    values["outcome"] = json.loads(values["outcome"])
    values["state"] = RunState(values["state"])
    return JobRecord(**values)
