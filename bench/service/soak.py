"""A long run: many clients, random jobs, and everything killed now and then.

What must hold in the end: no wrong result, no job lost or run to two ends, no more memory, files or
sockets than at the beginning.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from statistics import median
from typing import Any

from bench.record import Record
from bench.run import Run
from bench.service.measure import late
from bench.service.processes import Card, Server, environment
from bench.service.soak_programs import DESIGN, KINDS, program
from ringsmith import progress
from ringsmith.errors import ToolError
from ringsmith.service.database import Database, RunState
from ringsmith.service.folder import Folder

OPERATION = "soak"
_SAMPLE_SECONDS = 2.0
_END_SECONDS = 120.0
_LIMITS = """
[limits]
keep_seconds = 1000000
[quota]
job_bytes = 1000000000000
compute_seconds = 1000000
"""
_OF_DESIGN = ("model", "card")
_KEY_GIB, _CARD_GIB = 0.05, 1 / 16
"""Memory for keys, of workers and the card: little, so that both are soon full."""
_MEMORY_SLACK = 48 << 20
_FILE_SLACK = 32
"""Allowed increase of a process's open files from start to end, as some are open by chance."""


@dataclass(frozen=True)
class Plan:
    """A long run.

    Attributes:
        seconds: How long.
        clients: Client processes.
        device: ``cpu``, ``model`` or ``card``; a card is simulated, in a process of its own.
        client_kills: How often a client is killed; another takes its place.
        server_kills: How often the server is killed, and started again.
        worker_kills: How often a worker is killed.
        card_kills: How often the card's process is killed, and started again.
        seed: What random choices follow from.
    """

    seconds: float = 600.0
    clients: int = 20
    device: str = "card"
    client_kills: int = 10
    server_kills: int = 2
    worker_kills: int = 2
    card_kills: int = 1
    seed: int = 1

    def events(self) -> list[tuple[float, str]]:
        """What is killed when: each kind evenly over the time, and no two at once."""
        found = []
        kinds = {
            "client": self.client_kills,
            "server": self.server_kills,
            "worker": self.worker_kills,
            "card": self.card_kills if self.device == "card" else 0,
        }
        for number, (kind, count) in enumerate(kinds.items()):
            for turn in range(count):
                share = (turn + 0.6 + 0.1 * number) / (count + 0.5)
                found.append((self.seconds * min(share, 0.95), kind))
        return sorted(found)


@dataclass
class _Usage:
    """Memory and open files of one process over time."""

    memory: list[int] = field(default_factory=list)
    files: list[int] = field(default_factory=list)

    def sample(self, process: int) -> None:
        with suppress(OSError, IndexError):
            pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
            self.memory.append(pages * os.sysconf("SC_PAGESIZE"))
            self.files.append(len(os.listdir(f"/proc/{process}/fd")))  # noqa: PTH208

    def growth(self) -> tuple[int, int]:
        """From the second quarter to the last: bytes and files; what starts up is the first."""
        quarter = len(self.memory) // 4
        if not quarter:
            return 0, 0

        def grown(values: list[int]) -> int:
            return int(median(values[-quarter:]) - median(values[quarter : 2 * quarter]))

        return grown(self.memory), grown(self.files)

    def quarters(self) -> str:
        """The median memory of each quarter, in MiB."""
        size = max(1, len(self.memory) // 4)
        parts = [self.memory[begin : begin + size] for begin in range(0, 4 * size, size)]
        return ", ".join(f"{int(median(part)) >> 20}" for part in parts if part)


class Soak:
    """A long run."""

    def __init__(self, plan: Plan, folder: Path, say: Callable[[str], None]) -> None:
        self._plan, self._folder, self._say = plan, folder, say
        self._random = random.Random(plan.seed)  # noqa: S311 - no secret
        self._files = [folder / f"{name}.rsp" for name in KINDS]
        for path in self._files:
            program(path.stem).save(path)
        (folder / "limits.toml").write_text(_LIMITS)
        own = Folder(folder / "data")
        self._tokens = [own.database.add_client(f"client {i}") for i in range(plan.clients)]
        own.close()
        self._card: Card | None = None
        self._clients: list[subprocess.Popen[str]] = []
        self.usages: dict[str, _Usage] = {}
        self.killed: Counter[str] = Counter()
        self._server_number = 0

    @property
    def _socket(self) -> Path:
        return self._folder / "card.sock"

    def _options(self) -> list[str]:
        options = ["--limits", str(self._folder / "limits.toml"), "--workers", "1"]
        options += ["--key-memory", str(_KEY_GIB)]
        if self._plan.device == "card":
            return [*options, "--device", "card", "--design", DESIGN, "--card", str(self._socket)]
        if self._plan.device == "model":
            return [*options, "--device", "model", "--design", DESIGN]
        return options

    def _start_card(self) -> None:
        if self._plan.device != "card":
            return
        self._card = Card(DESIGN, self._socket, _CARD_GIB)

    def _client(self, number: int) -> "subprocess.Popen[str]":
        log = self._folder / f"client-{number}.jsonl"
        seed = self._random.randrange(1 << 31)
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "bench.service.soak_client"),
                *(self._server.url, self._tokens[number], str(seed), str(log)),
            ],
            stdin=subprocess.PIPE,
            text=True,
            env=environment(),
        )

    def run(self) -> None:
        """Runs until the time is over and all clients have ended.

        Raises ToolError if a process does not start or end.
        """
        self._start_card()
        self._server = Server(self._folder, self._files, *self._options())
        try:
            self._clients = [self._client(number) for number in range(self._plan.clients)]
            self._loop()
            self._end_clients()
        finally:
            for client in self._clients:
                client.kill()
                client.wait()
            self._server.stop()
            if self._card is not None:
                self._card.kill()

    def _loop(self) -> None:
        events, begin = self._plan.events(), time.monotonic()
        with progress.task("running", round(self._plan.seconds), "s") as task:
            shown = 0
            while (now := time.monotonic() - begin) < self._plan.seconds:
                while events and events[0][0] <= now:
                    self._kill(events.pop(0)[1])
                self._sample()
                task.advance(int(now) - shown)
                shown = int(now)
                time.sleep(min(_SAMPLE_SECONDS, self._plan.seconds / 20))

    def _sample(self) -> None:
        name = f"server {self._server_number}"
        self.usages.setdefault(name, _Usage()).sample(self._server.process.pid)
        for child in _children(self._server.process.pid):
            self.usages.setdefault(f"worker {child}", _Usage()).sample(child)
        if self._card is not None:
            self.usages.setdefault(f"card {self._card.process.pid}", _Usage()).sample(
                self._card.process.pid
            )

    def _kill(self, kind: str) -> None:
        self._say(f"a {kind} is killed")
        self.killed[kind] += 1
        if kind == "client":
            number = self._random.randrange(len(self._clients))
            self._clients[number].kill()
            self._clients[number].wait()
            self._clients[number] = self._client(number)
        elif kind == "server":
            port = self._server.port
            self._server.kill()
            self._server_number += 1
            self._server = Server(self._folder, self._files, *self._options(), port=port)
        elif kind == "worker":
            for child in _children(self._server.process.pid):
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        elif self._card is not None:
            self._card.kill()
            self._start_card()

    def _end_clients(self) -> None:
        for client in self._clients:
            assert client.stdin is not None
            client.stdin.close()
        deadline = time.monotonic() + _END_SECONDS
        for client in self._clients:
            try:
                client.wait(max(1.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise ToolError("a client did not end: the service does not answer it") from None


def _children(process: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


@dataclass(frozen=True)
class Account:
    """What came of a long run.

    Attributes:
        done: Jobs whose results clients have compared with the clear ones.
        cancelled: Jobs that clients cancelled.
        unheard: Jobs of clients that were killed before they heard of them.
        faults: What must not be; empty: nothing.
        latencies: Seconds of each job that was done, sorted.
        again: Jobs that were started more than once.
    """

    done: int
    cancelled: int
    unheard: int
    faults: tuple[str, ...]
    latencies: tuple[float, ...]
    again: int


def account(folder: Path, usages: dict[str, _Usage]) -> Account:
    """Compares what clients noted with what the server has."""
    asked: set[str] = set()
    done: dict[str, float] = {}
    cancelled: set[str] = set()
    faults: list[str] = []
    for line in _lines(folder):
        if "wrong" in line:
            faults.append(f"a wrong result: {line['wrong']}")
        elif "error" in line:
            faults.append(f"a client got the error: {line['error']}")
        elif "asked" in line:
            asked.add(line["request"])
        elif "cancelled" in line:
            cancelled.add(line["request"])
        else:
            done[line["request"]] = line["seconds"]
    database = Database(folder / "data" / "service.sqlite3")
    ended = database.jobs_in((RunState.DONE, RunState.FAILED, RunState.CANCELLED))
    left = database.jobs_in((RunState.WAITING, RunState.RUNNING))
    database.close()
    by_request = Counter(str(job.request) for job in ended)
    faults += [f"{name} was run to two ends" for name, count in by_request.items() if count > 1]
    faults += [f"{name} is lost: its client had its result" for name in done.keys() - by_request]
    failed = [job for job in ended if job.state is RunState.FAILED]
    faults += [f"job {job.request} failed: {job.message}" for job in failed]
    faults += [f"job {job.request} is {job.state} at the end" for job in left]
    for name, usage in usages.items():
        memory, files = usage.growth()
        if memory > _MEMORY_SLACK:
            faults.append(
                f"{name} has {memory >> 20} MiB more at its end; by quarters {usage.quarters()} MiB"
            )
        if files > _FILE_SLACK:
            faults.append(f"{name} has {files} files more open at its end")
    return Account(
        len(done),
        len(cancelled),
        len(asked - done.keys() - cancelled),
        tuple(faults),
        tuple(sorted(done.values())),
        sum(job.attempts > 1 for job in ended),
    )


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("client-*.jsonl")):
        for text in path.read_text().splitlines():
            with suppress(ValueError):  # a client was killed while it wrote
                yield json.loads(text)


def soak(run: Run) -> Iterator[Record]:
    """Runs for long, and counts. Values of the part: the fields of ``Plan``.

    Raises ToolError if something happened that must not; says what.
    """
    names = [each.name for each in fields(Plan)]
    plan = Plan(**{name: run[name] for name in names if name in run.values})
    with tempfile.TemporaryDirectory(prefix="ringsmith-soak-") as text:
        folder = Path(text)
        long = Soak(plan, folder, run.say)
        long.run()
        found = account(folder, long.usages)
        log = (folder / "serve.log").read_text()
    if found.faults:
        raise ToolError(
            f"{len(found.faults)} faults in a long run, the first: {'; '.join(found.faults[:5])}"
            f"\n{log[-4000:]}"
        )
    if not found.done:
        raise ToolError(f"no job was done in a long run:\n{log[-4000:]}")
    yield from _rows(plan, found, long)


def _rows(plan: Plan, found: Account, run: Soak) -> Iterator[Record]:
    device = f"{plan.device} {DESIGN}" if plan.device in _OF_DESIGN else plan.device
    what = (
        f"{plan.seconds:g} s, {plan.clients} client processes, random BFV jobs at N = 2^12; "
        "killed: " + ", ".join(f"{count} × {kind}" for kind, count in sorted(run.killed.items()))
    )

    def row(operation: str, metric: str, value: float) -> Record:
        return Record(device, OPERATION, operation, metric, value, "cpu", what)

    yield row("jobs done, results compared", "count", found.done)
    yield row("jobs cancelled", "count", found.cancelled)
    yield row("jobs begun more than once", "count", found.again)
    yield row("jobs of killed clients", "count", found.unheard)
    yield row("wrong, lost or doubled", "count", 0)
    yield row("jobs done", "per_second", found.done / plan.seconds)
    yield row("p50", "milliseconds", 1e3 * median(found.latencies))
    yield row("p99", "milliseconds", 1e3 * late(found.latencies))
    memory = max((usage.growth()[0] for usage in run.usages.values()), default=0)
    files = max((usage.growth()[1] for usage in run.usages.values()), default=0)
    yield row("memory, most growth of a process", "megabytes", memory / 1e6)
    yield row("open files, most growth of a process", "count", files)
