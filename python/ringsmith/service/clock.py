"""The server's time: that of the system's clock at the start, and what has passed since.

A clock that is set forward or back while the server runs changes nothing: no job is ended, no
result removed, and no quota renewed before its time. The next server begins with the new time.
"""

import time

_SOURCE = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Goes on while the machine sleeps, where the system has such a clock."""


def elapsed() -> float:
    """Returns seconds since some fixed moment; never set."""
    return time.clock_gettime(_SOURCE)


_BEGINNING = time.time() - elapsed()


def now() -> float:
    """Returns the server's time in seconds since 1970."""
    return _BEGINNING + elapsed()
