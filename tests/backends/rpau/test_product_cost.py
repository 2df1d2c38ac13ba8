"""The estimate of a BFV product's cycles beside the cycle-exact model, and what it refuses."""

from dataclasses import replace

import pytest

from ringsmith.backends.rpau.compiler.cost import Shape, product_cycles
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.link import Link, arrivals
from ringsmith.backends.rpau.isa.instruction_set import latencies
from ringsmith.bench.heaws.cases import (
    MAIN_OPERATION,
    graph_of,
    larger_design,
    larger_parameters,
    parameters,
)
from ringsmith.bench.programs import run
from ringsmith.errors import ParameterError
from ringsmith.params import BfvParameters

MOST = 0.03
"""By how much the estimate may be off."""

SMALL = [
    {},
    {"cores": 1},
    {"cores": 4, "work_uram_polys": 4},
    {"converters": 1},
    {"converters": 4},
    {"core_multipliers": 2},
    {"work_polys": 10, "work_uram_polys": 4},
    {"host_bits": 32},
    {"host_bits": 0},
]
LARGER = [
    {},
    {"converters": 1},
    {"converters": 2},
    {"cores": 4, "work_uram_polys": 4},
    {"cores": 4, "work_uram_polys": 4, "converters": 8},
    {"host_bits": 32},
]


def estimate(of: BfvParameters, design: RpauDesign) -> int:
    """The estimate with keys that come over the design's bus, if it has one."""
    count = 2 * of.key_digits * of.limbs
    came = arrivals(Link(design.host_bits), design, count) if design.key_stream else ()
    return product_cycles(design, of.key_digits, of.limbs, came)


def check(of: BfvParameters, design: RpauDesign) -> None:
    """Holds the estimate to the model."""
    counted, _, _ = run(graph_of(MAIN_OPERATION, of), design, "model")
    assert abs(estimate(of, design) / counted - 1) <= MOST, (estimate(of, design), counted)


@pytest.mark.parametrize("change", SMALL, ids=str)
def test_at_2_12_the_estimate_is_within_3_percent_of_the_model(change: dict[str, int]) -> None:
    check(parameters(), replace(load_design("heaws"), **change))  # type: ignore[arg-type]


@pytest.mark.parametrize("change", LARGER, ids=str)
def test_at_2_13_the_estimate_is_within_3_percent_of_the_model(change: dict[str, int]) -> None:
    check(larger_parameters(), replace(larger_design(), **change))  # type: ignore[arg-type]


def test_the_main_unit_never_idles_behind_the_first_lift_of_heaws() -> None:
    """Which is why the product takes what it takes."""
    design = load_design("heaws")
    cycles = latencies(design)
    main = 18 * cycles["ntt"] + 8 * cycles["mul"] + 4 * cycles["mul_key"] + 2 * cycles["add"]
    assert product_cycles(design, digits=2, limbs=6) == cycles["convert"] + main


def test_a_shape_may_have_what_no_design_has() -> None:
    shape = Shape.of(load_design("heaws"), name="large", log_n=14, rpaus=25, converters=8)
    assert product_cycles(shape, digits=2, limbs=24) > 1_000_000
    with pytest.raises(ParameterError, match="rpaus"):
        replace(load_design("heaws"), rpaus=25)


def test_designs_of_another_kind_are_refused_with_the_way_out() -> None:
    heaws = load_design("heaws")
    others = {
        "converters = 0": load_design("nano"),
        "dyadic_cores = 1": replace(heaws, dyadic_cores=1),
        "prime_sets = 1": replace(heaws, prime_sets=1),
        "work_polys = 9": replace(heaws, work_polys=9, work_uram_polys=4),
    }
    for words, design in others.items():
        with pytest.raises(ParameterError, match=f"{words}: .*run it on the model"):
            product_cycles(design, digits=2, limbs=6)
    with pytest.raises(ParameterError, match=r"3 arrivals .* 2 digits of 6 limbs have 24"):
        product_cycles(heaws, digits=2, limbs=6, arrivals=(1, 2, 3))
