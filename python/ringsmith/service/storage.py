"""The database off the event loop: one thread writes, one reads; failed statements are repeated.

A locked, slow, full or failing disk delays writers alone: readers have their own
connection, and the log of SQLite lets them read while another writes. A request waits a few seconds
and is then answered with a problem; what the server itself has to store is tried until it succeeds.
"""

import asyncio
import errno
import logging
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TypeVar

from ringsmith.errors import ParameterError
from ringsmith.service.clock import elapsed
from ringsmith.service.database import Database
from ringsmith.service.protocol import ProblemError

log = logging.getLogger("ringsmith.service")

T = TypeVar("T")
Work = Callable[[Database], T]

PATIENCE_SECONDS = 4.0
"""How long a request waits for the database."""
_SHORT_PATIENCE = 0.25
"""How long it waits after others that wait or failed, so that errors do not queue up."""
_BUSY_SECONDS = 0.5
_SLOW_SECONDS = 1.0
"""An access that takes longer is reported."""
_PROBE_SECONDS = 2.0
"""After so long without a write, one shows whether the database can be written."""
_FIRST_PAUSE, _LAST_PAUSE = 0.05, 1.0
_FULL = (errno.ENOSPC, errno.EDQUOT)
_FAILING = (errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE)


@dataclass(eq=False)
class _Call:
    """An access to the database, which its caller may give up.

    Attributes:
        since: When it was asked for.
        settled: Whether its outcome counts; a given-up call that succeeds is undone.
        given_up: Whether its caller no longer waits.
    """

    since: float
    settled: bool = False
    given_up: bool = False
    lock: Lock = field(default_factory=Lock)

    def settle(self) -> bool:
        """Makes the outcome count, unless the call was given up; returns whether it does."""
        with self.lock:
            self.settled = not self.given_up
            return self.settled

    def give_up(self) -> bool:
        """Gives the call up, unless its outcome counts; returns whether it is given up."""
        with self.lock:
            self.given_up = not self.settled
            return self.given_up


class _Line:
    """A thread with a connection of its own."""

    def __init__(self, database: Database, name: str) -> None:
        self.database = database
        self.trouble = ""
        self.last = elapsed()
        self.open: set[_Call] = set()
        self._thread = ThreadPoolExecutor(1, f"database {name}")

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)

    @property
    def waited(self) -> float:
        """Seconds since the oldest access that has not ended was asked for."""
        return max((elapsed() - call.since for call in self.open), default=0.0)

    async def once(self, call: _Call, work: Work[T], undo: Work[object] | None) -> T:
        """Accesses the database once, in the thread. Raises sqlite3.Error if the database fails."""

        def carry_out() -> T:
            if call.given_up:
                raise sqlite3.OperationalError("given up")
            try:
                found = work(self.database)
            except sqlite3.Error as error:
                self.trouble = str(error)
                if not _is_locked(error):
                    with suppress(sqlite3.Error, ParameterError):
                        self.database.reopen()
                raise
            if not call.settle() and undo is not None:
                undo(self.database)
            self.trouble = ""
            return found

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, carry_out)
        finally:
            self.last = elapsed()


class Storage:
    """A server's database, for its event loop."""

    def __init__(self, path: Path) -> None:
        """Opens the database twice.

        Raises ParameterError if it is damaged, or of a newer Ringsmith.
        """
        self._writes = _Line(Database(path, busy_seconds=_BUSY_SECONDS), "writes")
        self._reads = _Line(Database(path, busy_seconds=_BUSY_SECONDS), "reads")

    def close(self) -> None:
        """Ends what is being accessed, and closes the database."""
        for line in (self._reads, self._writes):
            line.close()
            line.database.close()

    @property
    def trouble(self) -> str:
        """Why nothing can be stored or read now; empty: it can."""
        return self._writes.trouble or self._reads.trouble

    @property
    def is_slow(self) -> bool:
        """Whether accesses wait for long."""
        return max(self._writes.waited, self._reads.waited) > _SLOW_SECONDS

    async def read(self, work: Work[T]) -> T:
        """Reads. Raises ProblemError if the database fails, or does not answer in time."""
        return await self._bounded(self._reads, work, None)

    async def write(self, work: Work[T], undo: Work[object] | None = None) -> T:
        """Writes for a request.

        Raises ProblemError if the database fails, or does not answer in time: nothing was stored,
        or it is undone.

        Args:
            work: What is written; may be repeated after a failure.
            undo: Reverts ``work`` if it succeeds after the request was answered.
        """
        return await self._bounded(self._writes, work, undo)

    async def write_surely(self, work: Work[T]) -> T:
        """Writes what the server itself has to store, however long that takes."""
        line, call, pause = self._writes, _Call(elapsed()), _FIRST_PAUSE
        line.open.add(call)
        try:
            while True:
                try:
                    return await line.once(call, work, None)
                except sqlite3.Error as error:
                    if pause == _FIRST_PAUSE:
                        log.error("the database cannot be written: %s", error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LAST_PAUSE)
        finally:
            line.open.discard(call)

    async def watch(self) -> None:
        """Finds out whether the database can be written while nothing else writes, for ever."""
        while True:
            await asyncio.sleep(_PROBE_SECONDS / 2)
            line = self._writes
            if line.trouble or elapsed() - line.last >= _PROBE_SECONDS:
                with suppress(ProblemError):
                    await self._bounded(line, Database.probe, None, PATIENCE_SECONDS)
            if self._reads.trouble:
                with suppress(ProblemError):
                    await self._bounded(self._reads, Database.has_tokens, None, PATIENCE_SECONDS)

    async def _bounded(
        self, line: _Line, work: Work[T], undo: Work[object] | None, patience: float | None = None
    ) -> T:
        if patience is None:
            waits = line.trouble or line.waited > _SLOW_SECONDS
            patience = min(_SHORT_PATIENCE, PATIENCE_SECONDS) if waits else PATIENCE_SECONDS
        call, pause = _Call(elapsed()), _FIRST_PAUSE
        line.open.add(call)
        attempt: asyncio.Future[T] | None = None
        try:
            while True:
                attempt = asyncio.ensure_future(line.once(call, work, undo))
                left = call.since + patience - elapsed()
                await asyncio.wait({attempt}, timeout=max(left, 0))
                if not attempt.done():
                    if call.give_up():
                        raise _problem("it does not answer", full=False)
                    return await attempt
                try:
                    return attempt.result()
                except sqlite3.Error as error:
                    if elapsed() + pause > call.since + patience:
                        raise _problem(str(error), full=_is_full(error)) from None
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LAST_PAUSE)
        finally:
            if attempt is not None and not attempt.done():  # given up, or the request was cancelled
                call.give_up()
                attempt.add_done_callback(lambda one: _forget(one, line, call))
            else:
                line.open.discard(call)


def _forget(attempt: "asyncio.Future[T]", line: _Line, call: _Call) -> None:
    """Ends a call that was given up; its error was reported already."""
    line.open.discard(call)
    if not attempt.cancelled():
        attempt.exception()


def _is_locked(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
    )


def _is_full(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL


def storage_problem(why: str) -> ProblemError:
    """Returns the answer to a request that needs the database, which cannot be used now."""
    return _problem(why, full=False)


def _problem(why: str, *, full: bool) -> ProblemError:
    if full:
        text = "the server's disk is full: tell its operator"
        return ProblemError(507, "disk-full", text, {"Retry-After": "30"})
    text = f"the server's database cannot be used now ({why:.200}): try again"
    return ProblemError(503, "storage", text, {"Retry-After": "2"})


@contextmanager
def disk_problems() -> Iterator[None]:
    """Turns failures of the disk into answers.

    Raises ProblemError if a file cannot be written or read.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise _problem("", full=True) from None
        if error.errno in _FAILING:
            text = f"the server's disk cannot be used now ({error.strerror}): try again"
            raise ProblemError(503, "storage", text, {"Retry-After": "2"}) from None
        raise
