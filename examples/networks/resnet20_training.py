"""Trains ResNet-20 (He et al. 2015) with JAX: ``python resnet20_training.py FILE.npz [CIFAR-10]``.

Images are crops of scikit-image's pictures (``crops.py``), or the user's own CIFAR-10: the folder
cifar-10-batches-py. SGD with momentum; then batch normalizations are folded into the weights, and
some more steps pull the sums that enter a ReLU back to ±3, where a polynomial of a low degree is
near it, and some train for the errors of such polynomials. The same seed draws the same batches;
sums differ in their last bits from one processor to another. It needs ``pip install jax
scikit-image``, and with crops about 8 minutes of one core.
"""

import sys
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from crops import cifar10, crops
from jax import lax

SEED, BATCH, RATE = 20, 64, 0.05
STEPS, LAST_STEPS, LAST_RATE = 500, 150, 0.002
LARGEST, PULL, LAST_PULL = 3.0, 0.02, 0.01
"""What enters a ReLU, and the weights of the squares of what is beyond it: of all sums, and at last
of the largest one of each image."""
WAVE = 0.08
"""Half the height of the waves that the last steps add to each ReLU."""
MAPS = (16, 32, 64)
BLOCKS = 3


def layers() -> Iterator[tuple[str, int, int, int, int]]:
    """Yields of each convolution its name, channels, maps, size and stride."""
    yield "conv0", 3, MAPS[0], 3, 1
    channels = MAPS[0]
    for stage, maps in enumerate(MAPS):
        for block in range(BLOCKS):
            stride = 2 if stage and not block else 1
            name = f"block{stage + 1}.{block + 1}"
            yield f"{name}.a", channels, maps, 3, stride
            yield f"{name}.b", maps, maps, 3, 1
            if channels != maps:
                yield f"{name}.s", channels, maps, 1, stride
            channels = maps


def initial(rng):
    """Returns weights before the first step, and the means and variances of the sums."""
    weights, state = {}, {}
    for name, channels, maps, size, _ in layers():
        spread = np.sqrt(2 / (channels * size * size))
        weights[name] = rng.normal(size=(maps, channels, size, size)).astype(np.float32) * spread
        last = name.endswith(".b")
        weights[f"{name}.scale"] = np.full(maps, 0.5 if last else 1.0, np.float32)
        weights[f"{name}.shift"] = np.zeros(maps, np.float32)
        state[name] = np.zeros(maps, np.float32), np.ones(maps, np.float32)
    weights["dense"] = (rng.normal(size=(MAPS[-1], 10)) / 8).astype(np.float32)
    weights["dense.bias"] = np.zeros(10, np.float32)
    return weights, state


def forward(weights, state, images, training, waves=None):
    """Returns the scores, the new means and variances, and the squares of what is too large.

    Without ``state`` weights have no batch normalizations. With ``waves``, of shape (ReLUs, 2),
    each ReLU is wrong by a wave, as a polynomial in its place is: frequency and phase.
    """
    after, excess = {}, []
    strides = {name: (size, stride) for name, _, _, size, stride in layers()}

    def convolved(x, name):
        size, stride = strides[name]
        pads = [(size // 2, size // 2)] * 2
        x = lax.conv_general_dilated(x, weights[name], (stride, stride), pads)
        if state is None:
            return x + weights[f"{name}.bias"][:, None, None]
        mean, variance = state[name]
        if training:
            mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
        after[name] = mean, variance
        factor = weights[f"{name}.scale"] / jnp.sqrt(variance + 1e-5)
        shift = weights[f"{name}.shift"] - mean * factor
        return x * factor[:, None, None] + shift[:, None, None]

    def active(x):
        beyond = jnp.square(x - jnp.clip(x, -LARGEST, LARGEST))
        excess.append(beyond.max((1, 2, 3)).mean() if state is None else beyond.mean())
        if waves is None:
            return jax.nn.relu(x)
        frequency, phase = waves[len(excess) - 1]
        return jax.nn.relu(x) + WAVE * jnp.cos(frequency * x + phase)

    x = active(convolved(images, "conv0"))
    for stage in range(len(MAPS)):
        for block in range(BLOCKS):
            name = f"block{stage + 1}.{block + 1}"
            y = convolved(active(convolved(x, f"{name}.a")), f"{name}.b")
            x = active(y + (convolved(x, f"{name}.s") if f"{name}.s" in strides else x))
    return x.mean((2, 3)) @ weights["dense"] + weights["dense.bias"], after, sum(excess)


def loss_of(weights, state, images, labels, waves):
    """Returns the cross entropy with what pulls sums back, and the means and variances."""
    scores, after, excess = forward(weights, state, images, True, waves)
    losses = -jax.nn.log_softmax(scores)[jnp.arange(len(labels)), labels]
    return losses.mean() + (LAST_PULL if state is None else PULL) * excess, after


@jax.jit
def step(weights, state, momentum, images, labels, rate, waves):
    """Returns all after one step, and the loss."""
    (loss, found), slopes = jax.value_and_grad(loss_of, has_aux=True)(
        weights, state, images, labels, waves
    )
    if state is not None:
        state = jax.tree.map(lambda old, new: 0.95 * old + 0.05 * new, state, found)
    slopes = jax.tree.map(lambda slope, w: slope + 5e-4 * w, slopes, weights)
    momentum = jax.tree.map(lambda m, slope: 0.9 * m + slope, momentum, slopes)
    return jax.tree.map(lambda w, m: w - rate * m, weights, momentum), state, momentum, loss


def train(weights, state, images, labels, steps, highest, seed, *, wavy=False):
    """Returns weights, and the means and variances of the sums."""
    rng = np.random.default_rng(seed)
    momentum = jax.tree.map(np.zeros_like, weights)
    losses = []
    for number in range(steps):
        rows = rng.integers(0, len(images), BATCH)
        rate = highest * min(1, (number + 1) / 50) * 0.5 * (1 + np.cos(np.pi * number / steps))
        waves = None
        if wavy:
            waves = rng.uniform((2, 0), (6, 2 * np.pi), (19, 2)).astype(np.float32)
        weights, state, momentum, loss = step(
            weights, state, momentum, images[rows], labels[rows], rate, waves
        )
        losses.append(float(loss))
        if number % 50 == 49:
            print(f"step {number + 1}: loss {np.mean(losses[-50:]):.4f}", flush=True)
    return weights, state


def folded(weights, state):
    """Returns weights and biases without batch normalizations."""
    found = {name: np.asarray(weights[name]) for name in ("dense", "dense.bias")}
    for name, *_ in layers():
        mean, variance = (np.asarray(each) for each in state[name])
        factor = np.asarray(weights[f"{name}.scale"]) / np.sqrt(variance + 1e-5)
        found[name] = np.asarray(weights[name]) * factor[:, None, None, None]
        found[f"{name}.bias"] = np.asarray(weights[f"{name}.shift"]) - mean * factor
    return halves(found)


def halves(weights):
    """Returns weights as the file keeps them, in half precision."""
    return {name: np.asarray(each).astype(np.float16) for name, each in weights.items()}


def right(weights, images, labels):
    """Returns the part of images whose class is right."""
    weights = {name: np.asarray(each, np.float32) for name, each in weights.items()}
    parts = (forward(weights, None, part, training=False)[0] for part in np.split(images, 10))
    return float(np.mean(np.concatenate([*parts]).argmax(axis=1) == labels))


if __name__ == "__main__":
    own = sys.argv[2] if len(sys.argv) > 2 else None
    given = cifar10(own, test=False) if own else crops(40_000, test=False, seed=1)
    test = cifar10(own, test=True) if own else crops(1000, test=True, seed=2)
    trained = folded(*train(*initial(np.random.default_rng(SEED)), *given, STEPS, RATE, SEED))
    print(f"{right(trained, *test):.2%} of the test images are right")
    for wavy in (False, True):
        trained = {name: np.asarray(each, np.float32) for name, each in trained.items()}
        trained = train(trained, None, *given, LAST_STEPS, LAST_RATE, SEED + 1, wavy=wavy)[0]
        trained = halves(trained)
        print(f"{right(trained, *test):.2%} of the test images are right")
    np.savez_compressed(sys.argv[1], **trained)
