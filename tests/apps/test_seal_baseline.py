"""Microsoft SEAL as a baseline: it runs our programs rightly, or says that it is missing."""

import io
import sys

import numpy as np
import pytest
from rich.console import Console

from bench.heaws import seals_parameters
from bench.measure import SealExact
from ringsmith.apps import seal_baseline
from ringsmith.apps.logreg import LogisticRegression
from ringsmith.apps.operations import OPERATIONS
from ringsmith.apps.seal_baseline import SealBaseline
from ringsmith.apps.seal_program import SealProgram, rotation_steps
from ringsmith.apps.session import begin, time_seal
from ringsmith.apps.stages import Stages
from ringsmith.errors import ToolError
from ringsmith.params import parameter_set
from ringsmith.program import EncryptedVector, Op, operations, trace


def every_operation(x: EncryptedVector, y: EncryptedVector) -> dict[str, EncryptedVector]:
    """A program in which every operation of the HE graph occurs."""
    mixed = (x * y - y.rotate(5)) * 0.5 + (-x).conjugate()
    return {"mixed": mixed + 0.25 - np.linspace(0, 1, 64), "square": x**2 + y, "shift": x - 1j}


@pytest.mark.parametrize("fused", [False, True])
def test_seal_computes_what_the_program_means(fused: bool, rng: np.random.Generator) -> None:
    parameters = parameter_set("nano")
    program = trace(every_operation, parameters, fused_rescale=fused)
    missing = Op.RELINEARIZE if fused else Op.RELINEARIZE_RESCALE
    found = {node.op for node in program.nodes} - {Op.INPUT, Op.OUTPUT}
    assert found == set(operations("ckks")) - {missing}
    baseline = SealBaseline(parameters, rotation_steps(program))
    inputs = {name: rng.uniform(-1, 1, parameters.slots) for name in ("x", "y")}
    encrypted = {
        name: baseline.encrypt(values, program.inputs[name].scale)
        for name, values in inputs.items()
    }
    outputs = SealProgram(baseline, program).run(encrypted)
    for name, clear in program.evaluate(inputs).items():
        assert np.abs(baseline.decrypt(outputs[name]) - clear.real).max() < 1e-5, name


def test_seal_encodes_strided_vectors_rightly(rng: np.random.Generator) -> None:
    baseline = SealBaseline(parameter_set("nano"), [])
    values = rng.uniform(-1, 1, 4096)
    for view in (values[::-1], values[::2], np.broadcast_to(np.float64(0.5), (4096,))):
        decoded = baseline.encoder.decode(baseline.encode(view, 2.0**40))
        assert np.abs(decoded[: len(view)] - view).max() < 1e-6


def test_operations_of_bfv_are_timed() -> None:
    seconds = SealExact(seals_parameters(), [1]).operation_seconds(steps=1, repeats=1)
    assert set(seconds) == {"add", "multiply", "relinearize", "rotate"}
    assert all(0 < value < 10 for value in seconds.values())


@pytest.mark.parametrize("limbs", [4, 2])
def test_every_operation_is_timed(limbs: int) -> None:
    baseline = SealBaseline(parameter_set("nano"), [3])
    seconds = baseline.operation_seconds(limbs, steps=3, repeats=3)
    assert set(seconds) == set(OPERATIONS)
    assert all(0 < value < 10 for value in seconds.values())


def test_a_missing_seal_is_said_and_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.StringIO()
    stages = Stages(Console(file=text, width=200))
    current = begin(stages, LogisticRegression())
    monkeypatch.setattr("ringsmith.apps.seal_program.seal_version", lambda: None)
    assert time_seal(stages, current) is None
    assert "pip install 'ringsmith[seal]'" in text.getvalue()


def test_a_baseline_without_seal_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "seal", None)
    with pytest.raises(ToolError, match="seal-python is missing"):
        SealBaseline(parameter_set("nano"), [1])


def test_the_median_is_of_several_calls_after_a_warm_up() -> None:
    calls: list[int] = []
    assert seal_baseline.median_seconds(lambda: calls.append(1), repeats=4) >= 0
    assert len(calls) == 5
