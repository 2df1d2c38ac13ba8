"""PNG pictures that a user hands over, as pixels; Pillow reads them."""

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InteropError, ToolError
from ringsmith.files import read_bounded

if TYPE_CHECKING:
    from PIL.Image import Image

_LARGEST_FILE: Final = 4 << 20
"""Bytes."""
_MOST_PIXELS: Final = 1 << 20
"""A small file can claim billions."""
_DEPTH_16: Final = "I;16"
"""Pillow's mode of 16-bit gray, which its conversions clip."""
_LUMA: Final = np.array([0.299, 0.587, 0.114])
"""Of red, green and blue: ITU-R BT.601."""


def read_gray(path: Path) -> NDArray[np.float64]:
    """Returns a picture's brightness, (rows, columns), from 0 to 1.

    Raises InteropError, ToolError as ``read_colours``.
    """
    return np.asarray(read_colours(path) @ _LUMA / 255)


def read_colours(path: Path) -> NDArray[np.uint8]:
    """Returns a picture's red, green and blue, (rows, columns, 3); what is transparent is black.

    Raises InteropError when the file cannot be read, is no whole PNG, or has too many pixels;
    ToolError when Pillow is not installed.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ModuleNotFoundError as error:
        raise ToolError(
            "Pillow is missing; it reads pictures: pip install 'ringsmith[apps]'"
        ) from error
    data = read_bounded(path, _LARGEST_FILE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(data), formats=("PNG",))
        small = picture.width * picture.height <= _MOST_PIXELS
        pixels = np.asarray(_on_black(picture)) if small else None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        pixels = None
    except UnidentifiedImageError:
        raise InteropError(f"{path}: not a PNG picture: save it as one") from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise InteropError(
            f"{path}: a PNG that is cut short or damaged ({error}): save it anew"
        ) from error
    if pixels is None:
        raise InteropError(
            f"{path}: more than {_MOST_PIXELS} pixels, the most that are read: scale it down"
        )
    return pixels


def _on_black(picture: "Image") -> "Image":
    """The picture in 8-bit colours, in front of black."""
    from PIL import Image

    if picture.mode == _DEPTH_16:
        picture = Image.fromarray((np.asarray(picture) >> 8).astype(np.uint8))
    opaque = picture.convert("RGBA")
    black = Image.new("RGBA", opaque.size, "black")
    return Image.alpha_composite(black, opaque).convert("RGB")
