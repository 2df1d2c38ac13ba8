"""The pipeline's RTL: products equal to core's, in the cycles that the model says."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from ringsmith.arch.stream.design import StreamDesign

FramesOf = Callable[[StreamDesign, int, int], list[Any]]
StartsOf = Callable[[StreamDesign, Sequence[Any], Sequence[int], bool], list[int]]

# log2 N, lanes, bits of a word, products
SHAPES = [
    (8, 2, 30, 100),
    *(
        pytest.param(*shape, marks=pytest.mark.full)
        for shape in [
            (8, 2, 30, 6000),
            (8, 4, 30, 2000),
            (9, 8, 30, 1000),
            (9, 2, 60, 500),
            (12, 2, 30, 1000),
        ]
    ),
]


@pytest.mark.parametrize(("log_n", "lanes", "word_bits", "count"), SHAPES)
def test_products_of_mixed_primes_equal_cores_and_follow_each_other_every_period(
    frames_of: FramesOf, starts_of: StartsOf, log_n: int, lanes: int, word_bits: int, count: int
) -> None:
    design = StreamDesign("core", log_n, lanes, word_bits)
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
