"""The cycles of key switching in docs/reference/rpau.md are those of today's compiler."""

import json
import re
from collections.abc import Callable, Collection
from dataclasses import MISSING, fields, replace
from itertools import product
from pathlib import Path

import pytest

from bench.measure import design_of
from bench.record import read_records
from bench.run import load
from ringsmith import runtime
from ringsmith.apps.cnn import Cnn
from ringsmith.apps.logreg import PAPER, LogisticRegression
from ringsmith.backends.rpau.compiler.limb_layout import layouts
from ringsmith.backends.rpau.compiler.segment import cut
from ringsmith.backends.rpau.compiler.select import select
from ringsmith.backends.rpau.debug.summary import busy_cycles
from ringsmith.backends.rpau.debug.trace import Trace
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower, lower_operation
from ringsmith.params import ckks_set, parameter_set
from ringsmith.program import CkksProgram

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "rpau.md"
SET1 = parameter_set("medha-set1")


def quoted(sentence: str) -> bool:
    """Whether the page says so, wherever its lines break."""
    return sentence in " ".join(PAGE.read_text().split())


def relinearize() -> SubroutineGraph:
    return lower_operation("relinearize", SET1, SET1.limbs)


def rpaus(count: int) -> RpauDesign:
    """The page's design."""
    return replace(load_design("octo"), name=f"rpaus{count}", dyadic_cores=8, rpaus=count)


@pytest.mark.parametrize(
    ("count", "sentence"),
    [
        (10, "schedules to {cycles:,} cycles on ten RPAUs. Each data prime's main unit"),
        (8, "On eight RPAUs relinearizing takes {cycles:,}."),
    ],
)
def test_a_relinearization_takes_the_cycles_that_the_page_says(count: int, sentence: str) -> None:
    executable = runtime.compile_graph(relinearize(), rpaus(count)).executable
    assert executable is not None
    assert len(executable.runs) == 1
    assert quoted(sentence.format(cycles=executable.cycles))
    if count > SET1.limbs + 1:  # the special prime is shared
        trace = Trace.of_executable(executable)
        (work,) = {busy_cycles(trace, rpau, "main") for rpau in range(SET1.limbs)}
        assert quoted(f"main unit works {work:,} of them.")


def test_a_seeded_key_takes_half_the_key_store_and_the_cycles_that_the_page_says() -> None:
    design = replace(rpaus(10), prng="trivium", seeds=1)
    whole, seeded = (
        runtime.compile_graph(relinearize(), design, keys).executable for keys in ((), None)
    )
    assert whole is not None
    assert seeded is not None
    (polys_whole,), (polys_seeded,) = (
        {max(load.index for load in run.keys) + 1 for run in each.runs} for each in (whole, seeded)
    )
    assert quoted(
        f"takes {seeded.cycles:,} cycles and {polys_seeded} key-store polynomials in place of "
        f"{polys_whole}."
    )


def test_the_link_units_cycles_are_those_of_the_measured_page() -> None:
    records = read_records(PAGE.parents[2] / "bench" / "records" / "medha.jsonl", "medha").records
    cycles = {
        record.operation: record.value
        for record in records
        if (record.design, record.params, record.metric) == ("medha", SET1.name, "cycles")
    }
    assert quoted(
        f"take {cycles['multiply_relinearize']:,} cycles, nine transforms of {cycles['ntt']:,} and"
    )


def test_sharing_the_special_prime_pays_only_with_instructions_of_each_rpaus_own() -> None:
    graph, design = relinearize(), rpaus(10)
    cycles = {}
    for layout, per_rpau in product(layouts(graph, design), (False, True)):
        runs = cut(select(graph, design, layout, per_rpau=per_rpau), design)
        cycles[bool(layout.moved), per_rpau] = sum(run.cycles for run in runs)
    assert min(cycles, key=lambda way: cycles[way]) == (True, True)
    assert cycles[True, False] > cycles[False, False]
    assert quoted(f"takes {cycles[True, False]:,} cycles with instructions in common")
    assert quoted(
        f"an unshared one {cycles[False, False]:,} with those and {cycles[False, True]:,} with "
        "per-RPAU issue"
    )


# ---- the table of banks ------------------------------------------------------------------------


def variant(name: str) -> RpauDesign:
    """The design with one choice made differently, as the bench has it."""
    cases = load("medha").parts["variants"]["cases"]
    found: RpauDesign = design_of(next(c for c in cases if c["name"] == f"medha: {name}"))
    return found


BANKS = {
    "13 in block RAM": "13 work polynomials in 13 banks",
    "8 in UltraRAM, 7 in block RAM: `medha`": "",
    "8 in UltraRAM, 5 in block RAM: the paper's": "13 work polynomials in 6 banks",
}
"""Work polynomials in the page -> the name of the bench's variant; empty: the design."""


@pytest.mark.full
@pytest.mark.parametrize("polys", BANKS)
def test_a_product_with_other_banks_takes_the_cycles_of_the_pages_table(polys: str) -> None:
    """Otherwise write the cells that the message has into the page."""
    design = variant(BANKS[polys]) if BANKS[polys] else load_design("medha")
    cells = []
    for params in ("medha-set1", "medha-set2"):
        graph = operation("multiply_relinearize", params)
        executable = runtime.compile_graph(graph, design).executable
        assert executable is not None
        with_host = executable.host_transfers
        cells.append(
            f"{executable.cycles:,}" + (f", {with_host} transfers with the host" * bool(with_host))
        )
    (row,) = (row for row in PAGE.read_text().splitlines() if row.startswith(f"| {polys} |"))
    assert row.endswith(f"| {' | '.join(cells)} |")


# ---- the table of programs ---------------------------------------------------------------------


def operation(name: str, params: str) -> SubroutineGraph:
    parameters = ckks_set(params)
    return lower_operation(name, parameters, parameters.limbs)


def classification(*, fused: bool) -> CkksProgram:
    application = LogisticRegression(PAPER, fused_rescale=fused)
    return application.programs(None, accelerated=False)[0]


def convolution() -> CkksProgram:
    return Cnn().programs(None, accelerated=False)[0]


PROGRAMS: dict[str, tuple[Callable[[], SubroutineGraph], Collection[str] | None]] = {
    "rotate, Set-1": (lambda: operation("rotate", "medha-set1"), None),
    "rotate, Set-2": (lambda: operation("rotate", "medha-set2"), None),
    "rescale, Set-1": (lambda: operation("rescale", "medha-set1"), None),
    "rescale, Set-2": (lambda: operation("rescale", "medha-set2"), None),
    "logistic regression": (lambda: lower(classification(fused=False)).graph, None),
    "logistic regression, fused": (lambda: lower(classification(fused=True)).graph, None),
    "the same with full keys": (lambda: lower(classification(fused=True)).graph, ()),
    "convolutional network": (lambda: lower(convolution()).graph, None),
}
"""Name in the page -> its graph, and the keys that the device expands; None: all."""

QUICK = ("rescale, Set-1", "rescale, Set-2")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.full) for name in PROGRAMS],
)
def test_a_program_takes_the_cycles_of_the_pages_table(name: str) -> None:
    """Otherwise write the line that the message has into the page."""
    graph, seeded = PROGRAMS[name]
    banks = (variant("13 work polynomials in 13 banks"), load_design("medha"))
    found = [runtime.compile_graph(graph(), design, seeded).executable for design in banks]
    one_each, seven = (each for each in found if each is not None)
    whole = "Set-" not in name

    def cell(cycles: int, transfers: int) -> str:
        return f"{cycles:,} ({transfers})" if whole else f"{cycles:,}"

    more = 100 * (seven.cycles / one_each.cycles - 1)
    cells = [cell(each.cycles, each.host_transfers) for each in (one_each, seven)]
    assert whole or not one_each.host_transfers + seven.host_transfers
    line = f"| {name} | {' | '.join(cells)} | {'+' if more >= 0 else '−'} {abs(more):.1f} % |"
    assert line in PAGE.read_text().splitlines()


def test_the_pages_table_has_no_other_programs() -> None:
    lines = PAGE.read_text().partition("| program | 13 banks | seven banks | |")[2].splitlines()[2:]
    names = [line.split("|")[1].strip() for line in lines[: lines.index("")]]
    assert names == list(PROGRAMS)


def test_the_table_of_parameters_has_each_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| ([^|]+) \| [^|]+ \|$", PAGE.read_text(), re.M))
    for field in fields(RpauDesign):
        default = "–" if field.default is MISSING else json.dumps(field.default).strip('"')
        assert rows[field.name].strip("`") == default, field.name
