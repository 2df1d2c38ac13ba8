"""The cycles that docs/architecture.md quotes for key switching are those of today's compiler."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from ringsmith import runtime
from ringsmith.backends.rpau.compiler.layout import layouts
from ringsmith.backends.rpau.compiler.segment import cut
from ringsmith.backends.rpau.compiler.select import select
from ringsmith.backends.rpau.debug.summary import busy_cycles
from ringsmith.backends.rpau.debug.trace import Trace
from ringsmith.backends.rpau.design import RpauDesign, load_design
from ringsmith.bench.records import read_records
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower_operation
from ringsmith.params import parameter_set

PAGE = Path(__file__).resolve().parents[2] / "docs" / "architecture.md"
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
        (10, "schedules to {cycles:,} cycles on ten RPAUs, of which each data prime's main unit"),
        (8, "on eight it takes {cycles:,}."),
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
        assert quoted(f"main unit works {work:,};")


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
    records = read_records(PAGE.parents[1] / "bench" / "records" / "medha.jsonl", "medha").records
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
        f"an unshared one {cycles[False, False]:,} with those and {cycles[False, True]:,} with each"
    )
