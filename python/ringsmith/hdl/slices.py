"""Long simulations cut into parts of about a tenth of a second.

A part is one call into C. Between two of them Python notices Ctrl-C, and progress is shown.
"""

import time
from collections.abc import Iterator

_SECONDS = 0.1
_GROWTH = 4


def slices(total: int, first: int = 64) -> Iterator[tuple[int, int]]:
    """Cuts steps into slices, each as long as the time that the one before took allows.

    Args:
        total: Steps of the whole, such as clock cycles.
        first: Steps of the first slice.

    Yields:
        The slice's first step, and how many it has.
    """
    begin, count = 0, first
    while begin < total:
        count = min(count, total - begin)
        started = time.perf_counter()
        yield begin, count
        elapsed = max(time.perf_counter() - started, 1e-6)
        begin += count
        count = max(1, min(_GROWTH * count, int(count * _SECONDS / elapsed)))
