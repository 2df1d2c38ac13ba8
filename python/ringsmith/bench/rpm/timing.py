"""CPU time of one thread."""

import time
from collections.abc import Callable
from statistics import median

SEED = 7


def median_milliseconds(call: Callable[[], object], repeats: int) -> float:
    """Median CPU milliseconds of this thread, after a call to warm up."""
    call()
    times = []
    for _ in range(repeats):
        begin = time.thread_time()
        call()
        times.append((time.thread_time() - begin) * 1e3)
    return median(times)
