"""Areas of RPAUs in proportion, and points of the architecture's space."""

import re
from pathlib import Path

import pytest

from ringsmith.backends.explorer import Task
from ringsmith.backends.rpau.compiler.compile import compile_graph
from ringsmith.backends.rpau.design.area import rpau_estimate
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.rpau.explore import RpauExplorer
from ringsmith.errors import ParameterError
from ringsmith.lower import lower_operation
from ringsmith.params import parameter_set
from ringsmith.platforms import load_platform

PAGE = Path(__file__).resolve().parents[3] / "docs" / "results" / "designs.md"

MEDHA = {
    "rpaus": 4,
    "cores": 16,
    "dyadic_cores": 8,
    "work_polys": 16,
    "work_uram_polys": 8,
    "reduction": "folded",
    "narrow_rpaus": 0,
    "keys": "keys from seeds, link unit",
}


def published(name: str) -> list[float]:
    """DSPs, block RAMs, UltraRAMs, LUTs and flip-flops of an RPAU in docs/results/designs.md."""
    line = re.search(rf"^\| `{name}` \|[^|]*\|[^|]*of[^|]*\|(.*)\|", PAGE.read_text(), re.M)
    assert line is not None
    cells = [cell.strip().replace(",", "") for cell in line[1].split("|")]
    return [float(cell) for cell in cells[:5]]


@pytest.mark.parametrize("name", ["medha", "nano", "octo"])
def test_the_estimate_is_what_was_synthesized(name: str) -> None:
    area = rpau_estimate(load_design(name))
    dsps, brams, urams, luts, flip_flops = published(name)
    assert (area.dsps, area.brams, area.urams) == (dsps, brams, urams)
    assert area.lut_sites == pytest.approx(luts, rel=0.01)
    assert area.fabric_flip_flops == pytest.approx(flip_flops, rel=0.01)


def test_a_kind_of_rpau_that_was_not_synthesized_is_refused() -> None:
    with pytest.raises(ParameterError, match="areas are known of reduction barrett, folded"):
        rpau_estimate(load_design("medha21-set1"))


def task() -> Task:
    of = parameter_set("medha-set1")
    graph = lower_operation("rescale", of, of.limbs)
    return Task({"rescale": graph}, load_platform("u250"), "u250", 200)


def test_a_point_has_the_schedulers_cycles() -> None:
    own, wanted = RpauExplorer(), task()
    design = own.design(MEDHA, wanted)
    cost = own.cost(design, "rescale", wanted)
    assert cost.exact
    assert cost.cycles == compile_graph(wanted.any_graph, design).cycles
    assert cost.milliseconds == pytest.approx(cost.cycles / 200e3)
    assert cost.binds == "compute"
    ends = [bar.end for bar in own.timeline(design, "rescale", wanted)]
    assert 0 < max(ends) <= cost.cycles


def test_more_of_the_search_space_than_medhas_own_design_fits_its_card() -> None:
    own, wanted = RpauExplorer(), task()
    assert own.excess(own.design(MEDHA, wanted), wanted) == ()
    large = own.design({**MEDHA, "work_polys": 32, "work_uram_polys": 0}, wanted)
    assert own.excess(large, wanted)[0].startswith("BRAM: 3,5")


def test_digits_of_several_primes_are_refused_by_name() -> None:
    of = parameter_set("framework-set2")
    graph = lower_operation("rotate", of, of.limbs)
    with pytest.raises(ParameterError, match="digits of one prime alone"):
        RpauExplorer().space(Task({"rotate": graph}, load_platform("u250"), "u250", 200))
