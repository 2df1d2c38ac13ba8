"""The compression of Microsoft SEAL's objects: one zlib or zstd stream behind the header.

A few bytes can stand for gigabytes, so decompression stops at a bound that its caller knows.
"""

import os
import weakref
import zlib
from collections.abc import Callable, Iterator
from enum import IntEnum
from io import BufferedReader

import zstandard

from ringsmith.errors import InteropError

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


# ---- streams -----------------------------------------------------------------------------------

MakeError = Callable[[str], InteropError]
"""Makes an error of a reason; knows the object's name."""

_ZLIB_STEP = 1 << 12
"""Bytes of a zlib stream that are decompressed at once: they make at most 4 MiB."""
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_HEADER = 18
"""Bytes of a zstd frame's header, at most."""
_ZSTD_CHECKSUM = 4
_ZSTD_WINDOW = 1 << 25
"""Largest window that a zstd stream may ask for, in bytes: it is memory. SEAL asks for 2 MiB, and
RFC 8878 wants 8 MiB to be granted."""


class Compression(IntEnum):
    """SEAL's ``compr_mode_type``, as the header holds it."""

    NONE = 0
    ZLIB = 1
    ZSTD = 2

    def __str__(self) -> str:
        return self.name.lower()


def compress(payload: bytes, method: Compression) -> bytes:
    """A payload as it stands behind a header that names the method."""
    if method is Compression.ZLIB:
        return zlib.compress(payload)
    if method is Compression.ZSTD:
        return zstandard.ZstdCompressor().compress(payload)
    return payload


def decompress(data: Bytes, method: Compression, limit: int, refuse: MakeError) -> bytearray:
    """The payload of a compressed object.

    Args:
        data: All bytes behind the header.
        method: zlib or zstd.
        limit: Largest payload in bytes; a stream that makes more is given up there.
        refuse: Makes the errors.

    Raises:
        InteropError: When the stream is damaged, cut off, followed by other bytes, or makes more
            than ``limit`` bytes.
    """
    try:
        if method is Compression.ZLIB:
            payload, ended, rest = _zlib(data, limit)
        else:
            payload, ended, rest = _zstd(data, limit)
    except (zlib.error, zstandard.ZstdError) as error:
        raise refuse(f"damaged {method} stream: {error}") from None
    if len(payload) > limit:
        raise refuse(
            f"the {method} stream of {len(data)} bytes makes more than the {limit} bytes that "
            "such an object can have: it is damaged, or made to exhaust memory"
        )
    if not ended:
        raise refuse(f"the {method} stream is cut off: the file is incomplete")
    if rest:
        raise refuse(f"{rest} bytes too many behind the {method} stream")
    return payload


def _zlib(data: Bytes, limit: int) -> tuple[bytearray, bool, int]:
    """(payload, whether the stream ended, bytes behind it); stops at ``limit`` + 1 bytes."""
    stream = zlib.decompressobj()
    payload, position = bytearray(), 0
    while position < len(data) and not stream.eof and len(payload) <= limit:
        step = load(data[position : position + _ZLIB_STEP])
        payload += stream.decompress(step, limit + 1 - len(payload))
        position += _ZLIB_STEP
    rest = len(data) - min(position, len(data)) + len(stream.unused_data)
    return payload, stream.eof, rest


def _zstd(data: Bytes, limit: int) -> tuple[bytearray, bool, int]:
    """As ``_zlib``; stops soon after ``limit`` bytes."""
    stream = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
    payload, position = bytearray(), 0
    for end in _block_ends(data):
        if stream.eof or len(payload) > limit:
            break
        payload += stream.decompress(load(data[position:end]))
        position = end
    rest = len(data) - position + len(stream.unused_data)
    return payload, stream.eof, rest


def _block_ends(data: Bytes) -> Iterator[int]:
    """Where the header of a zstd frame ends, each of its blocks, and its checksum.

    A block makes at most 128 KiB, so that decompression can stop there (RFC 8878, 3.1.1). Of what
    is no frame, the end of the largest header, where zstd refuses it.
    """
    head = bytes(load(data[:_ZSTD_HEADER]))
    if head[:4] != _ZSTD_MAGIC or len(head) == 4:
        yield len(head)
    else:
        single, size, dictionary = head[4] >> 5 & 1, head[4] >> 6, head[4] & 3
        position = 6 - single + (0, 1, 2, 4)[dictionary] + (single, 2, 4, 8)[size]
        last = False
        while not last and position < len(data):
            yield position
            header = int.from_bytes(load(data[position : position + 3]), "little")
            last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
            position = min(position + 3 + (1 if kind == 1 else size), len(data))
        yield position
        yield min(position + _ZSTD_CHECKSUM, len(data))
