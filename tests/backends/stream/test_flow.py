"""The layouts and factors of every stage, without RTL."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.design.latency import BARRETT, MONTGOMERY
from ringsmith.backends.stream.model import flow

SHAPES = [
    (8, 2, 30, MONTGOMERY),
    (8, 4, 30, BARRETT),
    (9, 8, 30, MONTGOMERY),
    (10, 16, 30, MONTGOMERY),
    (10, 2, 62, MONTGOMERY),
    (10, 2, 60, BARRETT),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_flow_of_two_polynomials_is_their_product(
    frames_of: Callable[[StreamDesign, int, int], list[Any]], shape: tuple[int, int, int, str]
) -> None:
    design = StreamDesign("flow", *shape)
    for frame in frames_of(design, 2, 2):
        result = flow.product(design, frame.descriptor, frame.a, frame.b)
        assert np.array_equal(result, frame.product)


@pytest.mark.parametrize("shape", SHAPES)
def test_transformed_words_are_cores_in_the_layout_of_the_last_stage(
    rng: np.random.Generator, shape: tuple[int, int, int, str]
) -> None:
    design = StreamDesign("flow", *shape)
    [q] = _core.prime_search(min(design.word_bits, 61), design.n, 1)  # 61: the most in core
    root = _core.smallest_root(q, design.n)
    a = rng.integers(0, q, design.n, dtype=np.uint64)
    found = flow.forward(design, flow.to_frame(design, a), root, q)
    # index: the upper lane bits, time, the lowest lane bit
    ordered = found.reshape(design.period, -1, 2).swapaxes(0, 1).reshape(-1).astype(np.uint64)
    assert np.array_equal(ordered, _core.ntt_forward(a, q, root))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_stage_has_each_of_its_exponents_equally_often(shape: tuple[int, int, int, str]) -> None:
    design = StreamDesign("flow", *shape)
    for stage in range(design.log_n):
        odd = [(2 * r + 1) << (design.log_n - 1 - stage) for r in range(1 << stage)]
        for inverse in (False, True):
            used, counts = np.unique(
                flow.exponents(design, stage, inverse=inverse), return_counts=True
            )
            assert used.tolist() == odd
            assert set(counts.tolist()) == {design.n // 2 >> stage}
