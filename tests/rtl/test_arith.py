"""Arithmetic blocks against Python's integers: edges, random, back to back, small widths whole."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from ringsmith.hdl.block import Block, Words
from ringsmith.hdl.sources import ECP5, XILINX

MakeBlock = Callable[..., Block]
LatencyOf = Callable[[Words, Words], int]

MOST_WIDTHS = [30, 43, 48, 54, 60]
# Each width here cuts its operands in another way, or sits at the border of one.
ALL_WIDTHS = (8, 17, 26, 27, 30, 33, 34, 43, 44, 48, 51, 52, 54, 57, 60)
ALL_SHAPES = [
    *(
        pytest.param(width, XILINX, marks=() if width in MOST_WIDTHS else pytest.mark.full)
        for width in ALL_WIDTHS
    ),
    *((width, ECP5) for width in (18, 30)),
    *(pytest.param(width, ECP5, marks=pytest.mark.full) for width in (8, 19, 35, 36, 37)),
]
COUNT = 8_000


def words(values: npt.ArrayLike) -> Words:
    return np.array(values, dtype=np.uint64)


def operands(
    rng: np.random.Generator, bits: int, count: int = COUNT
) -> tuple[list[int], list[int]]:
    """Random words below 2^bits, with every pair of edge values in front."""
    top = (1 << bits) - 1
    edges = sorted({0, 1, 2, top, top - 1, 1 << (bits - 1), top >> (bits // 2), (1 << 17) & top})
    a = [x for x in edges for _ in edges] + rng.integers(0, top, count, np.uint64, True).tolist()
    b = [y for _ in edges for y in edges] + rng.integers(0, top, count, np.uint64, True).tolist()
    return a, b


def largest_prime_below(limit: int) -> int:
    def is_prime(n: int) -> bool:
        return (
            n > 2 and n % 2 == 1 and all(pow(a, n - 1, n) == 1 for a in (2, 3, 5, 7, 11) if a < n)
        )

    return next(n for n in range(limit - 1, 2, -1) if is_prime(n))


def moduli(width: int) -> list[int]:
    """Odd moduli of every size that a width takes, nearest to both ends of each size."""
    sizes = sorted({width // 2, width // 2 + 1, (3 * width) // 4, width - 1, width})
    return [q for k in sizes for q in (largest_prime_below(1 << k), (1 << (k - 1)) + 1)]


def set_modulus(block: Block, width: int, q: int) -> None:
    k = (q - 1).bit_length()
    block.poke("q_i", q)
    block.poke("mu_i", (1 << (width + k)) // q - (1 << width))
    block.poke("shift_i", k)
    block.step(4)


def stream(
    block: Block, name: str, a: list[int], b: list[int], **more: npt.ArrayLike
) -> tuple[dict[str, Words], int]:
    """Runs operands back to back; returns the outputs and the latency that the block states."""
    latency = int(block.peek(f"{name}_latency_o")[0])
    inputs = {"a_i": words(a), "b_i": words(b), **more}
    return block.run(inputs, cycles=len(a) + latency), latency


@pytest.mark.parametrize(("width", "target"), ALL_SHAPES)
def test_product_equals_integer_product(
    make_block: MakeBlock, rng: np.random.Generator, width: int, target: str
) -> None:
    block = make_block("rs_arith_bench", target=target, Width=width)
    a, b = operands(rng, width)
    out, latency = stream(block, "mul", a, b)
    exact = [x * y for x, y in zip(a, b, strict=True)]
    mask = (1 << width) - 1
    assert np.array_equal(out["mul_lo_o"][latency:], words([p & mask for p in exact]))
    assert np.array_equal(out["mul_hi_o"][latency:], words([p >> width for p in exact]))


@pytest.mark.parametrize(("width", "target"), ALL_SHAPES)
def test_low_product_equals_integer_product_modulo_its_width(
    make_block: MakeBlock, rng: np.random.Generator, width: int, target: str
) -> None:
    block = make_block("rs_arith_bench", target=target, Width=width)
    a, b = operands(rng, width)
    out, latency = stream(block, "mul_low", a, b)
    mask = (1 << (width + 2)) - 1
    expected = words([x * y & mask for x, y in zip(a, b, strict=True)])
    assert np.array_equal(out["mul_low_o"][latency:], expected)


@pytest.mark.parametrize(("width", "target"), ALL_SHAPES)
def test_high_only_product_loses_less_than_half_a_unit(
    make_block: MakeBlock, rng: np.random.Generator, width: int, target: str
) -> None:
    block = make_block("rs_arith_bench", target=target, Width=width)
    a, b = operands(rng, width)
    out, latency = stream(block, "mul", a, b)
    got = out["mul_high_only_o"][latency:].tolist()
    for x, y, high in zip(a, b, got, strict=True):
        # floor(x*y / 2^W - d) with 0 <= d < 1/2, times 2^(W+1)
        assert (2 * x * y - (1 << width)) >> (width + 1) <= high <= x * y >> width


@pytest.mark.parametrize(("width", "target"), ALL_SHAPES)
def test_barrett_equals_python_modulo_for_primes_of_every_size(
    make_block: MakeBlock, rng: np.random.Generator, width: int, target: str
) -> None:
    block = make_block("rs_arith_bench", target=target, Width=width)
    for q in moduli(width):
        set_modulus(block, width, q)
        a, b = operands(rng, width, 4_000)
        b = [y % q for y in b]  # one operand is any word, the other a residue
        a += [q - 1, q - 1, q, (1 << width) - 1]
        b += [q - 1, 1, q - 1, q - 1]
        expected = words([x * y % q for x, y in zip(a, b, strict=True)])
        for first, second in ((a, b), (b, a)):
            out, latency = stream(block, "mod_mul", first, second)
            assert np.array_equal(out["mod_mul_o"][latency:], expected), f"q = {q}"


@pytest.mark.parametrize(
    "width", [4, 5, *(pytest.param(width, marks=pytest.mark.full) for width in (6, 7))]
)
def test_barrett_is_right_for_every_modulus_and_operand_of_a_small_width(
    make_block: MakeBlock, width: int
) -> None:
    block = make_block("rs_arith_bench", Width=width)
    size = 1 << width
    powers = [1 << k for k in range(width // 2, width)]
    for q in [*range((1 << (width // 2 - 1)) + 1, size, 2), *powers]:
        set_modulus(block, width, q)
        a, b = (grid.ravel() for grid in np.meshgrid(np.arange(size), np.arange(q)))
        out, latency = stream(block, "mod_mul", a, b)
        assert np.array_equal(out["mod_mul_o"][latency:], a * b % q), f"q = {q}"


@pytest.mark.parametrize("width", [30, 60])
def test_barrett_and_sums_are_right_modulo_powers_of_two(
    make_block: MakeBlock, rng: np.random.Generator, width: int
) -> None:
    block = make_block("rs_arith_bench", Width=width)
    for q in [*(1 << k for k in range(width // 2, width)), (1 << width) - 1]:
        set_modulus(block, width, q)
        a, b = operands(rng, width, 500)
        b = [*(y % q for y in b), q - 1, q - 1]
        a += [(1 << width) - 1, q]
        for first, second in ((a, b), (b, a)):
            out, latency = stream(block, "mod_mul", first, second)
            expected = words([x * y % q for x, y in zip(a, b, strict=True)])
            assert np.array_equal(out["mod_mul_o"][latency:], expected), f"q = {q}"
        a = [x % q for x in a]
        for minus in (0, 1):
            sub = words([minus] * len(a))
            out, latency = stream(block, "mod_addsub", a, b, sub_i=sub)
            rows = zip(a, b, strict=True)
            expected = words([(x - y if minus else x + y) % q for x, y in rows])
            assert np.array_equal(out["mod_addsub_o"][latency:], expected), f"q = {q}"


@pytest.mark.parametrize("width", MOST_WIDTHS)
def test_addition_and_subtraction_alternate_back_to_back(
    make_block: MakeBlock, rng: np.random.Generator, width: int
) -> None:
    block = make_block("rs_arith_bench", Width=width)
    for q in moduli(width):
        set_modulus(block, width, q)
        edges = [0, 1, q // 2, q - 2, q - 1]
        a = [x for x in edges for _ in edges] + rng.integers(0, q, COUNT, np.uint64).tolist()
        b = [y for _ in edges for y in edges] + rng.integers(0, q, COUNT, np.uint64).tolist()
        sub = rng.integers(0, 2, len(a)).tolist()
        for choice in (sub, [1 - bit for bit in sub]):
            out, latency = stream(block, "mod_addsub", a, b, sub_i=words(choice))
            rows = zip(a, b, choice, strict=True)
            expected = words([(x - y if minus else x + y) % q for x, y, minus in rows])
            assert np.array_equal(out["mod_addsub_o"][latency:], expected), f"q = {q}"


@pytest.mark.parametrize("width", MOST_WIDTHS)
def test_twice_the_half_is_the_number(
    make_block: MakeBlock, rng: np.random.Generator, width: int
) -> None:
    block = make_block("rs_arith_bench", Width=width)
    for q in moduli(width):
        set_modulus(block, width, q)
        x = [0, 1, 2, q - 2, q - 1, *rng.integers(0, q, COUNT, np.uint64).tolist()]
        out, latency = stream(block, "mod_halve", x, x)
        half = out["mod_halve_o"][latency:].tolist()
        assert max(half) < q
        assert [2 * h % q for h in half] == x


@pytest.mark.parametrize("width", [4, 5])
def test_add_subtract_and_halve_are_right_for_every_operand_of_a_small_width(
    make_block: MakeBlock, width: int
) -> None:
    block = make_block("rs_arith_bench", Width=width)
    for q in range(3, 1 << width, 2):
        block.poke("q_i", q)
        a, b = (grid.ravel() for grid in np.meshgrid(np.arange(q), np.arange(q)))
        for sub, expected in ((0, (a + b) % q), (1, (a - b) % q)):
            out, latency = stream(block, "mod_addsub", a, b, sub_i=np.full(len(a), sub))
            assert np.array_equal(out["mod_addsub_o"][latency:], expected), f"q = {q}"
        out, latency = stream(block, "mod_halve", a, b)
        assert np.array_equal(2 * out["mod_halve_o"][latency:] % q, a), f"q = {q}"


@pytest.mark.parametrize("width", [48, 60])
def test_stated_latencies_are_the_measured_ones(
    make_block: MakeBlock, latency_of: LatencyOf, rng: np.random.Generator, width: int
) -> None:
    block = make_block("rs_arith_bench", Width=width)
    q = largest_prime_below(1 << width)
    set_modulus(block, width, q)
    a, b = (rng.integers(0, q, 300, np.uint64).tolist() for _ in range(2))
    pairs = list(zip(a, b, strict=True))
    out = block.run({"a_i": words(a), "b_i": words(b), "sub_i": np.zeros(300)})
    mask = (1 << (width + 2)) - 1
    expected = {
        "mul": ("mul_hi_o", [x * y >> width for x, y in pairs]),
        "mul_low": ("mul_low_o", [x * y & mask for x, y in pairs]),
        "mod_mul": ("mod_mul_o", [x * y % q for x, y in pairs]),
        "mod_addsub": ("mod_addsub_o", [(x + y) % q for x, y in pairs]),
        "mod_halve": ("mod_halve_o", [x * ((q + 1) // 2) % q for x, _ in pairs]),
    }
    for name, (port, values) in expected.items():
        stated = int(block.peek(f"{name}_latency_o")[0])
        assert latency_of(out[port], words(values)) == stated, name
    assert int(block.peek("mod_mul_latency_o")[0]) <= 22
