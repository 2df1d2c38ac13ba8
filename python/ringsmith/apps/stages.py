"""Progress of a long command: each stage is a task while it runs, and a line when it has ended."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.markup import escape

from ringsmith import progress


@dataclass
class Stage:
    """One stage while it runs.

    Attributes:
        title: What is being done.
        note: Said behind the title when it is done; the stage's body sets it.
        seconds: Wall-clock time that it took; set when it is done.
    """

    title: str
    note: str = ""
    seconds: float = 0.0


@dataclass
class Stages:
    """The stages of one command."""

    console: Console
    done: list[Stage] = field(default_factory=list)

    @contextmanager
    def __call__(self, title: str, hint: str = "") -> Iterator[Stage]:
        """Shows a stage while the body runs, and how long it took and its note afterwards.

        A body that raises leaves a line that says so, and its error goes on.
        """
        stage = Stage(title)
        begin = time.perf_counter()
        try:
            with progress.task(f"{title} … {hint}".rstrip()):
                yield stage
        except BaseException:
            self.console.print(f"[red]✗[/red] {escape(title)}")
            raise
        stage.seconds = time.perf_counter() - begin
        self.done.append(stage)
        note = f"  [dim]{escape(stage.note)}[/dim]" if stage.note else ""
        self.console.print(
            f"[green]✓[/green] {escape(title):<35}{stage.seconds:5.1f} s{note}", highlight=False
        )

    def seconds(self) -> dict[str, float]:
        """Returns the seconds of each stage by title, for a JSON file."""
        return {stage.title: round(stage.seconds, 3) for stage in self.done}
