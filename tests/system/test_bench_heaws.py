"""``ringsmith bench heaws``: records, the paper's numbers, the page, and what is counted."""

from dataclasses import replace
from pathlib import Path

import pytest

from ringsmith.bench.heaws import area
from ringsmith.bench.heaws.cases import CHOICES, DESIGN, LARGER, OPERATIONS, variant
from ringsmith.bench.heaws.measure import Options, measure
from ringsmith.bench.heaws.page import page
from ringsmith.bench.records import Record, read_records
from ringsmith.errors import ParameterError
from ringsmith.hdl.synthesis import Area

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "bench" / "records" / "heaws.jsonl"


def counted(records: list[Record]) -> dict[tuple[str, str, str], float]:
    """Cycles and instructions by design, operation and metric."""
    return {
        (r.design, r.operation, r.metric): r.value
        for r in records
        if r.metric in ("cycles", "instructions")
    }


def test_the_page_is_the_one_that_its_records_make() -> None:
    assert (ROOT / "docs" / "heaws.md").read_text() == page(read_records(RECORDS))


def test_the_records_hold_what_is_counted_today_and_what_the_issue_asks() -> None:
    """Otherwise: `make bench`."""
    written = list(read_records(RECORDS, "heaws").records)
    assert counted(measure(Options(repeats=0), lambda _: None)) == counted(written)
    found = {(r.params, r.operation, r.metric): r for r in written}
    product = found["heaws", "multiply_relinearize", "cycles"]
    assert product.source == "rtl"
    assert product.value <= 270_000
    assert found["heaws", "add", "cycles"].value <= 2_100
    limits = {"dsp": 250, "bram": 249, "uram": 56, "lut": 1.3 * 57_877, "ff": 2 * 25_648}
    for metric, most in limits.items():
        assert found["heaws", "coprocessor", metric].value <= most, metric
    assert found["heaws", "accelerator", "fits"].value == 1
    assert found[LARGER, "multiply_relinearize", "milliseconds"].paper_value == 9.42


def test_what_an_earlier_run_counted_on_the_rtl_stays() -> None:
    kept = tuple(read_records(RECORDS, "heaws").records)
    again = Options("model", ("add",), choices=(), larger=False, coprocessors=False, repeats=0)
    again = replace(again, kept=kept)
    sources = {r.operation: r.source for r in measure(again, lambda _: None)}
    assert sources == {"add": "rtl"}


def test_the_area_has_every_part_and_says_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Area(dsps=240, brams=169, urams=56, luts=300_000, flip_flops=45_000)
    modules = ("rs_rpau_top", "rs_rpau", "rs_base_convert", "rs_butterfly_lanes")
    joins = Area(dsps=0, brams=24, urams=0, luts=6000, flip_flops=600)
    monkeypatch.setattr(area, "device_areas", lambda _: dict.fromkeys(modules, one))
    monkeypatch.setattr(area, "card_areas", lambda _: {"rs_rpau_card": joins})
    rows = {(r.operation, r.metric): r for r in area.area_rows(variant("cores_1"))}
    assert rows["lift", "dsp"].value == 240
    fits = rows["accelerator", "fits"]
    assert fits.value == 0
    assert "2 units take 602,000 LUT of a die's 253,611" in fits.conditions
    assert "6,000 LUT, 600 FF and 24 BRAM" in fits.conditions


def test_other_names_are_refused() -> None:
    for wrong in ({"device": "cpu"}, {"operations": ("rescale",)}, {"choices": ("cores_3",)}):
        with pytest.raises(ParameterError, match="choose from"):
            Options(**wrong)  # type: ignore[arg-type]


def test_a_choice_differs_from_the_design_as_it_says() -> None:
    for name, change in CHOICES.items():
        design = variant(name)
        assert design.name == f"{DESIGN}: {name}"
        assert all(getattr(design, key) == value for key, value in change.items())
    assert "multiply_relinearize" in OPERATIONS
