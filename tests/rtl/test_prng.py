"""Trivium and the key expander against the core, which has the definition."""

from collections.abc import Callable

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.backends.rpau.design.sparse import FAMILIES
from ringsmith.errors import ToolError
from ringsmith.hdl.block import Block, Words

MakeBlock = Callable[..., Block]

SPARSE_60, SPARSE_54 = FAMILIES["medha"][0], FAMILIES["medha"][1:]
NEAR_48 = FAMILIES["word48"][-1]  # as far above its power of two as primes of ours are


def is_prime(n: int) -> bool:
    return n > 2 and all(pow(a, n - 1, n) == 1 for a in (2, 3, 5, 7, 11, 13, 17) if a < n)


def prime(bits: int, one_bits: int, largest: bool = True) -> int:
    """The largest or the smallest prime of ``bits`` bits that is 1 modulo 2^one_bits."""
    step = 1 << one_bits
    numbers = range((1 << (bits - 1)) + 1, 1 << bits, step)
    return next(n for n in (reversed(numbers) if largest else numbers) if is_prime(n))


@pytest.mark.parametrize("words", [1, 2])
def test_trivium_equals_the_core(
    make_block: MakeBlock, rng: np.random.Generator, words: int
) -> None:
    block = make_block("rs_trivium_bench", Words=words)
    for key, iv in [(rng.bytes(10), rng.bytes(10)), (bytes(10), b"\xff" * 10)]:
        for name, value in (("key", key), ("iv", iv)):
            number = int.from_bytes(value, "little")
            block.poke(f"{name}_i", number & (2**64 - 1))
            block.poke(f"{name}_high_i", number >> 64)
        warm_up, steps = 1152 // (64 * words), 100
        load = np.arange(warm_up + steps + 1) == 0
        out = block.run({"load_i": load})["words_o"].reshape(-1, words)
        expected = _core.trivium_words(key, iv, steps * words).reshape(steps, words)
        assert np.array_equal(out[1 + warm_up :], expected)


def expand(block: Block, seed: bytes, digit: int, limb: int, cycles: int, part: int = 0) -> Words:
    """What one start brings, from the stated latency on: the words of block ``part``."""
    number = int.from_bytes(seed, "little")
    block.poke("seed_i", number & (2**64 - 1))
    block.poke("seed_high_i", number >> 64)
    block.poke("digit_i", digit)
    block.poke("limb_i", limb)
    block.poke("block_i", part)
    latency = int(block.peek("latency_o")[0])
    start = np.arange(cycles + latency) == 0
    return block.run({"start_i": start})["residues_o"][latency:].ravel()


EXPANDERS = [
    # width, lanes, bits that every modulus uses, moduli
    (48, 1, 0, [prime(48, 14), prime(36, 14, False), NEAR_48, (1 << 46) + (1 << 26) + 1]),
    (30, 2, 0, [prime(30, 11), prime(20, 11), (1 << 29) + (1 << 9) - 1, 21]),
    (60, 4, 0, [SPARSE_60]),
    (48, 16, 40, [prime(48, 13), prime(41, 13), NEAR_48]),
    pytest.param(60, 8, 45, [prime(60, 13), SPARSE_60], marks=pytest.mark.full),
    pytest.param(54, 16, 0, [*SPARSE_54], marks=pytest.mark.full),
]


@pytest.mark.parametrize(("width", "lanes", "least_bits", "moduli"), EXPANDERS)
def test_expander_equals_the_core(
    make_block: MakeBlock,
    rng: np.random.Generator,
    width: int,
    lanes: int,
    least_bits: int,
    moduli: list[int],
) -> None:
    block = make_block("rs_key_expander_bench", Width=width, Lanes=lanes, LeastBits=least_bits)
    block.poke("rst_ni", 0)
    block.step(2)
    block.poke("rst_ni", 1)
    for q in moduli:
        block.poke("q_i", q)
        # A start in the middle of another's residues begins anew.
        for digit, limb, part, n in (
            (0, 0, 0, 1 << 10),
            (3, 1, 1, 48),
            (65535, 65535, 65535, 256),
            (1, 300, 0, 64),
        ):
            seed = rng.bytes(10)
            expected = _core.expand_seed_words(seed, digit, limb, q, n, part)
            assert np.array_equal(expand(block, seed, digit, limb, n // lanes, part), expected)


def test_a_start_during_loading_begins_anew(make_block: MakeBlock) -> None:
    q = prime(48, 14)
    block = make_block("rs_key_expander_bench", Width=48, Lanes=1)
    block.poke("rst_ni", 1)
    block.poke("q_i", q)
    block.run({"start_i": [1, 0, 0]})
    assert np.array_equal(
        expand(block, bytes(10), 0, 0, 64), _core.expand_seed_words(bytes(10), 0, 0, q, 64)
    )


def test_a_start_leaves_the_residues_before_it_whole(make_block: MakeBlock) -> None:
    """Another start the stated pause after as many cycles as the first one's residues take."""
    q, cycles = prime(30, 11), 32
    block = make_block("rs_key_expander_bench", Width=30, Lanes=2)
    block.poke("rst_ni", 1)
    block.poke("q_i", q)
    latency, pause = (int(block.peek(name)[0]) for name in ("latency_o", "pause_o"))
    second = cycles + pause
    start = np.isin(np.arange(second + latency + cycles), (0, second))
    out = block.run({"start_i": start})["residues_o"]
    expected = _core.expand_seed_words(bytes(10), 0, 0, q, 2 * cycles)
    for begin in (latency, second + latency):
        assert np.array_equal(out[begin : begin + cycles].ravel(), expected)


@pytest.mark.parametrize("lanes", [0, 3, 32])
def test_lanes_that_do_not_share_the_streams_are_refused(make_block: MakeBlock, lanes: int) -> None:
    with pytest.raises(ToolError, match=rf"Lanes = {lanes} is no power of two from 1 to 16"):
        make_block("rs_key_expander", Lanes=lanes)
