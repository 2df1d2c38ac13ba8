"""Two things timed in turn, so that what disturbs the machine disturbs both."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

Timed = Callable[[], float]
"""Does the work once and returns the CPU seconds of the thread that did it."""


def timed(work: Callable[[], object]) -> Timed:
    """Times a call on this thread."""

    def run() -> float:
        begin = time.thread_time()
        work()
        return time.thread_time() - begin

    return run


@dataclass(frozen=True)
class Comparison:
    """Medians of interleaved rounds.

    Attributes:
        seconds: Our median time.
        baseline_seconds: The baseline's.
        speedup: The median of the rounds' ratios, the baseline's time over ours.
    """

    seconds: float
    baseline_seconds: float
    speedup: float


def interleaved(
    ours: Timed, baselines: Mapping[str, Timed], budget: float
) -> dict[str, Comparison]:
    """Times ours and every baseline in turn, for about ``budget`` seconds together.

    Returns for each baseline, the medians over the rounds.

    Args:
        ours: Our work; short work is repeated within a round.
        baselines: The same work in the baseline libraries, by name.
        budget: Seconds that all rounds may take; at least three rounds are run.
    """
    everyone = {"": ours, **baselines}
    # The first call meets cold caches and new memory: it says too little about how often to repeat.
    first = {name: max(min(work(), work()), 1e-7) for name, work in everyone.items()}
    again = {name: max(1, round(2e-3 / seconds)) for name, seconds in first.items()}
    one_round = sum(first[name] * again[name] for name in everyone)
    rounds = max(3, min(200, int(budget / one_round)))
    times: dict[str, list[float]] = {name: [] for name in everyone}
    for _ in range(rounds):
        for name, work in everyone.items():
            times[name].append(sum(work() for _ in range(again[name])) / again[name])
    return {
        name: Comparison(
            median(times[""]),
            median(times[name]),
            median(b / a for a, b in zip(times[""], times[name], strict=True)),
        )
        for name in baselines
    }
