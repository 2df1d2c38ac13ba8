"""Exact arithmetic on encrypted integers, as Concrete's first examples.

python examples/arrays/integers.py
"""

import numpy as np

from ringsmith import AutoBfvParameters, InputSpec, trace

x, y = np.array([2, 0, 1, 7, 7, 3]), np.array([3, 0, 6, 7, 1, 2])
matrix = np.array([[1, 3], [3, 2], [2, 1]])


def function(x, y):
    return {
        "add": x + y,
        "square": x**2 + 3 * y - 1,
        "dot": x @ y,
        "matrix": x.reshape(2, 3) @ matrix,
        "sums": np.cumsum(x),
    }


inputs = {
    "x": InputSpec(x.shape, bound=(0, 7)),
    "y": InputSpec(y.shape, bound=(0, 7)),
}
program = trace(function, AutoBfvParameters(), inputs)
found, expected = program.run(x=x, y=y), function(x, y)
for name, value in expected.items():
    right = np.array_equal(found[name], value)
    print(f"{name}: {found[name].tolist()}, right: {right}")
