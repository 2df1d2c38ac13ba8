"""Whole applications: run, and counted from compiled programs."""

import pytest

from ringsmith import runtime
from ringsmith.apps.logreg.sizes import DEMO
from ringsmith.arch.rpau.design import load_design
from ringsmith.bench.applications import Mix, logreg_rows, mix_cycles
from ringsmith.lower import lower_operation
from ringsmith.params import ckks_set
from ringsmith.runtime.host_link import MEDHA_XDMA


def test_a_mix_takes_its_counts_of_each_operation_alone() -> None:
    design = load_design("nano")
    mix = Mix("mix", "nano", 2, {"add": 75, "multiply_plain": 3}, "here")
    found = mix_cycles(mix, design)
    cycles = {}
    for name in mix.counts:
        graph = lower_operation(name, ckks_set("nano"), 2)
        executable = runtime.compile_graph(graph, design).executable
        assert executable is not None
        cycles[name] = executable.cycles
    assert found.value == 75 * cycles["add"] + 3 * cycles["multiply_plain"]
    assert (found.source, found.metric, found.operation) == ("estimate", "cycles", "mix")
    assert f"75 add of {cycles['add']:,} cycles" in found.conditions


def test_the_logistic_regression_is_counted_and_timed_with_its_transfers() -> None:
    design = load_design("nano")
    rows = logreg_rows(design, DEMO, seal=True)
    found = {(row.operation, row.metric, row.peer): row for row in rows}
    values = {key: row.value for key, row in found.items()}
    cycles = values["logreg", "cycles", ""]
    assert cycles > 1000 * values["logreg", "instructions", ""] > 0
    assert values["logreg", "transfers", ""] == 0
    assert found["logreg", "cycles", ""].source == "model"
    communication = values["logreg_communication", "microseconds", ""]
    # Weights and bias go in beside the ciphertext.
    assert communication > MEDHA_XDMA.seconds((2 * DEMO.limbs + 2) * design.n) * 1e6
    whole = values["logreg", "microseconds", ""]
    assert whole == pytest.approx(cycles / 200 + communication)
    software = values["logreg", "microseconds", "SEAL"]
    assert values["logreg", "speedup", "SEAL"] == pytest.approx(software / whole)
    assert {row.params for row in rows} == {"nano"}
