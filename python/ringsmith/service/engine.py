"""Engines: where workers are. ``processes`` are on this machine; ``ray`` is a cluster."""

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from ringsmith.errors import DeviceError, RingsmithError
from ringsmith.files.records import Decoder, Encoder
from ringsmith.service.tasks import Outcome, Setup, Task

log = logging.getLogger("ringsmith.service")

PROCESSES, RAY = "processes", "ray"
ENGINES = (PROCESSES, RAY)

_LINE_BYTES = 1 << 24
_START_SECONDS = 1800.0
"""A worker may build the simulation of a design first."""
_END_SECONDS = 2.0
_BEATS = 5
"""A worker that leaves this number of questions without an answer is replaced."""


class WorkerLostError(RingsmithError):
    """A worker that ended, with everything that it was doing."""


class Replica(Protocol):
    """A worker, also while it is being restarted."""

    @property
    def name(self) -> str:
        """A readable name."""
        ...

    @property
    def places(self) -> int:
        """How many jobs run in it at once; 0: it is not available now."""
        ...

    @property
    def trouble(self) -> str:
        """Why it is not available; empty: it is available, or starts for the first time."""
        ...

    @property
    def process_id(self) -> int | None:
        """The process id on this machine; None: it is on another machine, or gone."""
        ...

    async def start(self) -> None:
        """Starts it. Raises DeviceError if it does not open its device."""
        ...

    async def run(self, task: Task) -> Outcome:
        """Runs a task in the worker. Raises WorkerLostError if the worker ended during the task."""
        ...

    async def cancel(self, job: str) -> None:
        """Asks it to stop a job. The job's ``run`` then ends soon, or never."""
        ...

    def kill(self) -> None:
        """Ends it at once; its running jobs are lost."""
        ...

    async def close(self) -> None:
        """Ends it."""
        ...


class Engine(Protocol):
    """Makes replicas."""

    @property
    def replicas(self) -> Sequence[Replica]:
        """All replicas, also before they are started."""
        ...

    async def close(self) -> None:
        """Ends resources that replicas do not end themselves."""
        ...


@dataclass
class _Process:
    """A worker process and the connection to it."""

    process: asyncio.subprocess.Process
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    tasks: dict[str, asyncio.Future[Outcome]]
    listener: asyncio.Task[None] | None = None
    beats: asyncio.Task[None] | None = None
    unanswered: int = 0


class ProcessReplica:
    """A worker process on this machine."""

    def __init__(self, number: int, setup: Setup, silent_seconds: float) -> None:
        self.name = f"worker {number}"
        self.places = 0
        self.trouble = ""
        self._setup, self._silent_seconds = setup, silent_seconds
        self._own: _Process | None = None

    @property
    def process_id(self) -> int | None:
        """The id of its process."""
        return None if self._own is None else self._own.process.pid

    async def start(self) -> None:
        """Starts the process; see ``Replica.start``."""
        await self.close()
        try:
            await asyncio.wait_for(self._start(), _START_SECONDS)
        except (DeviceError, TimeoutError, OSError) as error:
            self.trouble = str(error) or f"not ready after {_START_SECONDS:g} seconds"
            await self.close()
            raise DeviceError(f"{self.name}: {self.trouble}") from None

    async def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "ringsmith.service.worker", str(theirs.fileno())),
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the server, which ends its workers
            )
        reader, writer = await asyncio.open_connection(sock=ours, limit=_LINE_BYTES)
        own = self._own = _Process(process, reader, writer, {})
        self._send({**Encoder().encode(self._setup, Setup, "setup")})
        line = await reader.readline()
        if not line:
            raise DeviceError(f"the worker process ended with status {await process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "failed" in answer:
            raise DeviceError(str(answer["failed"]))
        self.places, self.trouble = int(answer["ready"]), ""
        own.listener = asyncio.create_task(self._listen(own))
        own.beats = asyncio.create_task(self._beat(own))

    async def _beat(self, own: _Process) -> None:
        """Asks the process whether it works, and kills it when it does not answer.

        Answers are counted, not timed: a server that was itself stopped kills nothing.
        """
        while self._own is own:
            await asyncio.sleep(self._silent_seconds / _BEATS)
            if own.unanswered >= _BEATS:
                log.error("%s did not answer for %g seconds", self.name, self._silent_seconds)
                _kill(own.process)
                return
            own.unanswered += 1
            with suppress(WorkerLostError):
                self._send({"ping": own.unanswered})

    async def _listen(self, own: _Process) -> None:
        """Delivers outcomes to the waiting calls, until the process ends."""
        with suppress(ConnectionError):
            while line := await own.reader.readline():
                own.unanswered = 0
                message: dict[str, Any] = json.loads(line)
                if "outcome" not in message:
                    continue
                outcome: Outcome = Decoder(()).decode(message["outcome"], Outcome, "outcome")
                future = own.tasks.pop(outcome.job, None)
                if future is not None and not future.done():
                    future.set_result(outcome)
        status = await own.process.wait()
        self.trouble = f"its process ended with status {status}"
        if self._own is own:
            self.places, self._own = 0, None
        own.writer.close()
        for future in own.tasks.values():
            if not future.done():
                future.set_exception(WorkerLostError(f"{self.name}: {self.trouble}"))

    def _send(self, message: dict[str, Any]) -> None:
        if self._own is None:
            raise WorkerLostError(f"{self.name} is not there: {self.trouble}")
        self._own.writer.write(json.dumps(message).encode() + b"\n")

    async def run(self, task: Task) -> Outcome:
        """Sends a task and waits; see ``Replica.run``."""
        own = self._own
        if own is None:
            raise WorkerLostError(f"{self.name} is not there: {self.trouble}")
        future = own.tasks[task.job] = asyncio.get_running_loop().create_future()
        try:
            self._send({"task": Encoder().encode(task, Task, "task")})
            outcome: Outcome = await future
            return outcome
        finally:
            own.tasks.pop(task.job, None)

    async def cancel(self, job: str) -> None:
        """Asks the process; see ``Replica.cancel``."""
        with suppress(WorkerLostError):
            self._send({"cancel": job})

    def kill(self) -> None:
        """Kills the process; waiting calls raise an error."""
        if self._own is not None:
            _kill(self._own.process)

    async def close(self) -> None:
        """Closes the connection, so that the process ends; kills the process if it does not."""
        own, self._own, self.places = self._own, None, 0
        if own is None:
            return
        own.writer.close()
        try:
            await asyncio.wait_for(own.process.wait(), _END_SECONDS)
        except TimeoutError:
            _kill(own.process)
            await own.process.wait()
        if own.beats is not None:
            own.beats.cancel()
        if own.listener is not None:
            await own.listener


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class Processes:
    """Worker processes on this machine."""

    def __init__(self, setup: Setup, count: int, silent_seconds: float) -> None:
        self.replicas = [ProcessReplica(number, setup, silent_seconds) for number in range(count)]

    async def close(self) -> None:
        """Replicas end by themselves."""
