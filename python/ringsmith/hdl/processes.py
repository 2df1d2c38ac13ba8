"""Child processes that end with this process, however it ends."""

import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ringsmith.errors import ToolError

_TICK_SECONDS = 0.5
_CHUNK = 1 << 16

# Leads the process group of the children. Its input ends when this process closes it or is gone, by
# SIGKILL too; then it kills the group: the children, what they started, and itself.
_KEEPER = ("/bin/sh", "-c", "read -r _; kill -KILL 0")


def run_together(
    commands: Sequence[Sequence[str]],
    cwd: Path,
    environment: Mapping[str, str],
    ended: Callable[[int, int, str], None],
    tick: Callable[[], None],
) -> None:
    """Runs commands, as many at once as there are processors.

    Children get no signal from the terminal. If this call is left by an error or Ctrl-C, those that
    still run are killed before it returns.

    Args:
        commands: The commands; they are started in this order.
        cwd: The folder that they run in.
        environment: Their environment.
        ended: Called for each that has ended: its index, its exit status (the number of the signal
            that killed it, negated), and its standard output and error together.
        tick: Called at least once a second or so.

    Raises:
        ToolError: If a command cannot be started; or what ``ended`` raises.
    """
    waiting = list(range(len(commands)))[::-1]
    output = [bytearray() for _ in commands]
    running: dict[int, subprocess.Popen[bytes]] = {}
    with selectors.DefaultSelector() as pipes, _group(running) as group:
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                number = waiting.pop()
                child = running[number] = _start(commands[number], cwd, environment, group)
                assert child.stdout is not None  # a pipe, as asked for
                pipes.register(child.stdout, selectors.EVENT_READ, number)
            for key, _ in pipes.select(_TICK_SECONDS):
                if chunk := os.read(key.fd, _CHUNK):
                    output[key.data] += chunk
                    continue
                pipes.unregister(key.fileobj)
                with running.pop(key.data) as child:  # waits for its end
                    pass
                ended(key.data, child.returncode, output[key.data].decode(errors="replace"))
            tick()


@contextmanager
def _group(children: Mapping[int, subprocess.Popen[bytes]]) -> Iterator[int]:
    """A process group that is killed at the end of the block; ``children`` are then reaped."""
    keeper = subprocess.Popen(
        _KEEPER,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        yield keeper.pid
    finally:
        os.killpg(keeper.pid, signal.SIGKILL)
        keeper.communicate()
        for child in children.values():
            child.communicate()


def _start(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], group: int
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=group,
        )
    except OSError as failure:
        raise ToolError(f"{command[0]} cannot be started: {failure.strerror}") from failure
