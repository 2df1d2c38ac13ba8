"""Modulus words and twiddle tables, against their definitions in plain Python."""

import pytest

from ringsmith import _core
from ringsmith.arch.rpau.constants import modulus_words, prime_tables, twiddle_tables
from ringsmith.arch.rpau.design import RpauDesign, load_design
from ringsmith.errors import ParameterError

NANO = load_design("nano")


@pytest.mark.parametrize("bits", [30, 41, 48])
def test_modulus_words_make_the_barrett_quotient_right_to_three(bits: int) -> None:
    (prime,) = _core.prime_search(bits, NANO.n, 1)
    q, mu, k = (int(word) for word in modulus_words(prime, NANO))
    width = NANO.word_bits
    assert (q, k) == (prime, bits)
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
