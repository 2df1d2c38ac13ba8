"""Trains LeNet-5 (LeCun et al. 1998) on MNIST with NumPy: ``python lenet5_training.py FILE.npz``.

Tanh, average pooling and three dense layers, as in the paper, and a softmax with cross entropy in
place of its distances. Adam, images moved by up to 2 pixels; the weights of the last step. Sums
that enter a tanh are pulled back to ±2.5, where a polynomial of a low degree is near it. The same
seed draws the same batches; sums differ in their last bits from one processor to another.
"""

import sys
from collections.abc import Mapping

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ringsmith.apps.mnist.data import TEST, TRAINING, load_images

Array = NDArray[np.float32]
EPOCHS, BATCH, SEED, RATE = 8, 64, 1998, 2e-3
LARGEST, PULL = 2.5, 0.02
"""What enters a tanh, and the slope back for each unit beyond it."""
SHAPES = {
    "c1": (6, 1, 5, 5),
    "c3": (16, 6, 5, 5),
    "f5": (400, 120),
    "f6": (120, 84),
    "f7": (84, 10),
}


def initial(rng: np.random.Generator) -> dict[str, Array]:
    """Returns weights and biases before the first step."""
    found = {}
    for name, shape in SHAPES.items():
        inputs = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
        found[name] = (rng.normal(size=shape) / np.sqrt(inputs)).astype(np.float32)
        found[f"{name}.bias"] = np.zeros(shape[0] if len(shape) == 4 else shape[1], np.float32)
    return found


def convolved(x: Array, w: Array) -> tuple[Array, Array]:
    """Returns a correlation, shape (images, maps, rows, columns), and the windows it is made of."""
    windows = sliding_window_view(x, w.shape[2:], (2, 3)).transpose(0, 2, 3, 1, 4, 5)
    flat = windows.reshape(*windows.shape[:3], -1)
    return (flat @ w.reshape(len(w), -1).T).transpose(0, 3, 1, 2), flat


def pooled(x: Array) -> Array:
    """Returns means of 2 x 2 entries."""
    return x.reshape(*x.shape[:2], x.shape[2] // 2, 2, x.shape[3] // 2, 2).mean(axis=(3, 5))


def spread(slope: Array) -> Array:
    """Returns the gradient of ``pooled``."""
    return np.repeat(np.repeat(slope, 2, axis=2), 2, axis=3) / 4


def scores(weights: Mapping[str, Array], images: Array) -> Array:
    """Returns the last layer of images of shape (images, 28, 28) from 0 to 1."""
    return forward(weights, images)["f7"]


def forward(weights: Mapping[str, Array], images: Array) -> dict[str, Array]:
    """Returns the sums of every layer by its name, and what its weights are multiplied by."""
    found = {}
    padded = np.pad(images, ((0, 0), (2, 2), (2, 2)))[:, None]
    found["c1"], found["c1.in"] = convolved(padded, weights["c1"])
    found["c1"] += weights["c1.bias"].reshape(-1, 1, 1)
    found["c3"], found["c3.in"] = convolved(pooled(np.tanh(found["c1"])), weights["c3"])
    found["c3"] += weights["c3.bias"].reshape(-1, 1, 1)
    last = pooled(np.tanh(found["c3"])).reshape(len(images), -1)
    for name in ("f5", "f6", "f7"):
        found[f"{name}.in"] = last
        found[name] = last @ weights[name] + weights[f"{name}.bias"]
        last = np.tanh(found[name])
    return found


def through_tanh(slope: Array, sums: Array) -> Array:
    """Returns the gradient before a tanh, and what pulls sums back that are too large."""
    excess = sums - np.clip(sums, -LARGEST, LARGEST)
    return slope * (1 - np.tanh(sums) ** 2) + PULL / len(sums) * excess


def gradient(
    weights: Mapping[str, Array], images: Array, digits: NDArray[np.int64]
) -> tuple[float, dict[str, Array]]:
    """Returns the cross entropy, and the gradient."""
    sums = forward(weights, images)
    shares = np.exp(sums["f7"] - sums["f7"].max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    rows = np.arange(len(digits))
    loss = float(-np.log(shares[rows, digits] + 1e-12).mean())
    shares[rows, digits] -= 1
    slope, found = shares / len(digits), {}
    for name, before in (("f7", "f6"), ("f6", "f5"), ("f5", "c3")):
        found[name], found[f"{name}.bias"] = sums[f"{name}.in"].T @ slope, slope.sum(axis=0)
        slope = slope @ weights[name].T
        if name != "f5":
            slope = through_tanh(slope, sums[before])
    slope = through_tanh(spread(slope.reshape(-1, 16, 5, 5)), sums["c3"])
    found["c3.bias"] = slope.sum(axis=(0, 2, 3))
    found["c3"] = np.tensordot(slope, sums["c3.in"], ((0, 2, 3), (0, 1, 2))).reshape(SHAPES["c3"])
    padded = np.pad(slope, ((0, 0), (0, 0), (4, 4), (4, 4)))
    back = weights["c3"][:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    slope = through_tanh(spread(convolved(padded, back)[0]), sums["c1"])
    found["c1.bias"] = slope.sum(axis=(0, 2, 3))
    found["c1"] = np.tensordot(slope, sums["c1.in"], ((0, 2, 3), (0, 1, 2))).reshape(SHAPES["c1"])
    return loss, found


def moved(images: Array, rng: np.random.Generator) -> Array:
    """Returns images moved by up to 2 pixels, all of a batch alike."""
    return np.roll(images, tuple(rng.integers(-2, 3, 2)), axis=(1, 2))


def train() -> dict[str, Array]:
    """Returns weights that were trained on MNIST's training images."""
    rng, data = np.random.default_rng(SEED), load_images(TRAINING)
    pixels = (data.pixels.reshape(-1, 28, 28) / 255).astype(np.float32)
    weights = initial(rng)
    first = {name: np.zeros_like(each) for name, each in weights.items()}
    second = {name: np.zeros_like(each) for name, each in weights.items()}
    steps, step = EPOCHS * (len(pixels) // BATCH), 0
    for epoch in range(EPOCHS):
        losses = []
        for part in rng.permutation(len(pixels))[: len(pixels) // BATCH * BATCH].reshape(-1, BATCH):
            loss, slopes = gradient(weights, moved(pixels[part], rng), data.digits[part])
            losses.append(loss)
            step += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for name, slope in slopes.items():
                first[name] = 0.9 * first[name] + 0.1 * slope
                second[name] = 0.999 * second[name] + 0.001 * slope**2
                change = first[name] / (1 - 0.9**step)
                change /= np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8
                weights[name] = (weights[name] - rate * (change + 1e-3 * weights[name])).astype(
                    np.float32
                )
        print(f"epoch {epoch}: loss {np.mean(losses):.4f}", flush=True)
    return weights


if __name__ == "__main__":
    trained, test = train(), load_images(TEST)
    found = scores(trained, (test.pixels.reshape(-1, 28, 28) / 255).astype(np.float32))
    print(f"{np.mean(found.argmax(axis=1) == test.digits):.2%} of the test images are right")
    np.savez_compressed(sys.argv[1], **{name: w.astype(np.float16) for name, w in trained.items()})
