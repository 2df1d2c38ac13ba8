"""Compiled executables, kept in the cache folder.

The cache key of an executable includes all its sources: the subroutine graph, the design, the keys
that will have seeds, and the sources of the compiler. A file in the cache is read like any
executable's file, after a check of its digest. A damaged one is compiled again.
"""

import hashlib
import json
import os
import tempfile
import time
import zlib
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from ringsmith.backends.rpau.compiler import _scheduler
from ringsmith.backends.rpau.compiler import compile as rpau_compile
from ringsmith.backends.rpau.compiler.executable import MAX_FILE_BYTES, Executable, read_executable
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.caching import cached
from ringsmith.errors import ProgramError, ToolError
from ringsmith.files.budget import Budget
from ringsmith.graph import SubroutineGraph, expand
from ringsmith.graph.file import digest
from ringsmith.hdl.build_cache import cache_root, fingerprint

SWITCH = "RINGSMITH_COMPILE_CACHE"
"""The environment variable that turns the cache off, where it is ``off``."""

FOLDER = "executables"
"""The folder in the cache folder."""

MAX_BYTES = 64 << 20
"""What the folder may hold; the files that were not used for longest are removed first."""

_OWN_FILE = 1 << 40
"""The digest says that this Ringsmith wrote a file, whatever memory it takes."""

_DIGEST_BYTES = hashlib.sha256().digest_size


def compile_cached(
    graph: SubroutineGraph, design: RpauDesign, seeded: Collection[str] | None = None
) -> Executable:
    """Compiles a graph as ``backends.rpau.compiler.compile`` does, or finds what that made.

    A cache that cannot be read or written costs time and nothing else.

    Args:
        graph: The graph.
        design: The accelerator.
        seeded: Names of the keys that will have a seed; None: every key.

    Raises:
        ProgramError: If the graph does not fit the design.
    """
    path = _path(graph, design, seeded)
    executable = None if path is None else _read(path, design)
    if executable is None:
        executable = rpau_compile.compile_graph(graph, design, seeded)
        if path is not None:
            _write(path, executable)
    return executable


def _path(
    graph: SubroutineGraph, design: RpauDesign, seeded: Collection[str] | None
) -> Path | None:
    """Where the executable is kept; None where it is not."""
    if os.environ.get(SWITCH) == "off":
        return None
    keys = sorted(graph.keys if seeded is None else graph.keys.keys() & seeded)
    try:
        inputs = [digest(graph), json.dumps(asdict(design)), json.dumps(keys), _compiler()]
    except (ProgramError, ToolError):  # an unfinished graph: compiling says what it lacks
        return None
    return cache_root() / FOLDER / fingerprint(inputs)


@cached
def _compiler() -> str:
    """A key of the sources that an executable follows from, the compiled scheduler among them."""
    folder = Path(rpau_compile.__file__).parents[1]
    folders = (folder / "design", folder / "isa", folder / "compiler")
    sources = sorted(
        each for own in folders for each in own.iterdir() if each.suffix in (".py", ".yaml")
    )
    return fingerprint([], [*sources, Path(expand.__file__), Path(_scheduler.__file__)])


def _read(path: Path, design: RpauDesign) -> Executable | None:
    """The executable in a file of the cache; None if the file does not exist or is damaged."""
    try:
        content = path.read_bytes()
        stated, packed = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if hashlib.sha256(packed).digest() != stated:
            return None
        text = zlib.decompressobj().decompress(packed, MAX_FILE_BYTES).decode()
        executable = read_executable(text, Budget(_OWN_FILE))
        _stamp(path)
    except (OSError, zlib.error, UnicodeDecodeError, ProgramError):
        return None
    return executable if executable.design == design else None


def _write(path: Path, executable: Executable) -> None:
    """Writes a file of the cache, whole or not at all."""
    packed = zlib.compress(executable.to_json().encode(), level=1)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(hashlib.sha256(packed).digest() + packed)
                file.flush()
                os.fsync(file.fileno())
            _stamp(Path(temporary))
            Path(temporary).replace(path)
        finally:
            Path(temporary).unlink(missing_ok=True)
        _remove_oldest(path.parent)


def _stamp(path: Path) -> None:
    """Marks a file as used now; the file system's own clock may tick a few milliseconds late."""
    now = time.time_ns()
    os.utime(path, ns=(now, now))


def _remove_oldest(folder: Path) -> None:
    """Removes files, those not used for longest first, until the rest is small enough."""
    total = 0
    files = [(each.stat(), each) for each in folder.iterdir()]
    for status, path in sorted(files, key=lambda each: each[0].st_mtime_ns, reverse=True):
        total += status.st_size
        if total > MAX_BYTES:
            path.unlink(missing_ok=True)
