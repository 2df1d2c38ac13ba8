"""Passes and tables of the vector architecture's transforms, against the core's."""

import numpy as np
import pytest
from tests.backends.vector.reference import transform

from ringsmith import _core
from ringsmith.backends.vector.design.word_layout import (
    Shape,
    coefficient_layout,
    forward_passes,
    ntt_layout,
    placed,
    table_rows,
    taken,
)
from ringsmith.errors import ParameterError

SHAPES = [
    (8, 4, 2), (9, 4, 2), (8, 4, 4), (9, 4, 4), (10, 4, 4), (10, 6, 2), (9, 4, 1), (11, 6, 3),
    (12, 8, 4), (12, 8, 2), (13, 8, 4),
]  # fmt: skip


@pytest.mark.parametrize("sizes", SHAPES)
@pytest.mark.parametrize("inverse", [False, True])
def test_the_passes_are_the_cores_transform(sizes: tuple[int, int, int], inverse: bool) -> None:
    shape = Shape(*sizes)
    n = 1 << shape.log_n
    q = _core.prime_search(30, n, 1)[0]
    root = _core.smallest_root(q, n)
    limb = np.random.default_rng(1).integers(0, q, n, dtype=np.uint64)
    if inverse:
        expected = _core.ntt_inverse(limb, q, root) * np.uint64(n) % np.uint64(q)
    else:
        expected = _core.ntt_forward(limb, q, root)
    assert np.array_equal(transform(shape, limb, q, root, inverse), expected)


@pytest.mark.parametrize("sizes", [(n, m, r) for n in range(12, 17) for m, r in [(8, 4), (8, 2)]])
def test_rows_of_ntt_form_are_the_high_bits_of_the_position(sizes: tuple[int, int, int]) -> None:
    shape = Shape(*sizes)
    layout = ntt_layout(shape)
    assert layout == forward_passes(shape)[-1].layout
    assert np.array_equal(np.unique(layout.order >> 8, axis=1)[:, 0], np.arange(shape.rows))
    for one in (layout, coefficient_layout(shape)):
        limb = np.arange(1 << shape.log_n, dtype=np.uint64)
        assert np.array_equal(taken(shape, one, placed(shape, one, limb)), limb)


def test_a_table_has_a_row_for_each_pass_in_the_lanes_and_few_for_the_others() -> None:
    assert table_rows(Shape(16, 8, 4)) == 2 + 16 + 256
    assert table_rows(Shape(16, 8, 2)) == 4 + 4 + 16 + 64 + 256


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((12, 8, 3), "log_lanes = 8 is no multiple of log_radix = 3: choose one"),
        (
            (11, 8, 4),
            r"2\^11 on 2\^8 lanes is 2\^3 rows, and a pass of 4 stages needs 2\^4: choose",
        ),
        ((8, 8, 2), r"2\^8 on 2\^8 lanes is 2\^0 rows, and a pass of 2 stages needs 2\^2"),
    ],
)
def test_what_does_not_divide_is_refused(sizes: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Shape(*sizes)
