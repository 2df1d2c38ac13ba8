"""The bounds of the security standards: as published, and named wherever a level is printed."""

import math

import numpy as np
import pytest

from ringsmith.errors import ParameterError
from ringsmith.params import BfvParameters, CkksParameters, security_level
from ringsmith.params.context import ntt_tables
from ringsmith.params.flooding import (
    FAILURE,
    Flooding,
    hiding_deviation,
    largest_in_slots,
    surviving_bits,
    tail,
)
from ringsmith.params.sampling import Draw, add_noise, gaussian_integers, uniform_residues
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
        131072 3523 2411 1866
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
        (131072, 3523, "128 bits (2024 guidelines)"),
        (131072, 1866, "256 bits (2024 guidelines)"),
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


# ---- The theorem of noise flooding in numbers, and its sampler -----------------------------------


SEED = 20_261_127


def seeded(seed: int) -> Draw:
    return np.random.default_rng(seed).bytes


def distance_from_normal(numbers: np.ndarray) -> float:
    """Kolmogorov and Smirnov's statistic of numbers against the standard normal distribution."""
    ordered = np.sort(numbers)
    expected = np.array([(1 + math.erf(x / math.sqrt(2))) / 2 for x in ordered])
    steps = np.arange(ordered.size + 1) / ordered.size
    return float(max(np.max(steps[1:] - expected), np.max(expected - steps[:-1])))


@pytest.mark.parametrize("queries", [1, 100, 1 << 20])
@pytest.mark.parametrize("bits", [20, 30, 60])
def test_all_shared_decryptions_together_diverge_by_2_to_the_minus_s_over_24(
    queries: int, bits: int
) -> None:
    noise_bound = 3.7e5
    deviation = Flooding(queries, bits).deviation(noise_bound)
    assert deviation == pytest.approx(math.sqrt(12 * queries) * 2 ** (bits / 2) * noise_bound)
    divergence = queries * noise_bound**2 / (2 * deviation**2)
    assert divergence == pytest.approx(2.0**-bits / 24)
    assert math.sqrt(divergence / 2) <= 0.15 * 2 ** (-bits / 2), "Pinsker's inequality"


@pytest.mark.parametrize("bits", [8, 20, 40])
def test_the_statistical_distance_of_two_circuits_is_2_to_the_minus_s(bits: int) -> None:
    deviation = hiding_deviation(1.0, bits)
    exact = math.erf(2 / (2 * math.sqrt(2) * deviation))  # of Gaussians that are 2 apart
    assert 0.99 * 2.0**-bits < exact <= 2.0**-bits


def test_the_tail_bounds_the_worst_noise_of_the_model() -> None:
    """One product of two complex Gaussians in all slots: how slots depend on each other is free."""
    drawn = np.random.default_rng(SEED)
    x, y = drawn.normal(size=(2, 1 << 18, 2)) / math.sqrt(2)
    length = np.hypot(*x.T) * np.hypot(*y.T)
    for bits in (4, 8, 12):
        assert np.mean(length > tail(2.0**-bits)) <= 2.0**-bits
        assert np.mean(length > tail(2.0**-bits) / 2) > 2.0**-bits, "and not by far"
    assert tail(2.0**-30) == pytest.approx(12.6, abs=0.3)
    assert tail(2.0**-40) > tail(2.0**-30)


def test_bits_are_what_the_largest_noise_of_all_slots_leaves() -> None:
    flooding, n = Flooding(10, 24), 1024
    error = largest_in_slots(n, flooding.deviation(2.0**-40))
    assert flooding.bits(n, 2.0**-40) == pytest.approx(-math.log2(2 * error))
    exceeding = math.exp(-((error / (flooding.deviation(2.0**-40) * math.sqrt(n))) ** 2))
    assert n / 2 * exceeding == pytest.approx(FAILURE)
    assert surviving_bits(7.9, flooding) == 7
    with pytest.raises(ParameterError, match=r"share = 10 and .* = 24 leaves 0\.9 bits after"):
        surviving_bits(0.9, flooding)
    with pytest.raises(ParameterError, match="leaves nan bits"):
        surviving_bits(math.nan, flooding)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 30), "share = 0 is no number of decryptions in 1 … 2"),
        ((True, 30), "share = True"),
        ((1.5, 30), r"share = 1\.5"),
        (((1 << 40) + 1, 30), "share = 1099511627777"),
        ((1, 19), "statistical_security = 19 is no number of bits in 20 … 64: 30 is usual"),
        ((1, 65), "statistical_security = 65"),
    ],
)
def test_numbers_out_of_range_are_refused(arguments: tuple[int, int], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Flooding(*arguments)


@pytest.mark.parametrize("log_deviation", [5, 35.9, 36.1, 60, 100])
def test_integers_are_gaussian(log_deviation: float) -> None:
    deviation, count = 2.0**log_deviation, 1 << 14
    drawn = gaussian_integers(count, deviation, seeded(SEED))
    assert all(isinstance(number, int) for number in drawn)
    numbers = np.array([float(number) for number in drawn]) / deviation
    assert abs(numbers.mean()) < 4 / math.sqrt(count)
    assert numbers.std() == pytest.approx(1, abs=4 / math.sqrt(2 * count))
    assert distance_from_normal(numbers) < 1.63 / math.sqrt(count) + 0.4 / deviation


@pytest.mark.parametrize("log_deviation", [12, 36, 37, 60, 100])
def test_the_low_bits_of_wide_integers_are_random(log_deviation: int) -> None:
    """A double of that size would have zeros there, and the noise below them would be in clear."""
    count, values = 1 << 16, 1 << 6
    drawn = gaussian_integers(count, 2.0**log_deviation, seeded(SEED))

    def spread(numbers: np.ndarray) -> float:
        """Chi squared of the low bits, less its mean, in standard deviations."""
        often = np.bincount((numbers % values).astype(np.int64), minlength=values)
        chi = float(((often - count / values) ** 2).sum() * values / count)
        return (chi - (values - 1)) / math.sqrt(2 * (values - 1))

    assert abs(spread(drawn)) < 4
    if log_deviation >= 60:
        doubles = np.rint(np.random.default_rng(SEED).normal(size=count) * 2.0**log_deviation)
        assert spread(np.array([int(x) for x in doubles], object)) > 100


@pytest.mark.parametrize("ntt", [False, True])
def test_noise_is_added_modulo_every_prime(ntt: bool) -> None:
    parameters = CkksParameters.create(
        n=1024, prime_bits=(40, 30, 30), special_bits=41, scale_bits=30, security=None
    )
    noise = gaussian_integers(1024, 2.0**90, seeded(SEED))
    primes = parameters.data_primes[:2]
    drawn = np.random.default_rng(SEED)
    polynomial = np.array([drawn.integers(0, prime, 1024, np.uint64) for prime in primes])
    found = add_noise(parameters, polynomial.copy(), noise, ntt=ntt)
    assert found.dtype == np.uint64
    for before, after, prime, table in zip(
        polynomial, found, primes, ntt_tables(parameters), strict=False
    ):
        added = np.array([(int(b) - int(a)) % prime for a, b in zip(before, after, strict=True)])
        residues = added.astype(np.uint64)
        if ntt:
            table.inverse(residues)
        assert residues.tolist() == [number % prime for number in noise]


@pytest.mark.parametrize("modulus", [2, 3, 65537, (1 << 60) - 93])
def test_residues_are_uniform_below_any_modulus(modulus: int) -> None:
    found = uniform_residues(modulus, 1 << 14, seeded(SEED))
    assert found.size == 1 << 14
    assert found.max() < modulus
    bins = min(modulus, 16)
    often = np.bincount((found.astype(object) * bins // modulus).astype(np.int64), minlength=bins)
    expected = found.size / bins
    chi = float(((often - expected) ** 2).sum() / expected)
    assert chi < bins - 1 + 4 * math.sqrt(2 * (bins - 1))


def test_the_operating_system_s_randomness_does_not_repeat() -> None:
    assert not np.array_equal(gaussian_integers(64, 1e9), gaussian_integers(64, 1e9))
