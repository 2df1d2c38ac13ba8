"""Reading only what is a file, and writing files whole or not at all."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from ringsmith.errors import InteropError

PUBLIC_MODE = 0o644
SECRET_MODE = 0o600
"""Readable and writable by the owner alone."""


def open_regular(path: Path) -> BufferedReader:
    """Opens a regular file for reading; does not wait for the writer of a pipe.

    Raises:
        InteropError: When it is a pipe, a device or the like.
        OSError: When it cannot be opened.
    """
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise InteropError(f"{path}: not a regular file: save the object to a file first")
    return file


def read_bounded(path: Path, limit: int) -> bytes:
    """Reads a whole regular file of at most ``limit`` bytes.

    Raises:
        InteropError: When it cannot be read, is no regular file, or is longer.
    """
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(size + 1) if size <= limit else b""
    except OSError as error:
        raise InteropError(f"{path}: cannot be read: {error.strerror}") from None
    if size > limit:
        raise InteropError(f"{path}: more than {limit} bytes, the most that such a file may have")
    if len(data) > size:
        raise InteropError(f"{path}: it grew while it was read: read it when it is written")
    return data


def check_target(path: Path, *, overwrite: bool, inputs: Iterable[Path | None] = ()) -> None:
    """Refuses a file that cannot be written, before work is spent on what goes into it.

    Args:
        path: The file that :func:`write_whole` will write.
        overwrite: Whether it may exist.
        inputs: Files that are read for it, None for one that is not given: never written over.

    Raises:
        InteropError: When it exists and may not be overwritten, is an input or no regular file, or
            its folder does not exist or may not be written to.
    """
    path = Path(path)
    folder = path.parent
    if path.is_dir():
        raise InteropError(f"{path}: cannot be written: Is a directory")
    if not folder.is_dir():
        raise InteropError(f"{path}: cannot be written: {folder} is no folder: make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InteropError(f"{path}: cannot be written: {folder} may not be written to")
    if not os.path.lexists(path):
        return
    if not overwrite:
        raise _exists(path)
    if path.exists() and not path.is_file():
        raise InteropError(f"{path}: cannot be written: not a regular file")
    for source in inputs:
        if source is not None and _same(path, source):
            raise InteropError(f"{path}: is read for this and not overwritten: choose another name")


def write_whole(path: Path, data: bytes, *, overwrite: bool, mode: int = PUBLIC_MODE) -> None:
    """Writes a file whole or not at all.

    Args:
        path: The file.
        data: What it will hold.
        overwrite: Whether it may exist.
        mode: The file's mode in the end, less what the process's umask takes away.

    Raises:
        InteropError: When the file exists and may not be overwritten, or cannot be written.
    """
    with whole_file(path, overwrite=overwrite, mode=mode) as temporary, _named(path):
        temporary.write_bytes(data)


@contextmanager
def whole_file(path: Path, *, overwrite: bool, mode: int = PUBLIC_MODE) -> Iterator[Path]:
    """Makes a file that appears whole, or not at all.

    Yields a temporary file in the same folder, empty and readable by the owner alone, which takes
    the name when the block ends.

    Args:
        path: The file.
        overwrite: Whether it may exist.
        mode: The file's mode in the end, less what the process's umask takes away.

    Raises:
        InteropError: When the file exists and may not be overwritten, or cannot be written.
    """
    path = Path(path)
    with _named(path):
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        with _named(path):
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            temporary.chmod(mode & ~_umask())
            if overwrite:
                temporary.replace(path)
            else:
                os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(folder: Path, mode: int = 0o755) -> Iterator[Path]:
    """Makes a folder that appears with all its files, or not at all.

    Yields a temporary folder next to it, which takes the name when the block ends. A process that
    was killed in the block leaves only the temporary folder, which does not block the next try.

    Args:
        folder: Must not exist.
        mode: The folder's mode, less what the process's umask takes away.

    Raises:
        InteropError: When it exists or cannot be made.
    """
    folder = Path(folder)
    if os.path.lexists(folder):
        raise _exists(folder)
    try:
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise InteropError(f"{folder}: cannot be made: {error.strerror}") from None
    try:
        yield work
        work.chmod(mode & ~_umask())
        try:
            work.rename(folder)
        except FileExistsError:
            raise _exists(folder) from None
        except OSError as error:
            raise InteropError(f"{folder}: cannot be made: {error.strerror}") from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Names a file in the errors of writing it."""
    try:
        yield
    except FileExistsError:  # commands refuse it before, by ``check_target``
        raise InteropError(
            f"{path}: exists and is not overwritten: choose another name, remove it, or give "
            "overwrite=True"
        ) from None
    except OSError as error:
        raise InteropError(f"{path}: cannot be written: {error.strerror}") from None


def _exists(path: Path) -> InteropError:
    return InteropError(f"{path}: exists and is not overwritten: choose another name, or remove it")


def _same(path: Path, other: Path) -> bool:
    """Whether two names are those of one file."""
    return path.exists() and other.exists() and path.samefile(other)


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
