"""Trivium, the scaling and the key expander against the core, which has the definition."""

from collections.abc import Callable

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.errors import ToolError
from ringsmith.hdl.block import Block, Words

MakeBlock = Callable[..., Block]

BARRETT, SPARSE = 0, 1
SPARSE_60 = (1 << 59) + (1 << 25) + (1 << 22) - (1 << 20) + 1  # number 0 of rs_sparse_pkg
SPARSE_54 = {
    1: (1 << 53) + (1 << 21) - (1 << 20) - (1 << 17) + 1,
    5: (1 << 53) + (1 << 24) - (1 << 23) - (1 << 18) + 1,
    9: (1 << 53) + (1 << 25) - (1 << 22) - (1 << 21) + 1,
}
LATENCY = 5  # of a scaling step


def is_prime(n: int) -> bool:
    return n > 2 and all(pow(a, n - 1, n) == 1 for a in (2, 3, 5, 7, 11, 13, 17) if a < n)


def prime(bits: int, one_bits: int, largest: bool = True) -> int:
    """The largest or the smallest prime of so many bits that is 1 modulo 2^one_bits."""
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


def step(block: Block, q: int, step_bits: int, n: Words, digit: Words) -> None:
    """Checks one scaling step of all operands against its definition in Python's integers."""
    out = block.run({"n_i": n, "digit_i": digit}, cycles=len(n) + LATENCY)["n_o"].ravel()
    for result, a, d in zip(out[LATENCY:].tolist(), n.tolist(), digit.tolist(), strict=True):
        r = (d - a) % (1 << step_bits)
        assert result == (a - d + r * q) >> step_bits, (q, a, d)
        assert result < q


@pytest.mark.parametrize("step_bits", [4, 3])
def test_scaling_step_is_right_for_every_operand_of_a_small_width(
    make_block: MakeBlock, step_bits: int
) -> None:
    block = make_block("rs_scale_step", Width=9, OneBits=4, StepBits=step_bits)
    for q in (17, 97, 113, 241, 257, 353, 449):  # 5 to 9 bits
        block.poke("q_i", q)
        n, digit = (g.ravel() for g in np.meshgrid(np.arange(q), np.arange(1 << step_bits)))
        step(block, q, step_bits, n, digit)


@pytest.mark.parametrize(
    ("width", "one_bits", "step_bits", "reduction"),
    [
        (60, 17, 17, BARRETT),
        (54, 15, 8, BARRETT),
        (60, 17, 17, SPARSE),
        pytest.param(60, 14, 14, BARRETT, marks=pytest.mark.full),
        pytest.param(30, 9, 9, BARRETT, marks=pytest.mark.full),
        pytest.param(54, 15, 8, SPARSE, marks=pytest.mark.full),
    ],
)
def test_scaling_step_equals_its_definition(
    make_block: MakeBlock,
    rng: np.random.Generator,
    width: int,
    one_bits: int,
    step_bits: int,
    reduction: int,
) -> None:
    block = make_block(
        "rs_scale_step", Width=width, OneBits=one_bits, StepBits=step_bits, Reduction=reduction
    )
    sizes = {width // 2 + 3, width - 1, width}
    loaded = {prime(k, one_bits, top): 0 for k in sizes for top in (True, False)}
    sparse = {q: index for index, q in {0: SPARSE_60, **SPARSE_54}.items() if q >> width == 0}
    for q, index in (sparse if reduction == SPARSE else loaded).items():
        block.poke("q_i", q)
        block.poke("index_i", index)
        block.step(4)
        top = (1 << step_bits) - 1
        edges = [0, 1, 2, top, top + 1, q // 2, q - 2, q - 1]
        n, digit = np.meshgrid(np.array(edges, np.uint64), np.array([0, 1, top - 1, top]))
        n = np.concatenate([n.ravel(), rng.integers(0, q, 3_000, np.uint64)]).astype(np.uint64)
        digit = np.concatenate([digit.ravel(), rng.integers(0, top + 1, 3_000)])
        step(block, q, step_bits, n, digit.astype(np.uint64))


def expand(block: Block, seed: bytes, digit: int, limb: int, cycles: int, part: int = 0) -> Words:
    """What one start brings, from the stated latency on: the residues of block ``part``."""
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
    (48, 1, 14, BARRETT, [prime(48, 14), prime(36, 14, False)]),
    (30, 2, 11, BARRETT, [prime(30, 11), prime(20, 11)]),
    (60, 4, 17, SPARSE, [SPARSE_60]),
    pytest.param(60, 8, 13, BARRETT, [prime(60, 13)], marks=pytest.mark.full),
    pytest.param(54, 16, 16, SPARSE, [SPARSE_54[1], SPARSE_54[9]], marks=pytest.mark.full),
]


@pytest.mark.parametrize(("width", "lanes", "step_bits", "reduction", "primes"), EXPANDERS)
def test_expander_equals_the_core(
    make_block: MakeBlock,
    rng: np.random.Generator,
    width: int,
    lanes: int,
    step_bits: int,
    reduction: int,
    primes: list[int],
) -> None:
    block = make_block(
        "rs_key_expander_bench",
        Width=width,
        Lanes=lanes,
        StepBits=step_bits,
        Reduction=reduction,
    )
    block.poke("rst_ni", 0)
    block.step(2)
    block.poke("rst_ni", 1)
    for q in primes:
        block.poke("q_i", q)
        block.poke("index_i", {q: i for i, q in SPARSE_54.items()}.get(q, 0))
        block.step(4)
        # A start in the middle of another's residues begins anew.
        for digit, limb, part, n in (
            (0, 0, 0, 1 << 10),
            (3, 1, 1, 48),
            (65535, 65535, 65535, 256),
            (1, 300, 0, 64),
        ):
            seed = rng.bytes(10)
            expected = _core.expand_key_half(seed, digit, limb, q, n, part)
            assert np.array_equal(expand(block, seed, digit, limb, n // lanes, part), expected)


def test_a_start_during_loading_begins_anew(make_block: MakeBlock) -> None:
    q = prime(48, 14)
    block = make_block("rs_key_expander_bench", Width=48, Lanes=1, StepBits=14)
    block.poke("rst_ni", 1)
    block.poke("q_i", q)
    block.run({"start_i": [1, 0, 0]})
    assert np.array_equal(
        expand(block, bytes(10), 0, 0, 64), _core.expand_key_half(bytes(10), 0, 0, q, 64)
    )


def test_a_start_leaves_the_residues_before_it_whole(make_block: MakeBlock) -> None:
    """Another start the stated pause after as many cycles as the first one's residues take."""
    q, cycles = prime(30, 11), 32
    block = make_block("rs_key_expander_bench", Width=30, Lanes=2, StepBits=11)
    block.poke("rst_ni", 1)
    block.poke("q_i", q)
    latency, pause = (int(block.peek(name)[0]) for name in ("latency_o", "pause_o"))
    second = cycles + pause
    start = np.isin(np.arange(second + latency + cycles), (0, second))
    out = block.run({"start_i": start})["residues_o"]
    expected = _core.expand_key_half(bytes(10), 0, 0, q, 2 * cycles)
    for begin in (latency, second + latency):
        assert np.array_equal(out[begin : begin + cycles].ravel(), expected)


@pytest.mark.parametrize("lanes", [0, 3, 32])
def test_lanes_that_do_not_share_the_streams_are_refused(make_block: MakeBlock, lanes: int) -> None:
    with pytest.raises(ToolError, match=rf"Lanes = {lanes} is no power of two from 1 to 16"):
        make_block("rs_key_expander", Lanes=lanes)


def test_steps_that_are_too_long_are_refused(make_block: MakeBlock) -> None:
    with pytest.raises(ToolError, match="OneBits = 18"):
        make_block("rs_scale_step", OneBits=18)
