"""The bounds of the security standards: as published, and named wherever a level is printed."""

import pytest

from ringsmith.errors import ParameterError
from ringsmith.params import BfvParameters, security_level
from ringsmith.params.security import STANDARDS, check_security, security_text


def test_the_security_table_equals_seals() -> None:
    seal = pytest.importorskip("seal")
    levels = {
        128: seal.sec_level_type.tc128,
        192: seal.sec_level_type.tc192,
        256: seal.sec_level_type.tc256,
    }
    for level, bounds in STANDARDS["2018"].bounds.items():
        for n, bound in bounds.items():
            assert bound == seal.CoeffModulus.MaxBitCount(n, levels[level]), (level, n)


PUBLISHED = {
    "2018": (
        "homomorphicencryption.org 2018, table 1, ternary secrets",
        """
        1024 27 19 14
        2048 54 37 29
        4096 109 75 58
        8192 218 152 118
        16384 438 305 237
        32768 881 611 476
        """,
    ),
    "2018-post-quantum": (
        "homomorphicencryption.org 2018, table 2, ternary secrets",
        """
        1024 25 17 13
        2048 51 35 27
        4096 101 70 54
        8192 202 141 109
        16384 411 284 220
        32768 827 571 443
        """,
    ),
    "2024": (
        "eprint 2024/463, table 5.2, ternary secrets",
        """
        1024 26
        2048 53 36 27
        4096 106 73 56
        8192 214 147 114
        16384 430 297 230
        32768 868 597 462
        65536 1747 1199 929
        """,
    ),
}
"""N, and the largest log2 of the modulus for 128, 192 and 256 bits, as published."""


def test_the_tables_are_the_published_ones() -> None:
    assert STANDARDS.keys() == PUBLISHED.keys()
    for key, (_, text) in PUBLISHED.items():
        found: dict[int, dict[int, int]] = {128: {}, 192: {}, 256: {}}
        for line in text.split("\n"):
            for level, bound in zip(found, line.split()[1:], strict=False):
                found[level][int(line.split()[0])] = int(bound)
        assert STANDARDS[key].bounds == found


@pytest.mark.parametrize("n", [4096, 8192, 16384, 32768])
def test_seals_default_primes_are_accepted_and_their_standard_is_named(n: int) -> None:
    """They fill the bound of 2018, and so exceed that of 2024."""
    seal = pytest.importorskip("seal")
    *data, special = (modulus.value() for modulus in seal.CoeffModulus.BFVDefault(n))
    parameters = BfvParameters.from_primes(
        n=n, data_primes=data, special_prime=special, plain_modulus=257
    )
    bounds = [STANDARDS[key].bounds[128][n] for key in ("2018", "2024")]
    assert bounds[1] < parameters.log_qp <= bounds[0]
    assert parameters.security == 128
    assert parameters.security_text == (
        "128 bits (2018 standard); below 128 by the 2024 guidelines: at most "
        f"{bounds[1]} bits of modulus at N = {n}"
    )
    assert security_level(n, parameters.log_qp, "2024") is None


@pytest.mark.parametrize(
    ("n", "log_qp", "text"),
    [
        (8192, 214, "128 bits (2018 standard, 2024 guidelines)"),
        (8192, 118, "256 bits (2018 standard); 192 bits (2024 guidelines)"),
        (8192, 150, "192 bits (2018 standard); 128 bits (2024 guidelines)"),
        (65536, 1747, "128 bits (2024 guidelines)"),
        (65536, 929, "256 bits (2024 guidelines)"),
        (
            8192,
            219,
            "below 128 bits: N = 8192 carries at most 218 bits (2018 standard) or 214 bits (2024 "
            "guidelines)",
        ),
        (65536, 1748, "below 128 bits: N = 65536 carries at most 1747 bits (2024 guidelines)"),
    ],
)
def test_a_level_is_said_with_its_standard(n: int, log_qp: int, text: str) -> None:
    assert security_text(n, log_qp) == text


@pytest.mark.parametrize(
    ("n", "log_qp", "level", "standard", "words"),
    [
        (8192, 215, 128, "2024", "logQP = 215 needs N >= 16384 for 128-bit security; N is 8192"),
        (8192, 215, 128, "2024", "carries 214 bits (2024 guidelines): lower a prime or raise N"),
        (8192, 203, 128, "2018-post-quantum", "carries 202 bits (2018 post-quantum standard)"),
        (8192, 435, 128, None, "needs N >= 32768 (2024 guidelines) or 16384 (2018 standard) for"),
        (32768, 1000, 128, None, "needs N >= 65536 (2024 guidelines) for 128-bit security"),
        (1024, 27, 192, "2024", "needs N >= 2048 for 192-bit security; N is 1024 and carries 0"),
        (65536, 1748, 128, None, "logQP = 1748 is more than any N carries (1747 bits) for 128-bit"),
        (8192, 100, 128, "2016", "standard = '2016' is no security standard: choose one of '2018'"),
        (8192, 100, 100, "2024", "security = 100 is not a level of the security standards"),
    ],
)
def test_a_modulus_that_is_too_large_is_refused_with_the_bound_and_its_standard(
    n: int, log_qp: int, level: int, standard: str | None, words: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        check_security(n, log_qp, level, standard)
    assert words in str(caught.value)


def test_each_bound_is_the_largest_accepted() -> None:
    for key, standard in STANDARDS.items():
        for level, bounds in standard.bounds.items():
            for n, bound in bounds.items():
                check_security(n, bound, level, key)
                assert (security_level(n, bound, key) or 0) >= level
                assert (security_level(n, bound + 1, key) or 0) < level
                with pytest.raises(ParameterError, match=f"logQP = {bound + 1} "):
                    check_security(n, bound + 1, level, key)


def test_the_security_level_is_the_highest_that_holds() -> None:
    of_either = [security_level(8192, bits) for bits in (118, 119, 152, 153, 218, 219)]
    assert of_either == [256, 192, 192, 128, 128, None]
    of_2024 = [security_level(8192, bits, "2024") for bits in (114, 115, 147, 148, 214, 215)]
    assert of_2024 == [256, 192, 192, 128, 128, None]
