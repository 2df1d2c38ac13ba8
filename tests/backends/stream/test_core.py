"""The pipeline's RTL: products equal to core's, in the cycles that the model says."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.design.latency import BARRETT, MONTGOMERY

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
