"""A folder of things built once: found again by a key of everything that went into them."""

import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ringsmith import progress
from ringsmith.errors import ToolError

_DIGESTS = "digests.json"
"""In every built folder: the file's name relative to the folder -> BLAKE2b of its contents."""

_KEY_DIGITS = 24
_UNFINISHED = re.compile(rf"\.?(?P<folder>.+-[0-9a-f]{{{_KEY_DIGITS}}})\.(?:building|lock)")
_LOOK_SECONDS = 0.1
_FULL = (errno.ENOSPC, errno.EDQUOT)
_SPACE = 16 << 20
"""Bytes: when a build fails and fewer are left, the disk is full. A build takes up 1 to 30 MB."""

_checked: dict[Path, tuple[int, int, int, str]] = {}
"""Files that had their digest -> inode, size, time of change in ns, and the digest."""


class _NoSpaceError(ToolError):
    """A build failed because nothing more can be written."""


def cache_root() -> Path:
    """`$RINGSMITH_CACHE`, else `$XDG_CACHE_HOME/ringsmith`, else `~/.cache/ringsmith`."""
    if own := os.environ.get("RINGSMITH_CACHE"):
        return Path(own).expanduser().absolute()
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base).expanduser().absolute() / "ringsmith"
    return Path.home() / ".cache" / "ringsmith"


def fingerprint(properties: Iterable[str], files: Iterable[Path] = ()) -> str:
    """A key of 24 hexadecimal digits: equal only for equal properties, file names and contents.

    A file counts by its name without its folder, so that a checkout may move.

    Raises:
        ToolError: If a file cannot be read.
    """
    digest = hashlib.sha256(f"with {_DIGESTS}\n".encode())
    for each in properties:
        digest.update(f"property {len(each.encode())}\n{each}\n".encode())
    for file in files:
        try:
            content = file.read_bytes()
        except OSError as failure:
            raise ToolError(f"source file {file} cannot be read: {failure.strerror}") from failure
        digest.update(f"file {file.name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:_KEY_DIGITS]


def built(name: str, key: str, build: Callable[[Path], None], max_bytes: int | None = None) -> Path:
    """The folder `<cache>/<name>-<key>`, built if it is not there yet or is damaged.

    Two processes never build the same folder twice: the second waits for the first. The folder
    appears by a rename, whole or not at all. What builds that were killed left is removed by the
    next build of anything.

    Args:
        name: Leads the folder's name, for people.
        key: From `fingerprint`.
        build: Fills the empty folder that it is given.
        max_bytes: What all folders of this name may hold; the others that were not used for longest
            are removed first. None: no limit.

    Raises:
        ToolError: If the cache folder cannot be written or its disk is full; or what `build`
            raises.
    """
    root = cache_root()
    target = root / f"{name}-{key}"
    if _is_whole(target):
        if max_bytes is not None:
            with suppress(OSError):
                _stamp(target)
        return target
    try:
        root.mkdir(parents=True, exist_ok=True)
        with _locked(root, target.name):
            if not _is_whole(target):
                _sweep(root)
                _build(target, build)
        if max_bytes is not None:
            with suppress(FileNotFoundError):  # another process removes them, too
                _remove_oldest(target, name, max_bytes)
    except OSError as failure:
        raise ToolError(_explanation(target, failure)) from failure
    return target


def _build(target: Path, build: Callable[[Path], None]) -> None:
    work = target.with_name(f".{target.name}.building")
    if target.exists():
        warnings.warn(f"the cached {target} is damaged: building it anew", stacklevel=3)
        target.rename(work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        build(work)
        files = sorted(path for path in work.rglob("*") if path.is_file())
        digests = {str(file.relative_to(work)): _digest(file) for file in files}
        (work / _DIGESTS).write_text(json.dumps(digests))
        for path in (*work.rglob("*"), work):
            _sync(path)
        work.rename(target)
        _sync(target.parent)
    except _NoSpaceError:
        raise
    except Exception as failure:
        # Of any kind: a tool that cannot write may end well, and the next one find half a file.
        if shortage := _shortage(target.parent):
            raise _NoSpaceError(_explanation(target, shortage)) from failure
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _shortage(folder: Path) -> OSError | None:
    """Why no more can be written into a folder; None where there is space."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, _SPACE)
    except OSError as failure:
        return failure if failure.errno in (*_FULL, errno.EFBIG) else None
    return None


def _explanation(target: Path, failure: OSError) -> str:
    root, name = target.parent, target.name
    if failure.errno in _FULL:
        free = shutil.disk_usage(root).free / 1e6
        return (
            f"the disk is full: {free:.1f} MB are left for building {name} in the cache folder "
            f"{root} ({failure.strerror}): delete files, or set RINGSMITH_CACHE to a folder on "
            "another disk"
        )
    if failure.errno == errno.EFBIG:
        return (
            f"building {name} in the cache folder {root} needs files larger than the limit of this "
            "process: raise the limit (ulimit -f)"
        )
    return (
        f"the cache folder {root} cannot be written ({failure.strerror}): "
        "set RINGSMITH_CACHE to a folder of yours"
    )


def _is_whole(folder: Path) -> bool:
    """Whether a built folder is there, and each of its files has its digest.

    A file is read once in a process, unless it changes.
    """
    try:
        digests = json.loads((folder / _DIGESTS).read_bytes())
        return bool(digests) and all(_has_digest(folder / name, digests[name]) for name in digests)
    except (OSError, ValueError, TypeError):
        return False


def _has_digest(file: Path, digest: str) -> bool:
    status = file.stat()
    found = (status.st_ino, status.st_size, status.st_mtime_ns, digest)
    if _checked.get(file) != found:
        if _digest(file) != digest:
            return False
        _checked[file] = found
    return True


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "blake2b").hexdigest()


def _sync(path: Path) -> None:
    """Has a file or folder written to the disk, so that a crash leaves it whole or absent."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _locked(root: Path, name: str, *, wait: bool = True) -> Iterator[None]:
    """Holds the lock of a built folder."""
    path = root / f"{name}.lock"
    while True:
        with path.open("w") as lock:
            if wait:
                _wait_for(lock, name)
            else:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not _is_at(path, lock):
                continue  # the holder before has removed it
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return


def _is_at(path: Path, file: IO[str]) -> bool:
    """Whether an open file is still the one at a path."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _wait_for(lock: IO[str], name: str) -> None:
    with suppress(BlockingIOError):
        return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with progress.task(f"waiting for another process that builds {name}") as task:
        while True:
            time.sleep(_LOOK_SECONDS)
            task.advance(0)
            with suppress(BlockingIOError):
                return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _stamp(folder: Path) -> None:
    """Marks a folder as used now; the file system's own clock may tick a few milliseconds late."""
    now = time.time_ns()
    os.utime(folder, ns=(now, now))


def _remove_oldest(target: Path, name: str, max_bytes: int) -> None:
    """Removes folders of a name until the rest is small enough; the target, just built, stays."""
    _stamp(target)
    ours = re.compile(rf"{re.escape(name)}-[0-9a-f]{{{_KEY_DIGITS}}}")
    folders = [path for path in target.parent.iterdir() if ours.fullmatch(path.name)]
    total = 0
    for folder in sorted(folders, key=lambda path: path.stat().st_mtime_ns, reverse=True):
        total += sum(file.stat().st_size for file in folder.rglob("*"))
        if total > max_bytes and folder != target:
            with suppress(OSError), _locked(target.parent, folder.name, wait=False):
                # By its other name it is not found any more; a kill now leaves it to `_sweep`.
                shutil.rmtree(folder.rename(folder.with_name(f".{folder.name}.building")))


def _sweep(root: Path) -> None:
    """Removes the folders and locks of builds that were killed."""
    for path in root.iterdir():
        if found := _UNFINISHED.fullmatch(path.name):
            with suppress(OSError), _locked(root, found["folder"], wait=False):
                shutil.rmtree(root / f".{found['folder']}.building", ignore_errors=True)
