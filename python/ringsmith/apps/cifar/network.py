"""The network: its weights, and what it computes in the clear."""

import io
import zipfile
import zlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import ParameterError
from ringsmith.files import read_bounded

SIDE: Final = 32
"""Pixels of an image's side."""
COLOURS: Final = 3
STRIDE: Final = 2
"""Of both convolutions."""
PADDING: Final = 1
"""Zeros around an image."""
KERNEL: Final = 8
"""Side of the first convolution's kernels."""
FIRST_MAPS: Final = 83
FIRST_SIDE: Final = (SIDE + 2 * PADDING - KERNEL) // STRIDE + 1
"""Side of a first map: 14."""
SECOND_KERNEL: Final = 6
SECOND_MAPS: Final = 163
SECOND_SIDE: Final = (FIRST_SIDE - SECOND_KERNEL) // STRIDE + 1
"""Side of a second map: 5."""
FIRST: Final = FIRST_SIDE**2 * FIRST_MAPS
"""Neurons of the first convolution: 16,268."""
SECOND: Final = SECOND_SIDE**2 * SECOND_MAPS
"""Neurons of the second one: 4,075."""
CLASSES: Final = 10
LAYERS: Final = ("Cnv1", "Act1", "Cnv2", "Act2", "Fc2")
"""The layers by the Framework paper's names."""
SEED: Final = 10
"""Of the random weights."""
_LARGEST: Final = 64 << 20
"""Bytes of a file of weights, and of what it unpacks to: they take 5 MB."""

Reals = NDArray[np.float64]


class Sums(NamedTuple):
    """What every layer's neurons add up, before any square, for one image.

    Attributes:
        first: (14, 14, 83).
        second: (5, 5, 163).
        scores: (10,).
    """

    first: Reals
    second: Reals
    scores: Reals


@dataclass(frozen=True, eq=False)
class Network:
    """Convolution, square, convolution, square, dense layer.

    Attributes:
        kernels: (83, 8, 8, 3): map, row, column, colour.
        first_biases: (83,).
        second_kernels: (163, 6, 6, 83).
        second_biases: (163,).
        score_weights: (10, 5, 5, 163).
        score_biases: (10,).
    """

    kernels: Reals
    first_biases: Reals
    second_kernels: Reals
    second_biases: Reals
    score_weights: Reals
    score_biases: Reals

    def __post_init__(self) -> None:
        for name, shape in SHAPES.items():
            found = getattr(self, name).shape
            if found != shape:
                raise ParameterError(f"{name} has the shape {found}, and {shape} is needed")
            if not np.isfinite(getattr(self, name)).all():
                raise ParameterError(f"{name} has values that are not finite")

    def sums(self, pixels: Reals) -> Sums:
        """Returns the sums of all layers for the pixels (32, 32, 3) of an image, from 0 to 1."""
        first = np.tensordot(windows(pixels), self.kernels, axes=([2, 3, 4], [1, 2, 3]))
        first = first + self.first_biases
        under = _strided(first**2, SECOND_KERNEL)
        second = np.tensordot(under, self.second_kernels, axes=([2, 3, 4], [1, 2, 3]))
        second = second + self.second_biases
        scores = np.tensordot(self.score_weights, second**2, axes=3) + self.score_biases
        return Sums(first, second, scores)

    @classmethod
    def random(cls) -> "Network":
        """Returns a network of random weights whose sums stay near 1; the same each time."""
        rng = np.random.default_rng(SEED)
        spread = {"kernels": 0.02, "second_kernels": 0.06, "score_weights": 0.08}
        arrays = [rng.normal(0, spread.get(name, 0.04), shape) for name, shape in SHAPES.items()]
        return cls(*arrays)

    @classmethod
    def load(cls, path: Path) -> "Network":
        """Reads a user's weights: an NPZ file with the arrays of this class.

        Raises:
            InteropError: When the file cannot be read.
            ParameterError: When the file does not hold them.
        """
        data = read_bounded(path, _LARGEST)
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                size = sum(member.file_size for member in archive.infolist())
            if size > _LARGEST:
                raise ParameterError(f"unpacks to {size} bytes, and at most {_LARGEST} are read")
            with np.load(io.BytesIO(data)) as file:
                return cls(*(file[field.name].astype(np.float64) for field in fields(cls)))
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            wanted = ", ".join(f"{name} {shape}" for name, shape in SHAPES.items())
            raise ParameterError(f"{path}: {error}: an NPZ file with {wanted} is needed") from error


SHAPES: Final = {
    "kernels": (FIRST_MAPS, KERNEL, KERNEL, COLOURS),
    "first_biases": (FIRST_MAPS,),
    "second_kernels": (SECOND_MAPS, SECOND_KERNEL, SECOND_KERNEL, FIRST_MAPS),
    "second_biases": (SECOND_MAPS,),
    "score_weights": (CLASSES, SECOND_SIDE, SECOND_SIDE, SECOND_MAPS),
    "score_biases": (CLASSES,),
}
"""Of a network's arrays, by name."""


def windows(pixels: Reals) -> Reals:
    """Returns the pixels under a kernel at each of its positions, (14, 14, 8, 8, 3)."""
    return _strided(np.pad(pixels, ((PADDING,) * 2, (PADDING,) * 2, (0, 0))), KERNEL)


def _strided(values: Reals, side: int) -> Reals:
    """Windows of (rows, columns, depth): (…, …, side, side, depth)."""
    every = np.lib.stride_tricks.sliding_window_view(values, (side, side), axis=(0, 1))
    return np.moveaxis(every[::STRIDE, ::STRIDE], 2, 4)
