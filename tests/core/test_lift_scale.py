"""The graph's Lift, Scale and both kinds of exact digits, held against Python's integers."""

from dataclasses import dataclass
from math import prod

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.objects import Residues

N = 256
FRACTION_BITS = 89
Integers = list[int]


def distinct_primes(*sizes: int) -> list[int]:
    """A prime for each size, all distinct."""
    primes: list[int] = []
    for bits in sizes:
        primes.append(next(q for q in _core.prime_search(bits, N, 20) if q not in primes))
    return primes


def integers(limbs: Residues, primes: list[int]) -> Integers:
    """The integers in [0, Q) behind coefficients, by the Chinese remainder theorem."""
    total = prod(primes)
    units = [total // q * pow(total // q, -1, q) for q in primes]
    rows = [limb.tolist() for limb in limbs]
    return [
        sum(x * u for x, u in zip(column, units, strict=True)) % total
        for column in zip(*rows, strict=True)
    ]


def residues(values: Integers, primes: list[int]) -> Residues:
    """Limbs of integers."""
    return np.array([[value % q for value in values] for q in primes], dtype=np.uint64)


def run_node(
    op: str, primes: list[int], base: list[int], given: Residues, /, **attrs: object
) -> Residues:
    """What one node makes of an operand over `base` in coefficient form."""
    graph = _core.Graph(N, primes, [_core.smallest_root(q, N) for q in primes])
    node = graph.add_node("input", [], {"name": "a", "base": base, "form": "coeff"})
    graph.add_node("output", [graph.add_node(op, [node], attrs)], {"name": "b"})
    return graph.run({"a": given}, {})["b"]


@dataclass(frozen=True)
class Bases:
    """Primes of q and of the extension."""

    q: list[int]
    p: list[int]

    @property
    def primes(self) -> list[int]:
        """Those of q, then the extension."""
        return self.q + self.p

    @property
    def small(self) -> list[int]:
        """Indices of q's."""
        return list(range(len(self.q)))

    @property
    def large(self) -> list[int]:
        """Indices of all."""
        return list(range(len(self.primes)))


SIZES = {
    "HEAWS": ((30,) * 6, (30,) * 7),
    "SEAL": ((60, 60, 59), (61,) * 4),
    "mixed": ((21, 60, 40), (61, 55, 30, 48)),
    "one": ((50,), (61, 61)),
    "many": ((30,) * 20, (31,) * 20),
}


@pytest.fixture(params=SIZES, ids=str)
def bases(request: pytest.FixtureRequest) -> Bases:
    """Primes of several sizes and numbers."""
    q, p = SIZES[request.param]
    primes = distinct_primes(*q, *p)
    return Bases(primes[: len(q)], primes[len(q) :])


def nearest(numerator: int, denominator: int) -> int:
    """The quotient of a number and an odd one, rounded."""
    return (numerator + denominator // 2) // denominator


def hps_lift(values: Integers, q: list[int]) -> Integers:
    """The integer that HPS extends for every residue (docs/reference/arithmetic.md)."""
    total = prod(q)
    lifted = []
    for value in values:
        y = [value * pow(total // prime, -1, prime) % prime for prime in q]
        fractions = sum(a * nearest(1 << FRACTION_BITS, b) for a, b in zip(y, q, strict=True))
        v = (fractions + (1 << FRACTION_BITS - 1)) >> FRACTION_BITS
        lifted.append(sum(a * (total // b) for a, b in zip(y, q, strict=True)) - v * total)
    return lifted


def edges(rng: np.random.Generator, total: int, count: int = N) -> Integers:
    """Random integers in [0, total), with those where rounding decides among them."""
    values = [int.from_bytes(rng.bytes(200), "little") % total for _ in range(count - 8)]
    half = total // 2
    return [0, 1, total - 1, half, half + 1, half - 1, total // 4, total // 3, *values]


def test_lift_by_hps_is_the_centred_integer(bases: Bases, rng: np.random.Generator) -> None:
    total = prod(bases.q)
    values = edges(rng, total)
    expected = hps_lift(values, bases.q)
    for value, lifted in zip(values, expected, strict=True):
        assert lifted % total == value
        assert abs(2 * lifted) <= total + total // 2**20
    given = residues(values, bases.q)
    mine = run_node("lift", bases.primes, bases.small, given, base=bases.large, variant="hps")
    assert np.array_equal(mine, residues(expected, bases.primes))


@pytest.mark.parametrize("positions", [(0,), (1, 2), (0, 1, 2, 3)], ids=str)
def test_a_centred_digit_is_one_integer_modulo_all_primes(
    bases: Bases, positions: tuple[int, ...], rng: np.random.Generator
) -> None:
    """Also at its own primes, in the middle of the base, and where it is all of the base."""
    digit = [i for i in positions if i < len(bases.primes)]
    own = [bases.primes[i] for i in digit]
    values = edges(rng, prod(bases.primes))
    expected = hps_lift([value % prod(own) for value in values], own)
    for value, lifted in zip(values, expected, strict=True):
        assert (value - lifted) % prod(own) == 0
        assert abs(2 * lifted) <= prod(own) * (1 + 2**-20)
    given = residues(values, bases.primes)
    for base in (bases.large, digit, bases.large[::-1]):
        mine = run_node(
            "mod_up",
            bases.primes,
            bases.large,
            given,
            digit=digit,
            base=base,
            variant="centred_digit",
        )
        assert np.array_equal(mine, residues(expected, [bases.primes[i] for i in base]))


def hps_divide(values: Integers, bases: Bases, t: int) -> Integers:
    """Each integer over Q times t / q, rounded, modulo p (docs/reference/arithmetic.md)."""
    q, p = prod(bases.q), prod(bases.p)
    scaled = []
    for value in values:
        numerators = [t * pow(q // prime, -1, prime) % prime for prime in bases.q]
        fractions = sum(
            value % prime * nearest((u << FRACTION_BITS), prime)
            for u, prime in zip(numerators, bases.q, strict=True)
        )
        v = (fractions + (1 << FRACTION_BITS - 1)) >> FRACTION_BITS
        whole = sum(
            value % prime * u * pow(prime, -1, p)
            for u, prime in zip(numerators, bases.q, strict=True)
        )
        scaled.append((t * value * pow(q, -1, p) - whole + v) % p)
    return scaled


@pytest.mark.parametrize("t", [2, 65537, (1 << 40) + 15])
def test_scale_by_hps_rounds_t_over_q_times_the_integer(
    bases: Bases, t: int, rng: np.random.Generator
) -> None:
    q, p = prod(bases.q), prod(bases.p)
    bound = q * p // (2 * t + 2)  # so that the result fits the extension
    values = [value - bound for value in edges(rng, 2 * bound)]
    mod_q = run_node(
        "scale",
        bases.primes,
        bases.large,
        residues(values, bases.primes),
        base=bases.small,
        plain_modulus=t,
        variant="hps",
    )
    assert np.array_equal(mod_q, residues(hps_lift(hps_divide(values, bases, t), bases.p), bases.q))
    wrong = 0
    for value, result in zip(values, integers(mod_q, bases.q), strict=True):
        difference = (result - nearest(t * value, q)) % q
        assert difference in {0, 1, q - 1}
        wrong += difference != 0
    assert wrong <= 2  # one of N is near enough to a tie, at most, but by chance


def fast_conversion(values: Integers, q: list[int]) -> Integers:
    """The integers value + u * q that fast base conversion stands for."""
    total = prod(q)
    return [
        sum(value * pow(total // prime, -1, prime) % prime * (total // prime) for prime in q)
        for value in values
    ]


def test_lift_by_behz_is_seals(bases: Bases, rng: np.random.Generator) -> None:
    q = prod(bases.q)
    values = edges(rng, q)
    expected = []
    for value, c in zip(values, fast_conversion([v << 32 for v in values], bases.q), strict=True):
        r = -c * pow(q, -1, 1 << 32) % (1 << 32)
        r -= (1 << 32) * (r >= 1 << 31)
        assert (c + q * r) % (1 << 32) == 0
        expected.append((c + q * r) >> 32)
        assert expected[-1] % q == value
        assert abs(expected[-1]) <= q // 2 + q * len(bases.q) // 2**31 + 1
    given = residues(values, bases.q)
    mine = run_node("lift", bases.primes, bases.small, given, base=bases.large, variant="behz")
    assert np.array_equal(mine[: len(bases.q)], given)
    assert np.array_equal(mine[len(bases.q) :], residues(expected, bases.p))


@pytest.mark.parametrize("t", [2, 65537])
def test_scale_by_behz_is_seals(bases: Bases, t: int, rng: np.random.Generator) -> None:
    q, m_sk, base_b = prod(bases.q), bases.p[0], bases.p[1:]
    total_b = prod(base_b)
    bound = q * total_b // (2 * t + 2)
    values = [value - bound for value in edges(rng, 2 * bound)]
    expected = []
    for value, c in zip(values, fast_conversion([t * v for v in values], bases.q), strict=True):
        assert (t * value - c) % q == 0
        w = (t * value - c) // q
        (e,) = fast_conversion([w], base_b)
        alpha = (e - w) * pow(total_b, -1, m_sk) % m_sk
        alpha -= m_sk * (alpha > m_sk // 2)
        expected.append(e - alpha * total_b)
        assert expected[-1] == w  # Shenoy and Kumaresan's conversion is exact
        assert 0 <= t * value // q - w < len(bases.q)
    mine = run_node(
        "scale",
        bases.primes,
        bases.large,
        residues(values, bases.primes),
        base=bases.small,
        plain_modulus=t,
        variant="behz",
    )
    assert np.array_equal(mine, residues(expected, bases.q))


@pytest.mark.parametrize("word_bits", [1, 13, 60, 64, 90, 128, 4000])
def test_decompose_slices_the_integer(
    bases: Bases, word_bits: int, rng: np.random.Generator
) -> None:
    total = prod(bases.q)
    values = edges(rng, total)
    given = residues(values, bases.q)
    count = -(-total.bit_length() // word_bits)
    for digit in {0, count // 2, count - 1}:
        mine = run_node(
            "decompose",
            bases.primes,
            bases.small,
            given,
            digit=digit,
            word_bits=word_bits,
            base=bases.large,
        )
        words = [value >> word_bits * digit & (1 << word_bits) - 1 for value in values]
        assert np.array_equal(mine, residues(words, bases.primes))
    with pytest.raises(_core.GraphError, match=f"digit {count} of {word_bits} bits"):
        run_node(
            "decompose",
            bases.primes,
            bases.small,
            given,
            digit=count,
            word_bits=word_bits,
            base=bases.small,
        )
