"""What docs/reference/rpau.md says of key switching and of parameters is what the compiler does."""

import json
import re
from dataclasses import MISSING, fields, replace
from itertools import product
from pathlib import Path

from ringsmith import runtime
from ringsmith.backends.rpau.compiler.limb_layout import layouts
from ringsmith.backends.rpau.compiler.segment import cut
from ringsmith.backends.rpau.compiler.select import select
from ringsmith.backends.rpau.debug.summary import busy_cycles
from ringsmith.backends.rpau.debug.trace import Trace
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.expand import expand
from ringsmith.lower import lower_operation
from ringsmith.params import parameter_set

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "rpau.md"
SET1 = parameter_set("medha-set1")


def relinearize() -> SubroutineGraph:
    return lower_operation("relinearize", SET1, SET1.limbs)


def rpaus(count: int) -> RpauDesign:
    """``octo`` with other numbers of RPAUs and dyadic cores."""
    return replace(load_design("octo"), name=f"rpaus{count}", dyadic_cores=8, rpaus=count)


def test_with_a_shared_special_prime_all_rpaus_of_data_primes_work_equally_long() -> None:
    executable = runtime.compile_graph(relinearize(), rpaus(10)).executable
    assert executable is not None
    assert len(executable.runs) == 1
    trace = Trace.of_executable(executable)
    (work,) = {busy_cycles(trace, rpau, "main") for rpau in range(SET1.limbs)}
    assert work > 0.99 * executable.cycles


def test_a_seeded_key_takes_half_the_key_store_and_no_more_cycles() -> None:
    design = replace(rpaus(10), prng="trivium", seeds=1)
    full, seeded = (
        runtime.compile_graph(relinearize(), design, keys).executable for keys in ((), None)
    )
    assert full is not None
    assert seeded is not None
    (polys_full,), (polys_seeded,) = (
        {max(load.index for load in run.keys) + 1 for run in each.runs} for each in (full, seeded)
    )
    assert polys_full == 2 * polys_seeded
    assert seeded.cycles <= full.cycles


def test_sharing_the_special_prime_pays_only_with_instructions_of_each_rpaus_own() -> None:
    expanded, design = expand(relinearize()), rpaus(10)
    cycles = {}
    for layout, per_rpau in product(layouts(expanded, design), (False, True)):
        runs = cut(select(expanded, design, layout, per_rpau=per_rpau), design)
        cycles[bool(layout.moved), per_rpau] = sum(run.cycles for run in runs)
    assert min(cycles, key=lambda way: cycles[way]) == (True, True)
    assert cycles[True, False] > cycles[False, False]


def test_the_table_of_parameters_has_each_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| ([^|]+) \| [^|]+ \|$", PAGE.read_text(), re.M))
    for field in fields(RpauDesign):
        default = "–" if field.default is MISSING else json.dumps(field.default).strip('"')
        assert rows[field.name].strip("`") == default, field.name
