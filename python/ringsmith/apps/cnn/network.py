"""The network: its weights, and what it computes in the clear."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ringsmith.apps.cnn.images import SIDE, Reals

KERNEL = 3
"""Side of a convolution's kernel."""
MAP = SIDE - KERNEL + 1
"""Side of a map: where a kernel lies within the image."""


class Sums(NamedTuple):
    """What every layer's neurons add up, before any square, for each image.

    Attributes:
        maps: Of the convolution, (images, maps, 6, 6).
        hidden: Of the hidden layer, (images, hidden).
        scores: Of the last layer, (images, 10): the largest names the digit.
    """

    maps: Reals
    hidden: Reals
    scores: Reals


@dataclass(frozen=True, eq=False)
class Network:
    """Convolution, square, dense layer, square, dense layer: a polynomial of degree 4.

    Attributes:
        kernels: (maps, 3, 3).
        map_biases: One a map, (maps,).
        hidden_weights: Of squared map entries, (hidden, maps, 6, 6).
        hidden_biases: (hidden,).
        score_weights: Of squared hidden neurons, (10, hidden).
        score_biases: (10,).
    """

    kernels: Reals
    map_biases: Reals
    hidden_weights: Reals
    hidden_biases: Reals
    score_weights: Reals
    score_biases: Reals

    def sums(self, pixels: Reals) -> Sums:
        """Returns the sums of all layers for pixels (images, 8, 8)."""
        maps = np.tensordot(windows(pixels), self.kernels, axes=([3, 4], [1, 2])) + self.map_biases
        maps = np.moveaxis(maps, 3, 1)
        by_map = self.hidden_weights.reshape(self.hidden_biases.size, -1)
        hidden = (maps**2).reshape(len(pixels), -1) @ by_map.T + self.hidden_biases
        return Sums(maps, hidden, hidden**2 @ self.score_weights.T + self.score_biases)

    def scores(self, pixels: Reals) -> Reals:
        """Returns the scores (images, 10) of pixels (images, 8, 8)."""
        return self.sums(pixels).scores

    def scaled(self, pixels: Reals) -> "Network":
        """Returns a network of the same answers, all of whose sums are within [-1, 1] there.

        Every layer's sums are divided by their largest magnitude for the given pixels, and the next
        layer's weights multiplied by its square. All scores of all images are divided by one
        number, so the largest stays the largest. Encrypted numbers that stay near 1 use the scale
        fully and come nowhere near the modulus.

        Args:
            pixels: Images (images, 8, 8), those of training.
        """
        maps, hidden, scores = (float(np.abs(layer).max()) for layer in self.sums(pixels))
        return Network(
            self.kernels / maps,
            self.map_biases / maps,
            self.hidden_weights * (maps**2 / hidden),
            self.hidden_biases / hidden,
            self.score_weights * (hidden**2 / scores),
            self.score_biases / scores,
        )


def windows(pixels: Reals) -> Reals:
    """Returns the pixels under a kernel at each of its places, (images, 6, 6, 3, 3)."""
    return np.lib.stride_tricks.sliding_window_view(pixels, (KERNEL, KERNEL), axis=(1, 2))
