"""Baby and giant steps: the fewest rotations."""

import numpy as np
import pytest

from ringsmith.program.matrices import rotation_count


@pytest.mark.parametrize("shared", [False, True])
def test_no_number_of_baby_steps_has_fewer_rotations(
    rng: np.random.Generator, shared: bool
) -> None:
    for _ in range(40):
        count, most = int(rng.integers(1, 60)), int(rng.integers(1, 120))
        steps = sorted({(int(rng.integers(3)), int(rng.integers(most))) for _ in range(count)})
        costs = []
        for baby in range(1, most + 1):
            inner = {(i, k % baby) for i, k in steps if k % baby}
            outer = {k // baby for _, k in steps} - {0}
            costs.append(len(inner) + (2 if shared else 1) * len(outer))
        values, k = np.array(steps).T
        assert rotation_count(values, k, 1 << 12, shared=shared) == min(costs)
