"""Memory that this process may still take, and numbers of bytes in words."""

import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_PROC = Path("/proc")
_CONTROL_GROUPS = Path("/sys/fs/cgroup")


def in_words(count: int) -> str:
    """Returns a number of bytes in words: ``1.5 MB``."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


def available(proc: Path = _PROC, control_groups: Path = _CONTROL_GROUPS) -> int | None:
    """Returns the bytes that this process may still take; None where the system does not tell.

    The least of what the machine has left without swapping, what each control group of the process
    (of version 1 or 2) has left, and what its limit of address space (``ulimit -v``) leaves. Pages
    of files in memory count as free.

    Args:
        proc: Where the kernel tells about processes.
        control_groups: Where the control groups are mounted.
    """
    left = [*_machine(proc), *_groups(proc, control_groups), *_address_space(proc)]
    return max(0, min(left)) if left else None


def _machine(proc: Path) -> Iterator[int]:
    for line in _lines(proc / "meminfo"):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024


def _address_space(proc: Path) -> Iterator[int]:
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    for line in _lines(proc / "self" / "statm")[:1]:
        if limit != resource.RLIM_INFINITY:
            yield limit - int(line.split()[0]) * resource.getpagesize()


def _groups(proc: Path, mounted: Path) -> Iterator[int]:
    """What each group of the process, and each group around it, has left."""
    for line in _lines(proc / "self" / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            root, names = mounted, ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            root, names = mounted / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        own = PurePosixPath(path).relative_to("/")
        for group in (own, *own.parents):
            limit, used = (_number(root / group / name) for name in names)
            if limit is not None and used is not None:
                yield limit - used + _pages_of_files(root / group / "memory.stat")


def _pages_of_files(path: Path) -> int:
    """Bytes of a group that the kernel frees when memory is short.

    A file of version 1 also has the same numbers with those of the groups inside: ``total_…``.
    """
    rows = dict(line.split() for line in _lines(path))
    names = ("inactive_file", "active_file")
    return sum(int(rows.get(f"total_{name}", rows.get(name, 0))) for name in names)


def _number(path: Path) -> int | None:
    """The number of a file; None: it is not there, or has none (``max``)."""
    for line in _lines(path)[:1]:
        if line.isdecimal():
            return int(line)
    return None


def _lines(path: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    return []
