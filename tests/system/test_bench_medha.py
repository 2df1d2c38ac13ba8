"""``ringsmith bench medha``: records, the papers' numbers, the page, and what is counted."""

import re
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ringsmith import runtime
from ringsmith.backends.rpau.design.area import estimate, key_rams, scaled, twiddle_rams, work_rams
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.rtl import UNIT
from ringsmith.backends.rpau.isa.instruction_set import latencies
from ringsmith.bench.beside import beside, left_out
from ringsmith.bench.medha import ablations, area
from ringsmith.bench.medha.ablations import on_the_card, variants
from ringsmith.bench.medha.area_times_cycles import of_operations, papers_times_area
from ringsmith.bench.medha.cases import (
    CASES,
    IN_TURN,
    INSTRUCTIONS,
    OPERATIONS,
    PAPERS,
    Case,
    graph_of,
)
from ringsmith.bench.medha.larger import LARGER, larger_rows
from ringsmith.bench.medha.measure import Options, measure
from ringsmith.bench.medha.page import page
from ringsmith.bench.medha.software import times
from ringsmith.bench.papers import AREA, AREA_TIMES_CYCLES, SEAL, facts, papers
from ringsmith.bench.programs import rtl_digest
from ringsmith.bench.records import Found, Measurement, Record, number, read_records
from ringsmith.cli.main import app
from ringsmith.errors import ParameterError
from ringsmith.hdl.synthesis import Area, block_rams
from ringsmith.objects import Ciphertext
from ringsmith.params import ckks_set
from ringsmith.runtime.host_link import MEDHA_XDMA, PCIE_GEN3_X16

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "bench" / "records" / "medha.jsonl"
CHEAP = ("add", "rescale")
"""Operations whose scheduling takes no time."""


def written() -> list[Record]:
    """The records in the repository."""
    return list(read_records(RECORDS, "medha").records)


def found_of(record: Record) -> Found:
    """Our number of a record, without the paper's."""
    return Found(**{each.name: getattr(record, each.name) for each in fields(Found)})


def cycles(records: list[Record], *operations: str) -> dict[tuple[str, str, str], float]:
    """Cycles by design, parameter set and operation."""
    return {
        (r.design, r.params, r.operation): r.value
        for r in records
        if r.metric == "cycles" and r.operation in operations and ": " not in r.design
    }


def test_the_page_is_the_one_that_its_records_make() -> None:
    assert (ROOT / "docs" / "results" / "medha.md").read_text() == page(read_records(RECORDS))


def test_the_cheap_rows_of_the_page_are_what_is_counted_today() -> None:
    """Otherwise: `make bench`."""
    options = Options(operations=CHEAP, ablations=False, repeats=0)
    names = (*INSTRUCTIONS, *CHEAP)
    today = cycles(measure(options, lambda _: None), *names)
    assert ("medha", "medha-set1", "rescale") in today
    assert today == cycles(written(), *names)


def test_key_switching_on_the_page_takes_the_cycles_that_are_scheduled_today() -> None:
    graph = graph_of("multiply_relinearize", ckks_set("medha21-set1"))
    executable = runtime.compile_graph(graph, "medha21-set1").executable
    assert executable is not None
    key = ("medha21-set1", "medha21-set1", "multiply_relinearize")
    assert cycles(written(), key[2])[key] == executable.cycles


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
    graph = graph_of("multiply_relinearize", ckks_set(params))
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


def test_the_rams_of_ten_rpaus_with_seven_banks_fit_the_papers_card() -> None:
    told = on_the_card(load_design("medha"))
    assert "the RAMs of 10 RPAUs, 1,764 BRAM and 1,012 URAM, fit" in told
    own = on_the_card(variants()["13 work polynomials in 13 banks"])
    assert "3,276 BRAM and 756 URAM, do not fit" in own
    alike = replace(load_design("medha"), narrow_rpaus=0, narrow_bits=0)
    assert "the RAMs of 10 RPAUs, 1,890 BRAM and 1,090 URAM, fit" in on_the_card(alike)


def test_narrow_rpaus_take_fewer_rams_and_a_slice_a_lane_to_shorten_words() -> None:
    wide, narrow = (asdict(estimate(load_design("medha"), rpau)) for rpau in (0, 9))
    assert wide == {"dsp": 40 * 15, "bram": 189, "uram": 109}
    assert narrow == {"dsp": 40 * 14 + 32, "bram": 168, "uram": 96}


def test_a_device_is_judged_with_the_areas_of_both_widths(monkeypatch: pytest.MonkeyPatch) -> None:
    def areas(_: RpauDesign, rpau: int) -> dict[str, Area]:
        unit = Area(600, 189, 109, 110_000, 1) if rpau < 4 else Area(592, 168, 96, 99_000, 1)
        return {UNIT: unit, "rs_butterfly_lanes": unit}

    monkeypatch.setattr(area, "rpau_areas", areas)
    medha = load_design("medha")
    found = area.synthesized(medha, "whole")
    told = {(each.operation, each.metric): each for each in found.rows(medha, "medha-set1")}
    assert told["rpaus", "lut"].value == 4 * 110_000 + 6 * 99_000
    assert told["rpau", "uram"].value == 109
    assert told["rpau_54_bits", "uram"].value == 96
    assert told["rpau_54_bits", "uram"].conditions.startswith("54-bit words; ")
    assert found.average(medha).luts == (4 * 110_000 + 6 * 99_000) / 10
    fits = found.fit(medha, "medha-set1")
    assert fits.value == 1
    assert fits.conditions.startswith("2 + 2 + 3 + 3 RPAUs on the dies of an Alveo U250 fit ")
    eight = CASES[1].hardware
    assert len(found.units(eight)) == 8
    assert found.fit(eight, "medha-set1").conditions.startswith("2 + 2 + 2 + 2 RPAUs on the dies ")
    fewer = replace(medha, narrow_rpaus=5)
    fits = area.synthesized(fewer, "whole").fit(fewer, "medha-set1")
    assert fits.value == 1  # 109 and twice 96 on the third die


def test_a_variant_with_banks_of_its_own_is_synthesized_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = Area(360, 243, 109, 12_345, 23_456)
    monkeypatch.setattr(ablations, "area_from_part", lambda _: own)
    banks = variants()["13 work polynomials in 6 banks"]
    rows = list(ablations._area(banks, areas={}, manner="scaled"))
    assert {each.metric: each.value for each in rows}["lut"] == own.luts
    assert all("URAM, fit an Alveo U250" in each.conditions for each in rows)


def test_equal_numbers_of_rpaus_stand_beside_each_other() -> None:
    """The paper of 2022 has ten, whatever the set, and that of 2021 a device for each set."""
    theirs = {"medha": {10, 8}, "medha-2021": {7, 8, 9}}
    for case in CASES:
        assert all(case.hardware.rpaus in theirs[paper] for paper in case.papers)
    sizes = {(case.params, case.hardware.rpaus) for case in CASES if "medha-2021" in case.papers}
    assert ("medha-set1", 8) in sizes
    assert ("medha-set1", 10) not in sizes


def test_area_times_cycles_is_of_an_average_rpau() -> None:
    medha = load_design("medha")
    cycles = Found("medha", "medha-set1", "rescale", "cycles", 1e6, "model", "here")
    counted = {row.metric: row for row in of_operations(medha, [cycles])}
    assert counted["dsp_megacycles"].value == pytest.approx(0.4 * 600 + 0.6 * 592)
    assert counted["bram_megacycles"].value == pytest.approx(0.4 * 189 + 0.6 * 168)
    assert "4 of 60-bit words and 6 of 54" in counted["dsp_megacycles"].conditions
    told = of_operations(medha, [cycles], Area(1, 2, 3, 100, 50, lut_pairs=10))
    assert {row.metric: row.value for row in told}["lut_megacycles"] == 90


def test_area_times_cycles_is_the_papers_area_times_its_cycles() -> None:
    derived = papers_times_area()
    known = {(f.params, f.operation, f.metric): f.value for f in facts("medha") if not f.peer}
    bram, uram = (
        0.1 * known["medha-set1", "rpau", metric]
        + 0.9 * known["medha-set1", "rpau_54_bits", metric]
        for metric in ("bram", "uram")
    )
    assert 10 * uram == known["medha-set1", "device", "uram"]  # so one RPAU has 60-bit words
    areas = {"dsp_megacycles": 360, "mbit_megacycles": (bram * 36 + uram * 288) * 1024 / 1e6}
    rows = [record for record in written() if record.metric in AREA_TIMES_CYCLES]
    papers = {(case.hardware.name, case.params): case.papers for case in CASES}
    again = {
        other
        for row in rows  # variants, which no case has, are of the first one
        for other in beside(
            found_of(row), papers.get((row.design, row.params), CASES[0].papers), derived
        )
    }
    assert again == set(rows)
    told = {(r.design, r.params, r.operation) for r in rows if ": " not in r.design}
    assert told == {
        (case.hardware.name, case.params, operation)
        for case in CASES
        for operation in ("multiply_relinearize", "rescale")
    }
    assert any(": " in record.design for record in rows)
    beside_medha = [r for r in rows if r.paper == "medha" and r.metric in areas]
    assert beside_medha
    for record in beside_medha:
        theirs = areas[record.metric] * known[record.params, record.operation, "cycles"] / 1e6
        assert record.paper_value == pytest.approx(theirs, rel=0.005)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.hardware.name + case.params)
def test_instructions_take_their_latencies(case: Case) -> None:
    options = Options(sets=(case.params,), operations=(), ablations=False, repeats=0)
    found = cycles(measure(options, lambda _: None), *INSTRUCTIONS)
    costs = latencies(load_design(case.design))
    expected = {name: costs[ours] for name, ours in INSTRUCTIONS.items() if ours in costs}
    assert {key[2]: value for key, value in found.items()} == expected


def test_no_key_switching_of_a_paper_waits_for_the_host() -> None:
    """Keys half from seeds, or whole where the design has no PRNG, and operands fit on the chip."""
    operations = {"multiply_relinearize", "multiply_relinearize_rescale", "rotate"}
    on_page = [
        r
        for r in written()
        if r.operation in operations and ": " not in r.design and r.params != LARGER
    ]
    assert {r.params for r in on_page} >= {"medha-set1", "medha-set2", "medha21-set1"}
    assert not [r for r in on_page if "transfers" in r.conditions]


def test_numbers_stand_beside_every_paper_that_has_them() -> None:
    found = Found("medha", "medha-set1", "rescale", "cycles", 13215.0, "model", "here")
    one, other = beside(found, PAPERS)
    assert (one.paper, one.paper_value) == ("medha", 34430)
    assert (other.paper, other.paper_value, other.ratio) == ("medha-2021", 26208, 13215 / 26208)
    assert other.where.startswith("section V.A")
    (alone,) = beside(replace(found, operation="conjugate"), PAPERS)
    assert (alone.paper_value, alone.where) == (None, "")


def test_what_nothing_stands_beside_is_told() -> None:
    everything = left_out(PAPERS, [])
    assert len(everything) == sum(len(facts(paper)) for paper in PAPERS)
    found = Found("medha", "medha-set2", "add", "cycles", 1.0, "model", "here")
    less = left_out(PAPERS, beside(found, PAPERS))
    assert len(less) == len(everything) - 1
    text = page(Measurement("medha", "bench", tuple(beside(found, PAPERS))))
    assert "`device_with_platform dsp`" in text
    assert "there is no platform part here" in text
    assert (
        "no power was measured: nothing was placed and routed for this card: `device watts`" in text
    )
    assert "`multiply_relinearize speedup SEAL with HEXL`" in text
    for params in ("medha21-set1", "medha21-set2", "medha21-set3"):  # Table IV of 2021
        assert f"{params}, not measured: there is no platform part here: `device_with" in text


def test_every_fact_says_where_the_paper_says_it() -> None:
    assert {fact.paper for paper in papers() for fact in facts(paper)} == set(papers())
    assert all(fact.where and fact.value >= 0 for paper in papers() for fact in facts(paper))
    keys = [(fact.params, fact.operation, fact.metric, fact.peer) for fact in facts("medha")]
    assert len(set(keys)) == len(keys)


def test_an_unknown_paper_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="choose one of medha, medha-2021"):
        facts("nobody")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("device", "card"),
        ("rtl", ("nano",)),
        ("area", "some"),
        ("sets", ("nano",)),
        ("operations", ("divide",)),
    ],
)
def test_what_cannot_be_measured_is_refused_before_the_work(option: str, value: object) -> None:
    with pytest.raises(ParameterError, match="choose from"):
        Options(**{option: value})  # type: ignore[arg-type]


def test_times_are_cycles_at_the_papers_clock_beside_software_and_heax() -> None:
    mine = Found("medha", "medha-set1", "multiply_relinearize", "cycles", 100_000, "rtl", "x")
    seal = replace(mine, design="cpu", metric="microseconds", value=40_000, peer="SEAL")
    found = {(each.metric, each.peer): each.value for each in times([mine], [seal])}
    assert found["microseconds", ""] == pytest.approx(500)
    assert found["speedup", "SEAL"] == pytest.approx(80)
    assert found["speedup", "HEAX"] == pytest.approx(1182.27 / 500)


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
    assert twiddle_rams(replace(nano, prime_sets=2)).brams == 5
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
    spilled, keys = 4 << 14, 2 << 14  # of 11 transfers, 7 are keys that were loaded under way
    report = runtime.RunResult({"z": result}, 1, 1, 11, spilled_words=spilled, key_words=keys)
    assert report.transfer_seconds(MEDHA_XDMA) == pytest.approx((6 + 4 + 2) * 125e-6)
    assert 13e9 < PCIE_GEN3_X16.bytes_per_second < 15.76e9


SMALL = Options(sets=("medha21-set1",), operations=CHEAP, repeats=0)


def as_rtl(records: list[Record], design: str) -> tuple[Record, ...]:
    """What records would be, had the RTL of a design counted them."""
    digest = rtl_digest(load_design(design))
    return tuple(replace(r, source="rtl", rtl=digest) for r in records if r.source == "model")


def of_rtl(records: list[Record]) -> set[tuple[str, str]]:
    """What the RTL counted: operations and metrics of cycles and instructions."""
    counted = (r for r in records if r.source == "rtl" and r.metric in ("cycles", "instructions"))
    return {(r.operation, r.metric) for r in counted}


def test_what_the_same_rtl_counted_before_stays_where_the_model_counts_the_same() -> None:
    before = as_rtl(measure(SMALL, lambda _: None), "medha21-set1")
    found = measure(replace(SMALL, kept=before), lambda _: None)
    counts = {(name, metric) for name in CHEAP for metric in ("cycles", "instructions")}
    assert counts <= of_rtl(found)
    assert {r.rtl for r in found if r.source == "rtl" and r.metric == "cycles"} == {before[0].rtl}


@pytest.mark.parametrize("metric", ["cycles", "instructions"])
def test_a_program_that_differs_in_one_count_is_not_the_rtls(metric: str) -> None:
    before = as_rtl(measure(SMALL, lambda _: None), "medha21-set1")
    wrong = tuple(
        replace(r, value=r.value + 1) if (r.operation, r.metric) == ("rescale", metric) else r
        for r in before
    )
    found = of_rtl(measure(replace(SMALL, kept=wrong), lambda _: None))
    assert ("add", "cycles") in found
    assert not {each for each in found if each[0] == "rescale"}


@pytest.mark.parametrize("digest", ["", "0123456789ab"])
def test_what_other_rtl_counted_is_not_this_ones(digest: str) -> None:
    before = as_rtl(measure(SMALL, lambda _: None), "medha21-set1")
    other = tuple(replace(r, rtl=digest) for r in before)
    assert not of_rtl(measure(replace(SMALL, kept=other), lambda _: None))


def test_the_sets_are_counted_by_the_rtl_and_the_records_have_its_digest() -> None:
    sets = [case for case in CASES if case.rpaus is None]
    rows = [r for r in written() if r.metric in ("cycles", "instructions") and r.source == "rtl"]
    found = {(r.design, r.params, r.operation, r.metric) for r in rows}
    for case in sets:
        for operation in OPERATIONS:
            for metric in ("cycles", "instructions"):
                assert (case.design, case.params, operation, metric) in found
    assert all(len(r.rtl) == 12 for r in rows)


def test_rpaus_stand_beside_rpaus_and_no_device_beside_them() -> None:
    rows = {(r.operation, r.metric): r for r in written() if r.design == "medha" and r.paper_value}
    for metric, ratio in (("lut", 1.125), ("ff", 0.944)):
        record = rows["rpaus", metric]
        assert record.ratio == pytest.approx(ratio, abs=0.0005)
        assert "10 times what an average RPAU" in record.where
        assert ("device", metric) not in rows
    per_rpau = {"rpau": 1, "rpau_54_bits": 9}
    known = {(f.operation, f.metric): f.value for f in facts("medha") if not f.peer}
    theirs = sum(count * known[part, "lut"] for part, count in per_rpau.items())
    assert rows["rpaus", "lut"].paper_value == pytest.approx(theirs)


@pytest.mark.parametrize(
    ("number", "brams", "lut", "bram"),
    [(1, "682", 2.01, 3.04), (2, "736", 2.04, 3.29), (3, "1,185", 2.12, 3.53)],
)
def test_no_design_of_2021_fits_its_card_and_the_page_says_why(
    number: int, brams: str, lut: float, bram: float
) -> None:
    name = f"medha21-set{number}"
    rows = {(r.operation, r.metric): r for r in written() if r.design == name}
    fits = rows["device", "fits"]
    assert fits.value == 0
    assert f"units take {brams} BRAM of a die's 672" in fits.conditions
    assert rows["rpaus", "bram"].ratio == pytest.approx(bram, abs=0.01)
    assert rows["rpaus", "lut"].ratio == pytest.approx(lut, abs=0.01)
    text = page(read_records(RECORDS))
    heading = f"## Cycles: `{name}` on design `{name}`"
    assert "do not fit, since" in text.partition(heading)[2].partition("| design |")[0]
    counted = area.counted_fit(load_design(name), name)
    assert counted.value == 0
    assert f"units take {brams} BRAM of a die's 672" in counted.conditions


def test_the_readme_says_that_the_design_of_2021_does_not_fit_and_what_medha_takes() -> None:
    readme = (ROOT / "README.md").read_text()
    (row,) = (line for line in readme.splitlines() if line.startswith("| Medha (2021)"))
    fits = next(r for r in written() if (r.design, r.metric) == ("medha21-set1", "fits"))
    (taken,) = re.findall(r"units take ([\d,]+) BRAM of a die's ([\d,]+)", fits.conditions)
    assert "does not fit" in row
    assert f"{taken[0]} of {taken[1]} BRAMs" in row
    (row,) = (line for line in readme.splitlines() if line.startswith("| Medha (2022)"))
    rows = {(r.operation, r.metric): r for r in written() if r.design == "medha"}
    for metric in ("lut", "dsp", "bram"):
        record = rows["rpaus", metric]
        assert f"{record.value:,.0f}" in row
        assert f"{record.paper_value:,.0f}" in row


def test_a_rescaling_in_turn_stands_beside_one_in_turn_and_a_fused_one_alone() -> None:
    rows = {
        (r.design, r.params, r.operation): r
        for r in written()
        if r.metric == "cycles" and ": " not in r.design
    }
    fused = [key for key in rows if key[2] == "multiply_relinearize_rescale"]
    assert len(fused) == len(CASES)
    for key in fused:
        assert rows[key].paper_value is None
        both = rows[*key[:2], IN_TURN]
        parts = [rows[*key[:2], name] for name in ("multiply_relinearize", "rescale")]
        assert both.value == sum(part.value for part in parts)
        assert both.paper_value == sum(part.paper_value or 0 for part in parts)
        assert rows[key].value < both.value
    assert not [
        r
        for r in written()
        if r.operation == "multiply_relinearize_rescale" and SEAL in (r.peer, r.paper)
    ]


def test_nine_primes_at_2_16_take_the_cycles_and_transfers_of_today() -> None:
    """What the paper only estimates: the RAMs of an RPAU that does not send limbs away."""
    today = {row.metric: row.value for row in larger_rows(load_design("medha"))}
    assert (today["cycles"], today["transfers"]) == (526_013, 1_273)
    rows = {r.metric: r for r in written() if r.params == LARGER}
    assert {metric: r.value for metric, r in rows.items()} == today
    assert (rows["bram"].paper_value, rows["uram"].paper_value) == (96, 208)


def test_areas_of_an_earlier_run_stay_while_an_rpau_counts_the_same() -> None:
    kept = tuple(written())
    options = Options(sets=("medha-set1",), operations=CHEAP, repeats=0, kept=kept)
    area_of = lambda rows: {  # noqa: E731
        (r.design, r.operation, r.metric, r.value) for r in rows if r.metric in (*AREA, "fits")
    }
    again = measure(options, lambda _: None)
    sets = [r for r in kept if r.params == "medha-set1" and ": " not in r.design]
    known = {each for each in area_of(sets) if not each[1].startswith("address")}
    assert area_of(again) == known
    fewer = tuple(
        replace(r, value=r.value - 1) if (r.operation, r.metric) == ("rpau", "dsp") else r
        for r in kept
    )
    found = measure(replace(options, kept=fewer), lambda _: None)
    assert {r.source for r in found if r.metric in AREA} == {"estimate"}
    assert not [r for r in found if r.metric == "lut"]


def test_table_5_and_throughput_are_on_the_page() -> None:
    text = page(read_records(RECORDS))
    products = text.partition("### A product on other accelerators")[2].partition("### ")[0]
    for cell in ("| 2,616 |", "| 2,011 |", "| 2,067 |", "| 500,000 |"):
        assert cell in products
    table = text.partition("(its Table 5)")[2].partition("## Area")[0]
    for fact in facts("medha"):
        if fact.where == "Table 5":
            assert (fact.peer or "| Medha |") in table
            assert number(fact.value) in table
    privft = next(r for r in written() if (r.operation, r.metric) == ("privft", "seconds"))
    assert privft.paper_value == 0.36


def test_the_command_prints_and_writes(tmp_path: Path) -> None:
    target, text = tmp_path / "medha.jsonl", tmp_path / "medha.md"
    options = ["--sets", "medha21-set1", "--operations", " add,"]
    options += ["--no-ablations", "--no-applications"]
    files = ["--json", str(target), "--page", str(text)]
    done = CliRunner().invoke(app, ["bench", "medha", *options, "--repeats", "0", *files])
    assert done.exit_code == 0, done.output
    records = read_records(target, "medha").records
    assert {r.params for r in records} == {"medha21-set1"}
    assert {r.source for r in records if r.metric in ("cycles", "microseconds")} == {"model"}
    add = next(r for r in records if (r.operation, r.metric) == ("add", "cycles"))
    assert (add.paper, add.paper_value) == ("medha-2021", 1134)
    assert "medha21-set1" in done.stdout
    command = text.read_text().partition("you know ")[2].partition("`")[2].partition("`")[0]
    assert command == read_records(target).command
    assert command.startswith("ringsmith bench medha --device model --sets medha21-set1 ")
    assert "--repeats 0 --no-ablations" in command
