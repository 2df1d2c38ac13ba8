"""Plain operands: numbers and vectors that are known when a program is traced."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.program.source import SourceLine

PlainValues = NDArray[np.inexact]
"""Shape () for one number in every slot, or (slots,); float64, or complex128 where needed."""


def plain_values(
    value: object,
    slots: int,
    source: SourceLine,
    arrange: Callable[[PlainValues], PlainValues] | None = None,
) -> PlainValues:
    """Returns a plain operand in its one stored form, read-only.

    Args:
        value: A number, or a sequence or one-dimensional array of numbers. A number stands in every
            slot; a vector shorter than ``slots`` is followed by zeros.
        slots: Numbers that one ciphertext holds.
        source: The user's line, for errors.
        arrange: Applied to a vector before zeros are appended.

    Raises:
        ProgramError: When the value is not numeric, not finite, empty, of more than one dimension,
            or longer than ``slots``.
    """
    array = numbers(value, source)
    if array.ndim == 1:
        array = array if arrange is None else arrange(array)
        if array.size > slots:
            raise source.error(
                f"a vector of {array.size} numbers exceeds the {slots} slots of a ciphertext: "
                "split it, or raise N"
            )
        array = np.concatenate([array, np.zeros(slots - array.size, array.dtype)])
    array.setflags(write=False)
    return array


def numbers(value: object, source: SourceLine) -> PlainValues:
    """Returns a fresh array of shape () or (length,), or refuses the value with the user's line."""
    array = _finite(value, source)
    if array.ndim > 1 or array.size == 0:
        raise source.error(
            f"an array of shape {array.shape} is no vector: use one dimension and at least 1 number"
        )
    return array


def matrix(value: object, source: SourceLine) -> PlainValues:
    """Returns a fresh array of shape (rows, columns), or refuses the value with the user's line."""
    array = _finite(value, source)
    if array.ndim != 2 or array.size == 0:
        raise source.error(
            f"an array of shape {array.shape} is no matrix: use two dimensions, rows first, and at "
            "least 1 number"
        )
    return array


def _finite(value: object, source: SourceLine) -> PlainValues:
    """Returns a fresh array of finite numbers, of any shape."""
    try:
        array: NDArray[Any] = np.asarray(value)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "iufc":
        raise source.error(
            f"{value!r:.60} ({type(value).__name__}) is not numeric: "
            "use encrypted vectors, numbers or arrays of numbers"
        )
    if not np.isfinite(array).all():
        raise source.error("a plain operand holds NaN or infinity: use finite numbers")
    kind = np.complex128 if array.dtype.kind == "c" else np.float64
    return array.astype(kind)


def whole_number(value: object) -> int | None:
    """Returns a Python or NumPy integer as an int, and None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return None
    return int(value)
