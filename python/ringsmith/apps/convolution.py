"""Networks of convolution, square, dense layer, square, dense layer, that read digits.

What CryptoNets evaluates (Gilad-Bachrach, Dowlin, Laine, Lauter, Naehrig, Wernsing 2016), whose
pooling is part of its first dense layer, and LoLa (Brutzkus, Elisha, Gilad-Bachrach 2019). Here
they are computed and trained in the clear. ``cnn`` and ``mnist`` compute them encrypted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from ringsmith.apps.report import figures_table
from ringsmith.errors import ParameterError

Reals = NDArray[np.float64]
Labels = NDArray[np.int64]

DIGITS: Final = 10
"""Classes: 0 … 9."""
FIRST_BIAS: Final = 0.3
"""Of squared neurons in training: at 0 a square has no slope."""


@dataclass(frozen=True, eq=False)
class Images:
    """Images of digits: ``pixels`` (images, width, width); ``digits`` (images,) 0 … 9, -1: unknown.

    Pixels are from 0 to 1, or bytes from 0 to 255.
    """

    pixels: NDArray[Any]
    digits: Labels

    def __len__(self) -> int:
        return len(self.digits)

    def first(self, count: int) -> "Images":
        """Returns the first ``count`` images, or all if there are fewer."""
        return Images(self.pixels[:count], self.digits[:count])


class Sums(NamedTuple):
    """What every layer's neurons add up, before any square, for each image.

    Attributes:
        maps: Of the convolution, (images, maps, rows, columns).
        hidden: Of the hidden layer, (images, hidden).
        scores: Of the last layer, (images, 10): the largest names the digit.
    """

    maps: Reals
    hidden: Reals
    scores: Reals


@dataclass(frozen=True)
class Shape:
    """Sizes of a network.

    Attributes:
        width: Pixels of a row or column of an image.
        kernel: Rows or columns of a kernel.
        maps: Maps of the convolution.
        hidden: Neurons of the hidden layer.
        stride: Pixels from one position of a kernel to the next one.
        padding: Rows and columns of zeros above and to the left of an image.
    """

    width: int
    kernel: int
    maps: int
    hidden: int
    stride: int = 1
    padding: int = 0

    @property
    def map_width(self) -> int:
        """Width of a map: positions of a kernel in a row."""
        return (self.width + self.padding - self.kernel) // self.stride + 1

    @property
    def arrays(self) -> dict[str, tuple[int, ...]]:
        """Shapes of a network's arrays, by name."""
        return {
            "kernels": (self.maps, self.kernel, self.kernel),
            "map_biases": (self.maps,),
            "hidden_weights": (self.hidden, self.maps, self.map_width, self.map_width),
            "hidden_biases": (self.hidden,),
            "score_weights": (DIGITS, self.hidden),
            "score_biases": (DIGITS,),
        }

    def windows(self, pixels: NDArray[Any]) -> NDArray[Any]:
        """Returns the pixels under a kernel at each position, (images, rows, columns, k, k)."""
        before = (self.padding, 0)
        padded = np.pad(pixels, ((0, 0), before, before)) if self.padding else pixels
        size = (self.kernel, self.kernel)
        every = np.lib.stride_tricks.sliding_window_view(padded, size, axis=(1, 2))
        return every[:, :: self.stride, :: self.stride]


@dataclass(frozen=True, eq=False)
class Network:
    """A polynomial of degree 4 in the pixels.

    Attributes:
        shape: Its sizes.
        kernels: (maps, kernel, kernel): map, row, column.
        map_biases: One a map, (maps,).
        hidden_weights: Of squared map entries, (hidden, maps, rows, columns).
        hidden_biases: (hidden,).
        score_weights: Of squared hidden neurons, (10, hidden).
        score_biases: (10,).
    """

    shape: Shape
    kernels: Reals
    map_biases: Reals
    hidden_weights: Reals
    hidden_biases: Reals
    score_weights: Reals
    score_biases: Reals

    @property
    def arrays(self) -> list[Reals]:
        """The weights, in the order of the attributes."""
        return [getattr(self, name) for name in self.shape.arrays]

    def sums(self, pixels: NDArray[Any]) -> Sums:
        """Returns the sums of all layers for pixels (images, width, width) from 0 to 1."""
        under = self.shape.windows(pixels)
        maps = np.tensordot(under, self.kernels, axes=([3, 4], [1, 2])) + self.map_biases
        maps = np.moveaxis(maps, 3, 1)
        by_map = self.hidden_weights.reshape(self.hidden_biases.size, -1)
        hidden = (maps**2).reshape(len(pixels), -1) @ by_map.T + self.hidden_biases
        return Sums(maps, hidden, hidden**2 @ self.score_weights.T + self.score_biases)

    def scores(self, pixels: NDArray[Any]) -> Reals:
        """Returns the scores (images, 10) of pixels (images, width, width) from 0 to 1."""
        return self.sums(pixels).scores

    def scaled(self, maps: float, hidden: float, scores: float) -> "Network":
        """Returns a network of the same answers whose layers' sums are divided by these numbers.

        The next layer's weights are multiplied by the square of the number, so that nothing else
        changes. Encrypted numbers that stay near 1 use the scale fully and come nowhere near the
        modulus.
        """
        return Network(
            self.shape,
            self.kernels / maps,
            self.map_biases / maps,
            self.hidden_weights * (maps**2 / hidden),
            self.hidden_biases / hidden,
            self.score_weights * (hidden**2 / scores),
            self.score_biases / scores,
        )

    def save(self, path: Path) -> None:
        """Writes the weights as numbers of 16 bits, which is what ``load`` reads."""
        np.savez_compressed(
            path, **{name: getattr(self, name).astype(np.float16) for name in self.shape.arrays}
        )

    @classmethod
    def load(cls, shape: Shape, path: Path) -> "Network":
        """Reads weights that ``save`` wrote.

        Raises ParameterError when the file does not hold such weights.
        """
        try:
            with np.load(path) as file:
                arrays = [file[name].astype(np.float64) for name in shape.arrays]
        except (OSError, ValueError, KeyError) as error:
            raise ParameterError(f"{path} does not hold a network's weights ({error})") from error
        return cls(shape, *arrays)

    @classmethod
    def initial(cls, shape: Shape, rng: np.random.Generator, last: float = 1.0) -> "Network":
        """Returns random weights to begin training with."""
        sizes, inputs = shape.arrays, shape.maps * shape.map_width**2
        return cls(
            shape,
            rng.normal(0, 1 / shape.kernel, sizes["kernels"]),
            np.full(shape.maps, FIRST_BIAS),
            rng.normal(0, inputs**-0.5, sizes["hidden_weights"]),
            np.full(shape.hidden, FIRST_BIAS),
            rng.normal(0, last * shape.hidden**-0.5, sizes["score_weights"]),
            np.zeros(DIGITS),
        )


# ---- training ------------------------------------------------------------------------------------


def gradient(network: Network, pixels: NDArray[Any], digits: Labels) -> tuple[float, Network]:
    """Returns the mean cross entropy and its slope in every weight, by backpropagation."""
    maps, hidden, scores = network.sums(pixels)
    likely = np.exp(scores - scores.max(axis=1, keepdims=True))
    by_score = likely / likely.sum(axis=1, keepdims=True)
    rows = np.arange(len(digits))
    loss = -float(np.mean(np.log(by_score[rows, digits] + 1e-12)))
    by_score[rows, digits] -= 1
    by_score /= len(digits)
    by_hidden = 2 * hidden * (by_score @ network.score_weights)
    by_maps = 2 * maps * np.tensordot(by_hidden, network.hidden_weights, axes=1)
    return loss, Network(
        network.shape,
        np.tensordot(by_maps, network.shape.windows(pixels), axes=([0, 2, 3], [0, 1, 2])),
        by_maps.sum(axis=(0, 2, 3)),
        np.tensordot(by_hidden.T, maps**2, axes=1),
        by_hidden.sum(axis=0),
        by_score.T @ hidden**2,
        by_score.sum(axis=0),
    )


class Adam:
    """Adam's running means (Kingma and Ba 2015), with the constants of its paper.

    Args:
        network: What is trained.
        longest: Gradients longer than this are shortened to it; those of squares grow with the
            weights.
    """

    def __init__(self, network: Network, longest: float = np.inf) -> None:
        self._mean = [np.zeros_like(w) for w in network.arrays]
        self._square = [np.zeros_like(w) for w in network.arrays]
        self._steps, self._longest = 0, longest

    def step(self, network: Network, slopes: Network, rate: float, decay: float = 0.0) -> Network:
        """Returns the network after one step; ``decay`` is the share of a weight taken away."""
        self._steps += 1
        length = np.sqrt(sum(float((slope**2).sum()) for slope in slopes.arrays))
        shorter = min(1.0, self._longest / max(length, 1e-12))
        moved = []
        for index, (weights, slope) in enumerate(zip(network.arrays, slopes.arrays, strict=True)):
            slope = slope * weights.dtype.type(shorter)
            self._mean[index] = mean = 0.9 * self._mean[index] + 0.1 * slope
            self._square[index] = square = 0.999 * self._square[index] + 0.001 * slope**2
            mean = mean / (1 - 0.9**self._steps)
            square = square / (1 - 0.999**self._steps)
            kept = 1 - decay * (weights.ndim > 1)
            moved.append(kept * weights - rate * mean / (np.sqrt(square) + 1e-8))
        return Network(network.shape, *moved)


# ---- outcome -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Predictions:
    """Scores of the same images, each (images, 10); the largest names the digit.

    Attributes:
        digits: The truth, (images,); -1 where it is not known.
        encrypted: From the encrypted program, decrypted.
        clear: From the network in the clear: what ``encrypted`` should be.
    """

    digits: Labels
    encrypted: Reals
    clear: Reals

    def quality(self) -> dict[str, float]:
        """Returns how many were classified right, and errors of scores.

        ``smallest_lead`` is the least by which a clear best score exceeds the second best: errors
        below half of it change no digit.
        """
        encrypted, clear = self.encrypted.argmax(axis=1), self.clear.argmax(axis=1)
        second, best = np.sort(self.clear, axis=1)[:, -2:].T
        return {
            "images": len(self.digits),
            "right_encrypted": int(np.count_nonzero(encrypted == self.digits)),
            "right_clear": int(np.count_nonzero(clear == self.digits)),
            "same_digit": int(np.count_nonzero(encrypted == clear)),
            "largest_error": float(np.abs(self.encrypted - self.clear).max()),
            "smallest_lead": float((best - second).min()),
        }

    def table(self, what: str) -> Table:
        """Returns the figures as a table; ``what`` names the images."""
        return figures_table(f"{len(self.digits)} {what}", quality_rows(self.quality()))


def quality_rows(quality: Mapping[str, float]) -> list[tuple[str, str]]:
    """Returns the figures of ``Predictions.quality`` with what they are called."""
    images, right, clear = (quality[k] for k in ("images", "right_encrypted", "right_clear"))
    return [
        ("right, encrypted", f"{right} ({right / images:.2%})"),
        ("right, in the clear", f"{clear} ({clear / images:.2%})"),
        ("same digit as in the clear", f"{quality['same_digit']} of {images}"),
        ("largest error of a score", f"{quality['largest_error']:.1e}"),
        ("smallest lead of a best score, in the clear", f"{quality['smallest_lead']:.1e}"),
    ]
