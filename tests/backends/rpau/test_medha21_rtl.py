"""The three designs of 2021 at full size, as RTL: each HE operation of the bench, bit by bit.

Each takes a minute or two to build, once.
"""

import pytest

from bench.run import load
from ringsmith import runtime
from ringsmith.apps.operations import run_checked
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.lower import lower_operation
from ringsmith.params import ckks_set

pytestmark = pytest.mark.full

OF_2021 = [
    (case["design"], operation)
    for case in load("medha").parts["operations"]["cases"]
    for operation in case["operations"]
    if case["design"].startswith("medha21")
]


@pytest.mark.parametrize(("name", "operation"), OF_2021)
def test_an_operation_has_the_interpreters_bits_and_the_schedules_cycles(
    name: str, operation: str
) -> None:
    design, of = load_design(name), ckks_set(name)
    compiled = runtime.compile_graph(lower_operation(operation, of, of.limbs), design)
    assert compiled.executable is not None
    assert compiled.executable.host_transfers == 0
    devices = (runtime.open_device(kind, design) for kind in ("model", "rtl"))
    found = [run_checked(compiled, device) for device in devices]
    assert found[0] == found[1]
    assert found[0][1] == compiled.executable.cycles
