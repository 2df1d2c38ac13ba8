"""Products modulo NTT primes, another one in each cycle, by Montgomery and by Barrett."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np
import pytest

from ringsmith._core import is_prime
from ringsmith.errors import ToolError
from ringsmith.hdl.block import Block, Words
from ringsmith.hdl.packages.arith import scale_step_latency

MakeBlock = Callable[..., Block]

# (width, bits of a step): one to seven steps, the last one whole, short, and of one or two bits.
SHAPES = [
    *[(30, 13), (30, 15), (30, 9), (48, 16), (60, 13), (60, 17), (16, 7), (27, 13)],
    *[(61, 13), (62, 9), (62, 13), (62, 16)],
]


def primes(width: int, step_bits: int) -> list[int]:
    """Primes of up to ``width`` bits that are 1 modulo 2^step_bits, of three sizes."""
    found = []
    for bits in sorted({width, width - 1, (width + step_bits) // 2 + 1}, reverse=True):
        candidates = range((1 << bits) - (1 << step_bits) + 1, 1 << (bits - 1), -(1 << step_bits))
        found += [q for q, _ in zip(filter(is_prime, candidates), range(3), strict=False)]
    return found


def operands(
    width: int, moduli: Sequence[int], rng: np.random.Generator
) -> tuple[Words, Words, Words]:
    """Edges and random words a and b, at least one below its q, in random order: a, b and q."""
    assert len(moduli) >= 3
    top = (1 << width) - 1
    cases = [
        (x, y, q) for q in moduli for x in (0, 1, q - 1, q, top) for y in (0, 1, q // 2, q - 1)
    ]
    for _ in range(4000):
        q = moduli[int(rng.integers(len(moduli)))]
        cases.append((int(rng.integers(0, top, endpoint=True)), int(rng.integers(0, q)), q))
    cases += [(y, x, q) for x, y, q in cases]
    order = rng.permutation(len(cases))
    first, second, third = np.array([cases[i] for i in order], dtype=np.uint64).T
    return first, second, third


@pytest.mark.parametrize(("width", "step_bits"), SHAPES)
def test_montgomery_product_equals_python_with_another_modulus_in_each_cycle(
    make_block: MakeBlock, rng: np.random.Generator, width: int, step_bits: int
) -> None:
    block = make_block("rs_montgomery_bench", Width=width, StepBits=step_bits)
    [latency] = block.peek("latency_o").tolist()
    a, b, q = operands(width, primes(width, step_bits), rng)
    out = block.run({"a_i": a, "b_i": b, "q_i": q}, ["p_o"], cycles=len(a) + latency)["p_o"]
    expected = [
        x * y * pow(2, -width, m) % m
        for x, y, m in zip(a.tolist(), b.tolist(), q.tolist(), strict=True)
    ]
    assert out[latency:].tolist() == expected


@pytest.mark.parametrize("width", [16, 30, 60])
def test_barrett_product_equals_python_with_another_modulus_in_each_cycle(
    make_block: MakeBlock, rng: np.random.Generator, width: int
) -> None:
    block = make_block("rs_travelling_bench", Width=width)
    [latency] = block.peek("latency_o").tolist()
    a, b, q = operands(width, primes(width, 9), rng)
    bits = [m.bit_length() for m in q.tolist()]
    mu = [(1 << (width + k)) // m - (1 << width) for m, k in zip(q.tolist(), bits, strict=True)]
    inputs = {"a_i": a, "b_i": b, "q_i": q, "mu_i": np.array(mu, dtype=np.uint64)}
    inputs["shift_i"] = np.array(bits, dtype=np.uint64)
    out = block.run(inputs, ["p_o"], cycles=len(a) + latency)["p_o"]
    expected = [x * y % m for x, y, m in zip(a.tolist(), b.tolist(), q.tolist(), strict=True)]
    assert out[latency:].tolist() == expected


def test_a_step_wider_than_a_dsp_is_refused(make_block: MakeBlock) -> None:
    with pytest.raises(ToolError, match="OneBits"):
        make_block("rs_montgomery_bench", Width=48, StepBits=18)


def step(block: Block, q: int, step_bits: int, n: Words, digit: Words) -> None:
    """Checks one step of all operands against its definition in Python's integers."""
    latency = scale_step_latency()
    out = block.run({"n_i": n, "digit_i": digit}, cycles=len(n) + latency)["n_o"].ravel()
    for result, a, d in zip(out[latency:].tolist(), n.tolist(), digit.tolist(), strict=True):
        r = (d - a) % (1 << step_bits)
        assert result == (a - d + r * q) >> step_bits, (q, a, d)
        assert result < q


@pytest.mark.parametrize("step_bits", [4, 3])
def test_step_is_right_for_every_operand_of_a_small_width(
    make_block: MakeBlock, step_bits: int
) -> None:
    block = make_block("rs_scale_step", Width=9, OneBits=4, StepBits=step_bits)
    for q in (17, 97, 113, 241, 257, 353, 449):  # 5 to 9 bits
        block.poke("q_i", q)
        n, digit = (g.ravel() for g in np.meshgrid(np.arange(q), np.arange(1 << step_bits)))
        step(block, q, step_bits, n, digit)


@pytest.mark.parametrize(
    ("width", "one_bits", "step_bits"),
    [
        (60, 17, 17),
        (54, 15, 8),
        pytest.param(60, 14, 14, marks=pytest.mark.full),
        pytest.param(30, 9, 9, marks=pytest.mark.full),
    ],
)
def test_step_equals_its_definition(
    make_block: MakeBlock, rng: np.random.Generator, width: int, one_bits: int, step_bits: int
) -> None:
    block = make_block("rs_scale_step", Width=width, OneBits=one_bits, StepBits=step_bits)
    for q in primes(width, one_bits):
        block.poke("q_i", q)
        top = (1 << step_bits) - 1
        edges = [0, 1, 2, top, top + 1, q // 2, q - 2, q - 1]
        n, digit = np.meshgrid(np.array(edges, np.uint64), np.array([0, 1, top - 1, top]))
        n = np.concatenate([n.ravel(), rng.integers(0, q, 3_000, np.uint64)]).astype(np.uint64)
        digit = np.concatenate([digit.ravel(), rng.integers(0, top + 1, 3_000)])
        step(block, q, step_bits, n, digit.astype(np.uint64))


def test_steps_that_are_too_long_are_refused(make_block: MakeBlock) -> None:
    with pytest.raises(ToolError, match="OneBits = 18"):
        make_block("rs_scale_step", OneBits=18)


# (width, bits of the first step): a second step as long, shorter, and of few bits.
TWO_STEPS = [(32, 17), (34, 17), (30, 15), (30, 16), (31, 17), (25, 13)]


def without_a_second_digit(
    width: int, step_bits: int, moduli: Sequence[int], rng: np.random.Generator
) -> Iterator[tuple[int, int, int]]:
    """Operands after whose first step the low bits are 0: the second one has nothing to remove.

    With a = 1 there is nothing above the low word besides, so that the result needs its correction.
    """
    second = width - step_bits
    while True:
        q = moduli[int(rng.integers(len(moduli)))]
        digit = int(rng.integers(1 << step_bits))
        n = digit * (q >> step_bits)
        low = digit | (n & ((1 << second) - 1)) << step_bits
        a = int(rng.choice([1, 2 * int(rng.integers(1 << (width - 1))) + 1]))
        b = low * pow(a, -1, 1 << width) % (1 << width)
        if b < q:
            yield a, b, q


@pytest.mark.parametrize(("width", "step_bits"), TWO_STEPS)
def test_a_product_in_two_steps_equals_python_with_another_modulus_in_each_cycle(
    make_block: MakeBlock, rng: np.random.Generator, width: int, step_bits: int
) -> None:
    block = make_block("rs_two_steps_bench", Width=width, StepBits=step_bits)
    [latency] = block.peek("latency_o").tolist()
    moduli = primes(width, step_bits)
    columns = operands(width, moduli, rng)
    cases = list(zip(*(column.tolist() for column in columns), strict=True))
    cases += islice(without_a_second_digit(width, step_bits, moduli, rng), 300)
    a, b, q = np.array(cases, dtype=np.uint64).T
    out = block.run({"a_i": a, "b_i": b, "q_i": q}, ["p_o"], cycles=len(cases) + latency)["p_o"]
    assert out[latency:].tolist() == [x * y * pow(2, -width, m) % m for x, y, m in cases]


def test_words_that_do_not_fit_two_steps_are_refused(make_block: MakeBlock) -> None:
    with pytest.raises(ToolError, match="no word of two steps"):
        make_block("rs_two_steps_bench", Width=32, StepBits=15)
