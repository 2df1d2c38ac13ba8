"""``ringsmith bench framework``: records, the paper's numbers, the page, and what is counted."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from ringsmith.apps.mnist import LAYERS
from ringsmith.backends.vector.design import rtl
from ringsmith.bench.framework import measure as measuring
from ringsmith.bench.framework.cases import (
    DESIGNS,
    FUSED,
    FUSION_POINTS,
    MAIN_OPERATION,
    OPERATIONS,
    POINTS,
    SETS,
    Point,
    compiled,
    design_of,
    graph_of,
    parameters,
)
from ringsmith.bench.framework.clock import AT_CLOCK, CLOCK, kept_clock
from ringsmith.bench.framework.figures import FIGURES, FOLDER, figures
from ringsmith.bench.framework.formula import Estimate, formula_rows
from ringsmith.bench.framework.measure import QUICK, Options, key_bytes, measure
from ringsmith.bench.framework.networks import EACH, NETWORK_DESIGNS, NETWORKS, PROGRAM, Planned
from ringsmith.bench.framework.page import page
from ringsmith.bench.framework.resources import CARD, parts, resource_rows
from ringsmith.bench.framework.search import SEARCHED, designs, words_and_alus
from ringsmith.bench.framework.subroutines import (
    SUBROUTINES,
    WITHOUT_FUSION,
    apart,
    breakdown,
)
from ringsmith.bench.framework.use import shares
from ringsmith.bench.programs import digest_of
from ringsmith.bench.records import Found, Record, read_records
from ringsmith.cli.main import app
from ringsmith.errors import ParameterError
from ringsmith.hdl.areas import total_area

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "bench" / "records" / "framework.jsonl"


def counted(records: list[Record]) -> dict[tuple[str, ...], tuple[float, str]]:
    """Values and conditions of all that no clock measured."""
    return {
        (r.design, r.params, r.operation, r.metric): (r.value, r.conditions)
        for r in records
        if not r.peer
    }


def written() -> dict[tuple[str, ...], tuple[float, str]]:
    """What the published records hold."""
    return counted(list(read_records(RECORDS, "framework").records))


def test_the_page_is_the_one_that_its_records_make() -> None:
    assert (ROOT / "docs" / "results" / "framework.md").read_text() == page(read_records(RECORDS))


def test_the_records_hold_what_is_counted_today() -> None:
    """Otherwise: `make bench`."""
    none = Options(points=(), fusion_sets=(), search_sets=(), networks=(), repeats=0)
    small = replace(none, sets=SETS[2:], networks=("lola-mnist",))
    small = replace(small, network_designs=("framework-512",))
    cheap = replace(none, operations=("add", "multiply_plain", "rescale"))
    main = replace(none, operations=(MAIN_OPERATION,), designs=("framework",), sets=SETS[1:2])
    main = replace(main, points=("64-128",), figure_sets=SETS[1:2])
    today = [record for each in (small, cheap, main) for record in measure(each, lambda _: None)]
    assert counted(today).items() <= written().items()


@pytest.mark.full
def test_the_records_hold_all_that_is_counted_today() -> None:
    assert counted(measure(Options(repeats=0), lambda _: None)) == written()


MOST = {
    "framework-set1": {
        "multiply_relinearize": (24, 12, 6.5),
        "rotate": (24, 11.8, 6.4),
        "multiply_plain": (0.16, 0.16, 0.16),
    },
    "framework-set2": {"multiply_relinearize": (3.0, 1.6, 0.95)},
}
"""Milliseconds that the designs take at most, in the order of ``DESIGNS``."""


def test_the_records_hold_what_the_issue_asks() -> None:
    found = written()
    for params, operations in MOST.items():
        for operation, limits in operations.items():
            for design, most in zip(DESIGNS, limits, strict=True):
                value, _ = found[design, params, operation, "milliseconds"]
                assert value <= most, (design, params, operation)


def test_a_record_says_the_level_that_the_authors_state_where_it_is_lower() -> None:
    texts = [written()["framework", params, "add", "cycles"][1] for params in SETS]
    levels = [text.partition(";")[0] for text in texts]
    assert levels == [
        "98-bit security, its authors say", "128-bit security", "128-bit security",
    ]  # fmt: skip


def test_other_names_are_refused() -> None:
    for wrong in (
        {"operations": ("multiply",)},
        {"designs": ("medha",)},
        {"sets": ("nano",)},
        {"figure_sets": ("nano",)},
        {"points": ("256-460",)},
        {"networks": ("lola",)},
        {"network_designs": ("medha",)},
    ):
        with pytest.raises(ParameterError, match="choose from"):
            Options(**wrong)


# ---- figure 6 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", POINTS)
def test_a_point_has_the_alus_and_the_rate_of_its_name(name: str) -> None:
    design = POINTS[name].design()
    alus, rate = map(int, name.split("-"))
    assert design.alus == alus
    row = design.lanes * 4
    each_way = design.clusters * row / design.row_cycles * 250e6
    assert 2 * each_way == rate * 1e9
    assert design.scratchpad_bytes == design_of(POINTS[name].base).scratchpad_bytes


@pytest.mark.parametrize("rate", [460, 1024])
def test_a_rate_at_which_no_row_moves_in_whole_cycles_is_refused(rate: int) -> None:
    with pytest.raises(ParameterError, match=f"{rate} GB/s: rows of 1 x 256 words move at 512"):
        Point("framework", 1, 8, rate).design()


# ---- resources ---------------------------------------------------------------------------------


def test_resources_are_those_of_all_clusters() -> None:
    found = {name: parts(design_of(name)) for name in DESIGNS}
    assert [found[name]["alus"].dsps for name in DESIGNS] == [256 * 11, 512 * 6, 1024 * 6]
    scratchpads = [found[name]["scratchpad"].urams for name in DESIGNS]
    assert scratchpads == [4 * 114, 4 * 114, 2 * 3 * 114]
    assert [found[name]["streams"].brams for name in DESIGNS] == [4 * 114, 5 * 114, 10 * 114]
    # Factors of a stage in 1,024 rows: 64 and 128 words, or 16, 32, 64 and 128.
    factors = [found[name]["twiddle_memory"].brams for name in DESIGNS]
    assert factors == [57 + 114, 14.5 + 28.5 + 57 + 114, 2 * (14.5 + 28.5 + 57 + 114)]
    for design in found.values():
        assert design["others"] == total_area(
            design[part] for part in ("streams", "twiddle_memory", "control")
        )
        named = ("alus", "permute_network", "scratchpad", "others", "memory_side")
        assert design["device"] == total_area(design[part] for part in named)


def test_luts_and_flip_flops_stand_beside_table_iii() -> None:
    rows = {(row.operation, row.metric) for row in resource_rows(design_of("framework"))}
    for part in ("alus", "permute_network", "scratchpad", "others", "device"):
        assert {(part, "lut"), (part, "ff")} <= rows


def test_a_design_fits_up_to_a_share_of_every_die() -> None:
    def fits(**change: int) -> Found:
        [*_, found] = resource_rows(replace(design_of("framework"), **change))
        assert found.metric == "fits"
        return found

    assert CARD.card == "Alveo U280"
    assert fits().value == 1
    assert "stand" in fits().conditions
    too_large = fits(banks=7)  # 798 of 960 UltraRAMs
    assert too_large.value == 0
    assert "83." in too_large.conditions


# ---- the paper's equations ---------------------------------------------------------------------


def test_the_papers_equations_by_hand() -> None:
    n, alus = 1 << 16, 256
    estimate = Estimate(parameters("framework-set2"), alus)
    rows = n // alus
    transform, byte = 16 * rows * 3 / 2, 250e6 / 460e9
    assert estimate.cycles("add") == pytest.approx(6 * 24 * n * 4 * byte)
    assert estimate.cycles("multiply_plain") == pytest.approx(5 * 24 * n * 4 * byte)
    rescale = 2 * (transform + 23 * rows * 5 + 23 * transform) + 4 * 23 * rows
    assert estimate.cycles("rescale") == pytest.approx(rescale)
    raised = 3 * (8 * transform + 24 * rows * 19 + 24 * transform)
    sums = 2 * 32 * rows * 5
    divided = 2 * (8 * transform + 24 * rows * 19 + 24 * transform) + 4 * 24 * rows
    product = 5 * 24 * rows + raised + sums + divided + max(2 * 24 * rows, 48 * n * 4 * byte)
    assert estimate.cycles("multiply_relinearize") == pytest.approx(product)
    rotated = max(48 * rows, 48 * n * 4 * byte) + raised + sums + divided
    assert estimate.cycles("rotate") == pytest.approx(rotated + 48 * n * 4 * byte)


def test_the_papers_equations_stand_beside_table_iv() -> None:
    rows = list(formula_rows("rotate", "framework-set1"))
    assert [row.source for row in rows] == ["formula"] * 2
    assert rows[0].value > rows[1].value > 11.9


# ---- use, and the cpu device -------------------------------------------------------------------


def test_shares_of_use_are_those_of_the_executables_counts() -> None:
    executable = compiled("multiply_relinearize", "framework-set3", design_of("framework"))
    found, use = dict(shares(executable)), executable.use
    assert found["array"] == (use.transforms + use.points) / executable.cycles
    assert found["array"] <= max(found["points_waits"], found["transforms_waits"])
    assert found["transforms_waits"] <= found["transforms"] <= 1
    assert "transforms" not in dict(
        shares(compiled("add", "framework-set3", design_of("framework")))
    )


def test_an_operation_whose_key_memory_does_not_hold_is_not_timed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = measuring.graph_of(MAIN_OPERATION, "framework-set1")
    assert key_bytes(graph) == 45 * 2 * 46 * 65536 * 8
    assert measuring.available_bytes() > 1 << 20
    monkeypatch.setattr(measuring, "available_bytes", lambda: 1 << 20)
    said: list[str] = []
    options = replace(QUICK, repeats=1, points=(), fusion_sets=(), search_sets=())
    records = measure(options, said.append)
    assert {r.operation for r in records if r.source == "cpu"} == {"add"}
    assert "multiply_relinearize is left out: it needs 0.01 GB of memory" in "\n".join(said)


def test_operations_are_those_of_the_paper() -> None:
    assert list(OPERATIONS.values()) == ["CtCtAdd", "PtCtMult", "CtCtMult", "Rotate", "Rescale"]


# ---- figures -----------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"


def test_the_figures_are_those_that_the_records_make() -> None:
    found = figures(read_records(RECORDS))
    assert found.keys() == FIGURES.keys()
    folder = ROOT / "docs" / "results" / FOLDER
    for name, text in found.items():
        assert (folder / name).read_text() == text, name
    page_text = (ROOT / "docs" / "results" / "framework.md").read_text()
    assert all(f"]({FOLDER}/{name})" in page_text for name in found)


def test_figures_are_svg_with_colours_for_light_and_dark() -> None:
    for name, text in figures(read_records(RECORDS)).items():
        root = ElementTree.fromstring(text)  # noqa: S314 - our own picture
        width, height = map(float, root.attrib["viewBox"].split()[2:])
        assert "prefers-color-scheme:dark" in text, name
        for each in root.iter():
            if each.tag in (f"{SVG}rect", f"{SVG}text", f"{SVG}circle"):
                x = float(each.get("x", each.get("cx", "0")))
                y = float(each.get("y", each.get("cy", "0")))
                assert 0 <= x <= width, (name, each.attrib)
                assert 0 <= y <= height, (name, each.attrib)


def test_no_records_make_no_figures() -> None:
    assert figures(replace(read_records(RECORDS), records=())) == {}


def test_a_subroutine_by_itself_is_a_graph_and_all_of_them_are_the_operation() -> None:
    graph = graph_of("rotate", "framework-set3")
    parts = apart(graph)
    for each in parts:
        each.validate()
    inner = ("input", "output")
    ops = [node.op for each in parts for node in each.nodes if node.op not in inner]
    assert sorted(ops) == sorted(node.op for node in graph.nodes if node.op not in inner)
    assert len(parts) > 4


def test_fusion_gains_more_behind_slower_memory_and_no_more_than_the_papers_most() -> None:
    found = {key[0::2]: value for key, (value, _) in written().items() if key[3] == "speedup"}
    for operation in FUSED:
        slow, fast = (
            found[POINTS[point].design().name, f"{operation}: {WITHOUT_FUSION}"]
            for point in FUSION_POINTS
        )
        assert 1.1 < fast < slow < 1.8


def test_a_product_is_mostly_mod_up_inner_product_and_mod_down_as_in_the_paper() -> None:
    params, design = SETS[1], design_of("framework")
    found = breakdown(MAIN_OPERATION, params, design)
    assert sum(found[name] for name in SUBROUTINES[:3]) > 0.85 * sum(found.values())
    assert sum(found.values()) == compiled(MAIN_OPERATION, params, design).cycles


def test_words_and_alus_are_read_from_a_designs_name() -> None:
    assert words_and_alus("vector-t256-r4-c2-b3x4096-montgomery") == (512, 1024)
    found = list(designs("framework-set3"))
    assert found
    assert {each.operation for each in found} == {SEARCHED}


def test_figures_lie_beside_the_page_and_replace_nothing_without_force(tmp_path: Path) -> None:
    words = ["bench", "framework", "--quick", "--repeats", "0", "--page", str(tmp_path / "page.md")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    there = {each.name for each in (tmp_path / FOLDER).iterdir()}
    assert there <= FIGURES.keys()
    assert {name for name in FIGURES if name in (tmp_path / "page.md").read_text()} == there
    (tmp_path / "page.md").unlink()
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert re.search(rf"{FOLDER}/\S+: exists and is not overwritten", done.stderr)
    other = tmp_path / "other"
    other.mkdir()
    (other / FOLDER).write_text("a file")
    done = CliRunner().invoke(app, [*words[:-1], str(other / "page.md")])
    assert done.exit_code == 2
    assert "is no folder" in done.stderr


# ---- networks ----------------------------------------------------------------------------------


def test_a_networks_layers_make_up_its_operations_and_its_cycles() -> None:
    planned = Planned("lola-mnist")
    counts = {(each.operation, each.metric): each.value for each in planned.counts()}
    for metric, total in (("count", 159), ("key_switchings", 24)):
        layers = [counts[f"lola-mnist: {name}", metric] for name in LAYERS]
        assert sum(layers) == counts["lola-mnist", metric] == total
    assert counts["lola-mnist", "megabytes"] < 15.57
    found = list(planned.shares(planned.compiled(design_of("framework-512"))))
    assert [each.operation for each in found] == [f"lola-mnist: {name}" for name in LAYERS]
    assert sum(each.value for each in found) == pytest.approx(100)


def test_whole_networks_are_compared_where_they_take_equally_many_operations() -> None:
    rows = {(r.design, r.operation, r.metric): r for r in read_records(RECORDS).records}
    counts = {name: rows[PROGRAM, name, "count"] for name in NETWORKS}
    equal = [name for name, count in counts.items() if abs((count.ratio or 0) - 1) < 0.05]
    assert equal == ["lola-mnist-rows"]
    papers = {"lola-mnist": (20, 120), "lola-mnist-rows": (20, 120), "lola-cifar10": (7200, 42_300)}
    for name, (large, small) in papers.items():
        for design, value in (("framework-512", large), ("vector-zu15eg", small)):
            whole = rows[design, name, "milliseconds"]
            assert whole.paper_value == (value if name in equal else None), (design, name)
            each = rows[design, f"{name}: {EACH}", "microseconds"]
            assert each.value == pytest.approx(1e3 * whole.value / counts[name].value)
            theirs = 1e3 * value / (counts[name].paper_value or 0)
            assert each.paper_value == pytest.approx(theirs, rel=0.005)


def test_times_at_the_clock_of_our_timing_analysis_stand_beside_those_at_the_papers() -> None:
    rows = {(r.design, r.params, r.operation, r.metric): r for r in read_records(RECORDS).records}
    clocks = {key[0]: r for key, r in rows.items() if key[2] == CLOCK}
    assert set(clocks) == set(NETWORK_DESIGNS)
    for name, clock in clocks.items():
        assert clock.source == "synthesis"
        assert 100 < clock.value < 250, name
        assert len(clock.rtl) == 12
    for design in DESIGNS:
        for operation in OPERATIONS:
            for params in SETS:
                at_250 = rows[design, params, operation, "milliseconds"]
                own = rows[design, params, f"{operation}: {AT_CLOCK}", "milliseconds"]
                assert own.value == pytest.approx(at_250.value * 250 / clocks[design].value)
                assert own.paper_value == at_250.paper_value
    text = page(read_records(RECORDS))
    assert "| MHz by timing | ms at it | its ratio |" in text


def test_a_clock_stays_for_the_same_rtl_alone() -> None:
    own = design_of("framework-512")
    today = digest_of(rtl.parameters(own), rtl.FOLDERS)
    clocks = (r for r in read_records(RECORDS).records if r.operation == CLOCK)
    kept = tuple(replace(r, rtl=today) for r in clocks)
    found = kept_clock(own, kept)
    assert found is not None
    assert found.design == "framework-512"
    assert kept_clock(own, [replace(r, rtl="0123456789ab") for r in kept]) is None
    assert kept_clock(replace(own, bank_rows=2 * own.bank_rows), kept) is None


NETWORK_MOST = {
    "lola-mnist": {"framework-512": 8, "vector-zu15eg": 40},
    "lola-cifar10": {"framework-512": 3000, "vector-zu15eg": 15_000},
}
"""Milliseconds that networks take at most."""


def test_the_records_hold_networks_within_the_times_aimed_for() -> None:
    found = written()
    for name, limits in NETWORK_MOST.items():
        for design, most in limits.items():
            value, _ = found[design, NETWORKS[name].params, name, "milliseconds"]
            assert value <= most, (design, name)
