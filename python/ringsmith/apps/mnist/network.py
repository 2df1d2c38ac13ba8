"""The network: its weights, and what it computes in the clear."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import ParameterError

SIDE: Final = 28
"""Pixels of an image's side."""
KERNEL: Final = 5
"""Side of a convolution's kernel."""
STRIDE: Final = 2
"""Pixels from one position of a kernel to the next one."""
PADDING: Final = 1
"""Rows and columns of zeros above and to the left of an image."""
MAP: Final = (SIDE + PADDING - KERNEL) // STRIDE + 1
"""Side of a map: positions of a kernel in a row."""
MAPS: Final = 5
HIDDEN: Final = 100
DIGITS: Final = 10
"""Classes: 0 … 9."""

LAYERS: Final = ("Cnv1", "Act1", "Fc1", "Act2", "Fc2")
"""The layers by the Framework paper's names: convolution, square, dense, square, dense."""

Reals = NDArray[np.float64]

_WEIGHTS: Final = Path(__file__).with_name("weights.npz")


class Sums(NamedTuple):
    """What every layer's neurons add up, before any square, for each image.

    Attributes:
        maps: Of the convolution, (images, 13, 13, 5).
        hidden: Of the hidden layer, (images, 100).
        scores: Of the last layer, (images, 10): the largest names the digit.
    """

    maps: Reals
    hidden: Reals
    scores: Reals


@dataclass(frozen=True, eq=False)
class Network:
    """Convolution, square, dense layer, square, dense layer: a polynomial of degree 4.

    Attributes:
        kernels: (5, 5, 5): map, row, column.
        map_biases: One a map, (5,).
        hidden_weights: Of squared map entries, (100, 13, 13, 5).
        hidden_biases: (100,).
        score_weights: Of squared hidden neurons, (10, 100).
        score_biases: (10,).
    """

    kernels: Reals
    map_biases: Reals
    hidden_weights: Reals
    hidden_biases: Reals
    score_weights: Reals
    score_biases: Reals

    def sums(self, pixels: Reals) -> Sums:
        """Returns the sums of all layers for pixels (images, 28, 28) from 0 to 1."""
        maps = np.tensordot(windows(pixels), self.kernels, axes=([3, 4], [1, 2])) + self.map_biases
        by_map = self.hidden_weights.reshape(self.hidden_biases.size, -1)
        hidden = (maps**2).reshape(len(pixels), -1) @ by_map.T + self.hidden_biases
        return Sums(maps, hidden, hidden**2 @ self.score_weights.T + self.score_biases)

    def scores(self, pixels: Reals) -> Reals:
        """Returns the scores (images, 10) of pixels (images, 28, 28) from 0 to 1."""
        return self.sums(pixels).scores

    def scaled(self, maps: float, hidden: float, scores: float) -> "Network":
        """Returns a network of the same answers whose layers' sums are divided by these numbers.

        The next layer's weights are multiplied by the square of the number, so that nothing else
        changes. Encrypted numbers that stay near 1 use the scale fully and come nowhere near the
        modulus.
        """
        return Network(
            self.kernels / maps,
            self.map_biases / maps,
            self.hidden_weights * (maps**2 / hidden),
            self.hidden_biases / hidden,
            self.score_weights * (hidden**2 / scores),
            self.score_biases / scores,
        )

    def save(self, path: Path) -> None:
        """Writes the weights as numbers of 16 bits, which is what ``load`` reads."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        np.savez_compressed(path, **{name: w.astype(np.float16) for name, w in arrays.items()})

    @classmethod
    def load(cls, path: Path = _WEIGHTS) -> "Network":
        """Reads weights that ``save`` wrote; those that were trained here if no path is given.

        Raises:
            ParameterError: When the file does not hold such weights.
        """
        try:
            with np.load(path) as file:
                arrays = [file[field.name].astype(np.float64) for field in fields(cls)]
        except (OSError, ValueError, KeyError) as error:
            raise ParameterError(
                f"{path} does not hold this network's weights ({error}): write them with "
                "python -m ringsmith.apps.mnist.training"
            ) from error
        return cls(*arrays)


def windows(pixels: NDArray[np.floating]) -> NDArray[np.floating]:
    """Returns the pixels under a kernel at each of its positions, (images, 13, 13, 5, 5)."""
    padded = np.pad(pixels, ((0, 0), (PADDING, 0), (PADDING, 0)))
    every = np.lib.stride_tricks.sliding_window_view(padded, (KERNEL, KERNEL), axis=(1, 2))
    return every[:, ::STRIDE, ::STRIDE]
