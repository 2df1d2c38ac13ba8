"""``ringsmith bench heaws``: records, the paper's numbers, the page, and what is counted."""

from dataclasses import replace
from pathlib import Path

import pytest

from ringsmith.backends.rpau.design.design import load_design
from ringsmith.bench.beside import beside, left_out
from ringsmith.bench.heaws import area, cost, software
from ringsmith.bench.heaws import measure as measure_module
from ringsmith.bench.heaws.cases import (
    CHOICES,
    COSTED,
    DESIGN,
    LARGER,
    OPERATIONS,
    SEALS,
    SEVERAL,
    variant,
)
from ringsmith.bench.heaws.coprocessors import LINKS
from ringsmith.bench.heaws.forecast import DEVICE, FORECAST, HOST, forecast_rows
from ringsmith.bench.heaws.measure import Options, measure
from ringsmith.bench.heaws.page import page
from ringsmith.bench.papers import SEAL, facts
from ringsmith.bench.programs import OURS, rtl_digest
from ringsmith.bench.records import Found, Measurement, Record, read_records
from ringsmith.errors import ParameterError
from ringsmith.hdl.synthesis import Area

ROOT = Path(__file__).resolve().parents[2]
ONLY_ADD = Options(
    "model", ("add",), choices=(), larger=False, coprocessors=False, forecast=False, repeats=0
)
RECORDS = ROOT / "bench" / "records" / "heaws.jsonl"


def counted(records: list[Record]) -> dict[tuple[str, str, str], float]:
    """Cycles and instructions by design, operation and metric."""
    return {
        (r.design, r.operation, r.metric): r.value
        for r in records
        if r.metric in ("cycles", "instructions")
    }


def test_the_page_is_the_one_that_its_records_make() -> None:
    assert (ROOT / "docs" / "results" / "heaws.md").read_text() == page(read_records(RECORDS))


def test_the_records_hold_what_is_counted_today_and_what_the_issue_asks() -> None:
    """Otherwise: `make bench`."""
    written = list(read_records(RECORDS, "heaws").records)
    assert counted(measure(Options(repeats=0), lambda _: None)) == counted(written)
    found = {(r.params, r.operation, r.metric): r for r in written}
    product = found["heaws", "multiply_relinearize", "cycles"]
    assert product.source == "rtl"
    assert len(product.rtl) == 12
    assert product.value <= 270_000
    assert found["heaws", "add", "cycles"].value <= 2_100
    limits = {"dsp": 250, "bram": 249, "uram": 56, "lut": 1.3 * 57_877, "ff": 2 * 25_648}
    for metric, most in limits.items():
        assert found["heaws", "coprocessor", metric].value <= most, metric
    assert found["heaws", "accelerator", "fits"].value == 1
    assert found[LARGER, "multiply_relinearize", "milliseconds"].paper_value == 9.42


def test_what_an_earlier_run_counted_on_the_rtl_stays() -> None:
    today = rtl_digest(load_design(DESIGN))
    records = read_records(RECORDS, "heaws").records
    kept = tuple(replace(r, rtl=today) if r.source == "rtl" else r for r in records)
    again = replace(ONLY_ADD, kept=kept)
    sources = {r.metric: r.source for r in measure(again, lambda _: None)}
    assert sources["cycles"] == "rtl"
    assert sources["microseconds"] == "cpu"


def only_add(**changes: object) -> dict[tuple[str, str, str], Record]:
    """A run of nothing but additions: by parameters, peer and metric."""
    options = replace(ONLY_ADD, **changes)  # type: ignore[arg-type]
    return {(r.params, r.peer, r.metric): r for r in measure(options, lambda _: None)}


def test_seal_stands_beside_the_cpu_device_at_a_set_that_it_takes() -> None:
    found = only_add(repeats=1)
    assert found[SEALS, SEAL, "microseconds"].source == "cpu"
    assert found[SEALS, OURS, "microseconds"].source == "cpu"
    assert (SEALS, SEAL, "speedup") not in found  # no design here runs the set


def test_without_seal_the_bench_says_so_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (measure_module, software):
        monkeypatch.setattr(module, "seal_missing", lambda: "SEAL is left out")
    said: list[str] = []
    records = measure(replace(ONLY_ADD, repeats=1), said.append)
    assert "SEAL is left out" in said
    assert {r.peer for r in records} == {"", OURS}
    text = page(Measurement("heaws", "ringsmith bench heaws", tuple(records)))
    assert "Microsoft SEAL was not measured." in text


def test_times_of_an_earlier_run_stay_where_none_are_measured() -> None:
    kept = tuple(only_add(repeats=1).values())
    again = only_add(repeats=0, kept=kept)
    name = ("heaws", OURS, "microseconds")
    assert again[name] == {(r.params, r.peer, r.metric): r for r in kept}[name]
    assert "in another run" in again["heaws", OURS, "speedup"].conditions
    assert (SEALS, SEAL, "microseconds") in again


def test_the_page_quotes_every_other_accelerator_and_program_of_the_paper() -> None:
    text = page(read_records(RECORDS))
    for fact in facts("heaws"):
        assert not fact.peer or fact.peer in text, fact


def test_by_cost_the_larger_rows_of_table_4_have_a_number() -> None:
    rows = {(r.params, r.design, r.metric): r for r in map(alone, cost.rows(lambda _: None))}
    for params, (log_n, _) in COSTED.items():
        record = rows[params, f"heaws-{log_n}", "milliseconds"]
        assert record.source == "cost"
        assert record.paper_value is not None
        assert "RPAUs of 2 cores" in record.conditions
    for params, design in (("heaws", "heaws"), (LARGER, "heaws-13")):
        assert rows[params, design, "percent"].value == pytest.approx(100, abs=3)


def test_six_coprocessors_forecast_sooner_than_one() -> None:
    host = Found("cpu", "heaws", HOST, "seconds", 0.25, "cpu", "timed")
    found = list(map(alone, forecast_rows(0, lambda _: None, host)))
    rows = {(r.design, r.metric): r for r in found if r.operation == DEVICE}
    assert all(r.paper_value is None for r in rows.values())
    whole = {(r.design, r.metric): r for r in found if r.operation == FORECAST}
    assert whole[DESIGN, "seconds"].value == rows[DESIGN, "seconds"].value + 0.25
    assert whole[DESIGN, "seconds"].paper_value == 1.73
    assert not [r for r in forecast_rows(0, lambda _: None) if r.operation == FORECAST]
    one, six = rows[DESIGN, "seconds"], rows[SEVERAL, "seconds"]
    assert six.value < one.value / 3
    assert rows[SEVERAL, "per_second"].value > 4 / one.value
    assert "18 x multiply and 10 x relinearize" in one.conditions


def test_the_papers_link_carries_what_it_needs_its_time_for_by_either_reading() -> None:
    rates = {name: LINKS[name].bytes_per_second for name in LINKS if "papers" in name}
    assert rates["papers_link_by_polynomial"] == pytest.approx(128 * 1024 / 0.11e-3, rel=1e-6)
    assert rates["papers_link_by_ciphertext"] == pytest.approx(256 * 1024 / 0.11e-3, rel=1e-6)
    rows = {r.operation: r.value for r in read_records(RECORDS).records if r.metric == "per_second"}
    assert rows["papers_link_by_polynomial"] == pytest.approx(1505, abs=1)
    # Keys stream in, too: as many limbs as the operands have.
    most = rates["papers_link_by_polynomial"] / (48 * 4096 * 4)
    assert 0.9 * most < rows["papers_link_by_polynomial"] < most
    assert rows["papers_link_by_ciphertext"] < 2 * most
    text = page(read_records(RECORDS))
    assert "1.19 GB/s" in text
    assert "2.38 GB/s" in text
    assert "a ciphertext is the likelier reading" in text


def test_the_forecast_beside_the_papers_has_the_hosts_share() -> None:
    rows = {
        (r.design, r.operation, r.metric): r
        for r in read_records(RECORDS).records
        if r.operation.startswith("forecast")
    }
    host = rows["cpu", HOST, "seconds"].value
    for design in (DESIGN, SEVERAL):
        whole, device = (rows[design, name, "seconds"] for name in (FORECAST, DEVICE))
        assert whole.value == pytest.approx(device.value + host)
        assert device.paper_value is None
    assert rows[DESIGN, FORECAST, "seconds"].paper_value == 1.73
    rate, bare = (rows[SEVERAL, name, "per_second"].value for name in (FORECAST, DEVICE))
    assert 6 / rate == pytest.approx(6 / bare + host)


def test_tables_2_to_4_are_whole() -> None:
    """Each of their numbers stands beside ours, or on the page with the reason why not."""
    measurement = read_records(RECORDS)
    text = page(measurement)
    missing = text.partition("## Not measured")[2]
    for fact in left_out(("heaws",), measurement.records):
        assert fact.peer or f"`{fact.operation} {fact.metric}`" in missing
    assert "not measured:" not in missing
    tables = [fact for fact in facts("heaws") if fact.where in ("Table 2", "Table 3", "Table 4")]
    assert len(tables) > 50
    rows = {(r.params, r.operation, r.metric): r for r in measurement.records if r.paper_value}
    assert rows["heaws", "six_coprocessors", "lut"].paper_value == 369_049
    assert rows["heaws", "rpau_cores", "dsp"].paper_value == 28
    for params, value in (("heaws", 0.33), (LARGER, 0.72), ("2^14, 720 bits", 1.55)):
        assert rows[params, cost.COMMUNICATION, "milliseconds"].paper_value == value


def test_the_page_names_the_authors_own_rtl_and_what_a_simulation_would_take() -> None:
    text = page(read_records(RECORDS)).partition("## The authors' own RTL")[2]
    assert "https://github.com/KULeuven-COSIC/HEAT" in text
    assert "53 Vivado IP cores" in text
    assert "To simulate it beside `heaws`:" in text


def alone(found: Found) -> Record:
    """A number beside the paper's."""
    (record,) = beside(found, ("heaws",))
    return record


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
