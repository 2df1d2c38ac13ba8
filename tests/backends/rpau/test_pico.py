"""`pico` multiplies and rotates ciphertexts at its size, on model and RTL, as `core` does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ringsmith import compile_program, open_device, parameter_set, trace

KINDS = ("model", "rtl")
SLOTS = 32
Program = Callable[[Any, Any], Any]
PROGRAMS: dict[str, Program] = {
    "product": lambda x, y: x * y,
    "rotations": lambda x, y: x.rotate(1) + y.rotate(5),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_on_pico_equals_core_bit_for_bit(name: str, rng: np.random.Generator) -> None:
    program = trace(PROGRAMS[name], parameter_set("pico"), {"x": SLOTS, "y": SLOTS})
    secret_key, public_key, keys = program.generate_keys(seeded=True)
    values = {each: rng.uniform(-1, 1, SLOTS) for each in ("x", "y")}
    inputs = program.encrypt(public_key, values)
    expected = compile_program(program).run(open_device("cpu"), inputs, keys)
    compiled = compile_program(program, "pico")
    found = {kind: compiled.run(open_device(kind, "pico"), inputs, keys) for kind in KINDS}
    assert found["model"].cycles == found["rtl"].cycles
    for run in found.values():
        assert np.array_equal(run.outputs["result"].data, expected.outputs["result"].data)
    answer = program.decrypt(secret_key, found["rtl"].outputs)["result"]
    expected_numbers = program.evaluate(values)["result"][:SLOTS]
    assert np.abs(answer - expected_numbers).max() < 2**-6


def test_a_product_on_pico_keeps_all_on_the_device() -> None:
    program = trace(PROGRAMS["product"], parameter_set("pico"), {"x": SLOTS, "y": SLOTS})
    executable = compile_program(program, "pico").compiled_graph.executable
    assert executable is not None
    assert executable.host_transfers == 0
