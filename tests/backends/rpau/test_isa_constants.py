"""Modulus words and twiddle tables, against their definitions in plain Python."""

import re
from dataclasses import replace

import pytest

from ringsmith import _core
from ringsmith.backends.rpau.design.constants import (
    modulus_words,
    prime_tables,
    stored_twiddles,
    twiddle_tables,
)
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.limits import parameter_limits
from ringsmith.backends.rpau.design.sparse import FAMILIES
from ringsmith.errors import ParameterError
from ringsmith.hdl.sources import rtl_root

NANO = load_design("nano")


@pytest.mark.parametrize("bits", [30, 41, 48])
def test_modulus_words_make_the_barrett_quotient_right_to_three(bits: int) -> None:
    (prime,) = _core.prime_search(bits, NANO.n, 1)
    q, mu, k, index = (int(word) for word in modulus_words(prime, NANO))
    width = NANO.word_bits
    assert (q, k, index) == (prime, bits, 0)
    assert 0 <= mu < 1 << width
    assert (mu + (1 << width)) * q <= 1 << (width + bits) < (mu + 1 + (1 << width)) * q
    for product in (0, q - 1, (q - 1) ** 2, ((1 << width) - 1) * (q - 1)):
        t = product >> k
        assert 0 <= product - (t + (t * mu >> width)) * q < 4 * q


@pytest.mark.parametrize("log_n", [8, 9, 13])
def test_the_product_of_a_high_and_a_low_entry_is_the_power_of_the_root(log_n: int) -> None:
    design = RpauDesign("odd", log_n, 48, 2, 1, 1, 4, 1, 4, 16, "barrett")
    (prime,) = _core.prime_search(40, design.n, 1)
    root = _core.smallest_root(prime, design.n)
    low, high = twiddle_tables(prime, root, design)
    assert len(low) * len(high) == design.n
    assert len(low) in (len(high), 2 * len(high))
    for exponent in (0, 1, len(low) - 1, len(low), design.n // 2 + 3, design.n - 1):
        product = int(high[exponent // len(low)]) * int(low[exponent % len(low)]) % prime
        assert product == pow(root, exponent, prime)


@pytest.mark.parametrize(
    ("prime", "message"),
    [
        (_core.prime_search(49, NANO.n, 1)[0], "has 49 bits .* takes primes of 24 to 48 bits"),
        (_core.prime_search(23, NANO.n, 1)[0], "has 23 bits .* takes primes of 24 to 48 bits"),
        ((1 << 40) - 87, "modulo 2N = 16384, and design nano needs 1"),
        (0, "has 0 bits"),
    ],
)
def test_a_prime_that_the_design_cannot_take_is_refused(prime: int, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        modulus_words(prime, NANO)


def test_a_root_of_another_order_is_refused() -> None:
    (prime,) = _core.prime_search(40, NANO.n, 1)
    root = _core.smallest_root(prime, NANO.n)
    for wrong in (0, 1, prime, pow(root, 2, prime)):
        with pytest.raises(ParameterError, match="no primitive root of unity of order 2N = 16384"):
            prime_tables(prime, wrong, NANO)


@pytest.mark.parametrize(("log_n", "cores"), [(8, 32), (9, 1), (13, 4)])
def test_stored_factors_of_a_step_lie_in_one_row(log_n: int, cores: int) -> None:
    """Word m + b belongs to block b of the stage of m blocks; mirrored it is the inverse's."""
    design = replace(
        NANO, log_n=log_n, cores=cores, dyadic_cores=1, word_bits=48, twiddles="stored"
    )
    (prime,) = _core.prime_search(40, design.n, 1)
    root = _core.smallest_root(prime, design.n)
    table = [int(word) for word in stored_twiddles(prime, root, design)]
    for stage in range(log_n):
        m = 1 << stage
        for b in {0, m // 2, m - 1}:
            exponent = int(f"{m + b:0{log_n}b}"[::-1], 2)
            assert table[m + b] == pow(root, exponent, prime)
            assert -pow(root, -exponent, prime) % prime == table[m + (m - 1 - b)]


SPARSE = replace(NANO, name="sparsely", reduction="sparse", family="word48")


def test_a_folded_design_refuses_a_prime_far_from_a_power_of_two() -> None:
    design = replace(load_design("octo"), name="folding", word_bits=60, reduction="folded")
    short, far = 0xFFFFFC0001, 0x1FFFFFFE48001 - (1 << 40)
    with pytest.raises(ParameterError, match=r"near 2\^40, and words of 60 bits need 2\^45"):
        modulus_words(short, design)
    with pytest.raises(
        ParameterError, match=r"take at most 2097151 away from 2.49, and design folding"
    ):
        modulus_words(far, design)
    assert modulus_words(0x1FFFFFFE48001, design)[2] == 49
    limits = parameter_limits(design)
    assert (limits.min_prime_bits, limits.max_prime_bits) == (45, 60)
    assert limits.reduction_error is not None
    assert "away from 2^49" in limits.reduction_error(far)
    assert limits.reduction_error(0x1FFFFFFE48001) == ""


def test_a_sparse_design_is_reported_the_index_of_its_prime() -> None:
    for index, prime in enumerate(FAMILIES["word48"]):
        assert modulus_words(prime, SPARSE).tolist() == [prime, 0, 48, index]


def test_a_prime_outside_the_family_is_refused_with_a_design_that_takes_it() -> None:
    (prime,) = _core.prime_search(48, NANO.n, 1)
    with pytest.raises(
        ParameterError, match=r"not among the 10 primes of family word48.*design nano"
    ):
        modulus_words(prime, SPARSE)
    with pytest.raises(ParameterError, match="reduction = 'barrett', log_n = 13 and word_bits"):
        modulus_words((1 << 59) + 1, SPARSE)


def test_the_families_are_those_that_rtl_is_elaborated_for() -> None:
    text = (rtl_root() / "arith" / "rs_sparse_pkg.sv").read_text()
    formulas = re.findall(r"// (\d+): (2\^.*)", text)
    found: list[list[int]] = []
    for index, formula in formulas:
        value = sum(
            (-1 if sign == "-" else 1) * (1 << int(power) if power else 1)
            for sign, power in re.findall(r"([+-]?) ?(?:2\^(\d+)|1\b)", formula)
        )
        if index == "9":
            found.append([])
        found[-1].insert(0, value)
    assert found == [list(primes) for primes in reversed(FAMILIES.values())]
    assert all(_core.is_prime(q) and q % 2**17 == 1 for primes in found for q in primes)


def test_a_family_is_cut_to_what_the_width_takes() -> None:
    narrow = replace(NANO, word_bits=54, reduction="sparse", family="medha")
    assert list(narrow.sparse_primes.values()) == list(range(1, 10))
