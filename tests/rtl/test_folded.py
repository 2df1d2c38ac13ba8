"""The folded modular multiplier against Python's integers, for primes above and below 2^b."""

from collections.abc import Callable

import numpy as np
import pytest

from ringsmith.backends.rpau.design import folded
from ringsmith.backends.rpau.design.sparse import FAMILIES
from ringsmith.hdl.block import Block, Words

MakeBlock = Callable[..., Block]
LatencyOf = Callable[[Words, Words], int]

FOLDED = 2  # value of the parameter Reduction
LATENCY = 21
COUNT = 4_000
WIDTHS = [
    pytest.param(width, marks=() if width in (30, 48, 54, 60) else pytest.mark.full)
    for width in (9, 17, 26, 27, 30, 34, 35, 36, 37, 43, 48, 51, 52, 53, 54, 57, 60)
]


def set_modulus(block: Block, width: int, q: int) -> None:
    mu, bits = folded.words(q, width)
    block.poke("q_i", q)
    block.poke("mu_i", mu)
    block.poke("shift_i", bits)
    block.step(4)


def moduli(width: int) -> list[int]:
    """The moduli that lie at the ends of what a width takes, for each b and sign of s."""
    found = []
    for bits in range(width - folded.shifts(width), width + 1):
        most = folded.most_tail(width, bits)
        tails = [1, most] if bits == width else [1, most, -1, -most]
        found += [(1 << bits) - tail for tail in tails]
    return sorted({q for q in found if folded.fits(q, width)})


@pytest.mark.parametrize("width", WIDTHS)
def test_folded_equals_python_modulo_at_the_ends_of_every_size(
    make_block: MakeBlock, latency_of: LatencyOf, rng: np.random.Generator, width: int
) -> None:
    block = make_block("rs_mod_mul", Width=width, Reduction=FOLDED)
    top = (1 << width) - 1
    edges = sorted({0, 1, 2, top - 1, top, 1 << (width - 1), top >> width // 2, top >> 1})
    for q in moduli(width):
        set_modulus(block, width, q)
        words = [*edges, q - 1, q, q & top - 1]
        a = [x for x in words for _ in words] + rng.integers(0, top, COUNT, np.uint64).tolist()
        b = [y for _ in words for y in words] + rng.integers(0, top, COUNT, np.uint64).tolist()
        expected = np.array([x * y % q for x, y in zip(a, b, strict=True)], dtype=np.uint64)
        inputs = {"a_i": np.array(a, dtype=np.uint64), "b_i": np.array(b, dtype=np.uint64)}
        out = block.run(inputs, cycles=len(a) + 64)["p_o"]
        assert latency_of(out[: len(a)], expected) == LATENCY, f"q = {q}"
        assert np.array_equal(out[LATENCY : LATENCY + len(a)], expected), f"q = {q}"


@pytest.mark.parametrize(
    "width", [8, *(pytest.param(width, marks=pytest.mark.full) for width in (9, 10))]
)
def test_folded_is_right_for_every_operand_and_modulus_of_a_small_width(
    make_block: MakeBlock, width: int
) -> None:
    block = make_block("rs_mod_mul", Width=width, Reduction=FOLDED)
    size = 1 << width
    taken = [q for q in range(3, size) if folded.fits(q, width)]
    assert len(taken) >= 5
    assert {folded.split(q)[1] > 0 for q in taken} == {True, False}
    a, b = (grid.ravel() for grid in np.meshgrid(np.arange(size), np.arange(size)))
    for q in taken:
        set_modulus(block, width, q)
        out = block.run({"a_i": a, "b_i": b}, cycles=len(a) + LATENCY)["p_o"]
        assert np.array_equal(out[LATENCY:], a * b % q), f"q = {q}"


SEAL_14 = (  # Microsoft SEAL's default primes of N = 2^14
    *(0xFFFFFFFD8001, 0xFFFFFFFA0001, 0xFFFFFFF00001, 0x1FFFFFFF68001, 0x1FFFFFFF50001),
    *(0x1FFFFFFEE8001, 0x1FFFFFFEA0001, 0x1FFFFFFE88001, 0x1FFFFFFE48001),
)


def test_words_of_sixty_bits_take_the_default_primes_of_seal_and_medhas() -> None:
    for q in (*SEAL_14, *FAMILIES["medha"]):
        assert folded.fits(q, 60), q
    assert not folded.fits((1 << 40) - 0x3FFFF, 60)
    assert "near 2^40, and words of 60 bits need 2^45" in folded.fold_error((1 << 40) - 87, 60)
    assert "and words of 60 bits take at most 1048575" in folded.fold_error(
        (1 << 48) - (1 << 20), 60
    )
