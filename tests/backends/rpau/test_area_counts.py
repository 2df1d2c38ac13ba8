"""What is counted of an RPAU's area; what a product of full size needs of banks and link."""

import re
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from ringsmith import runtime
from ringsmith.backends.explorer import Task
from ringsmith.backends.rpau.compiler.compile import compile_graph
from ringsmith.backends.rpau.design.area import (
    estimate,
    key_rams,
    rpau_estimate,
    scaled,
    twiddle_rams,
    work_rams,
)
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.rpau.design.rtl import UNIT
from ringsmith.backends.rpau.explore import RpauExplorer
from ringsmith.errors import ParameterError
from ringsmith.graph import SubroutineGraph
from ringsmith.hdl.synthesis import Area, block_rams
from ringsmith.lower import lower_operation
from ringsmith.objects import Ciphertext
from ringsmith.params import ckks_set, parameter_set
from ringsmith.platforms import load_platform
from ringsmith.runtime.host_link import MEDHA_XDMA, PCIE_GEN3_X16


def product(params: str) -> SubroutineGraph:
    """A product with relinearization at all limbs."""
    of = ckks_set(params)
    return lower_operation("multiply_relinearize", of, of.limbs)


@pytest.mark.parametrize(
    ("name", "params", "least"),
    [
        ("medha21-set1", "medha21-set1", 6),
        ("medha21-set2", "medha21-set2", 6),
        ("medha21-set3", "medha21-set3", 6),
        pytest.param("medha", "medha-set1", 6, marks=pytest.mark.full),
        pytest.param("medha", "medha-set2", 11, marks=pytest.mark.full),
    ],
)
def test_a_product_stays_on_the_device_with_as_many_banks_of_one_polynomial_as_its_file_says(
    name: str, params: str, least: int
) -> None:
    graph = product(params)
    design = replace(load_design(name), work_uram_polys=0, work_block_banks=0)
    found = {
        polys: runtime.compile_graph(graph, replace(design, work_polys=polys)).executable
        for polys in (least - 1, least, design.work_polys)
    }
    transfers = [each and each.host_transfers for each in found.values()]
    assert transfers[0]
    assert transfers[1:] == [0, 0]
    fewest, own = found[least], found[design.work_polys]
    assert fewest is not None
    assert own is not None
    if name != "medha":  # the files say so of these
        assert fewest.cycles <= own.cycles


def test_narrow_rpaus_take_fewer_rams_and_a_slice_a_lane_to_shorten_words() -> None:
    wide, narrow = (asdict(estimate(load_design("medha"), rpau)) for rpau in (0, 9))
    assert wide == {"dsp": 40 * 15, "bram": 189, "uram": 109}
    assert narrow == {"dsp": 40 * 14 + 32, "bram": 168, "uram": 96}


def test_multipliers_and_memories_are_counted() -> None:
    design = load_design("medha")
    assert asdict(estimate(design)) == {"dsp": 600, "bram": 27 * 7, "uram": 81 + 28}
    design = replace(design, work_uram_polys=0, work_block_banks=0)
    assert asdict(estimate(design)) == {"dsp": 600, "bram": 27 * design.work_polys, "uram": 81}
    nine = replace(design, work_uram_polys=9)
    assert estimate(nine).bram == 27 * (design.work_polys - 9)
    assert estimate(nine).uram == 81 + 2 * 2 * 14  # two banks, in halves of 960 bits
    blocks = estimate(replace(design, key_ram="block"))
    assert (blocks.bram, blocks.uram) == (27 * design.work_polys + 642, 0)


def test_twiddle_tables_of_more_than_64_words_are_block_ram() -> None:
    medha, nano = load_design("medha"), load_design("nano")
    assert twiddle_rams(medha).brams == 17  # of 2^8 words, the lower one and one for each core
    assert twiddle_rams(nano).brams == 1  # the lower one, of 2^7
    assert twiddle_rams(replace(nano, modulus_banks=2)).brams == 5
    stored = replace(medha, twiddles="stored")
    assert twiddle_rams(stored).brams == 16 * block_rams(60, 1 << 12)


def test_an_area_grows_with_the_cores_and_its_rams_are_counted() -> None:
    base = replace(load_design("medha"), work_polys=13, work_uram_polys=0, work_block_banks=0)
    own, work, keys = estimate(base), work_rams(base), key_rams(base)
    tables = twiddle_rams(base).brams
    parts = {
        UNIT: Area(own.dsp, own.bram + tables, own.uram, 60_000, 70_000),
        "rs_rpau_main": Area(480, tables, 0, 20_000, 30_000),
        "rs_butterfly_lanes": Area(480, 0, 0, 16_000, 20_000),
        "rs_rpau_dyadic": Area(120, 0, 0, 8_000, 6_000),
        "rs_rpau_seeded": Area(0, 0, 0, 4_000, 2_000),
        "rs_rpau_work_memory": Area(0, work.brams, work.urams, 9_000, 8_000),
        "rs_rpau_row_parts": Area(0, 0, 0, 3_000, 2_000),
        "rs_rpau_key_store": Area(0, keys.brams, keys.urams, 1_000, 2_000),
    }
    assert scaled(base, base, parts) == parts
    less = replace(base, cores=8, dyadic_cores=4)
    half = scaled(less, base, parts)
    assert (half[UNIT].dsps, half[UNIT].luts, half[UNIT].flip_flops) == (300, 39_000, 46_000)
    # Rows of half the width, twice as many: the polynomials take about as many RAMs as before.
    assert half["rs_rpau_work_memory"] == Area(0, estimate(less).bram, 0, 4_500, 4_000)
    assert half["rs_rpau_key_store"] == Area(0, 0, estimate(less).uram, 500, 1_000)
    assert half[UNIT].brams == estimate(less).bram + 9  # the lower table, and one for each core
    assert half[UNIT].urams == estimate(less).uram
    none = scaled(replace(base, dyadic_cores=0, prng="none", seeds=0), base, parts)[UNIT]
    assert (none.dsps, none.luts) == (480, 45_000)


def test_transfers_take_what_the_link_says() -> None:
    assert MEDHA_XDMA.seconds(1 << 14) == pytest.approx(125e-6)
    assert MEDHA_XDMA.seconds(3 << 15) == pytest.approx(6 * 125e-6)
    result = Ciphertext(np.zeros((2, 3, 1 << 14), np.uint64), 1.0)
    spilled, keys = 4 << 14, 2 << 14  # of 11 transfers, 7 are keys that were loaded meanwhile
    report = runtime.RunReport(1, 1, 11, spilled_words=spilled, key_words=keys)
    ran = runtime.RunResult({"z": result}, report)
    assert ran.transfer_seconds(MEDHA_XDMA) == pytest.approx((6 + 4 + 2) * 125e-6)
    assert 13e9 < PCIE_GEN3_X16.bytes_per_second < 15.76e9


# ---- Areas of RPAUs in proportion, and points of the architecture's space ------------------------


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
    assert own.excess(large, wanted)[0].startswith("BRAM: 3,6")


def test_digits_of_several_primes_are_refused_by_name() -> None:
    of = parameter_set("framework-set2")
    graph = lower_operation("rotate", of, of.limbs)
    with pytest.raises(ParameterError, match="digits of one prime alone"):
        RpauExplorer().space(Task({"rotate": graph}, load_platform("u250"), "u250", 200))
