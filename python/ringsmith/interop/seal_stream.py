"""Microsoft SEAL's byte stream: headers, integers and arrays, never read past their end.

Every object starts with a header of 16 bytes (SEAL's ``serialization.h``): u16 magic 0xA15E, u8
header size, u8 major and u8 minor version, u8 compression, u16 reserved, u64 size of header and
payload together. All is little-endian and unaligned. Objects inside an object have headers of their
own and are not compressed again.

Behind an object in a file of its own, Ringsmith writes the tag of its key pair (``with_key_tag``):
the eight bytes ``RSKEYTAG`` and 16 bytes. SEAL reads no further than the object's own size.
"""

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InteropError
from ringsmith.files import open_regular
from ringsmith.files.compression import Bytes, Compression, FilePart, compress, decompress, load
from ringsmith.objects import KEY_TAG_BYTES

Source = bytes | bytearray | memoryview | str | os.PathLike[str]
"""The bytes of an object, or the path of a file that holds them."""

DEFAULT_VERSION = (4, 4)
"""SEAL version that written objects name: readers before 4.4 accept only their own minor one."""
NEWEST_MINOR = 4
"""Newest SEAL 4.x whose format is known here; as SEAL does, newer ones are refused."""

_MAGIC = 0xA15E
_HEADER = struct.Struct("<HBBBBHQ")
HEADER_BYTES = _HEADER.size
_VERSION_AT = 3
_TAG = b"RSKEYTAG"


@dataclass(frozen=True)
class Header:
    """What an object says of itself: version, compression, and size with this header."""

    version: tuple[int, int]
    compression: Compression
    size: int


@dataclass(frozen=True)
class Limit:
    """How large the payload of an object can be.

    Attributes:
        size: Bytes, by the parameters.
        expansion: Bytes that one compressed byte can make, for objects that are random and whose
            ``size`` is far beyond any real one (sets of keys); None: no such bound.
        slack: Bytes that are allowed beyond ``expansion``.
    """

    size: int
    expansion: int | None = None
    slack: int = 0

    def of_compressed(self, compressed: int) -> int:
        """The bound for a stream of ``compressed`` bytes."""
        if self.expansion is None:
            return self.size
        return min(self.size, self.expansion * compressed + self.slack)


class Reader:
    """Reads the payload of one object; every count is checked against what is left.

    Attributes:
        what: Names the object in errors.
        key_tag: The tag of the object's key pair, of a whole object that has one behind it.

    Raises:
        InteropError: From any method, when the bytes are truncated or invalid.
    """

    def __init__(self, data: Bytes, what: str, key_tag: bytes | None = None) -> None:
        self._data = data
        self._position = 0
        self.what = what
        self.key_tag = key_tag

    def error(self, message: str) -> InteropError:
        """An error that names the object and the position in it."""
        return InteropError(f"{self.what}, byte {self._position}: {message}")

    @property
    def left(self) -> int:
        """Bytes that were not read."""
        return len(self._data) - self._position

    def take(self, count: int) -> memoryview:
        """The next ``count`` bytes."""
        try:
            taken = load(self.part(count))
        except OSError as error:
            raise self.error(f"cannot be read: {error.strerror}") from None
        if len(taken) < count:
            raise self.error("the file became shorter while it was read: read it again")
        return taken

    def part(self, count: int) -> Bytes:
        """The next ``count`` bytes; those of a file are not read yet."""
        if count > self.left:
            raise self.error(
                f"{count} bytes expected, {self.left} left: the file is cut off or damaged"
            )
        self._position += count
        return self._data[self._position - count : self._position]

    def u8(self) -> int:
        """The next byte."""
        return self.take(1)[0]

    def u64(self) -> int:
        """The next word."""
        return int.from_bytes(self.take(8), "little")

    def f64(self) -> float:
        """The next double-precision number."""
        value: float = struct.unpack("<d", self.take(8))[0]
        return value

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next ``count`` words, as a new array; nothing is allocated before the check."""
        return np.frombuffer(self.take(8 * count), dtype="<u8").astype(np.uint64)

    def expect(self, name: str, value: int, allowed: int) -> None:
        """Refuses a value that the parameters do not allow."""
        if value != allowed:
            raise self.error(f"{name} is {value}, but the parameters need {allowed}")

    def nested(self, what: str) -> "Reader":
        """A reader for the object that starts here, header included."""
        reader = Reader(self._data[self._position :], f"{self.what}: {what}")
        header = reader.header()
        if header.compression is not Compression.NONE:
            raise reader.error(f"compressed ({header.compression}) inside another object")
        self.part(header.size)
        return Reader(reader.part(header.size - _HEADER.size), f"{self.what}: {what}")

    def array(self, what: str, *allowed: int) -> NDArray[np.uint64]:
        """The words of SEAL's ``DynArray``, an object that starts here.

        Args:
            what: Names it in errors.
            allowed: Word counts that the parameters allow; checked before the words are read.
        """
        reader = self.nested(what)
        count = reader.u64()
        if count not in allowed:
            choices = " or ".join(map(str, sorted(set(allowed))))
            raise reader.error(f"the number of words is {count}, but the parameters need {choices}")
        words = reader.words(count)
        reader.finish()
        return words

    def header(self) -> Header:
        """Reads and checks the header that starts here."""
        if not self.left:
            raise self.error("nothing there: the file is empty or cut off: save the object again")
        magic, header_size, major, minor, method, reserved, size = _HEADER.unpack(
            self.take(_HEADER.size)
        )
        if magic != _MAGIC or header_size != _HEADER.size or reserved:
            raise _no_header(self)
        if major != DEFAULT_VERSION[0] or minor > NEWEST_MINOR:
            raise self.error(
                f"written by SEAL {major}.{minor}; only 4.0 … 4.{NEWEST_MINOR} are read: save the "
                "object with one of these versions"
            )
        if method not in tuple(Compression):
            raise self.error(f"compression {method} is not none (0), zlib (1) or zstd (2)")
        if size < _HEADER.size:
            raise self.error(f"the header names a size of {size} bytes, less than its own")
        return Header((major, minor), Compression(method), size)

    def finish(self) -> None:
        """Refuses bytes after the end of the object."""
        if self.left:
            raise self.error(f"{self.left} bytes too many")


def open_object(source: Source, what: str, limit: Limit) -> Reader:
    """A reader for the payload of a whole file or byte string; ``what`` names it in errors."""
    return open_with_header(source, what, limit)[1]


def open_with_header(source: Source, what: str, limit: Limit) -> tuple[Header, Reader]:
    """The header of a whole file or byte string, and a reader for its payload.

    No more than a small multiple of the limit is ever held in memory. What a file holds without
    compression is read when the reader asks for it.

    Raises:
        InteropError: When the file cannot be read or is larger than the limit, when the header is
            wrong, or when a compressed payload is damaged or passes the limit.
    """
    if isinstance(source, str | os.PathLike):
        what = f"{os.fspath(source)}: {what}"
        data: Bytes = _open_file(Path(source), what, limit)
    else:
        data = memoryview(source)
    whole = Reader(data, what)
    header = whole.header()
    payload = whole.part(header.size - _HEADER.size)
    key_tag = None
    if whole.left == len(_TAG) + KEY_TAG_BYTES and whole.take(len(_TAG)) == _TAG:
        key_tag = bytes(whole.take(KEY_TAG_BYTES))
    whole.finish()
    if header.compression is Compression.NONE:
        _check_size(whole, len(payload), limit.size)
        return header, Reader(payload, what, key_tag)
    bound = limit.of_compressed(len(payload))
    plain = decompress(payload, header.compression, bound, whole.error)
    return header, Reader(memoryview(plain), what, key_tag)


def with_key_tag(data: bytes, key_tag: bytes | None) -> bytes:
    """An object of SEAL's with the tag of its key pair behind it; as it is, where None is known.

    For files that hold this one object. SEAL reads the object and passes over the tag.
    """
    return data if key_tag is None else data + _TAG + key_tag


def wrap(payload: bytes, version: tuple[int, int]) -> bytes:
    """An object inside another: the header for a payload, then the payload."""
    return _with_header(payload, version, Compression.NONE)


def wrap_array(words: NDArray[np.uint64], version: tuple[int, int]) -> bytes:
    """SEAL's ``DynArray`` of words as an object."""
    return wrap(struct.pack("<Q", words.size) + words.astype("<u8").tobytes(), version)


def wrap_whole(payload: bytes, version: tuple[int, int], compression: Compression) -> bytes:
    """A whole object, its payload compressed if that is wanted."""
    return _with_header(compress(payload, compression), version, compression)


def check_version(version: tuple[int, int]) -> None:
    """Refuses a SEAL version that cannot be written for."""
    if version not in [(DEFAULT_VERSION[0], minor) for minor in range(NEWEST_MINOR + 1)]:
        raise InteropError(
            f"SEAL version {'.'.join(map(str, version))} is not known here: write for "
            f"4.0 … 4.{NEWEST_MINOR}"
        )


def with_version(data: bytes, headers: Sequence[int], version: tuple[int, int]) -> bytes:
    """The bytes of an uncompressed object, whose headers name another SEAL version.

    The layout is that of all SEAL 4.x; only the version in the headers differs.

    Args:
        data: The object, or its beginning.
        headers: The positions of all its headers.
        version: The SEAL version to name.

    Raises:
        InteropError: When a header is not there, the object is compressed, or the version is not
            known.
    """
    check_version(version)
    changed = bytearray(data)
    for position in headers:
        reader = Reader(memoryview(data)[position:], "SEAL object")
        if reader.header().compression is not Compression.NONE:
            raise reader.error("compressed, and its version was to be changed")
        changed[position + _VERSION_AT : position + _VERSION_AT + 2] = bytes(version)
    return bytes(changed)


def _with_header(payload: bytes, version: tuple[int, int], compression: Compression) -> bytes:
    size = _HEADER.size + len(payload)
    return _HEADER.pack(_MAGIC, _HEADER.size, *version, compression, 0, size) + payload


def _open_file(path: Path, what: str, limit: Limit) -> FilePart:
    """A regular file that starts with a header and is not beyond the limit."""
    try:
        file = open_regular(path)
        whole = FilePart(file, 0, os.fstat(file.fileno()).st_size)
        start = load(whole[: _HEADER.size])
    except OSError as error:
        raise InteropError(f"{what}: cannot be read: {error.strerror}") from None
    reader = Reader(start, what)
    if len(whole) and not bytes(start).startswith(_MAGIC.to_bytes(2, "little")):
        raise _no_header(reader)
    reader.header()
    # Incompressible data grows a little when it is compressed: zlib by less than 1/1000.
    _check_size(reader, len(whole), limit.size + limit.size // 256 + 1024)
    return whole


def _no_header(reader: Reader) -> InteropError:
    return reader.error("no SEAL header: is this a file that SEAL saved?")


def _check_size(reader: Reader, size: int, limit: int) -> None:
    if size > limit:
        raise reader.error(
            f"{size} bytes; such an object has at most {limit} bytes: it is damaged, or of another "
            "type or other parameters"
        )
