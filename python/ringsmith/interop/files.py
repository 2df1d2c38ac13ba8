"""Reading only what is a file, and writing files whole or not at all."""

import os
import stat
import tempfile
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


def write_whole(path: Path, data: bytes, *, overwrite: bool, mode: int = PUBLIC_MODE) -> None:
    """Writes a file so that nobody ever sees half of it.

    The bytes go to a temporary file beside it, readable by the owner alone, which then takes the
    name. ``mode`` is the file's mode in the end, less what the process's umask takes away.

    Raises:
        InteropError: When the file exists and may not be overwritten, or cannot be written.
    """
    path = Path(path)
    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), mode & ~_umask())
        if overwrite:
            Path(temporary).replace(path)
            temporary = None
        else:
            os.link(temporary, path)
    except FileExistsError:
        raise InteropError(
            f"{path}: exists and is not overwritten: choose another name, or remove it"
        ) from None
    except OSError as error:
        raise InteropError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
