"""Cosine search: an encrypted vector of 64 is compared with 1,000.

python examples/arrays/cosine_search.py
"""

import numpy as np

from ringsmith import trace

rng = np.random.default_rng(4)
base = rng.normal(size=(1000, 64))
base /= np.linalg.norm(base, axis=1, keepdims=True)
query = base[123] + rng.normal(size=64) / 20
query /= np.linalg.norm(query)


def similarities(query):
    return base @ query


program = trace(similarities, "auto", {"query": (64,)})
found = program.run(query=query)["result"]
expected = base @ query
print(f"nearest: {found.argmax()}, cosine {found.max():.4f}")
print(f"error {np.abs(found - expected).max():.0e}")
