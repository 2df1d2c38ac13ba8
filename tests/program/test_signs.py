"""Compositions that approximate the sign, against the polynomials f and g of Cheon, Kim, Kim."""

import itertools

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from ringsmith.program.comparisons import sign_degrees
from ringsmith.program.minimax import Terms, minimax
from ringsmith.program.plans import SignPlan, sign_plan
from ringsmith.program.signs import composite

FLAT = Polynomial(np.array([0, 35, 0, -35, 0, 21, 0, -5]) / 16)
STEEP = Polynomial(np.array([0, 4589, 0, -16577, 0, 25614, 0, -12860]) / 1024)
"""f_3 and g_3 of eprint 2019/1234, of 3 levels and 5 products each."""


def planned(margin: float, error: float, span: float, *more: float) -> SignPlan:
    """The composition, of any number of levels."""
    plan = sign_plan(margin, error, span, *more)
    assert plan is not None
    return plan


def steps_of_cheon(margin: float, error: float) -> int:
    """How many of f and g a sign takes, at least."""
    for total in itertools.count(1):
        for steep in range(total):
            x = np.geomspace(margin, 1, 1 << 13)
            for polynomial in (STEEP,) * steep + (FLAT,) * (total - steep):
                x = polynomial(x)
            if np.abs(x - 1).max() <= error:
                return total
    raise AssertionError


@pytest.mark.parametrize("margin", [0.9, 2.0**-4, 2.0**-8, 2.0**-20])
@pytest.mark.parametrize("precision", [1, 8, 30])
@pytest.mark.parametrize("span", [1.0, 2.0])
def test_a_composition_is_right_and_costs_less_than_cheons(
    margin: float, precision: int, span: float
) -> None:
    plan = planned(margin, 2.0**-precision, span)
    x = np.geomspace(margin, 1, 50_001)
    assert np.abs(plan.form.values(span * x) - 1).max() <= 1.001 * plan.error
    assert plan.error <= 2.0**-precision
    inside = plan.form.values(span * np.linspace(-margin, margin, 10_001))
    assert np.abs(inside).max() <= 1 + 2.0**-precision
    assert inside[5_000] == 0
    cost, steps = plan.form.cost, steps_of_cheon(margin, 2.0**-precision)
    assert (cost.levels, cost.products) <= (3 * steps, 5 * steps)


def test_no_other_composition_of_low_degrees_takes_fewer_levels_or_products() -> None:
    """All sequences of components within the levels and products found, at two margins."""
    costs = {3: (2, 2), 5: (3, 3), 7: (3, 5), 9: (4, 5), 11: (4, 6), 13: (4, 7), 15: (4, 8)}
    for margin, error in ((2.0**-3, 2.0**-6), (2.0**-4, 2.0**-4)):
        found = composite(margin, error)
        assert found is not None
        assert composite(margin, error, most=found.cost.levels - 1) is None
        best = (found.cost.levels, found.cost.products)
        for count in (1, 2, 3):
            for degrees in itertools.product(costs, repeat=count):
                levels, products = (sum(costs[each][i] for each in degrees) for i in (0, 1))
                if (levels, products) < best:
                    assert reached(degrees, margin) > error


def reached(degrees: tuple[int, ...], margin: float) -> float:
    """The error of the composition of the best polynomials of these degrees."""
    ratio = margin
    for degree in degrees:
        error = minimax(np.ones_like, Terms(degree, 1, 2, ratio))[1]
        ratio = (1 - error) / (1 + error)
    return (1 - ratio) / (1 + ratio)


@pytest.mark.parametrize(("margin", "precision"), [(0.3, 5), (2.0**-6, 10)])
def test_components_but_the_last_map_the_unit_interval_to_itself(
    margin: float, precision: int
) -> None:
    plan = planned(margin, 2.0**-precision, 1.0)
    x = np.linspace(-1, 1, 100_001)
    for stage in plan.stages[:-1]:
        x = stage.values(x)
        assert np.abs(x).max() <= 1 + 1e-9


def test_a_wide_span_is_scaled_by_the_first_polynomial_or_by_a_level() -> None:
    assert sign_degrees(2.0**-4, 8) == (7, 13)
    narrow, wide = (planned(2.0**-4, 2.0**-8, span).form.cost.levels for span in (2.0, 100.0))
    assert (narrow, wide) == (7, 8)


def test_scale_and_offset_are_part_of_the_last_polynomial() -> None:
    plain, scaled = (planned(0.25, 2.0**-6, 1.0, *more) for more in ((), (0.5, 0.5)))
    assert plain.form.cost == scaled.form.cost
    x = np.linspace(-1, 1, 101)
    assert np.abs(scaled.form.values(x) - (plain.form.values(x) + 1) / 2).max() < 1e-12
