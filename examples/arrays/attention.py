"""An attention block on 8 encrypted tokens of 16 numbers, with softmax.

python examples/arrays/attention.py
"""

import numpy as np

from ringsmith import AutoParameters, bounded, softmax, trace

rng = np.random.default_rng(7)
queries, keys, values = rng.normal(size=(3, 16, 16)) / 16


def attention(x):
    scores = bounded((x @ queries) @ (x @ keys).T, 0.5)
    return softmax(scores, axis=1, error=1e-4) @ (x @ values)


def in_numpy(x):
    powers = np.exp(x @ queries @ (x @ keys).T)
    return powers / powers.sum(axis=1, keepdims=True) @ (x @ values)


program = trace(attention, AutoParameters(precision_bits=12), {"x": (8, 16)})
tokens = rng.uniform(-1, 1, (8, 16))
found, expected = program.run(x=tokens)["result"], in_numpy(tokens)
print(f"error {np.abs(found - expected).max():.0e}")
print(f"numbers up to {np.abs(expected).max():.2f}")
