"""Progress of long operations.

Code that takes long opens a ``task`` and advances it. By default nothing is shown. The command line
shows progress, and a program does by ``with show_progress(): …``.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_FIRST_LINE_SECONDS = 2.0
_NEXT_LINE_SECONDS = 10.0


@dataclass(eq=False)
class Task:
    """One long operation, opened by ``task``; several threads may advance it.

    Attributes:
        what: What is being done, as a person reads it: ``compiling for nano``.
        total: Steps of the whole; None where that is not known.
        unit: What a step is, in the plural: ``cycles``.
        done: Steps done so far.
    """

    what: str
    total: int | None
    unit: str
    done: int = 0

    def __post_init__(self) -> None:
        self._reporter = _reporter.get()
        self._lock = Lock()

    def advance(self, steps: int = 1) -> None:
        """Adds steps to those done."""
        with self._lock:
            self.done += steps
            if self._reporter is not None:
                self._reporter.moved(self)

    def reach(self, done: int) -> None:
        """Sets the number of steps done."""
        self.advance(done - self.done)


class Reporter(Protocol):
    """Shows tasks. For one task, one thread at a time calls its methods."""

    def started(self, task: Task) -> None:
        """Shows a new task."""

    def moved(self, task: Task) -> None:
        """Shows that a task advanced."""

    def ended(self, task: Task) -> None:
        """Shows that a task has ended, done or failed."""

    def noted(self, line: str) -> None:
        """Shows a line that stays."""


_reporter: ContextVar[Reporter | None] = ContextVar("reporter", default=None)


def reporter() -> Reporter | None:
    """The reporter that shows the tasks opened in this context; None: they are not shown."""
    return _reporter.get()


@contextmanager
def task(what: str, total: int | None = None, unit: str = "steps") -> Iterator[Task]:
    """Opens a task; it ends with the block.

    Args:
        what: What is being done: ``building the simulation of nano``.
        total: Steps of the whole; None where that is not known.
        unit: What a step is, in the plural.
    """
    opened = Task(what, total, unit)
    shown = _reporter.get()
    if shown is not None:
        shown.started(opened)
    try:
        yield opened
    finally:
        if shown is not None:
            shown.ended(opened)


def note(line: str) -> None:
    """Prints a line that stays, such as what is measured next or left out."""
    shown = _reporter.get()
    if shown is not None:
        shown.noted(line)


@contextmanager
def reported_to(chosen: Reporter) -> Iterator[None]:
    """Sends the tasks of this block to a reporter."""
    token = _reporter.set(chosen)
    try:
        yield
    finally:
        _reporter.reset(token)


@contextmanager
def show_progress(stream: TextIO | None = None) -> Iterator[None]:
    """Shows the tasks of this block: as bars on a terminal, else as a line now and then.

    Args:
        stream: Where to; None: the error stream.
    """
    stream = stream or sys.stderr
    with reported_to(_Bars(stream) if stream.isatty() else _Lines(stream)):
        yield


def steps(task: Task) -> str:
    """Returns a task's progress: ``1,200 of 67,073 cycles``; empty if it counts nothing."""
    if task.total is None:
        return f"{task.done:,} {task.unit}" if task.done else ""
    return f"{task.done:,} of {task.total:,} {task.unit}"


class _Bars:
    """Shows tasks as bars, only while they run: a command's own output is unchanged."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bars: Progress | None = None
        self._ids: dict[int, TaskID] = {}

    def started(self, task: Task) -> None:
        if self._bars is None:
            self._bars = _bars(self._stream)
            self._bars.start()
        self._ids[id(task)] = self._bars.add_task(task.what, total=task.total, steps=steps(task))

    def moved(self, task: Task) -> None:
        if self._bars is not None:
            self._bars.update(self._ids[id(task)], completed=task.done, steps=steps(task))

    def ended(self, task: Task) -> None:
        if self._bars is None:
            return
        self._bars.remove_task(self._ids.pop(id(task)))
        if not self._ids:
            self._bars.stop()
            self._bars = None

    def noted(self, line: str) -> None:
        if self._bars is None:
            print(line, file=self._stream, flush=True)
        else:
            self._bars.console.print(line, markup=False, highlight=False, soft_wrap=True)


def _bars(stream: TextIO) -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[steps]}"),
        TimeElapsedColumn(),
    )
    console = Console(file=stream)
    return Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    )


class _Lines:
    """Shows tasks as lines, for logs: the first after a delay, then one at intervals."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._due: dict[int, float] = {}

    def started(self, task: Task) -> None:
        self._due[id(task)] = time.monotonic() + _FIRST_LINE_SECONDS

    def moved(self, task: Task) -> None:
        now = time.monotonic()
        if now >= self._due[id(task)]:
            self._due[id(task)] = now + _NEXT_LINE_SECONDS
            far = steps(task)
            print(f"{task.what}: {far}" if far else task.what, file=self._stream, flush=True)

    def ended(self, task: Task) -> None:
        del self._due[id(task)]

    def noted(self, line: str) -> None:
        print(line, file=self._stream, flush=True)
