"""The kernel sets of this processor beside each other: operations, and whole applications.

A kernel set is chosen when a process starts, so each has one of its own (kernel_child).
"""

import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ringsmith import _core
from ringsmith.bench.cpu import asked, kernel_child
from ringsmith.bench.cpu.timing import Timed


def names() -> tuple[str, list[str]]:
    """The set that this process computes with, and the others there are."""
    used = _core.kernel_name()
    return used, [name for name in _core.kernel_names() if name != used]


def missing() -> list[str]:
    """Lines about applications that are left out."""
    return [
        f"{application} is left out: pip install 'ringsmith[apps]'"
        for application, package in kernel_child.PACKAGES.items()
        if importlib.util.find_spec(package) is None
    ]


def works(wanted: Sequence[tuple[str, str]] = ()) -> list[tuple[str, str]]:
    """Parameters and operation of what can be measured here, of those wanted; empty: of all."""
    return [
        (params, operation)
        for params, operation in wanted or kernel_child.WORKS
        if operation not in kernel_child.PACKAGES
        or importlib.util.find_spec(kernel_child.PACKAGES[operation]) is not None
    ]


@contextmanager
def operations(kernel: str, works: Sequence[tuple[str, str]]) -> Iterator[dict[str, Timed]]:
    """Works with one kernel set on one thread, by ``kernel_child.name_of``.

    Raises:
        ToolError: When the child process fails.
    """
    command = [sys.executable, "-m", kernel_child.__name__]
    environment = {**os.environ, "RINGSMITH_KERNEL": kernel, "RINGSMITH_THREADS": "1"}
    wanted = [kernel_child.name_of(*work) for work in works]
    who = f"the process with kernels {kernel}"
    with asked.operations(command, wanted, who, environment) as found:
        yield found
