"""A network on encrypted images: convolution, square, dense layer.

python examples/arrays/convolution.py
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from ringsmith import conv2d, trace

digits = load_digits()
images = digits.images[:, None] / 16  # (1797, 1, 8, 8)
kernels = (
    np.random.default_rng(5).normal(size=(4, 1, 3, 3)) / 3
)  # a random first layer
windows = np.lib.stride_tricks.sliding_window_view(
    images[:, 0], (3, 3), axis=(1, 2)
)
hidden = (
    np.einsum("nrcij,mij->nmrc", windows, kernels[:, 0]).reshape(-1, 144) ** 2
)
dense = LogisticRegression(max_iter=2000).fit(
    hidden[:1500], digits.target[:1500]
)
weights, bias = dense.coef_.T, dense.intercept_


def scores(images):
    hidden = conv2d(images, kernels) ** 2  # (…, 4, 6, 6)
    return hidden.reshape(len(images), 144) @ weights + bias


program = trace(scores, "auto", {"images": (16, 1, 8, 8)})
found = program.run(images=images[1500:1516])["result"]
expected = hidden[1500:1516] @ weights + bias
right = np.sum(found.argmax(axis=1) == digits.target[1500:1516])
print(f"{right} of 16 digits are right")
print(f"error {np.abs(found - expected).max():.0e}")
