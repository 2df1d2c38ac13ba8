"""The processes of a measurement: servers, clients, and a device without a service."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.run import ROOT
from ringsmith.errors import ToolError

_MAIN = "from ringsmith.cli.main import main; main()"
_SECONDS = 120


def environment() -> dict[str, str]:
    """The environment of a child that computes with one thread."""
    return {**os.environ, "RINGSMITH_THREADS": "1", "PYTHONPATH": str(ROOT)}


class Server:
    """``ringsmith serve`` as a child process."""

    def __init__(
        self, folder: Path, programs: Sequence[Path], *options: str, port: int = 0
    ) -> None:
        """Starts it. Raises ToolError if it does not start; has what it said."""
        self.log = folder / "serve.log"
        command = [
            *(sys.executable, "-c", _MAIN, "serve", *map(str, programs)),
            *("--data", str(folder / "data"), "--port", str(port), *options),
        ]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment()
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.match(r"(https?://\S+) serves ", line)
        if found is None:
            self.process.wait()
            raise ToolError(f"the server did not start: {self.log.read_text()[-2000:]}")
        self.url = found[1]

    @property
    def port(self) -> int:
        """Its TCP port."""
        return int(self.url.rpartition(":")[2])

    def cpu_seconds(self) -> float:
        """CPU time of its process so far, without its workers."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """Kills it by SIGKILL."""
        self.process.kill()
        self.process.wait()
        self._close()

    def stop(self) -> None:
        """Ends it."""
        self.process.terminate()
        self.process.wait()
        self._close()

    def _close(self) -> None:
        assert self.process.stdout is not None
        self.process.stdout.close()


class Card:
    """``ringsmith card`` as a child process."""

    def __init__(self, design: str, path: Path, memory: float = 2.0) -> None:
        """Starts it, and waits until it answers.

        Raises ToolError if it does not start; has what it said.

        Args:
            design: The design of its coprocessors.
            path: Its socket; what it says of errors goes into a file in the same folder.
            memory: GiB of its memory.
        """
        path.unlink(missing_ok=True)
        log = path.with_suffix(".log")
        with log.open("a") as errors:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-c", _MAIN, "card", design, "--socket", str(path)),
                    *("--memory", str(memory)),
                ],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environment(),
            )
        assert self.process.stdout is not None
        if not self.process.stdout.readline():
            self.process.wait()
            raise ToolError(f"the card did not start: {log.read_text()[-2000:]}")

    def kill(self) -> None:
        """Kills it by SIGKILL."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@dataclass(frozen=True)
class Tally:
    """What a client, or a device without a service, did."""

    latencies: tuple[float, ...]


class Asker:
    """A process of ``bench.service.asker``: a line says for how long it asks."""

    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.service.asker", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )

    def wait_ready(self) -> None:
        """Waits until it could ask. Raises ToolError if it ended."""
        if self._line() != "ready":
            raise ToolError("a process of the measurement ended: see what it printed")

    def ask(self, seconds: float) -> None:
        """Has it ask for so long."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{seconds}\n")
        self._process.stdin.flush()

    def tally(self) -> Tally:
        """What it did. Raises ToolError if it found a wrong result, or ended."""
        try:
            found: dict[str, Any] = json.loads(self._line())
        except ValueError:
            raise ToolError("a process of the measurement failed: see what it printed") from None
        return Tally(tuple(found["latencies"]))

    def close(self) -> None:
        """Ends it."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(OSError):
                stream.close()
        try:
            self._process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def answer(ask: Any, check: Any) -> None:  # noqa: ANN401 - two functions
    """The loop of an ``Asker``'s process: reads for how long to ask, asks, prints the tally."""
    import time

    check(ask())
    print("ready", flush=True)
    for line in sys.stdin:
        end, latencies = time.monotonic() + float(line), []
        while time.monotonic() < end:
            begin = time.perf_counter()
            found = ask()
            latencies.append(time.perf_counter() - begin)
            check(found)
        print(json.dumps({"latencies": latencies}), flush=True)
