"""Ringsmith's own files: what they are, one JSON text and the arrays that it refers to.

Little-endian::

    0   8   magic: 89 'R' 'S' 'M' 'I' 'T' 'H' 0A
    8   u32 version of this container, 1
    12  u32 0
    16  u64 bytes of the body
    24  u64 bytes of the compressed body, which ends the file
    32  32  BLAKE2b-256 of the body
    64      the body, one zstd stream

The body is a u64, the length of a JSON text in UTF-8, then the text, then the arrays, each at the
next multiple of 8 bytes. The text is an object of four entries: ``format`` (a name), ``version``
(of that format), ``content``, and ``arrays``, a list of [type, shape], types as in ``DTYPES``.

Reading believes nothing: sizes and the number of JSON values are bounded before anything is made,
and the digest finds damage.
"""

import hashlib
import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InteropError
from ringsmith.files.compression import Compression, Refusal, compress, decompress
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
class Limits:
    """How large a file may be.

    Attributes:
        file: Bytes of the file.
        body: Bytes of its body.
        text: Bytes of the JSON text.
        arrays: Number of arrays.
        values: Values of the JSON text, those of the list of arrays too (``files.json_text``).
    """

    file: int
    body: int
    text: int
    arrays: int
    values: int = 1 << 16


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
    packed = compress(bytes(body), Compression.ZSTD)
    digest = hashlib.blake2b(body, digest_size=32).digest()
    return _HEADER.pack(MAGIC, VERSION, 0, len(body), len(packed), digest) + packed


def unpack(
    data: bytes, what: str, formats: Mapping[str, int], limits: Limits, expected: str
) -> Container:
    """Reads the bytes of a file.

    Args:
        data: The bytes.
        what: Names the file in errors.
        formats: Formats that are taken, each with the newest version that is known.
        limits: How large it may be.
        expected: What the file should be, in words, for errors.

    Raises:
        InteropError: When the bytes are anything else, damaged or too large; names the field.
    """

    def refuse(reason: str) -> InteropError:
        return InteropError(f"{what}: {reason}")

    body = _body(data, limits, expected, refuse)
    (length,) = _LENGTH.unpack_from(body) if len(body) >= _LENGTH.size else (limits.text + 1,)
    end = _LENGTH.size + length
    if length > limits.text or end > len(body):
        raise refuse(f"its text has {length} bytes, and at most {limits.text} are read: damaged")
    top = parse_json(bytes(body[_LENGTH.size : end]), limits.values, refuse)
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
    arrays = _arrays(top["arrays"], body, end, limits, refuse)
    return Container(name, version, top["content"], arrays)


def _body(data: bytes, limits: Limits, expected: str, refuse: Refusal) -> memoryview:
    """The decompressed body, whose digest is right."""
    if not data:
        raise refuse(f"is empty, and not {expected}")
    if len(data) > limits.file:
        raise refuse(f"has {len(data)} bytes, and at most {limits.file} are read")
    if data[: len(MAGIC)] != MAGIC:
        raise refuse(f"is not {expected}: it does not begin as Ringsmith's files do")
    if len(data) < _HEADER.size:
        raise refuse("is cut off in its header: copy it again")
    _, version, reserved, size, packed, digest = _HEADER.unpack_from(data)
    if (version, reserved) != (VERSION, 0):
        raise refuse(
            f"its container has version {version}, and this Ringsmith reads {VERSION}: read it "
            "with a newer Ringsmith"
        )
    if packed != len(data) - _HEADER.size:
        raise refuse(
            f"has {len(data) - _HEADER.size} bytes behind its header, which says {packed}: it is "
            "cut off, or bytes were added: copy it again"
        )
    if size > limits.body:
        raise refuse(f"its body has {size} bytes, and at most {limits.body} are read")
    body = decompress(memoryview(data)[_HEADER.size :], Compression.ZSTD, size, refuse)
    if len(body) != size or hashlib.blake2b(body, digest_size=32).digest() != digest:
        raise refuse("its body does not have the digest of its header: damaged: copy it again")
    return memoryview(body)


def _arrays(
    described: object, body: memoryview, position: int, limits: Limits, refuse: Refusal
) -> tuple[Array, ...]:
    """The arrays, which fill the rest of the body exactly."""
    if not isinstance(described, list) or len(described) > limits.arrays:
        raise refuse(f"arrays is not a list of at most {limits.arrays} entries")
    found = []
    for index, entry in enumerate(described):
        where = f"arrays[{index}]"
        if not isinstance(entry, list) or len(entry) != 2 or entry[0] not in DTYPES:
            raise refuse(f"{where} {entry!r:.80} is not [type, shape] of a known type")
        name, shape = entry
        if (
            not isinstance(shape, list)
            or len(shape) > _MAX_DIMENSIONS
            or not all(type(side) is int and 0 <= side <= limits.body for side in shape)
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
