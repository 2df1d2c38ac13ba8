"""Workers of a Ray cluster."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, Generic

from ringsmith.engines.work import ATTEMPTS, Context, Job, Outcome, Result, Work, attempt
from ringsmith.errors import ToolError

_AHEAD = 4
"""Jobs for each worker that are handed out before the first one ends."""


def connected(workers: int) -> Any:  # noqa: ANN401 - the package, which has no types
    """Connects to the Ray cluster in ``RAY_ADDRESS``, or starts one on this machine.

    Args:
        workers: Processors of a cluster on this machine.

    Returns:
        The package ``ray``.

    Raises:
        ToolError: If Ray is not installed, or its cluster does not start.
    """
    try:
        import ray
    except ImportError:
        raise ToolError(
            "--engine ray needs Ray, which is not installed: pip install 'ringsmith[ray]', or "
            "leave --engine out"
        ) from None
    address = os.environ.get("RAY_ADDRESS")
    if not ray.is_initialized():
        options = {"address": address} if address else {"num_cpus": workers}
        try:
            ray.init(include_dashboard=False, log_to_driver=False, **options)
        except Exception as error:  # Ray raises bare exceptions where a cluster is too slow
            raise ToolError(
                f"Ray's cluster did not start: {error}: try again on a machine that is less "
                "busy, set RAY_ADDRESS to a cluster that runs, or leave --engine out"
            ) from None
    return ray


class Ray(Generic[Job, Result]):
    """Does jobs on a Ray cluster: the one in ``RAY_ADDRESS``, else one on this machine.

    Ray does a job again whose worker, or whose worker's machine, is gone.

    Args:
        work: What workers know and do; it lies in Ray's object store.
        workers: Workers of a cluster on this machine; of another one, how many are kept busy.

    Raises:
        ToolError: If Ray is not installed, or its cluster does not start.
    """

    def __init__(self, work: Work[Context, Job, Result], workers: int) -> None:
        ray: Any = connected(workers)
        self._ray = ray
        self._name = work.name
        self._work = ray.put(work)
        self._remote: Any = ray.remote(num_cpus=1, max_retries=ATTEMPTS)(attempt)
        self.workers = workers

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Result]]:
        """See ``Engine.run``."""
        left = [*reversed(jobs)]
        under_way: dict[Any, Job] = {}
        while left or under_way:
            while left and len(under_way) < _AHEAD * self.workers:
                job = left.pop()
                under_way[self._remote.remote(self._work, job)] = job
            done, _ = self._ray.wait([*under_way], num_returns=1)
            for reference in done:
                job = under_way.pop(reference)
                try:
                    found: Outcome[Result] = self._ray.get(reference)
                except self._ray.exceptions.RayError as error:
                    raise ToolError(
                        f"Ray's workers died at {self._name(job)} ({type(error).__name__}): see "
                        "Ray's logs, or leave --engine out"
                    ) from None
                yield job, found.value()

    def close(self) -> None:
        """Leaves the cluster."""
        self._ray.shutdown()
