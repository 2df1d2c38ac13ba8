"""An attention block on 8 encrypted tokens of 16 numbers, with softmax.

python examples/arrays/attention.py
"""

import numpy as np

from ringsmith import AutoParameters, bounded, exp, inverse, trace

rng = np.random.default_rng(7)
queries, keys, values = rng.normal(size=(3, 16, 16)) / 16


def attention(x):
    scores = (x @ queries) @ (x @ keys).T
    weights = exp(bounded(scores, 1), error=1e-4)
    total = bounded(weights.sum(axis=1, keepdims=True), (4, 16))
    return weights @ (x @ values) * inverse(total, error=1e-5)


def softmax(a):
    return np.exp(a) / np.exp(a).sum(axis=1, keepdims=True)


program = trace(attention, AutoParameters(precision_bits=12), {"x": (8, 16)})
tokens = rng.uniform(-1, 1, (8, 16))
found = program.run(x=tokens)["result"]
expected = softmax(tokens @ queries @ (tokens @ keys).T) @ (tokens @ values)
print(f"error {np.abs(found - expected).max():.0e} of numbers up to {np.abs(expected).max():.2f}")
