"""``ringsmith bench rpm``: records, the paper's numbers, the page, and what is counted."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ringsmith.backends.stream.device.interface import ResidueProduct, StreamReport
from ringsmith.backends.stream.device.model import StreamModel
from ringsmith.bench.beside import beside
from ringsmith.bench.papers import facts
from ringsmith.bench.records import Record, read_records
from ringsmith.bench.rpm import projection, synthesis
from ringsmith.bench.rpm.cases import CASES, PAPER, Approximate
from ringsmith.bench.rpm.check import check
from ringsmith.bench.rpm.measure import Options, measure
from ringsmith.bench.rpm.one_cpu import PAPERS_CPU, THEIR_DEVICE
from ringsmith.bench.rpm.overlap import Conversion, Split
from ringsmith.bench.rpm.page import page
from ringsmith.bench.rpm.projection import HOST
from ringsmith.bench.rpm.resources import counted
from ringsmith.cli.main import app
from ringsmith.errors import DeviceError, ParameterError
from ringsmith.hdl.synthesis import Area

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "bench" / "records" / "rpm.jsonl"
PARTS = ("host", "stream", "unit", "up", "down")
TIMED = ("milliseconds", "speedup", "percent")


def written() -> list[Record]:
    """The records in the repository."""
    return list(read_records(RECORDS, "rpm").records)


def values(records: list[Record]) -> dict[tuple[str, str, str], float]:
    """Values by parameters, operation and metric; of two speedups that over this processor."""
    found = [r for r in records if r.peer != PAPERS_CPU]
    return {(r.params, r.operation, r.metric): r.value for r in found}


def test_the_page_is_the_one_that_its_records_make() -> None:
    assert (ROOT / "docs" / "results" / "rpm.md").read_text() == page(read_records(RECORDS))


def test_what_is_counted_on_the_page_is_what_is_counted_today() -> None:
    """Otherwise: `make bench`."""
    options = Options(kept=tuple(written()), products=0, repeats=0)
    today = values([r for r in measure(options, lambda _: None) if r.source == "estimate"])
    told = values([r for r in written() if r.source == "estimate" and r.metric not in TIMED])
    assert len(told) > len(CASES)
    assert {key: today[key] for key in told} == told


def test_the_proof_of_concept_takes_less_than_the_papers_and_has_its_interval() -> None:
    found = {(r.operation, r.metric): r for r in written() if r.params == "L1"}
    interval = found["interval", "cycles"]
    assert (interval.value, interval.paper_value, interval.source) == (2048, 2048, "rtl")
    assert found["rpm", "dsp"].value <= 320
    assert found["rpm", "bram"].value <= 110


def test_products_are_as_many_as_the_paper_counts() -> None:
    counted = [record for record in written() if record.metric == "products"]
    assert {record.operation for record in counted} == {"multiply", "relinearize"}
    assert len(counted) >= 2 * 11
    for record in counted:
        assert record.value == record.paper_value


def test_times_with_the_device_are_the_sum_of_their_parts() -> None:
    found = values(written())
    parts = ("host_lift", "host_scale", "host_sums", "device_multiply", "device_relinearize")
    totals = [key for key in found if key[1:] == ("mult_relin", "milliseconds")]
    assert totals
    for params, _, _ in totals:
        total = found[params, "mult_relin", "milliseconds"]
        summed = sum(found[params, part, "milliseconds"] for part in parts)
        assert total == pytest.approx(summed)
        alone = found[params, "cpu_mult_relin", "milliseconds"]
        assert found[params, "mult_relin", "speedup"] == pytest.approx(alone / total)


def test_both_devices_stand_beside_one_processor() -> None:
    """Table 4's speedups are of the paper's processor, and ours over it are beside them."""
    known = {(f.params, f.operation, f.metric): f.value for f in facts(PAPER)}
    rows = {(r.params, r.operation, r.peer): r for r in written() if r.metric == "speedup"}
    found = values(written())
    for case in CASES:
        software = case.name.partition("-")[0]
        total = known[software, "cpu_mult_relin", "milliseconds"]
        row = rows[case.name, "mult_relin", PAPERS_CPU]
        assert row.paper_value == pytest.approx(
            total / known[case.name, "mult_relin", "milliseconds"], abs=0.01
        )
        products = [
            known[software, f"cpu_{name}_products", "milliseconds"]
            for name in ("multiply", "relinearize")
        ]
        ours = [
            found[case.name, f"device_{n}", "milliseconds"] for n in ("multiply", "relinearize")
        ]
        assert row.value == pytest.approx(total / (total - sum(products) + sum(ours)))
        for name, there, here in zip(("multiply", "relinearize"), products, ours, strict=True):
            each = rows[case.name, f"device_{name}", PAPERS_CPU]
            assert each.value == pytest.approx(there / here)
            assert each.paper_value is not None
        alone = found[case.name, "cpu_mult_relin", "milliseconds"]
        host = sum(found[case.name, f"host_{part}", "milliseconds"] for part in HOST)
        theirs = [
            known[case.name, f"device_{n}", "milliseconds"] for n in ("multiply", "relinearize")
        ]
        beside_ours = rows[case.name, THEIR_DEVICE, ""]
        assert beside_ours.value == pytest.approx(alone / (host + sum(theirs)))
        assert rows[case.name, "mult_relin", ""].paper_value is None


def test_figure_6c_is_the_payload_of_products_back_to_back() -> None:
    found = values(written())
    for case in CASES:
        row = case.lanes * case.word_bits / 8 * 0.2
        assert found[case.name, "link_in", "gigabytes_per_second"] == pytest.approx(2 * row)
        assert found[case.name, "link_out", "gigabytes_per_second"] == pytest.approx(row)


def test_times_of_an_earlier_run_stay_while_the_device_takes_as_long() -> None:
    kept = tuple(written())
    options = Options(sets=("L1",), kept=kept, products=0, repeats=0)
    again = values(measure(options, lambda _: None))
    assert again["L1", "cpu_mult_relin", "milliseconds"] > 0
    assert again == {key: value for key, value in values(list(kept)).items() if key in again}
    slower = tuple(
        replace(r, value=2 * r.value) if r.operation == "device_multiply" else r for r in kept
    )
    found = values(measure(replace(options, kept=slower), lambda _: None))
    assert ("L1", "cpu_mult_relin", "milliseconds") not in found
    assert ("L1", "mult_relin", "speedup") not in found


def test_the_papers_numbers_of_every_row_are_there() -> None:
    there = {fact.params for fact in facts(PAPER)}
    assert there == {case.name for case in CASES}
    assert len(facts(PAPER)) > 100


def test_a_row_is_measured_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringsmith.apps.conditions.QUIET_LOAD", 1e9)  # tests run on busy machines
    files = [str(tmp_path / name) for name in ("rpm.jsonl", "rpm.md")]
    options = ["--sets", "L1", "--products", "0", "--repeats", "1"]
    command = ["bench", "rpm", *options, "--json", files[0], "--page", files[1]]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    found = values(list(read_records(Path(files[0]), "rpm").records))
    assert found["L1", "multiply", "products"] == 27
    assert found["L1", "host_lift", "milliseconds"] > 0
    for scheme in ("bfv", "ckks"):
        parts = [found["L1", f"{scheme}_{part}", "milliseconds"] for part in PARTS]
        assert found["L1", f"{scheme}_overlapped", "milliseconds"] == max(parts)
        assert found["L1", f"{scheme}_in_turn", "milliseconds"] == pytest.approx(sum(parts))
    assert "faster than one thread of this CPU:" in Path(files[1]).read_text()
    assert "## Not measured" in Path(files[1]).read_text()


def test_conversions_go_to_the_units_and_the_rest_to_the_host() -> None:
    split = Split(CASES[0].work.graph, CASES[0].design)
    k, extension = 4, 5
    lift = Conversion(k, extension, k, extension)
    divide, back = Conversion(k + 1, extension, k + extension, 0), Conversion(extension, k, 0, k)
    digit = Conversion(1, k - 1, 1, k - 1)
    kinds = {lift: 4, divide: 3, back: 3, digit: k}
    assert Counter(split.conversions) == kinds
    left = {node.op for graph in split.rest for node in graph.nodes}
    assert left == {"input", "add", "sub", "output"}
    assert split.executable.products == 27 + 32


def test_of_ckks_digits_and_divisions_are_converted_and_no_multiplication_by_p() -> None:
    split = Split(Approximate(12, 94, 30).graph, CASES[0].design)
    digit, divide = Conversion(1, 4, 1, 4), Conversion(3, 3, 5, 3)
    assert Counter(split.conversions) == {digit: 4, divide: 2}
    assert "mod_up" in {node.op for graph in split.rest for node in graph.nodes}


def test_of_a_pipeline_the_longest_part_counts_and_in_turn_the_sum() -> None:
    parts = Split(CASES[0].work.graph, CASES[0].design).parts
    assert parts.stream == pytest.approx(59 * 2048 / 200e3)
    assert parts.overlapped(0.1) == max(parts.stream, parts.unit)
    assert parts.overlapped(9.0) == 9.0
    whole = 0.1 + parts.stream + parts.unit + parts.up + parts.down
    assert parts.in_turn(0.1) == pytest.approx(whole)
    assert parts.on_device <= parts.overlapped(0.0)


def test_a_word_that_no_unit_has_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringsmith.bench.rpm.measure.MAX_UNIT_BITS", 29)
    said: list[str] = []
    records = measure(Options(("L1",), products=0, repeats=1), said.append)
    assert "L1: no base-conversion unit has words of 30 bits" in said
    assert not any(r.operation.startswith("bfv_") for r in records)


@pytest.mark.full
def test_the_interval_is_counted_on_the_rtl() -> None:
    [record] = [
        r
        for r in measure(Options(("L1",), products=25, repeats=0), lambda _: None)
        if r.operation == "interval"
    ]
    assert (record.value, record.source) == (2048, "rtl")


AREAS = {
    "rs_stream_axis": Area(294, 89.0, 0, 1000, 2000, lut_pairs=40, absorbed_flip_flops=70),
    "rs_stream_core": Area(294, 60.0, 0, 900, 1800, lut_pairs=30, absorbed_flip_flops=60),
    "rs_stream_product": Area(28, 0.0, 0, 100, 200),
    "rs_stream_generator": Area(14, 0.5, 0, 10, 20),
}
"""Made up, but for the DSPs and block RAMs of the device."""


def test_synthesized_parts_add_up_to_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "stream_areas", lambda design: AREAS)
    rows = list(synthesis.synthesized("L1", CASES[0].design))
    assert {row.source for row in rows} == {"synthesis"}
    found = {(row.operation, row.metric): row.value for row in rows}
    packed = {"lut": 960, "lut_unpacked": 1000, "ff": 1930, "ff_unpacked": 2000}
    for metric, whole in {"dsp": 294, "bram": 89, **packed}.items():
        parts = ("transforms", "products", "twiddle_generator", "others")
        assert found["rpm", metric] == whole == sum(found[part, metric] for part in parts)
    assert found["transforms", "lut_unpacked"] == 790
    assert found["transforms", "lut"] == 760
    assert ("rpm", "uram") not in found


def test_synthesized_areas_stay_while_the_design_counts_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(synthesis, "stream_areas", lambda design: AREAS)
    design = CASES[0].design
    areas = list(synthesis.synthesized("L1", design))
    found = [*areas, *counted("L1", design)]
    earlier = [record for row in found for record in beside(row, (PAPER,))]
    assert list(synthesis.kept("L1", design, earlier)) == areas
    assert not list(synthesis.kept("L5", design, earlier))
    other = [
        replace(each, value=each.value + (each.source == "estimate" and each.metric == "dsp"))
        for each in earlier
    ]
    assert not list(synthesis.kept("L1", design, other))


def test_counts_are_held_against_every_synthesis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "stream_areas", lambda design: AREAS)
    options = Options(("L1",), area=("L1-w4",), products=0, repeats=0)
    lines = check(measure(options, lambda _: None))
    assert lines[-1] == "| L1-w4 | 2^12 | 4 | 30 | 588 | 294 | 90 | 89 | 960 | 1,930 |"
    assert lines[0].startswith("Designs synthesized: 1.")
    assert "DSPs is off by at most 100.0%" in lines[0]
    assert "block RAMs by at most 50.0%" in lines[0]


def test_a_device_of_other_bits_is_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    right = StreamModel.multiply

    def wrong(self: StreamModel, batch: list[ResidueProduct]) -> StreamReport:
        report = right(self, batch)
        if report.products:
            report.products[0] = np.roll(report.products[0], 1)
        return report

    monkeypatch.setattr(StreamModel, "multiply", wrong)
    with pytest.raises(DeviceError, match="the model's product is not the interpreter's"):
        projection.check_bits(CASES[0].work, CASES[0].design)


@pytest.mark.parametrize(
    ("values_", "text"),
    [
        ({"sets": ("L2",)}, "set 'L2': choose from L1, L5"),
        ({"products": 1}, "1 products, 7 repeats: give none, or at least two"),
        ({"repeats": -1}, "1000 products, -1 repeats"),
    ],
)
def test_options_that_mean_nothing_are_refused(values_: dict[str, object], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        Options(**values_)
