"""A folder of things built once: found again by a key of everything that went into them."""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from ringsmith.errors import ToolError


def cache_root() -> Path:
    """`$RINGSMITH_CACHE`, else `$XDG_CACHE_HOME/ringsmith`, else `~/.cache/ringsmith`."""
    if own := os.environ.get("RINGSMITH_CACHE"):
        return Path(own).expanduser().absolute()
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base).expanduser().absolute() / "ringsmith"
    return Path.home() / ".cache" / "ringsmith"


def fingerprint(facts: Iterable[str], files: Iterable[Path] = ()) -> str:
    """A key of 24 hexadecimal digits: equal only for equal facts, file names and file contents.

    A file counts by its name without its folder, so that a checkout may move.

    Raises:
        ToolError: If a file cannot be read.
    """
    digest = hashlib.sha256()
    for fact in facts:
        digest.update(f"fact {len(fact.encode())}\n{fact}\n".encode())
    for file in files:
        try:
            content = file.read_bytes()
        except OSError as failure:
            raise ToolError(f"source file {file} cannot be read: {failure.strerror}") from failure
        digest.update(f"file {file.name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:24]


def built(name: str, key: str, build: Callable[[Path], None]) -> Path:
    """The folder `<cache>/<name>-<key>`, built if it is not there yet.

    Two processes never build the same folder twice: the second waits for the first. The folder
    appears by a rename, whole or not at all.

    Args:
        name: Leads the folder's name, for people.
        key: From `fingerprint`.
        build: Fills the empty folder that it is given.

    Raises:
        ToolError: If the cache folder cannot be written; or what `build` raises.
    """
    root = cache_root()
    target = root / f"{name}-{key}"
    if target.is_dir():
        return target
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = (root / f"{name}-{key}.lock").open("w")
    except OSError as failure:
        raise ToolError(
            f"the cache folder {root} cannot be written ({failure.strerror}): "
            "set RINGSMITH_CACHE to a folder of yours"
        ) from failure
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.is_dir():
            work = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=root))
            try:
                build(work)
                work.rename(target)
            finally:
                shutil.rmtree(work, ignore_errors=True)
    return target
