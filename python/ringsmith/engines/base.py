"""What every engine answers, and the one without workers."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

from ringsmith.engines.work import Job, Result

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
