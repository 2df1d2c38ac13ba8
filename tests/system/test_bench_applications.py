"""Whole applications: run, and counted from compiled programs."""

import re
from dataclasses import replace

import numpy as np
import pytest

from ringsmith import runtime
from ringsmith.apps.logreg import DEMO
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.bench.beside import beside
from ringsmith.bench.medha import lenet5
from ringsmith.bench.medha.applications import (
    GMDH,
    LOGREG,
    LOGREG_COUNTS,
    LOGREG_FUSED,
    application_rows,
    logistic_regression,
    power_forecast,
)
from ringsmith.bench.medha.mixes import LENET5, Mix, mix_cycles
from ringsmith.bench.papers import SEAL
from ringsmith.bench.programs import OURS
from ringsmith.bench.records import Found
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


def test_lenet5_takes_the_products_and_rotations_of_its_layers() -> None:
    first, second = lenet5.C1.counts(), lenet5.C3.counts()
    assert (first["multiply_plain"], first["rotate"]) == (25, 24)
    # Six maps, filled up to eight, repeated once for sixteen: eight diagonals of 25 elements.
    assert (second["multiply_plain"], second["rotate"]) == (8 * 25, 1 + 24 + 7)
    # 128 diagonals in steps of 1 and of 8, and sums over 2^14 / 128 parts.
    assert (lenet5.C5.counts()["multiply_plain"], lenet5.C5.counts()["rotate"]) == (128, 7 + 15 + 7)
    assert lenet5.OUTPUT.counts()["rotate"] == 3 + 3 + 3
    assert lenet5.operations() == {
        "multiply_plain": 25 + 200 + 128 + 16,
        "rotate": 24 + 32 + 29 + 9 + 2 * 2,
        "add": 24 + 200 + 134 + 18 + 2 * 2,
        "multiply_relinearize": 3,
        "rescale": 7,
        "add_plain": 4,
    }


def test_lenet5_fits_its_parameter_set() -> None:
    parameters = ckks_set(LENET5.params)
    assert lenet5.slots() <= parameters.n // 2
    assert lenet5.depth() < LENET5.limbs <= parameters.limbs


def test_what_crosses_to_the_host_is_in_the_conditions_of_a_mix() -> None:
    design = replace(load_design("nano"), key_polys=2)  # of a key, half of a digit at a time
    found = mix_cycles(Mix("mix", "nano", 3, {"rotate": 2}, "here"), design)
    assert re.search(
        r"2 rotate of [\d,]+ cycles and [\d,]+ limbs under way, each", found.conditions
    )
    assert "resident, but for limbs under way, not timed" in found.conditions


def test_the_fused_logistic_regression_is_an_operation_of_its_own() -> None:
    design = load_design("nano")
    apart, fused = (
        {
            row.operation: row.value
            for row in application_rows(logistic_regression(operation, design, DEMO), design)
            if row.metric == "cycles"
        }
        for operation in (LOGREG, LOGREG_FUSED)
    )
    assert fused["logreg_fused_rescale"] < apart["logreg"]


def test_the_logistic_regression_is_counted_and_timed_with_its_transfers() -> None:
    design = load_design("nano")
    rows = application_rows(logistic_regression(LOGREG, design, DEMO), design, software=True)
    found = {(row.operation, row.metric, row.peer): row for row in rows}
    values = {key: row.value for key, row in found.items()}
    cycles = values["logreg", "cycles", ""]
    assert cycles > 1000 * values["logreg", "instructions", ""] > 0
    assert values["logreg", "transfers", ""] == 0
    counts = [values["logreg", metric, ""] for metric in ("rotations", "products", "rescalings")]
    assert counts == [5, 2, 4]
    assert found["logreg", "cycles", ""].source == "model"
    communication = values["logreg_communication", "microseconds", ""]
    # Weights and bias go in beside the ciphertext.
    assert communication > MEDHA_XDMA.seconds((2 * DEMO.limbs + 2) * design.n) * 1e6
    whole = values["logreg", "microseconds", ""]
    assert whole == pytest.approx(cycles / 200 + communication)
    for peer in (SEAL, OURS):
        software = values["logreg", "microseconds", peer]
        assert values["logreg", "speedup", peer] == pytest.approx(software / whole)
    assert {row.params for row in rows} == {"nano"}


def test_the_papers_counts_stand_beside_the_papers_numbers() -> None:
    """The rows of a run, made up here: the program itself runs in test_logreg_paper.py."""
    stated = {"rotations": 7, "products": 5, "rescalings": 11, "instructions": 834}
    for metric, value in stated.items():
        for operation in (LOGREG_COUNTS, LOGREG):
            ours = Found("medha", "medha21-set1", operation, metric, 1.0, "model", "here")
            [record] = beside(ours, ("medha",))
            assert record.paper_value == value


def test_the_forecast_is_made_ready_for_a_design_with_what_seal_would_encrypt() -> None:
    application = power_forecast(load_design("medha21-set2"))
    assert application.operation == GMDH
    assert application.program.parameters.name == "medha-set1"
    assert set(application.values) == set(application.program.inputs)
    clear = application.program.evaluate(application.values)["forecast"].real[:496] * 8
    forecast = application.session.application
    observed = forecast.days[2].observed
    assert np.abs(clear - forecast.network.forecast(observed)).max() < 1e-9
