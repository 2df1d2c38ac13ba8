"""NumPy's ``.npy`` files: one array of numbers, read with a limit, and written whole."""

import io
import math
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InteropError
from ringsmith.files.disk import read_bounded

MAX_BYTES = 1 << 30
"""Bytes of a file: 1 GiB."""


def read_array(path: Path) -> NDArray[Any]:
    """Reads an array of integers, real or complex numbers.

    Raises:
        InteropError: When it cannot be read, or holds no such array.
    """
    data = read_bounded(path, MAX_BYTES)
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        header = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, columns_first, dtype = header(stream)
    except (ValueError, EOFError, SyntaxError, TokenError) as error:
        raise InteropError(
            f"{path}: no array of NumPy's format ({error!s:.80}): save it with numpy.save"
        ) from None
    if dtype.kind not in "iufc":
        raise InteropError(f"{path}: an array of type {dtype}: give numbers")
    if math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise InteropError(f"{path}: the array's numbers are cut off, or others follow")
    numbers = np.frombuffer(data, dtype, offset=stream.tell())
    return numbers.reshape(shape, order="F" if columns_first else "C")


def array_bytes(array: NDArray[Any]) -> bytes:
    """Returns the bytes of a file."""
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()
