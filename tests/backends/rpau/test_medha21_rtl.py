"""The three designs of 2021 at full size, as RTL: each HE operation of the bench, bit by bit.

Each takes a minute or two to build, once.
"""

import pytest

from ringsmith import runtime
from ringsmith.apps.operations import run_checked
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.bench.medha.cases import CASES, OPERATIONS, Case, graph_of
from ringsmith.params import ckks_set

pytestmark = pytest.mark.full

OF_2021 = [case for case in CASES if case.design.startswith("medha21")]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("case", OF_2021, ids=lambda case: case.design)
def test_an_operation_has_the_interpreters_bits_and_the_schedules_cycles(
    case: Case, operation: str
) -> None:
    design = load_design(case.design)
    compiled = runtime.compile_graph(graph_of(operation, ckks_set(case.params)), design)
    assert compiled.executable is not None
    assert compiled.executable.host_transfers == 0
    machines = (runtime.open_device(kind, design) for kind in ("model", "rtl"))
    found = [run_checked(compiled, machine) for machine in machines]
    assert found[0] == found[1]
    assert found[0][1] == compiled.executable.cycles
