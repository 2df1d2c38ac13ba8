"""PNG pictures: every kind that is read, every filter, and what is refused."""

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from ringsmith.apps.png import read_gray, read_png
from ringsmith.errors import InteropError

MAGIC = b"\x89PNG\r\n\x1a\n"


def chunk(name: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + check


def png(
    size: tuple[int, int], bits: int, kind: int, lines: bytes, *, palette: bytes = b""
) -> bytes:
    """A PNG of (rows, columns); ``lines`` with the filters' bytes."""
    rows, columns = size
    head = struct.pack(">IIBBBBB", columns, rows, bits, kind, 0, 0, 0)
    colours = chunk(b"PLTE", palette) if palette else b""
    pixels = zlib.compress(lines)
    halves = chunk(b"IDAT", pixels[:5]) + chunk(b"IDAT", pixels[5:])
    return MAGIC + chunk(b"IHDR", head) + colours + halves + chunk(b"IEND", b"")


def filtered(samples: np.ndarray, kind: int) -> bytes:
    """Samples (rows, columns, channels) as filtered lines, by the standard's definitions."""
    rows, _, channels = samples.shape
    lines = samples.reshape(rows, -1).astype(int)
    result = b""
    for y, line in enumerate(lines):
        above = lines[y - 1] if y else np.zeros_like(line)
        left = np.concatenate([np.zeros(channels, int), line[:-channels]])
        corner = np.concatenate([np.zeros(channels, int), above[:-channels]])
        distances = np.abs([above - corner, left - corner, left + above - 2 * corner])
        nearest = np.choose(distances.argmin(axis=0), [left, above, corner])
        guess = [0, left, above, (left + above) // 2, nearest][kind]
        result += bytes([kind]) + ((line - guess) % 256).astype(np.uint8).tobytes()
    return result


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize(("colour", "channels"), [(0, 1), (2, 3), (4, 2), (6, 4)])
def test_every_filter_gives_the_samples_back(
    kind: int, colour: int, channels: int, tmp_path: Path, rng: np.random.Generator
) -> None:
    samples = rng.integers(0, 256, (7, 9, channels), dtype=np.uint8)
    samples[2:4] = samples[:2]  # ties of the predictor
    path = tmp_path / "picture.png"
    path.write_bytes(png((7, 9), 8, colour, filtered(samples, kind)))
    assert np.array_equal(read_png(path), samples)


def test_brightness_weighs_colours_and_what_is_transparent_is_black(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    samples = np.array([[[255, 0, 0, 255], [0, 255, 0, 255], [255, 255, 255, 0]]], np.uint8)
    path.write_bytes(png((1, 3), 8, 6, filtered(samples, 0)))
    assert np.allclose(read_gray(path), [[0.299, 0.587, 0]])
    path.write_bytes(png((1, 2), 8, 0, b"\0\x00\xff"))
    assert read_gray(path).tolist() == [[0, 1]]


def test_few_bits_and_palettes_are_read(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(png((1, 5), 2, 0, b"\0\x1b\x40"))
    assert read_png(path)[0, :, 0].tolist() == [0, 85, 170, 255, 85]
    palette = bytes([9, 8, 7, 1, 2, 3])
    path.write_bytes(png((1, 3), 1, 3, b"\0\xa0", palette=palette))
    assert read_png(path)[0].tolist() == [[1, 2, 3], [9, 8, 7], [1, 2, 3]]


GOOD = png((2, 2), 8, 0, b"\0\x01\x02\0\x03\x04")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"GIF89a", "not a PNG file: save it as an 8-bit PNG without interlacing"),
        (GOOD[:-20], "cut short or damaged"),
        (GOOD.replace(b"IDAT", b"IDAU"), "cut short or damaged"),
        (MAGIC + chunk(b"IEND", b""), "a PNG without its header"),
        (png((2, 2), 16, 0, b"\0" * 10), "a PNG of 16 bits, colour type 0"),
        (png((2, 2), 8, 0, b"\0\x01\x02"), "a PNG of 3 bytes of pixels, and 6 are needed"),
        (png((2, 2), 8, 0, b"\7\x01\x02\0\x03\x04"), "filter 7"),
        (png((1, 1), 8, 3, b"\0\x05", palette=bytes(6)), "palette has no colour 5"),
        (png((1 << 20, 1 << 20), 8, 0, b""), "at most 4194304 bytes are read"),
        (png((0, 4), 8, 0, b""), "4 x 0 pixels"),
    ],
)
def test_what_is_no_picture_is_refused(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(data)
    with pytest.raises(InteropError, match=said):
        read_gray(path)


def test_a_damaged_picture_is_read_or_refused_and_nothing_else(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    path = tmp_path / "picture.png"
    for _ in range(200):
        data = bytearray(GOOD)
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)
        path.write_bytes(data)
        with pytest.raises(InteropError):
            read_gray(path)
