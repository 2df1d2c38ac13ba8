"""Words shortened modulo a prime near a power of two, against Python's integers."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.rtl.test_folded import moduli

from ringsmith.backends.rpau.design import folded
from ringsmith.backends.rpau.design.design import MAX_NARROW_BITS, MAX_SHORTENED_BITS, MIN_WORD_BITS
from ringsmith.hdl.block import Block, Words
from ringsmith.hdl.latencies import MOD_SHORTEN_LATENCY

MakeBlock = Callable[..., Block]
LatencyOf = Callable[[Words, Words], int]

COUNT = 4_000
SHAPES = [
    (54, 60),
    (MAX_NARROW_BITS, MAX_NARROW_BITS + 1),
    (MIN_WORD_BITS, MIN_WORD_BITS + MAX_SHORTENED_BITS),
    (44, 60),
    pytest.param(42, 48, marks=pytest.mark.full),
    pytest.param(36, 40, marks=pytest.mark.full),
    pytest.param(53, 60, marks=pytest.mark.full),
]


def scaled_of(q: int, width: int) -> int:
    bits, tail = folded.split(q)
    return tail << width - bits


def set_modulus(block: Block, width: int, q: int) -> None:
    scaled = scaled_of(q, width)
    correction = scaled if scaled > 0 else (1 << width - 1) - (scaled >> 1)
    block.poke("scaled_i", scaled % (1 << folded.scaled_bits(width) + 1))
    block.poke("correction_i", correction)
    block.step(4)


def shortened(x: int, q: int, width: int) -> int:
    """A fold, and a multiple of q where that is no word."""
    scaled, word = scaled_of(q, width), 1 << width
    y = x % word + (x >> width) * scaled
    if 0 <= y < word:
        return y
    return y - (word - scaled) if y >= word else y + (word - scaled) // 2


def at_the_edges(q: int, width: int, wide: int) -> list[int]:
    """Words just below and above the limit where a fold leaves a word of the width."""
    scaled, word, top = scaled_of(q, width), 1 << width, 1 << wide
    found = {0, 1, q - 1, q, word - 1, word, word + 1, top - 1, top - word, top - word - 1}
    for high in {1, 2, (top >> width) - 1}:
        low = -high * scaled if scaled < 0 else word - high * scaled
        found |= {high * word + low + step for step in (-1, 0, 1)}
    return sorted(x for x in found if 0 <= x < top)


@pytest.mark.parametrize(("width", "wide"), SHAPES)
def test_a_shortened_word_is_the_same_residue_and_a_word(
    make_block: MakeBlock,
    latency_of: LatencyOf,
    rng: np.random.Generator,
    width: int,
    wide: int,
) -> None:
    block = make_block("rs_mod_shorten", Width=width, FromWidth=wide)
    corrected = 0
    for q in moduli(width):
        set_modulus(block, width, q)
        x = at_the_edges(q, width, wide) + rng.integers(0, 1 << wide, COUNT, np.uint64).tolist()
        expected = [shortened(each, q, width) for each in x]
        assert all((new - old) % q == 0 for new, old in zip(expected, x, strict=True))
        assert all(0 <= each < 1 << width for each in expected)
        short = [(e, o) for e, o in zip(expected, x, strict=True) if o < 1 << width]
        assert all(new == old for new, old in short)
        folds = (each % (1 << width) + (each >> width) * scaled_of(q, width) for each in x)
        corrected += sum(not 0 <= each < 1 << width for each in folds)
        words = np.array(expected, dtype=np.uint64)
        out = block.run({"x_i": np.array(x, dtype=np.uint64)}, cycles=len(x) + 16)["y_o"]
        assert latency_of(out[: len(x)], words) == MOD_SHORTEN_LATENCY
        assert np.array_equal(out[MOD_SHORTEN_LATENCY : MOD_SHORTEN_LATENCY + len(x)], words)
    assert corrected > len(moduli(width)) / 2


@pytest.mark.parametrize(("width", "wide"), [(9, 13), (10, 14)])
def test_every_word_is_shortened_for_every_modulus_of_a_small_width(
    make_block: MakeBlock, width: int, wide: int
) -> None:
    block = make_block("rs_mod_shorten", Width=width, FromWidth=wide)
    taken = [q for q in range(3, 1 << width) if folded.fits(q, width)]
    assert {folded.split(q)[1] > 0 for q in taken} == {True, False}
    x = np.arange(1 << wide)
    for q in taken:
        set_modulus(block, width, q)
        out = block.run({"x_i": x}, cycles=len(x) + MOD_SHORTEN_LATENCY)["y_o"]
        found = out[MOD_SHORTEN_LATENCY:].astype(np.int64)
        assert np.all(found < 1 << width)
        assert np.array_equal(found % q, x % q)
        assert found.tolist() == [shortened(int(each), q, width) for each in x]
