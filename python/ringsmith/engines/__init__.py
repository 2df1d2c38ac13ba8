"""Engines: they spread jobs over this process, several processes, or a Ray cluster.

An engine knows nothing of what a job is. It is given a :class:`Work`: what workers know, and the
function from a job to its result that a worker makes of it, once. Every engine yields each job's
result once. A worker that dies costs the job that it was at, which is done again; a job at which
workers die ``ATTEMPTS`` times is given up by name.
"""

from collections.abc import Callable

from ringsmith.engines.processes import Processes
from ringsmith.engines.ray_cluster import Ray
from ringsmith.engines.work import ATTEMPTS, Context, Engine, InProcess, Job, Result, Work
from ringsmith.errors import ParameterError

__all__ = [
    "ATTEMPTS",
    "ENGINES",
    "PROCESSES",
    "RAY",
    "Engine",
    "Processes",
    "Ray",
    "Work",
    "check",
    "engine",
]

PROCESSES, RAY = "processes", "ray"
ENGINES = (PROCESSES, RAY)


def check(name: str, workers: int) -> None:
    """Refuses what is not an engine.

    Raises:
        ParameterError: If there is no engine of that name, or no worker.
    """
    if name not in ENGINES:
        raise ParameterError(f"no engine {name!r}: choose one of {', '.join(ENGINES)}")
    if workers < 1:
        raise ParameterError(f"{workers} workers: give at least one")


def engine(
    name: str,
    work: Work[Context, Job, Result],
    workers: int,
    own: Callable[[Job], Result] | None = None,
) -> Engine[Job, Result]:
    """An engine by its name; one worker of ``processes`` is this process.

    Args:
        name: One of ``ENGINES``.
        work: What workers know and do.
        workers: How many.
        own: The work's function for this process, where there is one already.

    Raises:
        ParameterError: If there is no engine of that name, or no worker.
        ToolError: If what it needs is not installed.
    """
    check(name, workers)
    if name == RAY:
        return Ray(work, workers)
    if workers == 1:
        return InProcess(own or work.start(work.context))
    return Processes(work, workers)
