"""Shared libraries of verilated designs: loading one, and cutting long runs into short calls."""

import ctypes
import time
from collections.abc import Iterator
from pathlib import Path

from ringsmith.errors import ToolError


def load_library(path: Path) -> ctypes.CDLL:
    """Loads a built design, whose digest `build_cache.built` has checked.

    Raises:
        ToolError: If it cannot be loaded.
    """
    try:
        return ctypes.CDLL(str(path))
    except OSError as failure:
        raise ToolError(
            f"the built simulation cannot be loaded ({failure}): set RINGSMITH_CACHE to a folder "
            "whose programs may run (its file system is not mounted noexec)"
        ) from failure


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
