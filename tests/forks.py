"""Forked processes for tests, each with a time limit."""

import os
import signal
import time
import traceback
from collections.abc import Callable

SECONDS = 60
"""Longer than any child takes; one that is still there hangs."""


def forked(*bodies: Callable[[], object]) -> list[int]:
    """Runs bodies in children forked at once, and returns how each ended.

    0: well. 1: an exception, which is printed. -9: it hung, and was killed.
    """
    children = [_child(body) for body in bodies]
    deadline = time.monotonic() + SECONDS
    return [_ended(child, deadline) for child in children]


def _child(body: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        body()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _ended(child: int, deadline: float) -> int:
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            deadline = float("inf")
        time.sleep(0.001)
