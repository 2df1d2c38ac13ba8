"""One colour image of 32 x 32 pixels: a PNG, or one of CIFAR-10's binary files that a user has."""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ringsmith.apps.cifar.network import CLASSES, COLOURS, SIDE
from ringsmith.apps.pictures import read_colours
from ringsmith.errors import InteropError, ParameterError
from ringsmith.files import read_bounded

NAMES: Final = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)
"""CIFAR-10's classes in the order of their labels."""

_RECORD = 1 + COLOURS * SIDE * SIDE
"""Bytes of an image in CIFAR-10's binary files: a label, and a plane for each colour."""
_LARGEST = 64 << 20


def read_picture(path: Path) -> NDArray[np.uint8]:
    """Returns the pixels (32, 32, 3) of a PNG; a gray one has three equal colours.

    Raises:
        InteropError, ToolError: When it cannot be read.
        ParameterError: When it has another size.
    """
    pixels = read_colours(path)
    rows, columns, _ = pixels.shape
    if (rows, columns) != (SIDE, SIDE):
        raise ParameterError(
            f"{path}: {columns} x {rows} pixels, and the network takes {SIDE} x {SIDE}: crop or "
            "scale the picture"
        )
    return pixels


def read_cifar(path: Path, index: int) -> tuple[NDArray[np.uint8], int]:
    """Returns the pixels (32, 32, 3) and the label of an image in a binary file of CIFAR-10.

    Raises:
        InteropError: When the file cannot be read or is none of CIFAR-10's.
        ParameterError: When there is no such image.
    """
    data = np.frombuffer(read_bounded(path, _LARGEST), np.uint8)
    if not data.size or data.size % _RECORD:
        raise InteropError(
            f"{path}: {data.size} bytes are no whole number of images of {_RECORD}: give a file "
            "of CIFAR-10's binary version, such as test_batch.bin"
        )
    records = data.reshape(-1, _RECORD)
    if not 0 <= index < len(records):
        raise ParameterError(f"image {index}: take one of 0 … {len(records) - 1}")
    label = int(records[index, 0])
    if label >= CLASSES:
        raise InteropError(f"{path}: image {index} has the label {label}: labels are 0 … 9")
    return np.moveaxis(records[index, 1:].reshape(COLOURS, SIDE, SIDE), 0, 2), label
