"""Training in the clear: cross entropy by Adam (Kingma and Ba 2015), always the same way."""

from dataclasses import fields

import numpy as np

from ringsmith.apps.cnn.images import DIGITS, Images, Labels, Reals
from ringsmith.apps.cnn.network import KERNEL, MAP, Network, windows

MAPS = 4
HIDDEN = 32
EPOCHS = 40
BATCH = 32
RATE = 3e-3
"""Adam's initial step; it decreases to 0 linearly."""
SEED = 2
FIRST_BIAS = 0.3
"""Of squared neurons: at 0 a square has no slope."""


def train(images: Images, maps: int = MAPS, hidden: int = HIDDEN) -> Network:
    """Trains a network whose sums stay within [-1, 1] on the training images.

    Args:
        images: The training images.
        maps: Maps of the convolution.
        hidden: Neurons of the hidden layer.
    """
    rng = np.random.default_rng(SEED)
    network = _initial(rng, maps, hidden)
    adam = _Adam(network)
    batches = -(-len(images) // BATCH)
    for epoch in range(EPOCHS):
        order = rng.permutation(len(images))
        for chosen in np.array_split(order, batches):
            slopes = _gradient(network, images.pixels[chosen], images.digits[chosen])
            network = adam.step(network, slopes, RATE * (1 - epoch / EPOCHS))
    return network.scaled(images.pixels)


def _initial(rng: np.random.Generator, maps: int, hidden: int) -> Network:
    inputs = maps * MAP * MAP
    return Network(
        rng.normal(0, 1 / KERNEL, (maps, KERNEL, KERNEL)),
        np.full(maps, FIRST_BIAS),
        rng.normal(0, inputs**-0.5, (hidden, maps, MAP, MAP)),
        np.full(hidden, FIRST_BIAS),
        rng.normal(0, hidden**-0.5, (DIGITS, hidden)),
        np.zeros(DIGITS),
    )


def _gradient(network: Network, pixels: Reals, digits: Labels) -> Network:
    """Returns the mean cross entropy's slope in every weight, by backpropagation."""
    maps, hidden, scores = network.sums(pixels)
    likely = np.exp(scores - scores.max(axis=1, keepdims=True))
    by_score = likely / likely.sum(axis=1, keepdims=True)
    by_score[np.arange(len(digits)), digits] -= 1
    by_score /= len(digits)
    by_hidden = 2 * hidden * (by_score @ network.score_weights)
    by_maps = 2 * maps * np.tensordot(by_hidden, network.hidden_weights, axes=1)
    return Network(
        np.tensordot(by_maps, windows(pixels), axes=([0, 2, 3], [0, 1, 2])),
        by_maps.sum(axis=(0, 2, 3)),
        np.tensordot(by_hidden.T, maps**2, axes=1),
        by_hidden.sum(axis=0),
        by_score.T @ hidden**2,
        by_score.sum(axis=0),
    )


class _Adam:
    """Adam's running means, with the constants of its paper."""

    def __init__(self, network: Network) -> None:
        self._mean = [np.zeros_like(w) for w in _arrays(network)]
        self._square = [np.zeros_like(w) for w in _arrays(network)]
        self._steps = 0

    def step(self, network: Network, slopes: Network, rate: float) -> Network:
        """Returns the network after one step."""
        self._steps += 1
        moved = []
        for index, (weights, slope) in enumerate(
            zip(_arrays(network), _arrays(slopes), strict=True)
        ):
            self._mean[index] = mean = 0.9 * self._mean[index] + 0.1 * slope
            self._square[index] = square = 0.999 * self._square[index] + 0.001 * slope**2
            mean = mean / (1 - 0.9**self._steps)
            square = square / (1 - 0.999**self._steps)
            moved.append(weights - rate * mean / (np.sqrt(square) + 1e-8))
        return Network(*moved)


def _arrays(network: Network) -> list[Reals]:
    return [getattr(network, field.name) for field in fields(network)]
