"""What errors are drawn from: SEAL's centred binomial distribution, or a rounded Gaussian one."""

import math

import numpy as np
import pytest

from ringsmith import _core
from ringsmith._core import secret

N = 4096


def drawn(context: _core.Context, count: int) -> np.ndarray:
    """Errors of fresh encryptions of zero, as integers."""
    q, root = context.primes[0], context.roots[0]
    key = secret.generate_secret_key(context)
    zero = np.zeros((1, N), dtype=np.uint64)
    errors = []
    for _ in range(count):
        cipher = secret.encrypt_symmetric(context, key, zero)
        error = _core.ntt_inverse(secret.decrypt(context, key, cipher)[0], q, root)
        errors.append(np.where(error > q // 2, error.astype(np.int64) - q, error.astype(np.int64)))
    return np.concatenate(errors)


@pytest.mark.parametrize("deviation", [1.0, 3.2, 102.0, 1024.0])
def test_errors_of_a_deviation_are_rounded_gaussian_ones(deviation: float) -> None:
    context = _core.Context(N, _core.prime_search(40, N, 1), 0, 0, deviation)
    assert context.error_deviation == deviation
    assert 8.8 * deviation < context.error_bound < 9.1 * deviation + 1
    error = drawn(context, 20)
    assert np.abs(error).max() <= context.error_bound
    variance = deviation**2 + 1 / 12  # rounding adds a twelfth
    assert abs(error.mean()) < 6 * (variance / error.size) ** 0.5
    assert abs(error.var() / variance - 1) < 6 * (2 / error.size) ** 0.5
    for k in (0, 1, round(deviation), round(2 * deviation)):  # the distribution, point by point
        expected = math.erf((k + 0.5) / deviation / 2**0.5)
        spread = (expected * (1 - expected) / error.size) ** 0.5
        assert abs((np.abs(error) <= k).mean() - expected) <= 6 * spread


def test_errors_are_seals_unless_a_deviation_is_named() -> None:
    context = _core.Context(N, _core.prime_search(40, N, 1), 0)
    assert context.error_deviation == pytest.approx(10.5**0.5, abs=1e-15)
    assert context.error_bound == 21
    assert np.abs(drawn(context, 5)).max() <= 21


@pytest.mark.parametrize("deviation", [-1.0, 0.99, 1024.5, math.nan, math.inf])
def test_another_deviation_is_refused(deviation: float) -> None:
    with pytest.raises(_core.ParameterError, match=r"is outside 1 ... 1024: take one inside"):
        _core.Context(N, _core.prime_search(40, N, 1), 0, 0, deviation)
