"""A server as users start it: a process of its own, with a folder, that may be killed."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ringsmith import Program, inner_product, trace

SECONDS = 60
"""Longer than anything takes here."""

WEIGHTS = (0.8314, -1.2071, 0.4415, 1.6180)


def score(x):  # noqa: ANN001, ANN201
    """A rotation, a product with a constant and one with a ciphertext: all kinds of keys."""
    total = inner_product(x, list(WEIGHTS), 4)
    return total * total + 0.25


def in_the_clear(x: Sequence[float]) -> float:
    """What ``score`` computes."""
    total = sum(w * value for w, value in zip(WEIGHTS, x, strict=True))
    return total * total + 0.25


def slow(x):  # noqa: ANN001, ANN201
    """Takes long enough on the cpu to be killed in its middle."""
    for _ in range(400):
        x = x.rotate(1).rotate(-1)
    return x


def small_program() -> Program:
    """The program ``score`` in the smallest ring that its security allows."""
    return trace(score, "auto", {"x": 4})


class Server:
    """``ringsmith serve`` in a process."""

    def __init__(self, folder: Path, programs: Sequence[Path], *options: str) -> None:
        """Starts nothing.

        Args:
            folder: Where the server's own folder and log go.
            programs: Files of programs.
            options: More options.
        """
        self.data, self.log_path = folder / "data", folder / "serve.log"
        self._programs, self._options = programs, options
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def __enter__(self) -> "Server":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Starts the server, and waits until it answers; after the first time at the same port."""
        port = self.url.rpartition(":")[2] or "0"
        command = [
            str(Path(sys.executable).with_name("ringsmith")),
            *("serve", *map(str, self._programs), "--data", str(self.data), "--port", port),
            *self._options,
        ]
        environment = {**os.environ, "RINGSMITH_THREADS": "1"}
        with self.log_path.open("a") as log:
            self._process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        found = re.match(r"(https?://\S+) serves ", line)
        assert found, f"{line}{self.log}"
        self.url = found[1]

    @property
    def log(self) -> str:
        """What it has logged."""
        return self.log_path.read_text()

    @property
    def process_id(self) -> int:
        """The server's."""
        assert self._process is not None
        return self._process.pid

    @property
    def worker_ids(self) -> list[int]:
        """Process ids of its workers."""
        return children_of(self.process_id)

    def kill(self) -> None:
        """Kills the server by SIGKILL, and waits until its workers have noticed."""
        workers = self.worker_ids
        assert self._process is not None
        self._process.kill()
        self._process.wait(SECONDS)
        until(lambda: not any(map(alive, workers)), "workers end with their server")
        self._close()

    def stop(self) -> int | None:
        """Ends the server as Ctrl-C does; its exit status."""
        if self._process is None:
            return None
        self._process.send_signal(signal.SIGINT)
        status = self._process.wait(SECONDS)
        self._close()
        return status

    def _close(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None


def children_of(process: int) -> list[int]:
    """Process ids of a process's children."""
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
            found += map(int, (task / "children").read_text().split())
    return found


def alive(process: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def until(condition, what: str, seconds: float = SECONDS) -> None:  # noqa: ANN001
    """Waits for something that is to happen. Raises AssertionError if it does not."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not after {seconds} seconds"
        time.sleep(0.01)


def limited(folder: Path, programs: Sequence[Path], limits: str, *options: str) -> Server:
    """A server of one worker with limits of its own, as TOML."""
    path = folder / "limits.toml"
    path.write_text(limits)
    return Server(folder, programs, "--workers", "1", "--limits", str(path), *options)
