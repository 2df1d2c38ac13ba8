"""The sparse modular multiplier against Python's integers, for every elaborated prime."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from ringsmith.backends.rpau.design import folded
from ringsmith.backends.rpau.design.design import MAX_NARROW_BITS, MAX_SHORTENED_BITS, MIN_WORD_BITS
from ringsmith.backends.rpau.design.sparse import FAMILIES
from ringsmith.errors import ToolError
from ringsmith.hdl.block import Block, Words
from ringsmith.hdl.packages.arith import mod_shorten_latency
from ringsmith.hdl.sources import rtl_root

MakeBlock = Callable[..., Block]
LatencyOf = Callable[[Words, Words], int]

MEDHA, WORD48 = 1, 2  # values of the parameter Family

SMALL_PRIMES = [131, 131, 257, 263, 269, 271]  # tests/rtl/blocks/rs_sparse_bench.sv, in its order


def elaborated_primes(family: int) -> list[int]:
    """A family's comments in rs_sparse_pkg as numbers; the tests below hold the RTL to them."""
    name = {MEDHA: "Medha", WORD48: "Word48"}[family]
    text = (rtl_root() / "arith" / "rs_sparse_pkg.sv").read_text()
    text = text.partition(f"localparam family_t {name} = {{")[2].partition("};")[0]
    formulas = dict(re.findall(r"// (\d+): (2\^.*)", text))
    return [
        sum(
            (-1 if sign == "-" else 1) * (1 << int(power) if power else 1)
            for sign, power in re.findall(r"([+-]?) ?(?:2\^(\d+)|1\b)", formulas[str(index)])
        )
        for index in range(len(formulas))
    ]


def is_prime(n: int) -> bool:
    return all(pow(a, n - 1, n) == 1 for a in (2, 3, 5, 7, 11, 13, 17))


def test_elaborated_primes_are_ntt_primes_of_the_largest_ring() -> None:
    primes = elaborated_primes(MEDHA)
    assert primes[0] == 2**59 + 2**25 + 2**22 - 2**20 + 1
    assert len(set(primes)) == len(primes) == 10
    assert all(is_prime(q) and q % 2**17 == 1 for q in primes)
    assert [q.bit_length() for q in primes] == [60] + [54] * 9
    narrow = elaborated_primes(WORD48)
    assert len(set(narrow)) == len(narrow) == 10
    assert all(is_prime(q) and q % 2**17 == 1 and q.bit_length() == 48 for q in narrow)


@pytest.mark.parametrize(("width", "family"), [(60, MEDHA), (54, MEDHA), (48, WORD48)])
def test_sparse_equals_python_modulo_for_every_elaborated_prime(
    make_block: MakeBlock, latency_of: LatencyOf, rng: np.random.Generator, width: int, family: int
) -> None:
    block = make_block("rs_mod_mul", Width=width, Reduction=1, Family=family)
    top = (1 << width) - 1
    for index, q in enumerate(elaborated_primes(family)):
        if q > top:
            continue
        block.poke("q_i", q)
        block.poke("index_i", index)
        block.step(4)
        edges = [0, 1, 2, q - 2, q - 1, q // 2, 1 << 31, (1 << 31) - 1]
        words = [*edges, q, q + 1, top - 1, top, 1 << (width - 1)]
        a = [x for x in words for _ in edges] + rng.integers(0, top, 20_000, np.uint64).tolist()
        b = [y for _ in words for y in edges] + rng.integers(0, q, 20_000, np.uint64).tolist()
        expected = np.array([x * y % q for x, y in zip(a, b, strict=True)], dtype=np.uint64)
        a, b = np.array(a, dtype=np.uint64), np.array(b, dtype=np.uint64)
        for first, second in ((a, b), (b, a)):
            out = block.run({"a_i": first, "b_i": second}, cycles=len(a) + 64)["p_o"]
            assert latency_of(out[: len(a)], expected) == 21, f"q = {q}"
            assert np.array_equal(out[21 : 21 + len(a)], expected), f"q = {q}"


def test_sparse_is_right_for_every_operand_of_a_small_width(make_block: MakeBlock) -> None:
    block = make_block("rs_sparse_bench")
    latency = int(block.peek("latency_o")[0])
    for index, q in enumerate(SMALL_PRIMES):
        block.poke("q_i", q)
        block.poke("index_i", index)
        block.step(4)
        a, b = (grid.ravel() for grid in np.meshgrid(np.arange(512), np.arange(q)))
        for first, second in ((a, b), (b, a)):
            out = block.run({"a_i": first, "b_i": second}, cycles=len(a) + latency)["p_o"]
            assert np.array_equal(out[latency:], a * b % q), f"q = {q}"


def test_a_width_that_no_elaborated_prime_fits_is_refused(make_block: MakeBlock) -> None:
    with pytest.raises(ToolError, match="no prime of the list fits Width = 30"):
        make_block("rs_mod_mul", Width=30, Reduction=1)


def test_an_unknown_reduction_is_refused(make_block: MakeBlock) -> None:
    with pytest.raises(ToolError, match="Reduction = 3 is not 0"):
        make_block("rs_mod_mul", Width=30, Reduction=3)


# ---- The folded modular multiplier against Python's integers, for primes above and below 2^b -----


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


# ---- Words shortened modulo a prime near a power of two, against Python's integers ---------------


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


def set_shorten_modulus(block: Block, width: int, q: int) -> None:
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
        set_shorten_modulus(block, width, q)
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
        assert latency_of(out[: len(x)], words) == mod_shorten_latency()
        assert np.array_equal(out[mod_shorten_latency() : mod_shorten_latency() + len(x)], words)
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
        set_shorten_modulus(block, width, q)
        out = block.run({"x_i": x}, cycles=len(x) + mod_shorten_latency())["y_o"]
        found = out[mod_shorten_latency() :].astype(np.int64)
        assert np.all(found < 1 << width)
        assert np.array_equal(found % q, x % q)
        assert found.tolist() == [shortened(int(each), q, width) for each in x]
