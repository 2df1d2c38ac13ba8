"""The pipeline's RTL: products equal to core's, in the cycles that the model says."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.backends.stream.design.design import BARRETT, MONTGOMERY, StreamDesign
from ringsmith.backends.stream.model import flow

FramesOf = Callable[[StreamDesign, int, int], list[Any]]
StartsOf = Callable[[StreamDesign, Sequence[Any], Sequence[int], bool], list[int]]

# log2 N, lanes, bits of a word, multiplier, products: 11,650 with those of --full
SHAPES = [
    (8, 2, 30, MONTGOMERY, 100),
    *(
        pytest.param(*shape, marks=pytest.mark.full)
        for shape in [
            (8, 2, 30, MONTGOMERY, 5000),
            (8, 4, 30, MONTGOMERY, 3000),
            (9, 8, 30, MONTGOMERY, 1000),
            (9, 2, 62, MONTGOMERY, 200),
            (8, 2, 30, BARRETT, 500),
            (12, 2, 30, MONTGOMERY, 1000),
            (12, 4, 30, MONTGOMERY, 60),
            (9, 2, 45, MONTGOMERY, 200),
            (9, 2, 54, MONTGOMERY, 200),
            (8, 2, 60, BARRETT, 200),
            (13, 2, 30, MONTGOMERY, 30),
            (10, 16, 30, MONTGOMERY, 60),
            (11, 8, 30, MONTGOMERY, 60),
            (14, 4, 30, MONTGOMERY, 20),
            (15, 2, 30, MONTGOMERY, 20),
        ]
    ),
]


@pytest.mark.parametrize(("log_n", "lanes", "word_bits", "multiplier", "count"), SHAPES)
def test_products_of_mixed_primes_equal_cores_and_follow_each_other_every_period(
    frames_of: FramesOf,
    starts_of: StartsOf,
    log_n: int,
    lanes: int,
    word_bits: int,
    multiplier: str,
    count: int,
) -> None:
    design = StreamDesign("core", log_n, lanes, word_bits, multiplier)
    frames = frames_of(design, count, 20)
    starts = starts_of(design, frames, [0] * count, False)
    assert set(np.diff(starts).tolist()) == {design.period}


@pytest.mark.full
@pytest.mark.parametrize(("log_n", "lanes"), [(8, 2), (8, 4)])
def test_no_assertion_fails_whatever_lies_between_two_frames(
    frames_of: FramesOf, starts_of: StartsOf, rng: np.random.Generator, log_n: int, lanes: int
) -> None:
    design = StreamDesign("core", log_n, lanes, 30)
    pauses = rng.choice([0, 1, 2, 3, 17, 63, 64, 65, 200, 2000], 150)
    wanted = np.cumsum(design.period + pauses).tolist()
    frames = frames_of(design, len(wanted), 20)
    assert len(starts_of(design, frames, wanted, True)) == len(wanted)


# ---- The layouts and factors of every stage, without RTL -----------------------------------------


FLOW_SHAPES = [
    (8, 2, 30, MONTGOMERY),
    (8, 4, 30, BARRETT),
    (9, 8, 30, MONTGOMERY),
    (10, 16, 30, MONTGOMERY),
    (10, 2, 62, MONTGOMERY),
    (10, 2, 60, BARRETT),
]


@pytest.mark.parametrize("shape", FLOW_SHAPES)
def test_the_flow_of_two_polynomials_is_their_product(
    frames_of: Callable[[StreamDesign, int, int], list[Any]], shape: tuple[int, int, int, str]
) -> None:
    design = StreamDesign("flow", *shape)
    for frame in frames_of(design, 2, 2):
        result = flow.product(design, frame.descriptor, frame.a, frame.b)
        assert np.array_equal(result, frame.product)


@pytest.mark.parametrize("shape", FLOW_SHAPES)
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


@pytest.mark.parametrize("shape", FLOW_SHAPES)
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
