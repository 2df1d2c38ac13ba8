"""Principal component of 150 encrypted records, by power iteration.

python examples/arrays/principal_component.py
"""

import numpy as np
from sklearn.datasets import load_iris

from ringsmith import InputSpec, bounded, trace

flowers = load_iris().data / 8


def component(x):
    centred = x - x.mean(axis=0)
    covariance = centred.T @ centred * (16 / len(x))
    covariance = bounded(covariance, 1)  # the client knows it
    vector = np.full(4, 0.5)
    for _ in range(4):
        vector = bounded(covariance @ vector, 1.25)
    return vector


program = trace(
    component, "auto", {"x": InputSpec(flowers.shape, bound=(0, 1))}
)
found = program.run(x=flowers)["result"]
expected = program.evaluate({"x": flowers})["result"]  # in NumPy
direction = np.linalg.eigh(np.cov(flowers.T)).eigenvectors[:, -1]
cosine = abs(found @ direction) / np.linalg.norm(found)
print(f"{found.round(3)}: the cosine with the eigenvector is {cosine:.6f}")
print(f"error {np.abs(found - expected).max():.0e}")
