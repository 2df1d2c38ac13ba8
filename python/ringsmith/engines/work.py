"""What engines answer, what workers do, and what comes back from them."""

import traceback
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ringsmith.errors import RingsmithError, ToolError

Context = TypeVar("Context")
Job = TypeVar("Job", bound=Hashable)
Result = TypeVar("Result")


@dataclass(frozen=True)
class Work(Generic[Context, Job, Result]):
    """What workers know and do; it is pickled on its way to them.

    Attributes:
        context: What jobs need in addition to themselves, with an equality of its own.
        start: Makes the function from a job to its result of the context; each worker calls it
            once. A function of a module, which workers import.
        name: Names a job in errors; a function of a module, too.
    """

    context: Context
    start: Callable[[Context], Callable[[Job], Result]]
    name: Callable[[Job], str] = str


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """What a worker hands back.

    Attributes:
        result: The result; None: there is an error.
        error: What the job raised; None: nothing.
    """

    result: Result | None = None
    error: RingsmithError | None = None

    def value(self) -> Result:
        """The result.

        Raises:
            RingsmithError: What the job raised.
        """
        if self.error is not None:
            raise self.error
        result: Result = self.result  # type: ignore[assignment]  # None may be a result
        return result


_started: list[tuple[Work[Any, Any, Any], Callable[[Any], Any]]] = []
"""In a worker: the work that was started last, with its function."""


def attempt(work: Work[Context, Job, Result], job: Job) -> Outcome[Result]:
    """Does a job in a worker; the work is started at the worker's first one."""
    try:
        if not _started or _started[0][0] != work:
            _started[:] = [(work, work.start(work.context))]
        return Outcome(_started[0][1](job))
    except RingsmithError as error:
        return Outcome(error=error)
    except Exception:  # a worker that dies of it would only be replaced, to die again
        text = traceback.format_exc().strip()
        return Outcome(error=ToolError(f"a worker failed at {work.name(job)}:\n{text}"))


ATTEMPTS = 3
"""How often a job is started if its workers die."""

_Job = TypeVar("_Job", bound=Hashable)
_Result_co = TypeVar("_Result_co", covariant=True)


class Engine(Protocol[_Job, _Result_co]):
    """Does jobs."""

    def run(self, jobs: Sequence[_Job]) -> Iterator[tuple[_Job, _Result_co]]:
        """Yields each job with its result, once, in the order in which they end.

        Args:
            jobs: The jobs, each there once.

        Raises:
            RingsmithError: What a job raises.
            ToolError: If workers died ``ATTEMPTS`` times at a job.
        """
        ...

    def close(self) -> None:
        """Ends workers."""
        ...


class InProcess(Generic[Job, Result]):
    """Does jobs in this process."""

    def __init__(self, function: Callable[[Job], Result]) -> None:
        self._function = function

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Result]]:
        """See ``Engine.run``."""
        for job in jobs:
            yield job, self._function(job)

    def close(self) -> None:
        """Nothing is to be ended."""
