"""What ``explore`` says that a design takes: the whole of it, as the estimate that Yosys checks."""

from dataclasses import replace

import pytest
from tests.backends.estimates import AREA_LIMIT, DESIGNS, EXACT, design_of, deviation, kept

from ringsmith import parameter_set
from ringsmith.backends.registry import backend_of
from ringsmith.backends.rpau.backend import BACKEND
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.explore import RpauExplorer, boundary_wires
from ringsmith.backends.vector.explore import VectorExplorer
from ringsmith.explore.request import Request, task_of
from ringsmith.lower import lower_operation
from ringsmith.platforms import load_platform

RECORD = {row["design"]: row["yosys"] for row in kept()["area"]}
EXPLORERS = {"rpau": RpauExplorer(), "vector": VectorExplorer()}
NAMES = [name for name in DESIGNS if name.partition("-")[0] in EXPLORERS]
POINT = {
    **{"rpaus": 2, "cores": 2, "dyadic_cores": 2, "work_polys": 8, "work_uram_polys": 0},
    **{"reduction": "barrett", "narrow_rpaus": 0, "keys": "keys from seeds, link unit"},
}
"""rpau-2x2-2-w8u0-barrett-seeds, the design of docs/start/first-design.md."""


def first_design() -> RpauDesign:
    parameters = parameter_set("pico")
    request = Request("zcu102", ("rpau",), "pico", ("multiply_relinearize", "rotate"))
    graphs = {
        name: lower_operation(name, parameters, parameters.limbs) for name in request.operations
    }
    return RpauExplorer().design(POINT, task_of(request, "rpau", graphs, {}))


@pytest.mark.parametrize("name", NAMES)
def test_usage_is_the_estimate_of_the_whole_design(name: str) -> None:
    design = design_of(name)
    found = EXPLORERS[name.partition("-")[0]].usage(design)
    wanted = backend_of(design).exporter().estimate(design).resources
    assert {each: getattr(found, each) for each in wanted} == dict(wanted)


@pytest.mark.parametrize("name", [name for name in NAMES if name in RECORD])
def test_usage_is_within_the_limits_of_what_yosys_counts(name: str) -> None:
    found = EXPLORERS[name.partition("-")[0]].usage(design_of(name))
    for resource, count in RECORD[name].items():
        limit = 0 if resource in EXACT else AREA_LIMIT
        assert deviation(getattr(found, resource), count) <= limit, resource


def test_the_first_design_takes_its_program_store_too() -> None:
    """Yosys counts 223 block RAMs in it, 128 of them in the program store."""
    design = first_design()
    assert design.name == "rpau-2x2-2-w8u0-barrett-seeds"
    usage = RpauExplorer().usage(design)
    assert usage.brams == BACKEND.exporter().estimate(design).resources["brams"] == 223
    smaller = replace(design, program_words=512)
    assert usage.brams - RpauExplorer().usage(smaller).brams == 128 - 1


def test_a_point_whose_ring_is_too_wide_for_the_boundary_of_dies_is_refused() -> None:
    design = first_design()
    assert boundary_wires(design) == 2 * 4 * 30 + 2 * 4 * 30
    wide = replace(design, cores=32, word_bits=60, interconnect="gather", rpaus=16)
    assert boundary_wires(wide) > load_platform("u280").die_wires
