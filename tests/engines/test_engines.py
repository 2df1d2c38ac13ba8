"""Engines: every job's result once, whatever happens to workers; errors come back as they are."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ringsmith.engines import ATTEMPTS, ENGINES, Processes, Work, engine
from ringsmith.errors import ParameterError, ProgramError, ToolError

JOBS = range(20)


def squares(folder: str) -> Callable[[int], int]:
    """Jobs: their squares; 13 kills its worker as often as a file of the folder says."""

    def square(job: int) -> int:
        left = Path(folder) / "kills"
        if job == 13 and left.exists() and (kills := int(left.read_text())):
            left.write_text(str(kills - 1))
            os.kill(os.getpid(), signal.SIGKILL)
        return job * job

    return square


def failures(context: str) -> Callable[[int], int]:
    """Jobs that raise."""

    def fail(job: int) -> int:
        if context == "on purpose":
            raise ProgramError(f"no program {job}: take another")
        return job // 0

    return fail


def named(job: int) -> str:
    return f"job number {job}"


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Processes[int, int]]:
    own = Processes(Work(str(tmp_path), squares, named), 2)
    yield own
    own.close()


def test_every_job_of_worker_processes_has_its_result_once(workers: Processes[int, int]) -> None:
    found = list(workers.run(JOBS))
    assert sorted(found) == [(job, job * job) for job in JOBS]


def test_a_job_whose_worker_dies_is_done_by_another(
    workers: Processes[int, int], tmp_path: Path
) -> None:
    (tmp_path / "kills").write_text(str(ATTEMPTS - 1))
    found = list(workers.run(JOBS))
    assert sorted(found) == [(job, job * job) for job in JOBS]
    assert (tmp_path / "kills").read_text() == "0"


def test_a_job_at_which_workers_die_is_given_up_by_name(
    workers: Processes[int, int], tmp_path: Path
) -> None:
    (tmp_path / "kills").write_text(str(ATTEMPTS))
    with pytest.raises(ToolError, match=f"ended {ATTEMPTS} times at job number 13: it may need"):
        list(workers.run(JOBS))


@pytest.mark.parametrize("count", [1, 2])
def test_what_a_job_raises_on_purpose_is_raised_as_it_is(count: int) -> None:
    own = engine("processes", Work("on purpose", failures, named), count)
    try:
        with pytest.raises(ProgramError, match=r"^no program 5: take another$"):
            list(own.run([5]))
    finally:
        own.close()


def test_a_mistake_in_a_job_ends_with_its_place() -> None:
    own = Processes(Work("by mistake", failures, named), 2)
    try:
        with pytest.raises(ToolError, match=r"(?s)failed at job number 5:.*ZeroDivisionError"):
            list(own.run([5]))
    finally:
        own.close()


def test_one_worker_is_this_process_with_its_own_function() -> None:
    calls: list[int] = []

    def own(job: int) -> int:
        calls.append(job)
        return -job

    found = list(engine("processes", Work("", squares, named), 1, own).run([3, 4]))
    assert (found, calls) == ([(3, -3), (4, -4)], [3, 4])


def test_an_engine_or_a_number_of_workers_that_is_none_is_refused() -> None:
    work = Work("", squares, named)
    with pytest.raises(ParameterError, match=f"choose one of {', '.join(ENGINES)}"):
        engine("slurm", work, 1)
    with pytest.raises(ParameterError, match="0 workers"):
        engine("processes", work, 0)
