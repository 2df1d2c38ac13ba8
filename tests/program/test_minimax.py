"""Polynomials of the least largest error, against what is known of them."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith.program.minimax import Function, Terms, evaluated, minimax

Reals = NDArray[np.float64]
BERNSTEIN = 0.2801694990
"""n times the least error of even polynomials of degree n for abs(x) on [-1, 1], for large n."""


def error(function: Function, terms: Terms, series: Reals) -> float:
    """The largest error, on a grid far finer than the exchange's."""
    points = terms.points(np.linspace(0, 1, 100_001))
    return float(np.abs(evaluated(series, points) - function(points)).max())


@pytest.mark.parametrize("degree", [1, 2, 5, 12, 40])
def test_the_best_polynomial_of_a_power_less_is_a_chebyshev_polynomial(degree: int) -> None:
    """x^(n+1) less its best polynomial of degree n is T_(n+1) / 2^n (Chebyshev 1854)."""
    terms = Terms(degree)
    series, found = minimax(lambda u: u ** (degree + 1), terms)
    assert found == pytest.approx(2.0**-degree, rel=1e-3)
    assert error(lambda u: u ** (degree + 1), terms, series) == pytest.approx(found, rel=1e-3)


@pytest.mark.parametrize("degree", [2, 10, 50, 286])
def test_magnitudes_are_approximated_as_well_as_bernstein_says(degree: int) -> None:
    terms = Terms(degree, 0, 2, 0.0)
    series, found = minimax(lambda u: u, terms)
    assert not series[1::2].any()
    assert error(np.abs, terms, series) == pytest.approx(found, rel=1e-3)
    assert found * degree == pytest.approx(BERNSTEIN, rel=0.7 / degree)


@pytest.mark.parametrize(
    "function",
    [np.exp, lambda u: np.tanh(3 * u), lambda u: 1 / (1.1 - u), lambda u: np.maximum(u - 0.3, 0)],
    ids=["exp", "tanh", "pole", "kink"],
)
@pytest.mark.parametrize("degree", [1, 4, 9, 30])
def test_the_error_alternates_between_its_extremes(function: Function, degree: int) -> None:
    """A polynomial is the best one if and only if the error has degree + 2 such extremes."""
    terms = Terms(degree)
    series, found = minimax(function, terms)
    points = terms.points(np.linspace(0, 1, 100_001))
    errors = evaluated(series, points) - function(points)
    assert np.abs(errors).max() == pytest.approx(found, rel=1e-3, abs=1e-13)
    if found > 1e-12:
        signs = np.sign(errors[np.abs(errors) > 0.99 * found])
        assert np.count_nonzero(np.diff(signs)) >= degree + 1


@pytest.mark.parametrize("low", [2.0**-20, 2.0**-8, 0.1, 0.9])
@pytest.mark.parametrize("degree", [3, 15, 31])
def test_odd_polynomials_approximate_one_from_the_margin_on(low: float, degree: int) -> None:
    terms = Terms(degree, 1, 2, low)
    series, found = minimax(np.ones_like, terms, close=1e-3 * min(low, 0.1))
    assert not series[::2].any()
    close = 1e-3 * (1 - found) + 1e-13
    assert error(np.ones_like, terms, series) == pytest.approx(found, abs=close)
    if found > 1e-12:  # else rounding decides
        assert np.abs(evaluated(series, np.linspace(0, low, 99))).max() <= 1 + found + close


def test_a_tolerance_weighs_the_error() -> None:
    terms = Terms(6)

    def tolerance(u: Reals) -> Reals:
        return np.exp(-3 * u)

    series, found = minimax(np.exp, terms, tolerance)
    points = terms.points(np.linspace(0, 1, 10_001))
    errors = np.abs(evaluated(series, points) - np.exp(points))
    assert (errors / tolerance(points)).max() == pytest.approx(found, rel=1e-3)
    assert errors[points < -0.9].max() > 50 * errors[points > 0.9].max()


def test_rounding_ends_the_exchange_and_two_runs_agree() -> None:
    first, error_of_first = minimax(np.exp, Terms(40))
    assert error_of_first <= 1e-14 * math.e
    assert (minimax(np.exp, Terms(40))[0] == first).all()
