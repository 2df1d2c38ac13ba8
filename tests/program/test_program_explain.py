"""``explain``: graph, levels, scales, keys, costs, precision on one page; and users' names."""

import re
import subprocess
import sys

import numpy as np
import pytest

import ringsmith
from ringsmith.errors import ParameterError
from ringsmith.params import CkksParameters, parameter_set
from ringsmith.program import EncryptedVector, inner_product, polynomial, trace
from ringsmith.runtime import compile_program, explain


def logistic(x: EncryptedVector) -> EncryptedVector:
    """The demo's program in small."""
    return polynomial(inner_product(x, np.ones(32) / 32, 32) + 0.25, [0.5, 0.197, 0, -0.004])


def test_without_a_design_operations_are_counted(small: CkksParameters) -> None:
    text = explain(trace(lambda x, y: x * y + x.rotate(1), small))
    assert "%0  input('x')" in text
    assert "2^80.00" in text
    assert f"{__file__}:" in text
    assert re.search(
        r"keys: 2 \(.*\): relinearization at up to 5 limbs, .*; rotation by 1 at", text
    )
    assert "operations: " in text
    assert "2 key switchings with 9 digits in all" in text or "with 10 digits" in text
    assert "cycles" not in text


def test_on_a_design_every_cycle_is_counted_for_one_operation() -> None:
    program = trace(logistic, parameter_set("nano"))
    executable = compile_program(program, "nano").compiled_graph.executable
    assert executable is not None
    cycles = executable.cycles_by_node
    assert sum(cycles.values()) == executable.cycles
    assert set(cycles) <= {node.id for node in program.nodes}
    text = explain(program, "nano")
    assert text.startswith("on design nano\n")
    assert f"cycles: {executable.cycles:,} in all" in text
    most = max(cycles, key=lambda node: cycles[node])
    assert re.search(rf"%{most}  .* {cycles[most]:,}  ", text)


def test_the_precision_of_each_output_is_printed_with_its_reasons(small: CkksParameters) -> None:
    program = trace(lambda x: {"rotated": x.rotate(1), "plain": x + 1}, small)
    text = program.explain()
    forecast = program.forecast()
    for name, output in forecast.outputs.items():
        assert f"{name}: {output.bits:.1f} bits" in text
    assert "100% key switching's mean" in text
    assert "100% encryption" in text
    assert forecast.bits == min(output.bits for output in forecast.outputs.values())


def test_an_unknown_design_is_refused(small: CkksParameters) -> None:
    with pytest.raises(ParameterError):
        explain(trace(lambda x: x + 1, small), "no-such-design")


def test_every_public_name_is_there_and_no_other() -> None:
    for name in ringsmith.__all__:
        assert getattr(ringsmith, name) is not None
    assert {"trace", "explain", "compile_program", "open_device"} <= set(ringsmith.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'decrypt'"):
        _ = ringsmith.decrypt


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import ringsmith, sys; print(sorted(m for m in sys.modules if m.startswith('numpy')))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
