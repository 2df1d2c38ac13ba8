"""The page of named designs, and the comparison of devices behind its verification table."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ringsmith import runtime
from ringsmith.backends.inspector import Survey
from ringsmith.backends.rpau.debug.area import part_of
from ringsmith.backends.rpau.debug.compare import compare
from ringsmith.backends.rpau.debug.designs import (
    Cost,
    DesignRow,
    area_table,
    cycles_table,
    memory_bits,
    operation_costs,
    other_parameters,
    section,
    size_table,
)
from ringsmith.backends.rpau.design.design import load_design, named_designs
from ringsmith.backends.rpau.device.interface import AddressSpace, KeyStream, SegmentReport, Words
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.stream.debug.compare import compare_products
from ringsmith.backends.stream.debug.designs import StreamRow, stream_section, stream_table
from ringsmith.backends.stream.design.design import StreamDesign, load_stream_design
from ringsmith.backends.stream.device.interface import ResidueProduct, StreamReport
from ringsmith.backends.stream.device.model import StreamModel
from ringsmith.cli.main import app
from ringsmith.debug.pages import designs_page
from ringsmith.errors import DeviceError, ParameterError
from ringsmith.hdl.synthesis import Area
from ringsmith.lower import lower_operation
from ringsmith.markdown import keep_measured
from ringsmith.params import parameter_set
from ringsmith.progress import Task

PAGE = Path(__file__).resolve().parents[2] / "docs" / "results" / "designs.md"
NANO = load_design("nano")
RPM = load_stream_design("rpm")
STREAM = StreamDesign("stream", 8, 2, 30)
SMALL = replace(NANO, name="small", log_n=8, rpaus=3, cores=2, dyadic_cores=1)


@cache
def rows() -> list[DesignRow]:
    designs = map(load_design, named_designs())
    return [DesignRow(design, operation_costs(design, lower_operation), None) for design in designs]


def test_the_page_of_designs_is_that_of_todays_designs() -> None:
    """Otherwise write it again: `make docs`."""
    text = PAGE.read_text()
    assert size_table(rows()) in text
    assert cycles_table(rows()) in text
    verified = text.partition("## Verification")[2]
    assert "| `nano` | not run |" not in verified
    assert "| `octo` | not run |" not in verified
    assert "| `rpm` | not run |" not in verified
    assert stream_table([StreamRow(RPM)]).rpartition(" | – | – | – |")[0] in text


@pytest.mark.parametrize("name", ["rotate", "rescale"])
def test_cycles_of_an_operation_depend_on_no_prime(name: str) -> None:
    parameters = parameter_set("nano")
    graph = lower_operation(name, parameters, parameters.limbs)
    executable = runtime.compile_graph(graph, "nano").executable
    assert executable is not None
    assert operation_costs(NANO, lower_operation)[name] == Cost(executable.cycles)


def test_a_ring_too_small_for_encryption_has_only_its_ntt() -> None:
    costs = operation_costs(SMALL, lower_operation)
    assert costs.pop("ntt")
    assert set(costs.values()) == {None}
    assert "–" in cycles_table([DesignRow(SMALL, operation_costs(SMALL, lower_operation), None)])


def test_an_operation_that_does_not_fit_at_once_shows_its_transfers() -> None:
    design = replace(NANO, name="tight", log_n=10, rpaus=3, key_polys=2, work_polys=8)
    cost = operation_costs(design, lower_operation)["rotate"]
    assert cost is not None
    assert cost.host_transfers > 0
    assert str(cost) == f"{cost.cycles:,} + {cost.host_transfers} transfers"


def test_the_memory_of_a_design_counts_every_polynomial() -> None:
    assert memory_bits(NANO) == 5 * (16 + 48) * 8192 * 48


def test_parameters_with_a_default_are_named_where_they_differ() -> None:
    assert other_parameters(NANO) == "–"
    design = replace(NANO, modulus_banks=2, work_uram_polys=9, prng="trivium", seeds=9)
    found = "`modulus_banks` 2, `work_uram_polys` 9, `prng` trivium, `seeds` 9"
    assert other_parameters(design) == found
    assert f"| {found} |" in size_table([DesignRow(design, {}, None)])
    assert "`modulus_banks` 1, `interconnect` ring" in section(rows())


def test_an_area_is_shown_where_there_is_one() -> None:
    area = Area(dsps=1150, brams=192.5, urams=96, luts=61_234, flip_flops=98_765)
    octo = load_design("octo")
    rows = [DesignRow(SMALL, {}, None, area, SMALL.cores), DesignRow(octo, {}, None, area, 4)]
    table = area_table([*rows, DesignRow(NANO, {}, None)])
    numbers = "1,150 | 192.5 | 96 | 61,234 | 98,765"
    assert f"| `small` | 3 | {SMALL.cores} of {SMALL.cores} | {numbers} |" in table
    assert f"| `octo` | 8 | 4 of 16 | {numbers} |" in table
    assert "| `nano` | 5 | – | – | – | – | – | – |" in table


def test_a_design_with_narrow_words_has_an_area_of_each_width() -> None:
    design = replace(SMALL, word_bits=60, reduction="folded", narrow_rpaus=2, narrow_bits=54)
    wide, narrow = Area(15, 2, 4, 1_000, 2_000), Area(14, 1, 3, 900, 1_800)
    table = area_table([DesignRow(design, {}, None, wide, 2, narrow)])
    assert "| `small` | 1 | 2 of 2 | 15 | 2 | 4 | 1,000 | 2,000 |" in table
    assert "| `small`, 54 bits | 2 | 2 of 2 | 14 | 1 | 3 | 900 | 1,800 |" in table
    assert "| `small`, 54 bits | 2 | – |" in area_table([DesignRow(design, {}, None)])
    assert "| 60 and 54 | folded |" in size_table([DesignRow(design, {}, None)])
    assert memory_bits(design) == (16 + 48) * 256 * (60 + 54 + 54)


def test_a_part_of_a_design_has_a_quarter_of_its_cores() -> None:
    part = part_of(load_design("medha"))
    assert (part.cores, part.dyadic_cores) == (4, 2)
    with pytest.raises(ParameterError, match=r"dyadic_cores = 2, .* synthesize the whole"):
        part_of(NANO)


def test_the_page_says_what_was_compared_and_how() -> None:
    verified = compare(ModelCoprocessor(SMALL), SMALL, range(2), 40)
    assert (verified.programs, verified.instructions) == (2, 80)
    row = DesignRow(SMALL, operation_costs(SMALL, lower_operation), verified)
    survey = Survey((), section([row]), simulated=True, synthesized=False)
    text = designs_page([survey], "ringsmith designs")
    assert f"| `small` | 2 | 80 | {verified.cycles:,} | {verified.polynomials:,} |" in text
    assert "by `ringsmith designs`" in text
    assert "Verilator" in text


KEPT = """## Area

| design | cores | LUT | measured |
| --- | ---: | ---: | ---: |
| `a` | 4 | 77 | 2020-01-02 |
| `b` | 4 | 88 | 2020-01-02 |
| `c` | 4 | – | – |

## Verification

| design | cores | LUT | of | measured |
| --- | ---: | ---: | ---: | ---: |
| `d` | 4 | 99 | 1 | 2020-01-02 |
"""


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ("| `a` | 4 | – | – |", "| `a` | 4 | 77 | 2020-01-02 |"),  # not measured now
        ("| `a` | 4 | not run | – |", "| `a` | 4 | 77 | 2020-01-02 |"),
        ("| `a` | 4 | 55 | 2020-03-04 |", "| `a` | 4 | 55 | 2020-03-04 |"),  # measured now
        ("| `b` | 8 | – | – |", "| `b` | 8 | – | – |"),  # of another size now
        ("| `c` | 4 | – | – |", "| `c` | 4 | – | – |"),  # never measured
        ("| `d` | 4 | – | – |", "| `d` | 4 | – | – |"),  # of another table
    ],
)
def test_a_row_that_is_not_measured_keeps_the_earlier_one_of_the_same_design(
    now: str, then: str
) -> None:
    text = "\n".join(["| design | cores | LUT | measured |", "| --- | ---: | ---: | ---: |", now])
    assert keep_measured(text, KEPT).splitlines()[-1] == then


def test_the_page_is_what_its_command_writes() -> None:
    """Nothing above the tables is written by hand, and each measured row has its date."""
    text = PAGE.read_text()
    command = text.partition("`")[2].partition("`")[0]
    written = designs_page([], command)
    lines = zip(written.splitlines(), text.splitlines(), strict=False)
    dated = re.compile(r"^Written on \S+ by (.*) \(Ringsmith [^)]*\)")
    for ours, found in lines:
        assert dated.sub(r"\1", ours) == dated.sub(r"\1", found)
    for heading in ("## Area of one RPAU", "## Verification", "## Streaming multipliers"):
        assert "| measured |" in text.partition(heading)[2]


def test_make_docs_measures_the_area_of_every_design_of_an_rpau_for_xilinx() -> None:
    recipe = (PAGE.parents[2] / "Makefile").read_text().partition("ringsmith designs ")[2]
    asked = set(re.findall(r"--area(?:-in-part)? (\S+)", recipe.partition("\n\n")[0]))
    designs = [load_design(name) for name in named_designs()]
    assert asked == {"rpm", *(each.name for each in designs if each.target == "xilinx")}


class OneBitOff(ModelCoprocessor):
    """A device that reads one word of one polynomial wrongly, or counts a cycle too many."""

    def __init__(self, late: int) -> None:
        super().__init__(SMALL)
        self.late = late

    def read(self, space: AddressSpace, unit: int, index: int) -> Words:
        """Reads, one bit wrongly."""
        words = super().read(space, unit, index)
        if unit == 2 and not self.late:
            words[77] ^= np.uint64(1)
        return words

    def run(
        self, max_cycles: int, task: Task | None = None, stream: KeyStream | None = None
    ) -> SegmentReport:
        """Runs, and counts wrongly."""
        report = super().run(max_cycles, task, stream)
        return replace(report, cycles=report.cycles + self.late)


@pytest.mark.parametrize(
    ("late", "message"),
    [(0, r"program 3 .*RPAU 2, polynomial \d+, word 77"), (1, r"program 3 .*cycles=\d+, .*, not ")],
)
def test_a_device_that_differs_in_one_bit_or_one_cycle_is_found_out(
    late: int, message: str
) -> None:
    with pytest.raises(DeviceError, match=message):
        compare(OneBitOff(late), SMALL, [3], 40)


def test_a_stream_design_shows_what_was_counted_or_synthesized() -> None:
    counted = "| `rpm` | 4,096 | 2 | 30 | montgomery | 2,048 | 4,739 | 294 | 89 | – | – |"
    assert counted in stream_table([StreamRow(RPM)])
    area = Area(dsps=1300, brams=90.5, urams=0, luts=12_345, flip_flops=54_321)
    assert "| 1,300 | 90.5 | 12,345 | 54,321 |" in stream_table([StreamRow(RPM, None, area)])
    assert "| `rpm` | not run | – | – | – |" in stream_section([StreamRow(RPM)])


def test_the_page_says_which_products_were_compared() -> None:
    same = compare_products(StreamModel(STREAM), STREAM, 30)
    assert (same.products, same.primes, same.words) == (30, 20, 30 * 256)
    assert same.shortest == same.longest == STREAM.period
    cells = f"| `stream` | 30 | 20 | {same.cycles:,} | 7,680 |"
    assert cells in stream_section([StreamRow(STREAM, same)])
    with pytest.raises(ParameterError, match="1 products: take at least two"):
        compare_products(StreamModel(STREAM), STREAM, 1)


class StreamOff(StreamModel):
    """A stream device whose product 3 has a wrong word, or which begins it a cycle late."""

    def __init__(self, late: int) -> None:
        super().__init__(STREAM)
        self.late = late

    def multiply(self, batch: Sequence[ResidueProduct]) -> StreamReport:
        """Multiplies, and tells wrongly."""
        report = super().multiply(batch)
        if not self.late:
            report.products[3][77] ^= np.uint64(1)
        starts = [start + self.late * (n == 3) for n, start in enumerate(report.starts)]
        return replace(report, starts=starts)


@pytest.mark.parametrize(
    ("late", "message"), [(0, "product 3 on model of stream: word 77"), (1, "or began in others")]
)
def test_a_stream_device_that_differs_is_found_out(late: int, message: str) -> None:
    with pytest.raises(DeviceError, match=message):
        compare_products(StreamOff(late), STREAM, 5)


def test_the_designs_command_prints_and_writes_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ringsmith.backends.rpau.design.design.named_designs", lambda: ["nano"])
    target = tmp_path / "designs.md"
    done = CliRunner().invoke(app, ["designs", "--table", str(target)])
    assert done.exit_code == 0, done.output
    assert size_table([DesignRow(NANO, {}, None)]) in done.output
    assert stream_table([StreamRow(RPM)]) in done.output
    assert "| `nano` | not run |" in target.read_text()
    kept = re.sub(
        r"\| `nano` \| not run \|.*", "| `nano` | 9 | 8 | 7 | 6 | 2020-01-02 |", target.read_text()
    )
    target.write_text(kept)
    again = ["designs", "--table", str(target), "--keep", "--force"]
    assert CliRunner().invoke(app, again).exit_code == 0
    assert "| `nano` | 9 | 8 | 7 | 6 | 2020-01-02 |" in target.read_text()
    refused = CliRunner().invoke(app, ["designs", "--keep"])
    assert refused.exit_code == 2
    assert "name it by --table" in refused.output


def test_random_programs_run_on_the_designs_that_are_named_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "ringsmith.backends.rpau.design.design.named_designs", lambda: ["nano", "octo"]
    )
    monkeypatch.setattr("ringsmith.backends.rpau.device.rtl.RtlCoprocessor", ModelCoprocessor)
    monkeypatch.setattr("ringsmith.backends.stream.device.rtl.StreamRtl", StreamModel)
    monkeypatch.setattr("ringsmith.backends.rpau.debug.designs.operation_costs", lambda *_: {})
    monkeypatch.setattr("ringsmith.backends.rpau.debug.designs.cycles_table", lambda _: "")
    target = tmp_path / "designs.md"
    words = ["designs", "--table", str(target), "--programs", "1", "--products", "2"]
    words += ["--verify", "nano", "--verify", "rpm"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    text = target.read_text()
    assert "| `nano` | 1 |" in text
    assert "| `octo` | not run |" in text
    assert "| `rpm` | 2 | 2 |" in text
    assert "--programs 1 --products 2 --verify nano --verify rpm`" in text


def test_a_design_of_a_prime_family_is_filled_with_its_primes() -> None:
    sparse = replace(SMALL, name="sparse", log_n=10, reduction="sparse", family="word48")
    costs = operation_costs(sparse, lower_operation)
    assert costs["rescale"] is not None
