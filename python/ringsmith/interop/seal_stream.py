"""Microsoft SEAL's byte stream: headers, integers and arrays, never read past their end.

Every object starts with a header of 16 bytes (SEAL's ``serialization.h``): u16 magic 0xA15E, u8
header size, u8 major and u8 minor version, u8 compression, u16 reserved, u64 size of header and
payload together. All is little-endian and unaligned.
"""

import os
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InteropError

Source = bytes | bytearray | memoryview | str | os.PathLike[str]
"""The bytes of an object, or the path of a file that holds them."""

DEFAULT_VERSION = (4, 4)
"""SEAL version that written objects name: readers before 4.4 accept only their own minor one."""

_MAGIC = 0xA15E
_HEADER = struct.Struct("<HBBBBHQ")
_COMPRESSIONS = {1: "zlib", 2: "zstd"}


class Reader:
    """Reads the payload of one object; every count is checked against what is left.

    Raises:
        InteropError: From any method, when the bytes end too early or are not what they must be.
    """

    def __init__(self, data: memoryview, what: str) -> None:
        self._data = data
        self._position = 0
        self._what = what

    def error(self, message: str) -> InteropError:
        """An error that names the object and the position in it."""
        return InteropError(f"{self._what}, byte {self._position}: {message}")

    def take(self, count: int) -> memoryview:
        """The next ``count`` bytes."""
        left = len(self._data) - self._position
        if count > left:
            raise self.error(f"{count} bytes expected, {left} left: the file is cut off or damaged")
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
        reader = Reader(self._data[self._position :], f"{self._what}: {what}")
        size = reader.header()
        self.take(size)
        return Reader(reader.take(size - _HEADER.size), f"{self._what}: {what}")

    def array(self, what: str = "data") -> NDArray[np.uint64]:
        """The words of SEAL's ``DynArray``, an object that starts here."""
        reader = self.nested(what)
        words = reader.words(reader.u64())
        reader.finish()
        return words

    def header(self) -> int:
        """Reads and checks a header; the size it names, itself included."""
        magic, header_size, major, minor, compression, _, size = _HEADER.unpack(
            self.take(_HEADER.size)
        )
        if magic != _MAGIC or header_size != _HEADER.size:
            raise self.error("no SEAL header: is this a file that SEAL saved?")
        if major != DEFAULT_VERSION[0]:
            raise self.error(f"written by SEAL {major}.{minor}; only 4.x is read")
        if compression:
            name = _COMPRESSIONS.get(compression, f"method {compression}")
            raise self.error(f"compressed ({name}): save it with compr_mode_type::none")
        if size < _HEADER.size:
            raise self.error(f"the header names a size of {size} bytes, less than its own")
        return int(size)

    def finish(self) -> None:
        """Refuses bytes after the end of the object."""
        left = len(self._data) - self._position
        if left:
            raise self.error(f"{left} bytes too many")


def open_object(source: Source, what: str) -> Reader:
    """A reader for the payload of a whole file or byte string; ``what`` names it in errors."""
    data = Path(source).read_bytes() if isinstance(source, str | os.PathLike) else source
    whole = Reader(memoryview(data), what)
    payload = whole.nested("object")
    whole.finish()
    return payload


def wrap(payload: bytes, version: tuple[int, int] = DEFAULT_VERSION) -> bytes:
    """An object: the header for a payload, then the payload."""
    size = _HEADER.size + len(payload)
    return _HEADER.pack(_MAGIC, _HEADER.size, *version, 0, 0, size) + payload


def wrap_array(words: NDArray[np.uint64], version: tuple[int, int] = DEFAULT_VERSION) -> bytes:
    """SEAL's ``DynArray`` of words as an object."""
    return wrap(struct.pack("<Q", words.size) + words.astype("<u8").tobytes(), version)
