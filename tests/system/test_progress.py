"""Progress: tasks reach whoever asked for them, as bars on a terminal and as lines elsewhere."""

import io

import pytest

from ringsmith import progress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class _Kept:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def started(self, task: progress.Task) -> None:
        self.told.append(f"started {task.what}")

    def moved(self, task: progress.Task) -> None:
        self.told.append(progress.steps(task))

    def ended(self, task: progress.Task) -> None:
        self.told.append(f"ended {task.what}")

    def noted(self, line: str) -> None:
        self.told.append(line)


def test_a_task_without_a_reporter_only_counts() -> None:
    with progress.task("simulating", 10, "cycles") as task:
        task.advance(3)
        task.reach(9)
    assert task.done == 9


def test_a_reporter_hears_of_a_task_until_it_fails() -> None:
    kept = _Kept()

    def work() -> None:
        with progress.task("simulating", 67_073, "cycles") as task:
            task.reach(1_200)
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"), progress.reported_to(kept):
        work()
    assert kept.told == ["started simulating", "1,200 of 67,073 cycles", "ended simulating"]


def test_a_log_gets_a_line_when_a_task_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    stream = io.StringIO()
    with progress.show_progress(stream), progress.task("compiling", 100) as task:
        task.advance()
        now[0] = 3.0
        task.advance()
        task.advance()
        now[0] = 14.0
        task.advance()
    assert stream.getvalue() == "compiling: 2 of 100 steps\ncompiling: 4 of 100 steps\n"


def test_a_terminal_gets_bars_that_go_away_with_the_tasks() -> None:
    stream = _Terminal()
    with progress.show_progress(stream):
        assert stream.getvalue() == ""
        with progress.task("outer", 2), progress.task("inner") as task:
            task.advance(5)
    assert "outer" in stream.getvalue()
    assert "0 of 2 steps" in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[2K\x1b[?25h\r")  # cleared, and the cursor is back


def test_a_note_stays_in_a_log_and_above_the_bars_of_a_terminal() -> None:
    progress.note("heard by none")
    for stream in (io.StringIO(), _Terminal()):
        with progress.show_progress(stream), progress.task("measuring", 3, "cases"):
            progress.note("a baseline is left out: [no] tool")
        progress.note("heard by none")
        assert stream.getvalue().count("a baseline is left out: [no] tool\n") == 1
        assert "heard by none" not in stream.getvalue()
