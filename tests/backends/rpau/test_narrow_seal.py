"""Microsoft SEAL's bits on a design whose last RPAUs have narrow words, by model and RTL."""

import numpy as np
import pytest
from tests.backends.rpau.test_narrow import SMALL
from tests.backends.rpau.test_slot_order import parameters
from tests.backends.seal_world import expected, world_of

from ringsmith import runtime
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.lower import lower_operation


@pytest.mark.parametrize(
    ("operation", "sizes"),
    [
        ("multiply_relinearize", (54, 54, 60)),  # the special prime in both wide RPAUs
        ("multiply_relinearize", (60, 54, 54)),  # a wide digit in narrow RPAUs
        ("rescale", (54, 54, 60, 60)),  # by a wide prime
        ("rotate:1", (60, 54, 60)),
    ],
)
def test_an_operation_has_seals_bits(
    operation: str, sizes: tuple[int, ...], rng: np.random.Generator
) -> None:
    here = world_of(parameters(*sizes), (1,))
    limbs = here.parameters.limbs
    operands, result = expected(here, operation, limbs, rng)
    polynomials = np.concatenate([here.polynomials(operand) for operand in operands])
    program = lower_operation(operation.partition(":")[0], here.parameters, limbs, steps=1)
    inputs = dict(zip(program.inputs, polynomials, strict=True))
    compiled = runtime.compile_graph(program, SMALL, seeded=())
    assert compiled.executable is not None
    for coprocessor in (ModelCoprocessor(SMALL), RtlCoprocessor(SMALL, assertions=True)):
        found = runtime.run_graph(compiled, RpauDevice(coprocessor), inputs, here.keys)
        outputs = np.stack(list(found.outputs.values()))
        np.testing.assert_array_equal(outputs, here.polynomials(result), err_msg=coprocessor.name)
        assert found.cycles == compiled.executable.cycles
