"""The records: scanned digits of 8 x 8 pixels, packed into 16 numbers each."""

import numpy as np
from numpy.typing import NDArray

from ringsmith.apps.cnn.images import BLACK, SIDE, load_images

Integers = NDArray[np.int64]

SIDES = (32, 32)
"""Rows and columns of the table of records."""
RECORDS = SIDES[0] * SIDES[1]
FIELDS = 16
"""Numbers of a record."""
FIELD_BITS = 16
"""Bits of a number: four pixels of four bits."""
_PIXEL_BITS = 4
_PIXELS = FIELD_BITS // _PIXEL_BITS
_SHADES = " .:-=+*#%@"


def load_records() -> Integers:
    """Loads the records (1024, 16), each number from 0 to 2^16 - 1.

    Raises:
        ToolError: When scikit-learn, which carries the data, is not installed.
    """
    images, _ = load_images()
    return packed(images.pixels[:RECORDS])


def packed(pixels: NDArray[np.float64]) -> Integers:
    """Packs images (count, 8, 8) from 0 to 1 into records (count, 16), four pixels a number."""
    most = (1 << _PIXEL_BITS) - 1
    shades = np.minimum(np.rint(pixels * BLACK), most).astype(np.int64)
    groups = shades.reshape(len(pixels), FIELDS, _PIXELS)
    places: Integers = np.left_shift(1, _PIXEL_BITS * np.arange(_PIXELS, dtype=np.int64))
    return groups @ places


def picture(record: Integers) -> list[str]:
    """Draws a record (16,) with characters, a line a row of pixels."""
    shifts = _PIXEL_BITS * np.arange(_PIXELS)
    shades = record[:, np.newaxis] >> shifts & (1 << _PIXEL_BITS) - 1
    last = len(_SHADES) - 1
    marks = [_SHADES[int(shade) * last // (BLACK - 1)] * 2 for shade in shades.ravel()]
    return ["".join(marks[start : start + SIDE]) for start in range(0, len(marks), SIDE)]
