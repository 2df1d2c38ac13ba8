"""Pictures of users: every kind of PNG that is read, and what is refused."""

import io
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from ringsmith.apps.pictures import read_colours, read_gray
from ringsmith.errors import InteropError, ToolError


def write(path: Path, samples: np.ndarray, mode: str | None = None, **options: object) -> Path:
    """Writes samples (rows, columns[, channels]) as a PNG, converted to a mode of Pillow's."""
    picture = Image.fromarray(samples)
    (picture.convert(mode) if mode else picture).save(path, "PNG", **options)
    return path


def claimed(columns: int, rows: int) -> bytes:
    """A PNG that claims a size, and has no pixels."""
    head = b"IHDR" + struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)
    parts = (head, b"IDAT" + zlib.compress(b""), b"IEND")
    chunks = (struct.pack(">I", len(p) - 4) + p + struct.pack(">I", zlib.crc32(p)) for p in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "picture.png"


@pytest.fixture
def gray(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 256, (7, 9), dtype=np.uint8)


def test_gray_and_colours_come_back_as_they_are(
    path: Path, gray: np.ndarray, rng: np.random.Generator
) -> None:
    assert np.array_equal(read_colours(write(path, gray)), np.dstack([gray] * 3))
    colours = rng.integers(0, 256, (7, 9, 3), dtype=np.uint8)
    assert np.array_equal(read_colours(write(path, colours)), colours)
    palette = np.array([[[51, 102, 153], [255, 0, 0], [51, 102, 153]]], np.uint8)  # of Pillow's own
    assert np.array_equal(read_colours(write(path, palette, "P")), palette)
    bits = np.array([[0, 255, 255, 0]], np.uint8)
    assert read_colours(write(path, bits, "1"))[..., 0].tolist() == bits.tolist()


def test_of_16_bits_the_upper_8_are_taken(path: Path, gray: np.ndarray) -> None:
    deep = gray.astype(np.uint16) << 8 | 0xA5
    assert np.array_equal(read_colours(write(path, deep))[..., 0], gray)


def test_brightness_weighs_colours_and_what_is_transparent_is_black(path: Path) -> None:
    samples = np.array([[[255, 0, 0, 255], [0, 255, 0, 255], [255, 255, 255, 0]]], np.uint8)
    assert np.allclose(read_gray(write(path, samples)), [[0.299, 0.587, 0]])
    marked = np.array([[0, 5, 255]], np.uint8)
    assert read_colours(write(path, marked, transparency=255))[0, :, 0].tolist() == [0, 5, 0]
    assert np.allclose(read_gray(write(path, marked)), marked / 255)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a PNG picture: save it as one"),
        (b"GIF89a", "not a PNG picture"),
        (b"\x89PNG\r\n\x1a\n", "not a PNG picture"),
        (claimed(4, 0), "not a PNG picture"),
        (claimed(1025, 1024), "more than 1048576 pixels, the most that are read: scale it down"),
        (claimed(10_000, 10_000), "more than 1048576 pixels"),
        (claimed(1 << 20, 1 << 20), "more than 1048576 pixels"),
        (claimed(4, 4), "cut short or damaged"),
    ],
)
def test_what_is_no_picture_is_refused(data: bytes, said: str, path: Path) -> None:
    path.write_bytes(data)
    with pytest.raises(InteropError, match=said):
        read_gray(path)


def test_another_format_is_no_png(path: Path, gray: np.ndarray) -> None:
    Image.fromarray(gray).save(path, "JPEG")
    with pytest.raises(InteropError, match="not a PNG picture"):
        read_gray(path)


def test_a_text_that_unpacks_without_end_is_refused(path: Path, gray: np.ndarray) -> None:
    text = PngImagePlugin.PngInfo()
    text.add_text("bomb", " " * (8 << 20), zip=True)
    write(path, gray, pnginfo=text)
    with pytest.raises(InteropError, match="cut short or damaged"):
        read_gray(path)


def test_a_damaged_picture_is_read_or_refused_and_nothing_else(
    path: Path, gray: np.ndarray, rng: np.random.Generator
) -> None:
    whole = io.BytesIO()
    Image.fromarray(gray).save(whole, "PNG")
    refused = 0
    for _ in range(500):
        data = bytearray(whole.getvalue())
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)
        path.write_bytes(data[: rng.integers(1, 2 * len(data))])
        try:
            assert read_gray(path).shape[1] <= 1 << 20
        except InteropError:
            refused += 1
    assert refused > 400


def test_without_pillow_the_extra_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ToolError, match=r"Pillow is missing; .* pip install 'ringsmith\[apps\]'"):
        read_colours(path)
