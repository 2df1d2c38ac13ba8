"""BFV parameters: what is legal, what is refused and in which words, which primes are found."""

import dataclasses
import math
import warnings
from typing import Any

import pytest

from ringsmith import _core
from ringsmith.errors import ParameterError
from ringsmith.params import (
    PARAMETER_SETS,
    BfvParameters,
    CkksParameters,
    SecurityWarning,
    bfv_context,
    ckks_set,
    parameter_set,
)
from ringsmith.params.bfv import batching_prime
from ringsmith.params.extension import behz_count, hps_bound

GOOD: dict[str, Any] = {
    "n": 8192,
    "prime_bits": (43, 43, 44),
    "special_bits": 44,
    "plain_bits": 20,
}
HPS = {"multiplication": "hps"}
WORD = {"special_bits": (), "relinearization": "word", "word_bits": 65}
RESIDUE = {"special_bits": (), "relinearization": "residue", "dnum": 2}


def made(**change: Any) -> BfvParameters:  # noqa: ANN401 - any literal
    """GOOD with some values changed."""
    return BfvParameters.create(**{**GOOD, **change})


def test_a_set_has_what_seal_has() -> None:
    seal = pytest.importorskip("seal")
    found = made()
    moduli = seal.CoeffModulus.Create(8192, [43, 43, 44, 44])
    assert list(found.primes) == [modulus.value() for modulus in moduli]
    assert found.plain_modulus == seal.PlainModulus.Batching(8192, 20).value()
    assert (found.scheme, found.batching, found.slots, found.row_size) == ("bfv", True, 8192, 4096)
    assert (found.multiplication, found.relinearization) == ("behz", "special_prime")
    assert (found.key_digits, found.max_error, found.log_qp, found.security) == (3, 21, 174, 128)


@pytest.mark.parametrize(("n", "bits"), [(1024, 14), (4096, 16), (4096, 33), (32768, 60)])
def test_batching_primes_are_seals(n: int, bits: int) -> None:
    seal = pytest.importorskip("seal")
    assert batching_prime(n, bits) == seal.PlainModulus.Batching(n, bits).value()


def test_a_batching_prime_is_none_of_the_ciphertexts() -> None:
    largest = batching_prime(8192, 44)
    assert batching_prime(8192, 44, [largest]) < largest
    assert math.gcd(made(plain_bits=44).plain_modulus, math.prod(made().primes)) == 1


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"n": 4096, "plain_bits": 14, "security": None}, "plain_bits = 14: no such prime is 1 mod 2N"),
    ({"plain_bits": 13}, "plain_bits = 13 is not a number of bits in 15 … 60: a t that batches"),
    ({"plain_bits": 61}, "plain_bits = 61 is not a number of bits in"),
    ({"plain_bits": True}, "plain_bits = True is not"),
    ({"plain_bits": None}, "name either plain_bits, for a t that batches, or plain_modulus"),
    ({"plain_modulus": 257}, "name either plain_bits"),
    ({"plain_bits": None, "plain_modulus": 1}, "plain_modulus = 1 is not a whole number in 2 …"),
    ({"plain_bits": None, "plain_modulus": 1 << 60}, "is not a whole number in 2 … 2^60 - 1"),
    ({"plain_bits": None, "plain_modulus": 2.0}, "plain_modulus = 2.0 is not a whole number"),
    ({"plain_bits": None, "plain_modulus": 3 * 8796092792833}, "is not coprime to the prime 879"),
    ({"prime_bits": (21,), "plain_bits": 40}, "is not below q, which has 21 bits: add a data"),
    ({"multiplication": "karatsuba"}, "multiplication = 'karatsuba' is not one of behz, hps"),
    ({"relinearization": "bits"}, "relinearization = 'bits' is not one of special_prime, word"),
    ({"special_bits": ()}, "0 special primes: key switching needs at least 1"),
    ({**WORD, "special_bits": 44}, "1 special primes: relinearization 'word' has none"),
    ({**WORD, "word_bits": 0}, "word_bits = 0 is not a number of bits in 1 … 130: 65 makes two"),
    ({**WORD, "word_bits": 131}, "word_bits = 131 is not a number of bits in 1 … 130"),
    ({**WORD, "dnum": 1}, "dnum = 1: relinearization 'word' has words for digits: leave it out"),
    ({"word_bits": 30}, "word_bits = 30: relinearization 'special_prime' has no words"),
    ({**RESIDUE, "special_bits": 44}, "1 special primes: relinearization 'residue' has none"),
    ({**RESIDUE, "word_bits": 65}, "word_bits = 65: relinearization 'residue' has no words"),
    ({**RESIDUE, "dnum": 4}, "dnum = 4 is not a number of digits in 1 … 3"),
    ({"prime_bits": (61, 43)}, "has 61 bits: BFV takes data primes, and with multiplication 'be"),
    ({"prime_bits": (61, 43), **HPS}, "of at most 60 bits, since it computes in others of 61"),
    ({"special_bits": 61}, "has 61 bits: BFV takes data primes, and with multiplication 'behz' sp"),
    ({"extension_primes": (12289,)}, "1 extension primes: those of multiplication 'behz' follow"),
    ({**HPS, "extension_primes": (12289,)}, "12289 is 12289 mod 2N = 16384"),
    ({**HPS, "extension_primes": (65537,)}, "have a product of 17 bits, and hps products need one"),
    ({**HPS, "extension_primes": ("a",)}, "holds 'a', which is not an int"),
    ({"error_deviation": 3.0}, "error_deviation = 3.0 is not a float in 3.2404 … 1024"),
    ({"error_deviation": math.nan}, "error_deviation = nan is not a float"),
    ({"error_deviation": 8}, "error_deviation = 8 is not a float"),
    ({"special_bits": 60, "prime_bits": (60, 60, 60)}, "logQP = 240 needs N >= 16384"),
    ({"dnum": 4}, "dnum = 4 is not a number of digits in 1 … 3"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED)
def test_an_illegal_literal_is_refused_in_words(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        made(**change)
    assert words in str(caught.value)


def test_a_plain_modulus_without_slots_says_so() -> None:
    for t in (2, 256, 1009, 65536):
        parameters = made(plain_bits=None, plain_modulus=t)
        assert not parameters.batching
        with pytest.raises(ParameterError, match=f"t = {t} does not batch: slots need a prime"):
            parameters.require_batching()
    made().require_batching()


# ---- extension primes ----------------------------------------------------------------------------


def test_behz_primes_are_the_largest_of_61_bits_but_the_second() -> None:
    parameters = made()
    largest = _core.prime_search(61, 8192, 8)
    assert parameters.extension_primes == (largest[0], *largest[2:5])  # m_sk; gamma is left out
    assert parameters.extended_primes[:4] == parameters.primes
    assert [len(parameters.extension(limbs)) for limbs in (1, 2, 3)] == [2, 3, 4]
    assert parameters.extension(2) == (4, 5, 6)
    for q, root in zip(parameters.extended_primes, parameters.extended_roots, strict=True):
        assert pow(root, parameters.n, q) == q - 1


def test_behz_takes_a_prime_more_where_q_and_t_are_wide() -> None:
    """SEAL: 32 + bits(t) + bits(q) >= 61 * L + 61 adds one to the base B."""
    primes = _core.prime_search(60, 8192, 3)
    assert behz_count(primes, 1 << 29) == 4  # 32 + 30 + 180 = 242 < 244
    assert behz_count(primes, 1 << 31) == 5  # 32 + 32 + 180 = 244
    with pytest.warns(SecurityWarning):
        wide = made(prime_bits=(60,) * 3, special_bits=60, plain_bits=40, security=None)
    assert len(wide.extension_primes) == 5


def test_hps_primes_are_the_fewest_that_reach_the_bound() -> None:
    parameters = made(**HPS)
    assert not set(parameters.extension_primes) & set(parameters.primes)
    assert {q.bit_length() for q in parameters.extension_primes} == {44}
    bound = hps_bound(8192, parameters.data_primes, parameters.plain_modulus)
    assert bound == 2 * parameters.plain_modulus * 8192 * math.prod(parameters.data_primes)
    assert math.prod(parameters.extension_primes) >= bound
    assert math.prod(parameters.extension_primes[:-1]) < bound
    again = made(**HPS, extension_primes=parameters.extension_primes)
    assert again == parameters
    assert parameters.extension(3) == tuple(range(4, 4 + len(parameters.extension_primes)))
    for limbs in (1, 2, 3):
        chosen = [parameters.extended_primes[i] for i in parameters.extension(limbs)]
        bound = hps_bound(8192, parameters.data_primes[:limbs], parameters.plain_modulus)
        assert math.prod(chosen) >= bound > math.prod(chosen[:-1])


def test_hps_primes_are_found_where_special_primes_are_wider() -> None:
    """Of 19 primes of 20 bits, 8 are data primes, and 9 are needed; the special ones take none."""
    narrow = {"n": 2048, "plain_bits": None, "plain_modulus": 17, "security": None, **HPS}
    with pytest.warns(SecurityWarning):
        found = made(**narrow, prime_bits=(20,) * 8, special_bits=(30, 30, 30))
    assert len(found.extension_primes) == 9
    with pytest.raises(ParameterError) as caught:
        made(**narrow, prime_bits=(20,) * 9, special_bits=30)
    message = str(caught.value)
    assert "extension primes, 11 or more, and q's, for multiplication 'hps': only 19" in message
    assert "give extension_primes, which may be wider than q's" in message


def test_the_lowest_level_has_a_q_above_t() -> None:
    assert [made(plain_bits=bits).min_limbs for bits in (20, 43, 44, 60)] == [1, 1, 2, 2]
    assert (made().levels, made(plain_bits=60).levels) == (2, 1)


def test_words_are_counted_at_every_level() -> None:
    parameters = made(**WORD)
    assert (parameters.special_primes, parameters.primes) == ((), parameters.data_primes)
    assert [parameters.words(limbs) for limbs in (1, 2, 3)] == [1, 2, 2]
    assert parameters.key_digits == 2
    widest = (2**65 - 1) + (math.prod(parameters.primes) >> 65)
    assert parameters.key_switch_error_bound(3) == pytest.approx(21 * 8192 * widest)


def test_residue_digits_are_groups_of_primes() -> None:
    parameters = made(**RESIDUE)
    assert (parameters.special_primes, parameters.key_digits) == ((), 2)
    assert [parameters.digits(limbs) for limbs in (1, 3)] == [[(0,)], [(0, 1), (2,)]]
    q0, q1, q2 = parameters.primes
    assert parameters.key_switch_error_bound(3) == pytest.approx(21 * 8192 * (q0 * q1 + q2) / 2)
    assert made(**{**RESIDUE, "dnum": 0}).key_digits == 3


def test_words_are_refused_where_keys_have_none() -> None:
    with pytest.raises(ParameterError, match="'custom' have relinearization 'special_prime', whi"):
        made().words(1)


def test_hps_takes_a_special_prime_of_61_bits() -> None:
    wide = made(**HPS, special_bits=61, prime_bits=(60, 60))
    assert bfv_context(wide).plain_modulus == wide.plain_modulus


# ---- the named set, and the level ----------------------------------------------------------------


def test_heaws_has_the_papers_shape() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = PARAMETER_SETS["heaws"]()
    assert isinstance(found, BfvParameters)
    assert any("its authors state 80 bits" in str(w.message) for w in caught)
    assert (found.n, found.limbs, len(found.extension_primes)) == (4096, 6, 7)
    assert {q.bit_length() for q in found.extended_primes} == {30}
    assert found.log_qp == 180
    assert math.prod(found.extended_primes).bit_length() >= 372
    assert (found.multiplication, found.relinearization, found.key_digits) == ("hps", "residue", 2)
    assert (found.error_deviation, found.max_error, found.plain_modulus) == (102.0, 926, 2)


def test_named_sets_are_found_for_both_schemes() -> None:
    heaws = parameter_set("heaws")
    assert heaws is parameter_set("heaws")
    nano = parameter_set("nano")
    assert isinstance(nano, CkksParameters)
    assert (heaws.scheme, nano.scheme) == ("bfv", "ckks")
    assert ckks_set("nano") is nano
    with pytest.raises(ParameterError, match="heaws is a BFV set and this takes CKKS sets: choose"):
        ckks_set("heaws")


def test_insecure_bfv_parameters_warn_and_say_so() -> None:
    with pytest.warns(SecurityWarning, match="logQP = 240 bits at N = 8192 is below 128-bit"):
        made(prime_bits=(60, 60, 60), special_bits=60, security=None)


def test_given_primes_are_taken() -> None:
    first = made()
    again = BfvParameters.from_primes(
        n=8192,
        data_primes=first.data_primes,
        special_prime=first.special_primes,
        plain_modulus=first.plain_modulus,
    )
    assert again == first
    assert dataclasses.replace(first, plain_modulus=257, extension_primes=()).plain_modulus == 257
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.plain_modulus = 3  # type: ignore[misc]
