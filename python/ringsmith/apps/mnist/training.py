"""Training of ``mnist``'s network in the clear: cross entropy by Adam on warped images.

``python -m ringsmith.apps.mnist.training FILE`` writes the weights. The same seed draws the same
batches and warps; sums differ in their last bits from one processor to another, and so may the
weights.
"""

import argparse
import math
import time
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ringsmith.apps.convolution import Adam, Images, Network, gradient
from ringsmith.apps.mnist import SHAPE
from ringsmith.apps.mnist.data import TEST, TRAINING, WIDTH, load_images

Singles = NDArray[np.float32]

EPOCHS, BATCH, SEED = 40, 64, 2019
RATE: Final = 1e-3
"""Adam's initial step; it decreases to 0 as a cosine."""
LONGEST: Final = 5.0
"""Gradients longer than this are shortened to it."""
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
    """Trains a network whose layers' sums are at most ``LARGEST`` on the training images."""
    rng = np.random.default_rng(SEED)
    network = converted(Network.initial(SHAPE, rng, last=0.3), np.float32)
    adam = Adam(network, LONGEST)
    steps = epochs * -(-len(images) // BATCH)
    step = 0
    for epoch in range(epochs):
        begin, losses = time.perf_counter(), []
        order = rng.permutation(len(images))
        for part in np.split(order, range(PARTS, len(order), PARTS)):
            pixels = _warp(images.pixels[part], rng)
            for start in range(0, len(part), BATCH):
                digits = images.digits[part[start : start + BATCH]]
                loss, slopes = gradient(network, pixels[start : start + BATCH], digits)
                share = 0.5 * (1 + math.cos(math.pi * step / steps))
                network = adam.step(network, slopes, RATE * share, DECAY * share)
                losses.append(loss)
                step += 1
        if say:
            seconds = time.perf_counter() - begin
            print(f"epoch {epoch}: loss {np.mean(losses):.4f}, {seconds:.0f} s", flush=True)
    network = converted(network, np.float64)
    parts = np.array_split(images.pixels, -(-len(images) // PARTS))
    largest = [[np.abs(layer).max() for layer in network.sums(part / 255.0)] for part in parts]
    return network.scaled(*(np.max(largest, axis=0) / LARGEST).tolist())


def converted(network: Network, kind: type) -> Network:
    """Returns the network with weights of another type."""
    return Network(network.shape, *(array.astype(kind) for array in network.arrays))


def _warp_basis() -> Singles:
    """Returns displacements that warps are sums of, (16 + 3, 784): bumps, x, y, 1."""
    y, x = np.mgrid[:WIDTH, :WIDTH].reshape(2, 1, -1) - (WIDTH - 1) / 2
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
    grid = np.mgrid[:WIDTH, :WIDTH].reshape(2, -1).astype(np.float32)
    at = np.clip(moved + grid + _EDGE, 0, WIDTH + 2 * _EDGE - 1.001)
    corner = at.astype(np.int32)
    far = at - corner
    wide = WIDTH + 2 * _EDGE
    padded = np.pad(pixels, ((0, 0), (_EDGE, _EDGE), (_EDGE, _EDGE))).reshape(-1)
    index = corner[:, 0] * wide + corner[:, 1] + (np.arange(count) * wide * wide)[:, None]
    fy, fx = far[:, 0], far[:, 1]
    top = padded[index] * (1 - fx) + padded[index + 1] * fx
    bottom = padded[index + wide] * (1 - fx) + padded[index + wide + 1] * fx
    warped: Singles = (top * (1 - fy) + bottom * fy) / np.float32(255)
    return warped.reshape(count, WIDTH, WIDTH)


def main() -> None:
    """Trains and writes the weights; prints the accuracy on the test images."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("file", type=Path, help="where to write the weights")
    parser.add_argument("--data", type=Path, help="folder of MNIST's IDX files")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    chosen = parser.parse_args()
    training, test = (load_images(part, chosen.data) for part in (TRAINING, TEST))
    train(training, chosen.epochs, say=True).save(chosen.file)
    scores = Network.load(SHAPE, chosen.file).scores(test.pixels / 255.0)
    right = np.count_nonzero(scores.argmax(axis=1) == test.digits)
    print(f"{right} of {len(test)} test images right")


if __name__ == "__main__":
    main()
