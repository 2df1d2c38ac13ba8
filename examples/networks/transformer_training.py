"""Trains a transformer block on digits with JAX: ``python transformer_training.py FILE.npz``.

The 8 rows of scikit-learn's digits are 8 tokens. Each becomes 32 numbers; a block with one head of
attention and a GELU follows, both after a layer norm, as in Xiong et al. 2020; then the mean of all
tokens and a dense layer. What enters a softmax, a GELU or the root of a variance is pulled back to
a narrow range, where a polynomial of a low degree is near it. The same seed draws the same batches;
sums differ in their last bits from one processor to another. It needs ``pip install jax
scikit-learn``, and a minute.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

SEED, STEPS, BATCH, RATE, SPLIT = 8, 1500, 64, 3e-3, 1297
TOKENS, PIXELS, WIDTH, HIDDEN = 8, 8, 32, 64
LOGIT, BEFORE_GELU, VARIANCE, PULL = 2.0, 2.5, (0.5, 2.0), 0.1
"""The ranges, and the weight of the squares of what is beyond them."""
SHAPES = {
    "embed": (PIXELS, WIDTH),
    "position": (TOKENS, WIDTH),
    "query": (WIDTH, WIDTH),
    "key": (WIDTH, WIDTH),
    "value": (WIDTH, WIDTH),
    "mixed": (WIDTH, WIDTH),
    "wide": (WIDTH, HIDDEN),
    "wide.bias": (HIDDEN,),
    "narrow": (HIDDEN, WIDTH),
    "narrow.bias": (WIDTH,),
    "dense": (WIDTH, 10),
    "dense.bias": (10,),
    "norm1": (WIDTH,),
    "norm1.bias": (WIDTH,),
    "norm2": (WIDTH,),
    "norm2.bias": (WIDTH,),
}


def initial(rng):
    """Returns weights before the first step."""
    found = {
        name: (rng.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32)
        for name, shape in SHAPES.items()
        if len(shape) == 2
    }
    for name, shape in SHAPES.items():
        if len(shape) == 1:
            found[name] = np.full(shape, name in ("norm1", "norm2"), np.float32)
    return found


def beyond(x, low, high):
    """Returns the mean over samples of the square of what is furthest outside a range."""
    excess = jnp.square(x - jnp.clip(x, low, high))
    return excess.reshape(len(x), -1).max(axis=1).mean()


def forward(w, images):
    """Returns the scores of images of shape (count, 8, 8) from 0 to 1, and what is to be small."""
    excess = []

    def normed(x, name):
        centred = x - x.mean(-1, keepdims=True)
        variance = jnp.square(centred).mean(-1, keepdims=True)
        excess.append(beyond(variance, *VARIANCE))
        return centred / jnp.sqrt(variance + 1e-5) * w[name] + w[f"{name}.bias"]

    x = images @ w["embed"] + w["position"]
    n = normed(x, "norm1")
    logits = (n @ w["query"]) @ jnp.swapaxes(n @ w["key"], 1, 2) / np.sqrt(WIDTH)
    excess.append(beyond(logits, -LOGIT, LOGIT))
    x = x + jax.nn.softmax(logits) @ (n @ w["value"]) @ w["mixed"]
    hidden = normed(x, "norm2") @ w["wide"] + w["wide.bias"]
    excess.append(beyond(hidden, -BEFORE_GELU, BEFORE_GELU))
    x = x + jax.nn.gelu(hidden, approximate=False) @ w["narrow"] + w["narrow.bias"]
    return x.mean(1) @ w["dense"] + w["dense.bias"], sum(excess)


def loss_of(w, images, labels):
    """Returns the cross entropy with what pulls numbers back."""
    scores, excess = forward(w, images)
    losses = -jax.nn.log_softmax(scores)[jnp.arange(len(labels)), labels]
    return losses.mean() + PULL * excess


@jax.jit
def step(w, first, second, images, labels, number):
    """Returns weights and Adam's moments after one step, and the loss."""
    loss, slopes = jax.value_and_grad(loss_of)(w, images, labels)
    first = jax.tree.map(lambda m, s: 0.9 * m + 0.1 * s, first, slopes)
    second = jax.tree.map(lambda v, s: 0.999 * v + 0.001 * s * s, second, slopes)
    rate = RATE * 0.5 * (1 + jnp.cos(jnp.pi * number / STEPS))

    def moved(x, m, v):
        change = m / (1 - 0.9**number) / (jnp.sqrt(v / (1 - 0.999**number)) + 1e-8)
        return x - rate * (change + 1e-2 * x)

    return jax.tree.map(moved, w, first, second), first, second, loss


def train(images, labels):
    """Returns trained weights."""
    rng = np.random.default_rng(SEED)
    w = initial(rng)
    first = second = jax.tree.map(np.zeros_like, w)
    for number in range(1, STEPS + 1):
        rows = rng.integers(0, len(images), BATCH)
        w, first, second, loss = step(w, first, second, images[rows], labels[rows], number)
        if number % 250 == 0:
            print(f"step {number}: loss {float(loss):.4f}", flush=True)
    return w


if __name__ == "__main__":
    from sklearn.datasets import load_digits

    data = load_digits()
    pixels, digits = (data.images / 16).astype(np.float32), data.target
    weights = train(pixels[:SPLIT], digits[:SPLIT])
    found, _ = forward(weights, pixels[SPLIT:])
    print(f"{np.mean(found.argmax(axis=1) == digits[SPLIT:]):.2%} of the test images are right")
    np.savez_compressed(
        sys.argv[1], **{name: np.asarray(w).astype(np.float16) for name, w in weights.items()}
    )
