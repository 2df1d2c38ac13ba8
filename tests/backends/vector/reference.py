"""A transform row by row, as the array computes it, in Python's integers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ringsmith.backends.vector.design.word_layout import (
    Pass,
    Shape,
    coefficient_layout,
    forward_passes,
    inverse_passes,
    ntt_layout,
    placed,
    table,
    taken,
)


def powers(log_n: int, q: int, root: int) -> NDArray[np.uint64]:
    """SEAL's table: root^brv(i) mod q."""
    n = 1 << log_n
    exponents = (int(format(i, f"0{log_n}b")[::-1], 2) for i in range(n))
    return np.array([pow(root, exponent, q) for exponent in exponents], dtype=np.uint64)


def butterflies(
    shape: Shape,
    each: Pass,
    rows: NDArray[np.uint64],
    factors: NDArray[np.uint64],
    q: int,
    inverse: bool,
) -> NDArray[np.uint64]:
    """The stages of one pass, on rows in its layout; without factors that Montgomery's takes."""
    r, x = shape.log_radix, rows.astype(object)
    unit = np.arange(1 << shape.log_lanes >> r) << r
    row = np.arange(shape.rows)
    positions: Sequence[int] = range(r) if inverse else range(r - 1, -1, -1)
    for position in positions:
        if not each.stages >> position & 1:
            continue
        for low in range(1 << r):
            if low >> position & 1:
                continue
            node = (1 << (r - 1 - position)) + (low >> (position + 1))
            w = factors[each.table + (row >> each.shift)][:, unit + node].astype(object)
            u, t = x[:, unit + low].copy(), x[:, unit + low + (1 << position)].copy()
            results = (u + t, (u - t) * w) if inverse else (u + t * w, u - t * w)
            x[:, unit + low], x[:, unit + low + (1 << position)] = (v % q for v in results)
    return x.astype(np.uint64)


def transform(
    shape: Shape, limb: NDArray[np.uint64], q: int, root: int, inverse: bool
) -> NDArray[np.uint64]:
    """All passes: SEAL's transform, the inverse one N times it."""
    factors = powers(shape.log_n, q, root)
    if inverse:
        factors = np.array([pow(int(w), -1, q) for w in factors], dtype=np.uint64)
    rows_of = table(shape, factors)
    layout = (ntt_layout if inverse else coefficient_layout)(shape)
    x = placed(shape, layout, limb)
    for each in (inverse_passes if inverse else forward_passes)(shape):
        before = layout
        if each.rotate and not inverse:
            layout = layout.rotated(shape.log_radix, inverse=False)
        layout = layout.exchanged(each.exchange, each.turn)
        if each.rotate and inverse:
            layout = layout.rotated(shape.log_radix, inverse=True)
        assert layout == each.layout
        x = placed(shape, layout, taken(shape, before, x))
        x = butterflies(shape, each, x, rows_of, q, inverse)
    assert layout == (coefficient_layout if inverse else ntt_layout)(shape)
    return taken(shape, layout, x)
