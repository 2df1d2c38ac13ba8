"""PNG pictures as gray pixels: a small reader, for images that a user hands over.

ISO/IEC 15948. All colour types of 8 bits, and gray and palettes of fewer; no interlacing, and no 16
bits.
"""

import struct
import zlib
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InteropError
from ringsmith.files import read_bounded

Bytes = NDArray[np.uint8]

_MAGIC: Final = b"\x89PNG\r\n\x1a\n"
_LARGEST: Final = 4 << 20
"""Bytes of a file, and of its pixels."""
_CHANNELS: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""By colour type: gray, colour, palette, gray and opacity, colour and opacity."""
_LUMA: Final = np.array([0.299, 0.587, 0.114])
"""Of red, green and blue: ITU-R BT.601."""
_WAY_OUT: Final = "save it as an 8-bit PNG without interlacing"


def read_gray(path: Path) -> NDArray[np.float64]:
    """Returns a picture's brightness, (rows, columns), from 0 to 1.

    What is transparent counts as black.

    Raises:
        InteropError: When the file cannot be read, or is no PNG of a kind that is read here.
    """
    samples = read_png(path) / 255.0
    if samples.shape[2] in (2, 4):
        samples = samples[..., :-1] * samples[..., -1:]
    if samples.shape[2] == 3:
        return np.asarray(samples @ _LUMA)
    return np.asarray(samples[..., 0])


def read_png(path: Path) -> Bytes:
    """Returns a picture's samples, (rows, columns, channels): palettes as colours.

    Raises:
        InteropError: As ``read_gray``.
    """
    chunks = _chunks(path, read_bounded(path, _LARGEST))
    head = chunks.get(b"IHDR", b"")
    if len(head) != 13:
        raise InteropError(f"{path}: a PNG without its header: {_WAY_OUT}")
    columns, rows, bits, kind, *_, interlaced = struct.unpack(">IIBBBBB", head)
    few = bits in (1, 2, 4) and kind in (0, 3)
    if kind not in _CHANNELS or not (bits == 8 or few) or interlaced:
        raise InteropError(
            f"{path}: a PNG of {bits} bits, colour type {kind} and interlacing {interlaced}: "
            f"{_WAY_OUT}"
        )
    channels = _CHANNELS[kind]
    stride = -(-columns * channels * bits // 8)
    if not 0 < rows * (stride + 1) <= _LARGEST or not columns:
        raise InteropError(f"{path}: {columns} x {rows} pixels: at most {_LARGEST} bytes are read")
    lines = _unfiltered(path, _inflated(path, chunks, rows * (stride + 1)), rows, stride, channels)
    if few:
        wide = np.unpackbits(lines, axis=1).reshape(rows, -1, bits)
        lines = (wide @ (1 << np.arange(bits)[::-1])).astype(np.uint8)
        lines = lines if kind == 3 else lines * (255 // ((1 << bits) - 1))
    samples = lines[:, : columns * channels].reshape(rows, columns, channels)
    return _coloured(path, samples, chunks.get(b"PLTE", b"")) if kind == 3 else samples


def _chunks(path: Path, data: bytes) -> dict[bytes, bytes]:
    """The contents of the chunks by name; those of one name are joined."""
    if not data.startswith(_MAGIC):
        raise InteropError(f"{path}: not a PNG file: {_WAY_OUT}")
    chunks: dict[bytes, bytes] = {}
    at = len(_MAGIC)
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        name, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        check = data[at + 8 + length : at + 12 + length]
        if len(check) < 4 or zlib.crc32(name + content) != int.from_bytes(check, "big"):
            raise InteropError(f"{path}: a PNG that is cut short or damaged at byte {at}")
        chunks[name] = chunks.get(name, b"") + content
        at += 12 + length
    return chunks


def _inflated(path: Path, chunks: dict[bytes, bytes], size: int) -> bytes:
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(chunks.get(b"IDAT", b""), size)
    except zlib.error as error:
        raise InteropError(f"{path}: a PNG whose pixels cannot be unpacked ({error})") from error
    if len(data) < size:
        raise InteropError(f"{path}: a PNG of {len(data)} bytes of pixels, and {size} are needed")
    return data


def _unfiltered(path: Path, data: bytes, rows: int, stride: int, step: int) -> Bytes:
    """Undoes the filter of each line; section 9 of the standard.

    Args:
        path: The file, for errors.
        data: A byte that names its filter, and ``stride`` bytes, for each line.
        rows: Lines.
        stride: Bytes of a line.
        step: Bytes from a sample to that of the pixel before it, at least 1.
    """
    lines = np.frombuffer(data, np.uint8).reshape(rows, stride + 1)
    above = np.zeros(stride, np.int64)
    result = np.zeros((rows, stride), np.uint8)
    for index, line in enumerate(lines):
        kind, row = int(line[0]), line[1:].astype(np.int64)
        if kind > 4:
            raise InteropError(f"{path}: a PNG with the filter {kind}, which there is not")
        if kind == 2:
            row = (row + above) % 256
        elif kind:
            for at in range(stride):
                left = int(row[at - step]) if at >= step else 0
                corner = int(above[at - step]) if at >= step else 0
                row[at] = (row[at] + _predicted(kind, left, int(above[at]), corner)) % 256
        above = result[index] = row
    return result


def _predicted(kind: int, left: int, above: int, corner: int) -> int:
    if kind == 1:
        return left
    if kind == 3:
        return (left + above) // 2
    guess = left + above - corner
    return min((left, above, corner), key=lambda value: abs(guess - value))


def _coloured(path: Path, indices: Bytes, palette: bytes) -> Bytes:
    colours = np.frombuffer(palette[: len(palette) // 3 * 3], np.uint8).reshape(-1, 3)
    if indices.max() >= len(colours):
        raise InteropError(f"{path}: a PNG whose palette has no colour {indices.max()}")
    return np.asarray(colours[indices[..., 0]])
