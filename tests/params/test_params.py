"""HE parameters: what is legal, what is refused and in which words, which primes are found."""

import dataclasses
import math
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ringsmith import _core
from ringsmith.errors import ParameterError
from ringsmith.hdl.sources import rtl_root
from ringsmith.interop import SealParameters
from ringsmith.params import (
    PARAMETER_SETS,
    BfvParameters,
    CkksParameters,
    KeyNeeds,
    KeyShape,
    SecurityWarning,
    core_context,
    parameter_set,
    security_level,
)
from ringsmith.params.digits import digits_below
from ringsmith.params.files import parameters_file, parameters_text
from ringsmith.params.sets import MEDHA_WIDE_PRIME
from ringsmith.params.sparse import MAX_SHIFT, MAX_TERMS, sparse_primes

GOOD: dict[str, Any] = {
    "n": 8192,
    "prime_bits": (47, 41, 41, 41),
    "special_bits": 48,
    "scale_bits": 41,
}

REFUSED = [
    ({"n": 16384, "special_bits": 60, "prime_bits": (60,) * 8}, "logQP = 540 needs N >= 32768"),
    ({"special_bits": 49}, "logQP = 219 needs N >= 16384 for 128-bit security; N is 8192"),
    ({"special_bits": 49}, "carries 218 bits (2018 standard) or 214 bits (2024 guidelines): lower"),
    ({"security": 192}, "N is 8192 and carries 152 bits (2018 standard) or 147 bits (2024 guide"),
    ({"n": 1024, "prime_bits": (60,) * 29}, "is more than any N carries (1747 bits)"),
    ({"security": 100}, "security = 100 is not a level of the security standards: choose 128, 192"),
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
    ({"special_bits": ()}, "0 special primes: key switching needs at least 1"),
    ({"special_bits": (48, 62), "security": None}, "special_bits[1] = 62 is outside 20 … 61"),
    ({"special_bits": (48, 41)}, "logQP = 259 needs N >= 16384 for 128-bit security"),
    ({"dnum": 3}, "dnum = 3 does not cut 4 data primes: digits of 2 primes make 2 digits"),
    ({"dnum": 5}, "dnum = 5 is not a number of digits in 1 … 4, the data primes"),
    ({"dnum": -1}, "dnum = -1 is not a number of digits"),
    ({"dnum": 2.0}, "dnum = 2.0 is not a number of digits"),
    ({"digit_sizes": (2, 1)}, "digit_sizes = [2, 1] does not cut 4 data primes: name how many"),
    ({"digit_sizes": (4, 0)}, "digit_sizes = [4, 0] does not cut"),
    ({"digit_sizes": (3, True)}, "digit_sizes = [3, True] does not cut"),
    ({"digit_sizes": (2, 2.0)}, "digit_sizes = [2, 2.0] does not cut"),
    ({"digit_sizes": 4}, "digit_sizes = 4 is no list"),
    ({"digit_sizes": (1, 3), "dnum": 3}, "dnum = 3, and digit_sizes has 2 digits: leave dnum out"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED)
def test_an_illegal_literal_is_refused_in_words(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        CkksParameters.create(**{**GOOD, **change})
    assert words in str(caught.value)


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
    ({"special_prime": ()}, "0 special primes: key switching needs at least 1"),
    ({"n": 2048}, "logQP = 136 needs N >= 8192 for 128-bit security; N is 2048"),
    ({"security": 256}, "logQP = 136 needs N >= 16384 for 256-bit security"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED_PRIMES)
def test_an_illegal_prime_is_refused_in_words(change: dict[str, Any], words: str) -> None:
    good = {"n": 8192, "data_primes": PRIMES, "special_prime": 281474976694273, "scale": 2.0**41}
    assert CkksParameters.from_primes(**good).security == 192
    with pytest.raises(ParameterError) as caught:
        CkksParameters.from_primes(**{**good, **change})
    assert words in str(caught.value)


def test_sets_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(ParameterError, match="0 special primes: key switching needs at least 1"):
        CkksParameters(8192, PRIMES[:1], (), 2.0**41)


def test_digits_are_groups_of_consecutive_primes() -> None:
    parameters = CkksParameters.create(
        n=16384, prime_bits=(40,) * 7, special_bits=(41, 41, 41), scale_bits=40, dnum=3
    )
    assert (parameters.dnum, parameters.digit_size, parameters.special) == (3, 3, (7, 8, 9))
    assert parameters.digits(7) == [(0, 1, 2), (3, 4, 5), (6,)]
    assert parameters.digits(4) == [(0, 1, 2), (3,)]
    context = core_context(parameters)
    assert (context.dnum, context.max_limbs, context.primes) == (3, 7, list(parameters.primes))
    assert parameter_set("nano").digits(3) == [(0,), (1,), (2,)]


def test_digits_may_differ_in_their_primes(tmp_path: Path) -> None:
    literal: dict[str, Any] = {
        "n": 16384,
        "prime_bits": (50, *(40,) * 6),
        "special_bits": (41, 41, 41),
        "scale_bits": 40,
    }
    parameters = CkksParameters.create(**literal, digit_sizes=(2, 1, 4))
    assert (parameters.dnum, parameters.digit_size, parameters.key_digits) == (3, 4, 3)
    assert parameters.digits(7) == [(0, 1), (2,), (3, 4, 5, 6)]
    assert parameters.digits(4) == [(0, 1), (2,), (3,)]
    assert [parameters.digit_count(limbs) for limbs in range(1, 8)] == [1, 1, 2, 3, 3, 3, 3]
    assert parameters.key_shape(3) == KeyShape(2, (0, 1, 2, 7, 8, 9))
    context = core_context(parameters)
    assert (context.dnum, context.max_limbs) == (3, 7)
    equal = CkksParameters.create(**literal, digit_sizes=(3, 3, 1))
    assert (equal.dnum, equal.digit_sizes) == (3, ())
    assert equal == CkksParameters.create(**literal, dnum=3)
    path = tmp_path / "mine.toml"
    path.write_text(parameters_text(parameters))
    assert parameters_file(path) == parameters
    with pytest.raises(_core.ParameterError, match="2 digits of 3 primes together, of 4 data"):
        _core.Context(1024, _core.prime_search(30, 1024, 5), digit_sizes=[1, 2])
    with pytest.raises(_core.ParameterError, match="a digit of 4 primes from prime 1 of 4 data"):
        _core.Context(1024, _core.prime_search(30, 1024, 5), digit_sizes=[1, 4])


def test_digits_below_the_special_primes_are_as_large_as_these_allow() -> None:
    wide, narrow = _core.prime_search(50, 1024, 4), _core.prime_search(30, 1024, 6)
    assert digits_below([*wide, *narrow], [wide[0] * 2**10, wide[1]]) == (2, 2, 3, 3)
    assert digits_below([*wide, *narrow], [wide[0] * 2**5, wide[1]]) == (1, 1, 1, 2, 3, 2)
    assert digits_below(narrow, narrow[:1]) == (1,) * 6


# ---- the papers' sets ----------------------------------------------------------------------------

Levels = tuple[int | None, int | None]
PAPERS: list[tuple[str, tuple[int, int, int, int], Levels, int | None]] = [
    # name, (N, L, dnum, k), levels by 2018 and 2024, level that its authors state where they do
    ("medha-set1", (1 << 14, 7, 7, 1), (128, None), None),
    ("medha-set2", (1 << 15, 9, 9, 1), (192, 192), None),
    ("medha21-set1", (1 << 14, 6, 6, 1), (128, 128), 151),
    ("medha21-set2", (1 << 14, 7, 7, 1), (128, None), 130),
    ("medha21-set3", (1 << 14, 8, 8, 1), (None, None), 115),
    ("framework-set1", (1 << 16, 45, 45, 1), (None, 128), 98),
    ("framework-set2", (1 << 16, 24, 3, 8), (None, 192), 128),
    ("framework-set3", (1 << 14, 9, 1, 1), (128, 128), 128),
    ("lola-mnist", (1 << 13, 6, 6, 1), (128, 128), None),
    ("lola-cifar10", (1 << 14, 7, 7, 1), (192, 192), None),
]


@pytest.mark.parametrize(("name", "shape", "levels", "declared"), PAPERS)
def test_the_papers_sets_have_their_shape_and_level(
    name: str, shape: tuple[int, int, int, int], levels: Levels, declared: int | None
) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = PARAMETER_SETS[name]()
    assert (found.n, found.limbs, found.dnum, len(found.special_primes)) == shape
    assert tuple(security_level(found.n, found.log_qp, key) for key in ("2018", "2024")) == levels
    assert (found.declared_security, found.name) == (declared, name)
    highest = max((level for level in levels if level), default=None)
    assert found.security == highest
    warned = [str(w.message) for w in caught if issubclass(w.category, SecurityWarning)]
    assert bool(warned) == (highest is None or (declared or 128) < 128)
    assert all(f"its authors state {declared} bits" in text for text in warned)


def test_medhas_primes_are_sparse_and_serve_four_n() -> None:
    sets = [PARAMETER_SETS[name]() for name, *_ in PAPERS if name.startswith("medha")]
    for found in sets:
        assert found.primes[0] == 2**59 + 2**25 + 2**22 - 2**20 + 1
        assert [q.bit_length() for q in found.primes] == [60] + [54] * found.limbs
        assert all(q % 2**17 == 1 for q in found.primes)
    assert [sum(q.bit_length() for q in s.primes) for s in sets] == [438, 546, 384, 438, 492]


def test_the_frameworks_sets_have_the_largest_primes_for_a_ring_of_2_to_the_16() -> None:
    sets = [PARAMETER_SETS[name]() for name, *_ in PAPERS if name.startswith("framework")]
    assert [len(found.primes) for found in sets] == [46, 32, 10]
    for found in sets:
        searched = _core.prime_search(32, 1 << 16, len(found.primes))
        assert sorted(found.primes) == sorted(searched)


# ---- sparse primes -------------------------------------------------------------------------------


def listed_families(text: str) -> dict[str, list[int]]:
    """The primes of each family of rs_sparse_pkg.sv, number 0 first."""
    families = {}
    for name, body in re.findall(r"localparam family_t (\w+) = \{(.*?)\n  \};", text, re.DOTALL):
        values = []
        for exponent, *terms in re.findall(r"sparse\((\d+), (-?\d+), (-?\d+), (-?\d+)\)", body):
            powers = [int(term) for term in terms if term != "0"]
            signed = sum((1 if power > 0 else -1) << abs(power) for power in powers)
            values.append((1 << int(exponent)) + signed + 1)
        families[name] = values[::-1]
    return families


def test_the_hardwares_lists_are_these_families() -> None:
    families = listed_families((rtl_root() / "arith" / "rs_sparse_pkg.sv").read_text())
    narrow = [prime.value for prime in sparse_primes(54, 9)]
    assert families == {
        "Medha": [MEDHA_WIDE_PRIME.value, *narrow],
        "Word48": [prime.value for prime in sparse_primes(48, 10)],
    }
    arith = (rtl_root() / "arith" / "rs_arith_pkg.sv").read_text()
    assert f"SparseTerms = {MAX_TERMS};" in arith
    assert f"SparseShifts = {MAX_SHIFT + 1};" in arith


@pytest.mark.parametrize("bits", [30, 32, 36, 42, 48, 54, 60])
def test_sparse_primes_are_primes_of_their_form(bits: int) -> None:
    low, high = 14, min(25, bits - 3)
    found = sparse_primes(bits, 8, low=low, high=high)
    values = [prime.value for prime in found]
    assert values == sorted(set(values))
    for prime in found:
        assert _core.is_prime(prime.value)
        assert prime.value.bit_length() == bits
        assert prime.value % 2**low == 1
        assert 1 <= len(prime.terms) <= 3
        formula = re.sub(r"2\^(\d+)", r"2**\1", str(prime))
        assert evaluate_formula(formula) == prime.value


def evaluate_formula(formula: str) -> int:
    """The value of a text such as 2**5 + 2**3 - 2**2 + 1."""
    total = 0
    for sign, base, exponent in re.findall(r"([+-]?) ?(\d+)(?:\*\*(\d+))?", formula):
        total += (-1 if sign == "-" else 1) * int(base) ** int(exponent or 1)
    return total


@pytest.mark.parametrize("low", [16, 17])
def test_medhas_wide_prime_is_found_by_the_search(low: int) -> None:
    assert MEDHA_WIDE_PRIME in sparse_primes(60, 9 if low == 17 else 13, low=low)


@pytest.mark.parametrize(
    ("bits", "count", "options", "words"),
    [
        (20, 1, {}, "sparse primes of 20 bits: choose 21 … 61 bits"),
        (54, 0, {}, "0 primes: ask for at least 1"),
        (54, 1000, {}, "1000 were asked for: lower low, raise high or take more terms"),
        (54, 1, {"terms": 4}, "4 terms: the family has 1 … 3"),
        (54, 1, {"low": 26}, "terms from 2^26 to 2^25: choose 1 <= low"),
        (54, 1, {"high": 28}, "terms from 2^17 to 2^28"),
    ],
)
def test_a_sparse_family_that_cannot_be_is_refused(
    bits: int, count: int, options: dict[str, int], words: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        sparse_primes(bits, count, **options)
    assert words in str(caught.value)


# ---- nano -------------------------------------------------------------------------


def test_nano_is_128_bit_secure_and_has_the_primes_of_seal() -> None:
    seal = pytest.importorskip("seal")
    nano = parameter_set("nano")
    found = seal.CoeffModulus.Create(8192, [47, 41, 41, 41, 48])
    assert list(nano.primes) == [modulus.value() for modulus in found]
    assert (nano.log_qp, nano.security, nano.levels, nano.slots) == (218, 128, 3, 4096)
    assert (nano.special, nano.scale) == ((4,), 2.0**41)
    assert nano.security_text == (
        "128 bits (2018 standard); below 128 by the 2024 guidelines: at most 214 bits of modulus "
        "at N = 8192"
    )


@pytest.mark.parametrize("sizes", [(50, 40, 50, 40, 50), (40, 40, 40), (60, 30, 60)])
def test_created_primes_equal_seals(sizes: tuple[int, ...]) -> None:
    seal = pytest.importorskip("seal")
    parameters = CkksParameters.create(
        n=16384, prime_bits=sizes[:-1], special_bits=sizes[-1], scale_bits=30
    )
    found = seal.CoeffModulus.Create(16384, list(sizes))
    assert list(parameters.primes) == [modulus.value() for modulus in found]


def test_insecure_parameters_warn_and_say_so() -> None:
    with pytest.warns(
        SecurityWarning,
        match=r"logQP = 219 bits at N = 8192 is below 128-bit security: .* N carries at most "
        r"218 bits \(2018 standard\) or 214 bits \(2024 guidelines\)",
    ):
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


# The identity of parameter sets: what changes it, what does not, and that it never changes


def bfv_of(t: int) -> BfvParameters:
    """Small BFV parameters."""
    return BfvParameters.create(
        n=1024, prime_bits=(40, 40), special_bits=41, plain_modulus=t, security=None
    )


def test_the_identity_is_seals_key_level_name_where_seal_can_hold_the_set(
    small: CkksParameters,
) -> None:
    for parameters in (small, bfv_of(12289)):
        shape = SealParameters.from_parameters(parameters)
        assert parameters.parameters_id == shape.parms_id(len(parameters.primes))
        assert parameters.parameters_id == shape.parameters_id
        assert shape.to_parameters().parameters_id == parameters.parameters_id


def test_names_scales_and_declared_levels_do_not_change_the_identity(small: CkksParameters) -> None:
    again = replace(small, name="again", scale=2.0**30, declared_security=80)
    assert again.parameters_id == small.parameters_id


def test_every_field_of_key_switching_changes_the_identity(small: CkksParameters) -> None:
    exact = bfv_of(12289)
    a, b, c = small.data_primes[:3]
    moved = replace(small, data_primes=small.data_primes[:-1], dnum=0)
    sets = [
        small,
        moved,
        replace(small, dnum=3),
        replace(small, dnum=0, digit_sizes=(1, small.limbs - 1)),
        replace(moved, special_primes=(*small.special_primes, small.data_primes[-1]), dnum=2),
        replace(small, data_primes=(b, a, c, *small.data_primes[3:])),
        exact,
        bfv_of(40961),
        replace(exact, multiplication="hps", extension_primes=()),
        replace(exact, error_deviation=102.0),
        replace(exact, relinearization="word", word_bits=20, special_primes=()),
        replace(exact, relinearization="word", word_bits=21, special_primes=()),
        replace(exact, relinearization="residue", special_primes=()),
    ]
    identities = [each.parameters_id for each in sets]
    assert {len(each) for each in identities} == {32}
    assert len(set(identities)) == len(sets)


KNOWN = {
    "nano": "6702e3118155644c3239befe6fdf0bad03f7f95e36d84b1f3db8d663fa3aec2d",
    "framework-set1": "c5effb4895a8ec857dc44c7e8e3314bc3376c3f03918bc68bcff9598923abffa",
    "heaws": "59ff549462a57a929e9a5d38cb0ac7b63d5fd1f41d58735eb0a9144ba6b4f174",
}
"""Identities never change: files hold them."""


@pytest.mark.parametrize("name", KNOWN)
def test_identities_of_named_sets_never_change(name: str) -> None:
    assert parameter_set(name).parameters_id.hex() == KNOWN[name]
