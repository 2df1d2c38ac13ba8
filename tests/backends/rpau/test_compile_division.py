"""Divisions by several primes at once, and scaled summands: the interpreter's bits on the model."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.backends.rpau.interpreted import run_both

from ringsmith import _core
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.graph import Form, SubroutineGraph
from ringsmith.graph.subroutines import Cut
from ringsmith.params import KeyShape

DESIGN = replace(
    load_design("nano"), name="small", log_n=8, rpaus=5, work_polys=48, key_polys=32, constants=128
)
DATA, KEYS = (0, 1, 2), {"relin": 3}


@cache
def ring(special: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Three data primes and some special ones, with their roots."""
    bits = (46, 41, 47, 48, 45)[: len(DATA) + special]
    primes = tuple(q for each in bits for q in _core.prime_search(each, DESIGN.n, 1))
    return primes, tuple(_core.smallest_root(q, DESIGN.n) for q in primes)


def empty_graph(special: int = 1, keys: dict[str, int] = KEYS) -> SubroutineGraph:
    primes, roots = ring(special)
    shapes = {name: KeyShape(digits) for name, digits in keys.items()}
    return SubroutineGraph(DESIGN.n, primes, roots, tuple(range(len(DATA), len(primes))), shapes)


def relinearize_and_rescale(graph: SubroutineGraph) -> None:
    """Both at once, of inputs ``a`` and ``b`` and a key switching of ``b``."""
    pair = [graph.input(name, DATA) for name in "ab"]
    cut = Cut((1,) * len(DATA), "fast_base_conv", (*DATA, *graph.special))
    drop = (DATA[-1], *graph.special)
    switched = graph.key_switch(pair[1], "relin", cut, drop, added=pair)
    for half, value in enumerate(graph.halves(switched)):
        graph.output(value, f"y{half}")


@pytest.mark.parametrize(
    "shape",
    [
        {"rpaus": 4},
        {"rpaus": 6},
        {"rpaus": 2, "modulus_banks": 2},
        {"rpaus": 3, "modulus_banks": 2},
        {"rpaus": 6, "dyadic_cores": 0},
        {"rpaus": 4, "work_polys": 8, "key_polys": 4},
        {"rpaus": 6, "prng": "trivium", "seeds": 1},
        {"rpaus": 6, "link": True, "interconnect": "gather"},
        {"rpaus": 2, "modulus_banks": 2, "link": True},
        {"rpaus": 3, "modulus_banks": 2, "link": True},
    ],
    ids=str,
)
def test_relinearization_fused_with_rescaling(
    shape: dict[str, int], rng: np.random.Generator
) -> None:
    graph = empty_graph()
    relinearize_and_rescale(graph)
    executable = run_both(graph, replace(DESIGN, **shape), rng)
    spare = min(2, replace(DESIGN, **shape).limbs - 4)
    assert executable.limbs in ((0, 1, 2, 3), (0, 1, 2, 3) + (3,) * spare)


def test_the_fused_form_shares_the_special_primes_work_and_is_shorter(
    rng: np.random.Generator,
) -> None:
    graph, design = empty_graph(), replace(DESIGN, rpaus=6, dyadic_cores=8)
    relinearize_and_rescale(graph)
    shared = run_both(graph, design, rng)
    assert shared.limbs == (0, 1, 2, 3, 3, 3)
    assert shared.cycles < run_both(graph, replace(design, rpaus=4), rng).cycles


def test_two_special_primes_are_divided_away_together(rng: np.random.Generator) -> None:
    graph = empty_graph(special=2)
    relinearize_and_rescale(graph)
    run_both(graph, DESIGN, rng)


def test_scaled_values_that_are_no_summands_of_key_products(rng: np.random.Generator) -> None:
    graph = empty_graph(keys={})
    x = graph.input("x", DATA)
    raised = graph.mod_up_scaled(x, (*DATA, 3))
    graph.output(graph.mod_down(graph.intt(raised), (2, 3)), "coefficients")
    graph.output(graph.mod_down(graph.add(raised, raised), 3), "twice")
    graph.output(graph.mod_down(graph.mul(raised, raised), (1, 3)), "squared")
    y = graph.input("y", DATA, Form.COEFF)
    graph.output(graph.mod_down(y, (1, 2)), "short")
    run_both(graph, DESIGN, rng)
