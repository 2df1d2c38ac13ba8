"""HE parameters: what is legal, what is refused and in which words, which primes are found."""

import dataclasses
import math
from typing import Any

import pytest

from ringsmith import _core
from ringsmith.errors import ParameterError
from ringsmith.params import (
    CkksParameters,
    KeyNeeds,
    SecurityWarning,
    core_context,
    parameter_set,
    security_level,
)
from ringsmith.params.security import MAX_LOG_QP

GOOD: dict[str, Any] = {
    "n": 8192,
    "prime_bits": (47, 41, 41, 41),
    "special_bits": 48,
    "scale_bits": 41,
}

REFUSED = [
    ({"n": 16384, "special_bits": 60, "prime_bits": (60,) * 8}, "logQP = 540 needs N >= 32768"),
    ({"special_bits": 49}, "logQP = 219 needs N >= 16384 for 128-bit security; N is 8192"),
    ({"security": 192}, "for 192-bit security; N is 8192 and carries 152 bits: lower a prime or"),
    ({"n": 1024, "prime_bits": (60,) * 29}, "is more than any N carries (1747 bits)"),
    ({"security": 100}, "security = 100 is not a level of the HE standard: choose 128, 192, 256"),
    ({"n": 8000}, "N = 8000 is not a power of two in 1024 … 65536"),
    ({"n": 512}, "N = 512 is not"),
    ({"n": 8192.0}, "N = 8192.0 is not"),
    ({"prime_bits": ()}, "0 data primes: name at least 1"),
    ({"prime_bits": (62,), "security": None}, "prime_bits[0] = 62 is outside 20 … 61"),
    ({"prime_bits": (47, 19)}, "prime_bits[1] = 19 is outside"),
    ({"special_bits": 62}, "special_bits = 62 is outside"),
    ({"prime_bits": (47, 41.5)}, "41.5, which is not an int"),
    ({"scale_bits": 0}, "scale_bits = 0 must be a whole number of bits from 1"),
    ({"scale_bits": True}, "scale_bits = True"),
    ({"scale_bits": 170}, "scale = 2^170.0 reaches the data modulus of 170.0 bits"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED)
def test_an_illegal_literal_is_refused_in_words(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        CkksParameters.create(**{**GOOD, **change})
    assert words in str(refusal.value)


PRIMES = (140737488273409, 2199022354433)
REFUSED_PRIMES = [
    ({"data_primes": (140737488273408,)}, "140737488273408 is not prime"),
    ({"data_primes": (1000000007,)}, "and the NTT needs 1"),
    ({"data_primes": (PRIMES[0], PRIMES[0])}, f"prime {PRIMES[0]} stands twice"),
    ({"special_prime": PRIMES[0]}, f"prime {PRIMES[0]} stands twice"),
    ({"data_primes": ()}, "0 data primes"),
    ({"data_primes": (2**61 + 1,)}, "is outside 3 … 2^61"),
    ({"data_primes": (-7,)}, "prime -7 is outside"),
    ({"scale": 0.5}, "scale = 0.5 must be a finite float of at least 1.0"),
    ({"scale": math.inf}, "scale = inf must be"),
    ({"scale": math.nan}, "scale = nan must be"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED_PRIMES)
def test_an_illegal_prime_is_refused_in_words(change: dict[str, Any], words: str) -> None:
    good = {"n": 8192, "data_primes": PRIMES, "special_prime": 281474976694273, "scale": 2.0**41}
    assert CkksParameters.from_primes(**good).security == 192
    with pytest.raises(ParameterError) as refusal:
        CkksParameters.from_primes(**{**good, **change})
    assert words in str(refusal.value)


def test_two_special_primes_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"2 special primes: .* exactly 1"):
        CkksParameters(8192, PRIMES[:1], (PRIMES[1], 281474976694273), 2.0**41)


def test_nano_is_128_bit_secure_and_has_the_primes_of_seal() -> None:
    seal = pytest.importorskip("seal")
    nano = parameter_set("nano")
    found = seal.CoeffModulus.Create(8192, [47, 41, 41, 41, 48])
    assert list(nano.primes) == [modulus.value() for modulus in found]
    assert (nano.log_qp, nano.security, nano.levels, nano.slots) == (218, 128, 3, 4096)
    assert (nano.special, nano.scale) == ((4,), 2.0**41)


@pytest.mark.parametrize("sizes", [(50, 40, 50, 40, 50), (40, 40, 40), (60, 30, 60)])
def test_created_primes_equal_seals(sizes: tuple[int, ...]) -> None:
    seal = pytest.importorskip("seal")
    parameters = CkksParameters.create(
        n=16384, prime_bits=sizes[:-1], special_bits=sizes[-1], scale_bits=30
    )
    found = seal.CoeffModulus.Create(16384, list(sizes))
    assert list(parameters.primes) == [modulus.value() for modulus in found]


def test_the_security_table_equals_seals() -> None:
    seal = pytest.importorskip("seal")
    levels = {
        128: seal.sec_level_type.tc128,
        192: seal.sec_level_type.tc192,
        256: seal.sec_level_type.tc256,
    }
    for level, bounds in MAX_LOG_QP.items():
        for n, bound in bounds.items():
            if n <= 32768:  # where SEAL's table ends
                assert bound == seal.CoeffModulus.MaxBitCount(n, levels[level]), (level, n)


def test_the_security_level_is_the_highest_that_holds() -> None:
    assert [security_level(8192, bits) for bits in (118, 119, 152, 153, 218, 219)] == [
        256,
        192,
        192,
        128,
        128,
        None,
    ]


def test_insecure_parameters_warn_and_say_so() -> None:
    with pytest.warns(SecurityWarning, match="logQP = 219 bits at N = 8192 is below 128-bit"):
        parameters = CkksParameters.create(**{**GOOD, "special_bits": 49, "security": None})
    assert parameters.security is None


def test_parameters_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        parameter_set("nano").n = 4096  # type: ignore[misc]


def test_an_unknown_set_is_refused_with_the_known_names() -> None:
    with pytest.raises(ParameterError, match=r"no parameter set is called 'giga'.*nano"):
        parameter_set("giga")


def test_roots_are_the_cores() -> None:
    nano = parameter_set("nano")
    assert list(nano.roots) == list(core_context(nano).roots)
    assert core_context(nano) is core_context(nano)


def test_galois_elements_are_powers_of_three() -> None:
    nano = parameter_set("nano")
    assert nano.galois_element(1) == 3
    assert nano.galois_element(-1) == pow(3, nano.slots - 1, 2 * nano.n)
    assert nano.conjugation_element == 2 * nano.n - 1
    assert nano.galois_element(5) == _core.galois_element(nano.n, 5)


@pytest.mark.parametrize("steps", [0, 4096, -4096])
def test_a_rotation_that_has_no_element_is_refused(steps: int) -> None:
    with pytest.raises(ParameterError, match=f"rotation by {steps} steps: take 1 … 4095"):
        parameter_set("nano").galois_element(steps)


def test_key_needs_join_to_the_larger_limbs() -> None:
    joined = KeyNeeds(3, {3: 2, 9: 4}) | KeyNeeds(None, {3: 4, 27: 1})
    assert joined == KeyNeeds(3, {3: 4, 9: 4, 27: 1})
    assert (KeyNeeds() | KeyNeeds(2)).relin == 2
