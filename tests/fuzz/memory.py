"""The memory that a call takes at its peak."""

import ctypes
import gc
import re
from collections.abc import Callable
from pathlib import Path

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def can_be_measured() -> bool:
    """Whether this system tells the peak since a moment: Linux does."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return False
    return True


def peak_of(call: Callable[[], object]) -> int:
    """Bytes of memory that a call takes beyond what there was; 0 where no system tells it."""
    if not can_be_measured():
        call()
        return 0
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    _CLEAR.write_text("5")  # the peak begins at what there is
    before = _kibibytes("VmRSS")
    call()
    return (_kibibytes("VmHWM") - before) << 10


def _kibibytes(entry: str) -> int:
    found = re.search(rf"{entry}:\s+(\d+) kB", _STATUS.read_text())
    assert found is not None
    return int(found[1])
