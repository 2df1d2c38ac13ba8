"""Training in the clear, in NumPy: cross entropy by Adam (Kingma and Ba 2015) on warped images.

``python -m ringsmith.apps.mnist.training FILE`` writes the weights that ``network.Network.load``
reads. The same seed draws the same batches and warps; sums differ in their last bits from one
processor to another, and so may the weights.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ringsmith.apps.mnist.images import TEST, TRAINING, Images, load_images
from ringsmith.apps.mnist.network import (
    DIGITS,
    HIDDEN,
    KERNEL,
    MAP,
    MAPS,
    SIDE,
    Network,
    windows,
)

Singles = NDArray[np.float32]

EPOCHS: Final = 40
BATCH: Final = 64
RATE: Final = 1e-3
"""Adam's initial step; it decreases to 0 as a cosine."""
SEED: Final = 2019
FIRST_BIAS: Final = 0.3
"""Of squared neurons: at 0 a square has no slope."""
LONGEST: Final = 5.0
"""Gradients longer than this are shortened to it: those of squares grow with the weights."""
DECAY: Final = 1e-4
"""Share of a weight that is taken away in each step, times the step's rate over ``RATE``."""
SHIFT: Final = 1.5
"""Pixels that an image is moved by at most, along each axis."""
STRETCH: Final = 0.12
"""Coefficients of a linear warp, at most: scale, shear, rotation."""
BUMP: Final = 1.0
"""Deviation of the pixels that a local warp moves by."""
LARGEST: Final = (2.0, 2.0, 1.5)
"""What the sums of the layers are at most in training. Encrypted scores must stay below 2; sums of
the layers before have many limbs, and the larger they are, the less do errors count."""
PARTS: Final = 256
"""Images that are warped at a time."""


def train(images: Images, epochs: int = EPOCHS, *, say: bool = False) -> Network:
    """Trains a network whose layers' sums are at most ``LARGEST`` on the training images.

    Args:
        images: The training images.
        epochs: How often each image is seen, warped anew each time.
        say: Whether to print a line for each epoch.
    """
    rng = np.random.default_rng(SEED)
    state = _initial(rng)
    adam = _Adam(state)
    steps = epochs * -(-len(images) // BATCH)
    step = 0
    for epoch in range(epochs):
        begin, losses = time.perf_counter(), []
        order = rng.permutation(len(images))
        for part in np.split(order, range(PARTS, len(order), PARTS)):
            pixels = _warp(images.pixels[part], rng)
            for start in range(0, len(part), BATCH):
                digits = images.digits[part[start : start + BATCH]]
                loss, slopes = _gradient(state, pixels[start : start + BATCH], digits)
                adam.step(state, slopes, RATE * 0.5 * (1 + np.cos(np.pi * step / steps)))
                losses.append(loss)
                step += 1
        if say:
            seconds = time.perf_counter() - begin
            print(f"epoch {epoch}: loss {np.mean(losses):.4f}, {seconds:.0f} s", flush=True)
    network = _network(state)
    parts = np.array_split(images.pixels, -(-len(images) // PARTS))
    largest = [[np.abs(layer).max() for layer in network.sums(part / 255.0)] for part in parts]
    return network.scaled(*(np.max(largest, axis=0) / LARGEST).tolist())


@dataclass(frozen=True)
class _State:
    """The weights while they are trained, as matrices."""

    kernels: Singles
    map_biases: Singles
    hidden: Singles
    hidden_biases: Singles
    scores: Singles
    score_biases: Singles

    def arrays(self) -> list[Singles]:
        return list(vars(self).values())


def _initial(rng: np.random.Generator) -> _State:
    inputs, pixels = MAPS * MAP * MAP, KERNEL * KERNEL
    return _State(
        rng.normal(0, 1 / KERNEL, (MAPS, pixels)).astype(np.float32),
        np.full(MAPS, FIRST_BIAS, np.float32),
        rng.normal(0, inputs**-0.5, (HIDDEN, inputs)).astype(np.float32),
        np.full(HIDDEN, FIRST_BIAS, np.float32),
        rng.normal(0, 0.3 * HIDDEN**-0.5, (DIGITS, HIDDEN)).astype(np.float32),
        np.zeros(DIGITS, np.float32),
    )


def _network(state: _State) -> Network:
    w = [array.astype(np.float64) for array in state.arrays()]
    return Network(
        w[0].reshape(MAPS, KERNEL, KERNEL), w[1], w[2].reshape(HIDDEN, MAP, MAP, MAPS), *w[3:]
    )


def _gradient(
    state: _State, pixels: Singles, digits: NDArray[np.int64]
) -> tuple[float, list[Singles]]:
    """Returns the mean cross entropy and its slope in every weight, by backpropagation."""
    count = len(pixels)
    under = np.ascontiguousarray(windows(pixels)).reshape(-1, KERNEL * KERNEL)
    maps = under @ state.kernels.T + state.map_biases
    squares = (maps * maps).reshape(count, -1)
    hidden = squares @ state.hidden.T + state.hidden_biases
    squared_hidden = hidden * hidden
    scores = squared_hidden @ state.scores.T + state.score_biases
    likely = np.exp(scores - scores.max(axis=1, keepdims=True))
    likely /= likely.sum(axis=1, keepdims=True)
    rows = np.arange(count)
    loss = -float(np.mean(np.log(likely[rows, digits] + 1e-12)))
    likely[rows, digits] -= 1
    by_score = likely / np.float32(count)
    by_hidden = 2 * hidden * (by_score @ state.scores)
    by_maps = 2 * maps * (by_hidden @ state.hidden).reshape(-1, MAPS)
    return loss, [
        by_maps.T @ under,
        by_maps.sum(axis=0),
        by_hidden.T @ squares,
        by_hidden.sum(axis=0),
        by_score.T @ squared_hidden,
        by_score.sum(axis=0),
    ]


class _Adam:
    """Adam's running means, with the constants of its paper; weights are changed in place."""

    def __init__(self, state: _State) -> None:
        self._mean = [np.zeros_like(w) for w in state.arrays()]
        self._square = [np.zeros_like(w) for w in state.arrays()]
        self._steps = 0

    def step(self, state: _State, slopes: list[Singles], rate: float) -> None:
        """Makes one step."""
        self._steps += 1
        length = float(np.sqrt(sum(float((slope**2).sum()) for slope in slopes)))
        shorter = np.float32(min(1.0, LONGEST / max(length, 1e-12)))
        bias = (1 - 0.999**self._steps) ** 0.5 / (1 - 0.9**self._steps)
        for w, mean, square, slope in zip(
            state.arrays(), self._mean, self._square, slopes, strict=True
        ):
            slope *= shorter
            mean += np.float32(0.1) * (slope - mean)
            square += np.float32(0.001) * (slope * slope - square)
            w -= np.float32(rate * bias) * mean / (np.sqrt(square) + np.float32(1e-8))
            if w.ndim > 1:
                w *= np.float32(1 - DECAY * rate / RATE)


def _warp_basis() -> Singles:
    """Returns displacements that warps are sums of, (16 + 3, 784): bumps, x, y, 1."""
    y, x = np.mgrid[:SIDE, :SIDE].reshape(2, 1, -1) - (SIDE - 1) / 2
    at = np.linspace(-10.5, 10.5, 4)
    centres_y, centres_x = (c.reshape(-1, 1) for c in np.meshgrid(at, at, indexing="ij"))
    bumps = np.exp(-((y - centres_y) ** 2 + (x - centres_x) ** 2) / (2 * 4.0**2))
    return np.concatenate([bumps, x, y, np.ones_like(x)]).astype(np.float32)


_BASIS: Final = _warp_basis()
_EDGE: Final = 4
"""Zeros around an image that warps may read."""


def _warp(pixels: NDArray[np.uint8], rng: np.random.Generator) -> Singles:
    """Returns images (images, 28, 28) from 0 to 1, each warped at random: bilinear samples."""
    count = len(pixels)
    amounts = np.concatenate(
        [
            rng.normal(0, BUMP, (count, 2, len(_BASIS) - 3)),
            rng.uniform(-STRETCH, STRETCH, (count, 2, 2)),
            rng.uniform(-SHIFT, SHIFT, (count, 2, 1)),
        ],
        axis=2,
    ).astype(np.float32)
    moved = (amounts.reshape(-1, len(_BASIS)) @ _BASIS).reshape(count, 2, -1)
    grid = np.mgrid[:SIDE, :SIDE].reshape(2, -1).astype(np.float32)
    at = np.clip(moved + grid + _EDGE, 0, SIDE + 2 * _EDGE - 1.001)
    corner = at.astype(np.int32)
    far = at - corner
    wide = SIDE + 2 * _EDGE
    padded = np.pad(pixels, ((0, 0), (_EDGE, _EDGE), (_EDGE, _EDGE))).reshape(-1)
    index = corner[:, 0] * wide + corner[:, 1] + (np.arange(count) * wide * wide)[:, None]
    fy, fx = far[:, 0], far[:, 1]
    top = padded[index] * (1 - fx) + padded[index + 1] * fx
    bottom = padded[index + wide] * (1 - fx) + padded[index + wide + 1] * fx
    warped: Singles = (top * (1 - fy) + bottom * fy) / np.float32(255)
    return warped.reshape(count, SIDE, SIDE)


def main() -> None:
    """Trains and writes the weights; prints the accuracy on the test images."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("file", type=Path, help="where to write the weights")
    parser.add_argument("--data", type=Path, help="folder of MNIST's IDX files")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    chosen = parser.parse_args()
    training, test = (load_images(part, chosen.data) for part in (TRAINING, TEST))
    train(training, chosen.epochs, say=True).save(chosen.file)
    scores = Network.load(chosen.file).scores(test.pixels / 255.0)
    right = np.count_nonzero(scores.argmax(axis=1) == test.digits)
    print(f"{right} of {len(test)} test images right")


if __name__ == "__main__":
    main()
