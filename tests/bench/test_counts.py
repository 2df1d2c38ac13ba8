"""What benches count today is what their records say, and what the records promise holds."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from bench import framework, heaws, medha, rpm
from bench.measure import SEAL, operations
from bench.papers import compared, figures, papers
from bench.record import Record, read_records
from bench.run import ROOT, Choice, Run, load, measure
from bench.transforms import diagonal_graph, networks
from ringsmith import CkksParameters
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.rtl import UNIT
from ringsmith.backends.rpau.isa.instruction_set import latencies
from ringsmith.backends.stream.device.model import StreamModel
from ringsmith.errors import DeviceError, ParameterError
from ringsmith.hdl.synthesis import Area


def written(name: str) -> list[Record]:
    """The records in the repository."""
    return list(read_records(load(name).records, name).records)


def again(name: str, parts: str, **values: str) -> list[Record]:
    """The records after some parts were measured again."""
    choice = Choice(only=tuple(parts.split(",")), values=values)
    return measure(load(name), choice, written(name), lambda _: None)


def rows(name: str, *fields: str) -> dict[tuple[str, ...], Record]:
    """The records by some of their fields."""
    return {tuple(getattr(r, field) for field in fields): r for r in written(name)}


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("medha", "none"),
        ("medha", "instructions"),
        ("heaws", "none"),
        ("rpm", "counted"),
        ("framework", "resources"),
        ("transforms", "diagonals"),
        pytest.param("medha", "operations", marks=pytest.mark.full),
        pytest.param("heaws", "operations,coprocessors,choices,larger", marks=pytest.mark.full),
        pytest.param("heaws", "forecast", marks=pytest.mark.full),
        pytest.param("rpm", "device", marks=pytest.mark.full),
        pytest.param("framework", "operations,networks", marks=pytest.mark.full),
    ],
)
def test_what_is_counted_today_is_what_the_records_say(name: str, parts: str) -> None:
    """Otherwise: ``ringsmith bench NAME --only PARTS --update``."""
    assert again(name, parts) == written(name)


# ---- what counted ------------------------------------------------------------------------------


def test_a_count_is_of_the_device_that_counted_it_now() -> None:
    """Whatever the RTL counted in an earlier run: since then it may have changed."""
    case = {"design": "medha21-set1", "params": "medha21-set1", "operations": ["add"]}
    before = tuple(replace(r, source="rtl") for r in written("medha") if r.source == "model")
    found = list(operations(Run({"device": "model", "cases": [case]}, before, lambda _: None)))
    values = {r.key: r.value for r in before}
    assert [(r.source, values[r.key]) for r in found] == [("model", r.value) for r in found]


def test_instructions_take_their_latencies() -> None:
    names = load("medha").parts["instructions"]["names"]
    found = rows("medha", "design", "operation", "metric")
    for design in ("medha", "medha21-set1", "medha21-set2", "medha21-set3"):
        costs = latencies(load_design(design))
        for theirs, ours in names.items():
            if ours in costs:
                assert found[design, theirs, "cycles"].value == costs[ours]


# ---- the papers' numbers -----------------------------------------------------------------------


def test_every_figure_says_where_the_paper_says_it() -> None:
    known = [figure for paper in papers() for figure in figures(paper)]
    assert all(figure.where and figure.value >= 0 for figure in known)
    keys = [(f.params, f.operation, f.metric, f.baseline) for f in figures("medha")]
    assert len(set(keys)) == len(keys)


def test_numbers_are_compared_with_every_paper_that_has_them() -> None:
    found = Record("medha, 8 RPAUs", "medha-set1", "rescale", "cycles", 13215.0, "model", "here")
    one, other = compared(found, ("medha", "medha-2021"))
    assert (one.paper, one.paper_value) == ("medha", 34430)
    assert (other.paper, other.paper_value, other.ratio) == ("medha-2021", 26208, 13215 / 26208)
    assert other.where.startswith("section V.A")
    unknown = replace(found, operation="conjugate")
    assert compared(unknown, ("medha",)) == [unknown]


def test_the_readme_says_what_the_designs_of_medha_take() -> None:
    readme = (ROOT / "README.md").read_text()
    found = rows("medha", "design", "operation", "metric")
    (row,) = (line for line in readme.splitlines() if line.startswith("| Medha (2021)"))
    fits = found["medha21-set1", "device", "fits"]
    (taken,) = re.findall(r"units take ([\d,]+) BRAM of a die's ([\d,]+)", fits.conditions)
    assert fits.value == 0
    assert "does not fit" in row
    assert f"{taken[0]} of {taken[1]} BRAMs" in row
    (row,) = (line for line in readme.splitlines() if line.startswith("| Medha (2022)"))
    for metric in ("lut", "dsp", "bram"):
        record = found["medha", "rpaus", metric]
        assert f"{record.value:,.0f}" in row
        assert f"{record.paper_value:,.0f}" in row


def test_times_are_cycles_at_the_papers_clock_compared_with_software_and_heax() -> None:
    mine = Record("medha", "medha-set1", "multiply_relinearize", "cycles", 100_000, "rtl", "x")
    what = ("cpu", "medha-set1", "multiply_relinearize", "microseconds", 40_000, "cpu", "", SEAL)
    run = Run({}, (mine, Record(*what)), lambda _: None)
    found = {(each.metric, each.baseline): each.value for each in medha.derived(run)}
    assert found["microseconds", ""] == pytest.approx(500)
    assert found["speedup", "SEAL"] == pytest.approx(80)
    assert found["speedup", "HEAX"] == pytest.approx(1182.27 / 500)


def test_whole_networks_are_compared_where_they_take_equally_many_operations() -> None:
    found = rows("framework", "design", "operation", "metric")
    theirs = {"lola-mnist": (20, 120), "lola-mnist-rows": (20, 120), "lola-cifar10": (7200, 42_300)}
    for name, (large, small) in theirs.items():
        count = found[framework.PROGRAM, name, "count"]
        for design, value in (("framework-512", large), ("vector-zu15eg", small)):
            whole = found[design, name, "milliseconds"]
            assert whole.paper_value == (value if name == "lola-mnist-rows" else None)
            each = found[design, f"{name}: {framework.EACH}", "microseconds"]
            assert each.value == pytest.approx(1e3 * whole.value / count.value)
            assert each.paper_value == pytest.approx(
                1e3 * value / (count.paper_value or 0), rel=0.005
            )


# ---- what was aimed for ------------------------------------------------------------------------


def test_the_records_hold_the_numbers_that_were_aimed_for() -> None:
    found = rows("framework", "design", "params", "operation", "metric")
    most = {
        ("framework-set1", "multiply_relinearize"): (24, 12, 6.5),
        ("framework-set1", "rotate"): (24, 11.8, 6.4),
        ("framework-set1", "multiply_plain"): (0.16, 0.16, 0.16),
        ("framework-set2", "multiply_relinearize"): (3.0, 1.6, 0.95),
    }
    designs = ("framework", "framework-512", "vector-1024")
    for what, limits in most.items():
        for design, limit in zip(designs, limits, strict=True):
            assert found[design, *what, "milliseconds"].value <= limit
    for name, limits in {"lola-mnist": (8, 40), "lola-cifar10": (3000, 15_000)}.items():
        for design, limit in zip(("framework-512", "vector-zu15eg"), limits, strict=True):
            assert found[design, name, name, "milliseconds"].value <= limit
    product = rows("heaws", "design", "operation", "metric")["heaws", heaws.PRODUCT, "cycles"]
    assert product.value <= 270_000
    transfers = [r for r in written("medha") if "limbs moved" in r.conditions]
    assert not [r for r in transfers if ": " not in r.design]


# ---- areas -------------------------------------------------------------------------------------


def test_a_device_is_judged_with_the_areas_of_both_widths(monkeypatch: pytest.MonkeyPatch) -> None:
    def areas(_: RpauDesign, rpau: int) -> dict[str, Area]:
        unit = Area(600, 189, 109, 110_000, 1) if rpau < 4 else Area(592, 168, 96, 99_000, 1)
        return {UNIT: unit, "rs_butterfly_lanes": unit}

    monkeypatch.setattr(medha, "rpau_areas", areas)
    values = {"whole": ["medha"], "scaled": [], "detailed": ["medha"]}
    found = {(r.operation, r.metric): r for r in medha.area(Run(values, (), lambda _: None))}
    assert found["rpaus", "lut"].value == 4 * 110_000 + 6 * 99_000
    assert (found["rpau", "uram"].value, found["rpau_54_bits", "uram"].value) == (109, 96)
    assert found["device", "fits"].value == 1
    text = found["device", "fits"].conditions
    assert text.startswith("2 + 2 + 3 + 3 RPAUs on the dies of an Alveo U250 fit ")


def test_six_coprocessors_that_do_not_fit_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Area(dsps=240, brams=169, urams=56, luts=300_000, flip_flops=45_000)
    modules = ("rs_rpau_top", "rs_rpau", "rs_base_convert", "rs_butterfly_lanes")
    joins = Area(dsps=0, brams=24, urams=0, luts=6000, flip_flops=600)
    monkeypatch.setattr(heaws, "device_areas", lambda _: dict.fromkeys(modules, one))
    monkeypatch.setattr(heaws, "card_areas", lambda _: {"rs_rpau_card": joins})
    found = {(r.operation, r.metric): r for r in heaws.area(Run({}, (), lambda _: None))}
    assert found["lift", "dsp"].value == 240
    assert found["accelerator", "fits"].value == 0
    assert "2 units take 602,000 LUT of a die's 253,611" in found["accelerator", "fits"].conditions


def test_a_design_fits_up_to_a_share_of_every_die(monkeypatch: pytest.MonkeyPatch) -> None:
    def fits(**change: int) -> Record:
        changed = replace(framework.design_of("framework"), **change)
        monkeypatch.setattr(framework, "named_design", lambda _: changed)
        *_, found = framework.resources(Run({"designs": ["x"], "detailed": []}, (), lambda _: None))
        monkeypatch.undo()
        assert found.metric == "fits"
        return found

    assert fits().value == 1
    too_large = fits(banks=7)  # 798 of 960 UltraRAMs
    assert too_large.value == 0
    assert "83." in too_large.conditions


def test_synthesized_parts_add_up_to_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    areas = {
        "rs_stream_axis": Area(294, 89.0, 0, 1000, 2000, lut_pairs=40, absorbed_flip_flops=70),
        "rs_stream_core": Area(294, 60.0, 0, 900, 1800, lut_pairs=30, absorbed_flip_flops=60),
        "rs_stream_product": Area(28, 0.0, 0, 100, 200),
        "rs_stream_generator": Area(14, 0.5, 0, 10, 20),
    }
    monkeypatch.setattr(rpm, "stream_areas", lambda _: areas)
    found = {
        (r.operation, r.metric): r.value
        for r in rpm.synthesized(Run({"sets": ["L1"], "parts": ["L1"]}, (), lambda _: None))
    }
    for metric, whole in {"dsp": 294, "bram": 89, "lut": 960, "ff": 1930}.items():
        parts = ("transforms", "products", "twiddle_generator", "others")
        assert found["rpm", metric] == whole == sum(found[part, metric] for part in parts)
    assert ("rpm", "uram") not in found


# ---- devices and memory ------------------------------------------------------------------------


def test_a_device_of_other_bits_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    right = StreamModel.multiply

    def wrong(self: StreamModel, batch: list) -> object:  # type: ignore[type-arg]
        report = right(self, batch)
        if report.products:
            report.products[0] = np.roll(report.products[0], 1)
        return report

    monkeypatch.setattr(StreamModel, "multiply", wrong)
    with pytest.raises(DeviceError, match="the model's product is not the interpreter's"):
        again("rpm", "device", sets="L1", check="true")


def test_an_operation_whose_key_memory_does_not_hold_is_not_timed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = framework.graph_of("multiply_relinearize", "framework-set1")
    assert framework.key_bytes(graph) == 45 * 2 * 46 * 65536 * 8
    assert (framework.memory.available() or 0) > 1 << 20
    monkeypatch.setattr(framework.memory, "available", lambda: 1 << 20)
    said: list[str] = []
    values = {"sets": ["framework-set3"], "operations": ["add", "rotate"], "repeats": 1}
    found = list(framework.software(Run(values, (), said.append)))
    assert [r.operation for r in found] == ["add"]
    assert "framework-set3: rotate is left out: it needs 0.01 GB" in said


@pytest.mark.parametrize("bench", ["heaws", "medha"])
def test_without_seal_a_bench_says_so_and_goes_on(
    bench: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = {"heaws": heaws, "medha": medha}[bench]
    monkeypatch.setattr(module, "seal_missing", lambda: "SEAL is left out")
    said: list[str] = []
    values = {"sets": ["medha-set1"], "operations": ["add"], "repeats": 1}
    found = list(module.software(Run(values, (), said.append)))
    assert "SEAL is left out" in said
    assert found
    assert SEAL not in {r.baseline for r in found}


def test_a_case_that_is_not_there_is_refused() -> None:
    for name in ("L2", "L1-x3", "L1-w"):
        with pytest.raises(ParameterError, match=f"set '{name}': give one of L1, L5"):
            rpm.case(name)


def test_equal_numbers_of_rpaus_are_compared() -> None:
    """The paper of 2022 has ten, whatever the set, and that of 2021 a device for each set."""
    found = [r for r in written("medha") if r.paper == "medha-2021" and r.params == "medha-set1"]
    assert {r.design for r in found} == {"medha, 8 RPAUs"}
    both = rows("medha", "design", "operation", "metric", "paper")
    for paper, value in (("medha", 99_448), ("medha-2021", 96_740)):
        assert both["medha, 8 RPAUs", "multiply_relinearize", "cycles", paper].paper_value == value


# ---- ``ringsmith bench transforms``: what is counted, and what is left out -----------------------


def test_a_transform_shares_digits_and_divides_once_a_giant_step() -> None:
    of = CkksParameters.create(
        n=1 << 10, prime_bits=[30] * 6, special_bits=[31, 31], scale_bits=20, security=None, dnum=3
    )
    graph = diagonal_graph(of, limbs=5, count=31, babies=8)
    ops = Counter(node.op for node in graph.nodes)
    babies, giants, halves = 7, 4, 2  # giant steps: -16, -8, 0, 8; one is not rotated
    assert ops["key_product"] == babies + giants - 1
    assert ops["digits"] == 1 + giants - 1
    assert ops["mul"] == (31 - 3) + halves * 3  # a pair's; or of two polynomials, at 3 giant steps
    assert ops["mod_down"] == giants - 1 + halves
    assert graph.type_of(len(graph.nodes) - 1).base == (0, 1, 2)
    graph.validate()  # every key is used


def test_networks_that_are_not_there_are_left_out() -> None:
    said: list[str] = []
    assert not list(networks(Run({"modules": "build/no-such.toml"}, (), said.append)))
    assert said == ["build/no-such.toml is not there: examples/heir/networks.py writes it"]
