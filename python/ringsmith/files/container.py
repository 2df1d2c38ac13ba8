"""Ringsmith's own files: what they are, one JSON text and the arrays that it refers to.

Little-endian::

    0   8   magic: 89 'R' 'S' 'M' 'I' 'T' 'H' 0A
    8   u32 version of this container, 1
    12  u32 bytes of zeros that end the file
    16  u64 bytes of the body
    24  u64 bytes of the compressed body
    32  32  BLAKE2b-256 of the body
    64      the body, one zstd frame that states its size, then the zeros

The body is a u64, the length of a JSON text in UTF-8, then the text, then the arrays, each at the
next multiple of 8 bytes. The text is an object of four entries: ``format`` (a name), ``version``
(of that format), ``content``, and ``arrays``, a list of [type, shape], types as in ``DTYPES``.

Reading believes nothing. What is made is taken from a budget before it is made, and the digest
finds damage. A budget follows from the size of the file; the zeros make a file large enough for its
own contents, where these are alike and compress to almost nothing.
"""

import hashlib
import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from ringsmith.errors import InteropError
from ringsmith.files.budget import Budget, padding
from ringsmith.files.compression import MakeError
from ringsmith.files.json_text import parse_json

Array = NDArray[Any]

MAGIC = b"\x89RSMITH\n"
VERSION = 1
DTYPES = ("<f8", "<c16", "<i8", "<u8", "|u1")
"""Doubles, pairs of doubles, integers with and without a sign, bytes."""

_HEADER = struct.Struct("<8sIIQQ32s")
_LENGTH = struct.Struct("<Q")
_ALIGNMENT = 8
_MAX_DIMENSIONS = 4
_TOP = {"format", "version", "content", "arrays"}


@dataclass(frozen=True)
class Container:
    """What a file holds.

    Attributes:
        format: Name of its format.
        version: Version of that format.
        content: JSON values.
        arrays: Read-only arrays, in native types.
    """

    format: str
    version: int
    content: Any
    arrays: tuple[Array, ...]


def pack(format_name: str, version: int, content: object, arrays: Sequence[Array]) -> bytes:
    """Returns the bytes of a file; equal contents make equal bytes.

    Args:
        format_name: Name of the format.
        version: Version of the format.
        content: JSON values; floats are written so that they are read back to the bit.
        arrays: Arrays of the types of ``DTYPES``.
    """
    described, parts = [], []
    for array in arrays:
        stored = np.asarray(array, array.dtype.newbyteorder("<"), order="C")
        described.append([stored.dtype.str, list(stored.shape)])
        parts.append(stored.tobytes())
    top = {"format": format_name, "version": version, "content": content, "arrays": described}
    text = json.dumps(top, separators=(",", ":"), allow_nan=False).encode()
    body = bytearray(_LENGTH.pack(len(text)) + text)
    for part in parts:
        body += bytes(-len(body) % _ALIGNMENT)
        body += part
    packed = zstandard.ZstdCompressor().compress(bytes(body))
    digest = hashlib.blake2b(body, digest_size=32).digest()
    return _HEADER.pack(MAGIC, VERSION, 0, len(body), len(packed), digest) + packed


def padded(data: bytes, spent: int) -> bytes:
    """Returns the bytes of a file with zeros behind, so that reading may take ``spent`` bytes."""
    count = padding(len(data), spent)
    if not count:
        return data
    magic, version, _, *rest = _HEADER.unpack_from(data)
    return _HEADER.pack(magic, version, count, *rest) + data[_HEADER.size :] + bytes(count)


def unpack(
    data: bytes, what: str, formats: Mapping[str, int], budget: Budget, expected: str
) -> Container:
    """Reads the bytes of a file.

    Args:
        data: The bytes.
        what: Names the file in errors.
        formats: Formats that are taken, each with the newest version that is known.
        budget: Memory that it may take.
        expected: What the file should be, in words, for errors.

    Raises:
        InteropError: When the bytes are anything else, damaged or too large; names the field.
    """

    def refuse(reason: str) -> InteropError:
        return InteropError(f"{what}: {reason}")

    body = _body(data, what, budget, expected, refuse)
    length = _LENGTH.unpack_from(body)[0] if len(body) >= _LENGTH.size else len(body)
    end = _LENGTH.size + length
    if end > len(body):
        raise refuse(f"its text of {length} bytes ends beyond the body: damaged")
    budget.spend_text(length, f"{what}: its text")
    top = parse_json(bytes(body[_LENGTH.size : end]), refuse)
    if not isinstance(top, dict) or top.keys() != _TOP:
        raise refuse(f"its text is not an object of {sorted(_TOP)}: damaged")
    name, version = top["format"], top["version"]
    if not isinstance(name, str) or name not in formats:
        raise refuse(f"its format is {name!r:.80}, and this is to be {expected}")
    if type(version) is not int or not 1 <= version <= formats[name]:
        raise refuse(
            f"it has version {version!r:.80} of {name}, and this Ringsmith reads 1 … "
            f"{formats[name]}: read it with a newer Ringsmith, or write it with this one"
        )
    arrays = _arrays(top["arrays"], body, end, refuse)
    return Container(name, version, top["content"], arrays)


def _body(data: bytes, what: str, budget: Budget, expected: str, refuse: MakeError) -> memoryview:
    """The decompressed body, whose digest is right."""
    if not data:
        raise refuse(f"is empty, and not {expected}")
    if data[: len(MAGIC)] != MAGIC:
        raise refuse(f"is not {expected}: it does not begin as Ringsmith's files do")
    if len(data) < _HEADER.size:
        raise refuse("is cut off in its header: copy it again")
    _, version, zeros, size, packed, digest = _HEADER.unpack_from(data)
    if version != VERSION:
        raise refuse(
            f"its container has version {version}, and this Ringsmith reads {VERSION}: read it "
            "with a newer Ringsmith"
        )
    end = _HEADER.size + packed
    if end + zeros != len(data) or data.count(0, end) != zeros:
        raise refuse(
            f"has {len(data) - _HEADER.size} bytes behind its header, which says {packed} and "
            f"{zeros} zeros: it is cut off, or bytes were added: copy it again"
        )
    budget.spend(size, f"{what}: its body of {size} bytes")
    stream = memoryview(data)[_HEADER.size : end]
    try:
        if zstandard.frame_content_size(stream) != size:
            raise refuse(f"its stream does not make the {size} bytes of its header: damaged")
        body = zstandard.ZstdDecompressor().decompress(stream, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise refuse(f"damaged zstd stream: {error}") from None
    if len(body) != size or hashlib.blake2b(body, digest_size=32).digest() != digest:
        raise refuse("its body does not have the digest of its header: damaged: copy it again")
    return memoryview(body)


def _arrays(
    described: object, body: memoryview, position: int, refuse: MakeError
) -> tuple[Array, ...]:
    """The arrays, which fill the rest of the body exactly."""
    if not isinstance(described, list):
        raise refuse("arrays is not a list")
    found = []
    for index, entry in enumerate(described):
        where = f"arrays[{index}]"
        if not isinstance(entry, list) or len(entry) != 2 or entry[0] not in DTYPES:
            raise refuse(f"{where} {entry!r:.80} is not [type, shape] of a known type")
        name, shape = entry
        if (
            not isinstance(shape, list)
            or len(shape) > _MAX_DIMENSIONS
            or not all(type(size) is int and 0 <= size <= len(body) for size in shape)
        ):
            raise refuse(f"{where}: shape {shape!r:.80} is not one of an array")
        kind = np.dtype(name)
        position += -position % _ALIGNMENT
        count = math.prod(shape)
        end = position + count * kind.itemsize
        if end > len(body):
            raise refuse(f"{where} ends beyond the body: damaged")
        array = np.frombuffer(body, kind, count, position) if count else np.zeros(0, kind)
        found.append(array.reshape(shape).astype(kind.newbyteorder("="), copy=False))
        found[-1].setflags(write=False)
        position = end
    if position != len(body):
        raise refuse(f"{len(body) - position} bytes stand behind its arrays: damaged")
    return tuple(found)
