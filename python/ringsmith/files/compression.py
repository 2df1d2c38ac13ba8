"""The compression of Microsoft SEAL's objects: one zlib or zstd stream behind the header.

A few bytes can stand for gigabytes, so decompression stops at a bound that its caller knows.
"""

import zlib
from collections.abc import Callable, Iterator
from enum import IntEnum

import zstandard

from ringsmith.errors import InteropError
from ringsmith.files.part import Bytes, load

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
