"""The sparse modular multiplier against Python's integers, for every elaborated prime."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from ringsmith.errors import ToolError
from ringsmith.hdl.block import Block, Words
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
