"""Arithmetic on encrypted arrays: what TenSEAL's tutorial on CKKS shows.

python examples/arrays/tensors.py
"""

import numpy as np

from ringsmith import trace

rng = np.random.default_rng(1)
a, b = rng.uniform(-1, 1, (4, 6)), rng.uniform(-1, 1, (6, 3))
plain = rng.uniform(-1, 1, (6, 2))


def function(a, b):
    return {
        "sum": a + a[0],  # shapes broadcast
        "product": a * b.T[:, None],
        "polynomial": 1 + 2 * a - a**3,
        "dot": a[1] @ b[:, 2],
        "matrices": a @ b,  # both are encrypted
        "plain": a @ plain,
        "moved": a.reshape(3, 8).T[::2],
        "mean": b.mean(axis=0),
    }


program = trace(function, "auto", {"a": a.shape, "b": b.shape})
found, expected = program.run(a=a, b=b), function(a, b)
for name, value in expected.items():
    error = np.abs(found[name] - value).max()
    print(f"{name}: shape {value.shape}, error {error:.0e}")
