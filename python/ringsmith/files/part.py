"""Bytes of a file that are read only when they are asked for."""

import os
import weakref
from io import BufferedReader

_AT_ONCE = 1 << 30
"""Bytes of one read; the system call returns less than 2 GiB."""


class FilePart:
    """A range of an open regular file. Slicing reads nothing; ``load`` reads.

    A file can claim to be far larger than memory, so that a reader must check the first bytes
    before it asks for the others. The file is closed with the last part of it.
    """

    def __init__(self, file: BufferedReader, start: int, stop: int) -> None:
        """Takes over the file.

        Args:
            file: Is closed with the last part.
            start: First byte.
            stop: Byte after the last one.
        """
        self._file = _Shared(file)
        self._start, self._stop = start, stop

    def __len__(self) -> int:
        return self._stop - self._start

    def __getitem__(self, chosen: slice) -> "FilePart":
        start, stop, _ = chosen.indices(len(self))
        part = object.__new__(FilePart)
        part._file = self._file
        part._start, part._stop = self._start + start, self._start + max(start, stop)
        return part

    def read(self) -> bytes:
        """Returns the bytes; fewer where the file has become shorter.

        Raises:
            OSError: When the file cannot be read.
        """
        parts, position = [], self._start
        while position < self._stop:
            count = min(_AT_ONCE, self._stop - position)
            parts.append(os.pread(self._file.descriptor, count, position))
            if not parts[-1]:
                break
            position += len(parts[-1])
        return parts[0] if len(parts) == 1 else b"".join(parts)


Bytes = memoryview | FilePart
"""Bytes in memory or in a file; both have a length and slices."""


def load(data: Bytes) -> memoryview:
    """Returns the bytes in memory."""
    return data if isinstance(data, memoryview) else memoryview(data.read())


class _Shared:
    """An open file that is closed when nothing refers to it."""

    def __init__(self, file: BufferedReader) -> None:
        self.descriptor = file.fileno()
        weakref.finalize(self, file.close)
