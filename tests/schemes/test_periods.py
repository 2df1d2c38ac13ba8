"""Forecasts by the slots of one period: hardly above those by all slots, and never below."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ringsmith import InputSpec, sigmoid, softmax, sort, trace
from ringsmith.params import CkksParameters
from ringsmith.program import CkksProgram
from ringsmith.schemes.ckks.periods import period

PROGRAMS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "rotations that add up": (lambda x: x.sum() * x, {"x": (30,)}),
    "functions": (lambda x: sigmoid(x, degree=7).sum(axis=0), {"x": (10, 30)}),
    "first entries are masked": (lambda x: x * np.arange(16) + x.sum(), {"x": (16,)}),
    "neighbours": (lambda x: np.roll(x, 1) * x - np.roll(x, -1), {"x": (16,)}),
    "encrypted matrices": (lambda a, b: a @ b, {"a": (8, 8), "b": (8, 8)}),
}


@pytest.fixture(scope="module")
def parameters() -> CkksParameters:
    return CkksParameters.create(
        n=1 << 14, prime_bits=[60, *[42] * 7], special_bits=60, scale_bits=42
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_forecast_by_one_period_is_no_less(name: str, parameters: CkksParameters) -> None:
    function, inputs = PROGRAMS[name]
    program = trace(function, parameters, inputs)
    assert isinstance(program, CkksProgram)
    lengths, slots = program.output_lengths, parameters.slots
    assert period(program.nodes, (), lengths, slots) == 1024 < slots
    every, quick = (
        program.forecast(each_node=False, quick=which).outputs["result"] for which in (False, True)
    )
    assert 0 <= math.log2(quick.error / every.error) < 0.25
    assert quick.bound == every.bound
    assert quick.approximation == every.approximation


def test_what_does_not_repeat_is_forecast_by_all_slots(parameters: CkksParameters) -> None:
    vector = trace(lambda x: x * x, parameters, {"x": 30})
    long = trace(lambda x: x * np.arange(5000), parameters, {"x": (5000,)})
    far = trace(lambda x: x.slots().rotate(3000), parameters, {"x": (30,)})
    for program in (vector, long, far):
        lengths = program.output_lengths
        assert period(program.nodes, (), lengths, parameters.slots) == parameters.slots


def test_automatic_parameters_are_precise_by_all_slots() -> None:
    for function, spec in ((softmax, InputSpec((10,), bound=1)), (sort, InputSpec((4,), bound=1))):
        program = trace(function, "auto", {"x": spec})
        assert isinstance(program, CkksProgram)
        assert program.forecast(each_node=False).outputs["result"].bits >= 8
