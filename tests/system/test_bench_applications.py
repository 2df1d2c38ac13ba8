"""Records of whole applications: counted from compiled programs."""

from ringsmith import runtime
from ringsmith.apps.logreg.sizes import DEMO
from ringsmith.arch.rpau.design import load_design
from ringsmith.bench.applications import Mix, logreg_records, mix_records
from ringsmith.lower import lower_operation
from ringsmith.params import ckks_set


def test_a_mix_takes_its_counts_of_each_operation_alone() -> None:
    design = load_design("nano")
    mix = Mix("mix", "nano", 2, {"add": 75, "multiply_plain": 3}, "here")
    (record,) = mix_records(mix, design)
    cycles = {}
    for name in mix.counts:
        graph = lower_operation(name, ckks_set("nano"), 2)
        executable = runtime.compile_graph(graph, design).executable
        assert executable is not None
        cycles[name] = executable.cycles
    assert record.value == 75 * cycles["add"] + 3 * cycles["multiply_plain"]
    assert (record.source, record.metric, record.operation) == ("estimate", "cycles", "mix")
    assert f"75 add of {cycles['add']:,} cycles" in record.conditions


def test_the_logistic_regression_is_recorded_with_cycles_instructions_and_transfers() -> None:
    records = {record.metric: record for record in logreg_records(load_design("nano"), DEMO)}
    assert set(records) == {"cycles", "instructions", "transfers"}
    assert records["cycles"].value > 1000 * records["instructions"].value > 0
    assert records["transfers"].value == 0
    assert all(record.params == "nano" for record in records.values())
