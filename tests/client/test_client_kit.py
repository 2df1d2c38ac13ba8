"""What clients do with a program or its kit: keys, encryption and decryption in one call each."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.program.test_program_file import ANYTHING, PROGRAMS, bfv, ckks

from ringsmith import Program, compile_program, inner_product, open_device
from ringsmith.errors import InteropError, ParameterError, ProgramError
from ringsmith.files.budget import LEAST, Budget
from ringsmith.files.container import unpack
from ringsmith.objects import Ciphertext
from ringsmith.program.kit import ClientKit
from ringsmith.schemes import trace

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")


@pytest.mark.parametrize("name", ["ckks", "fused", "bfv", "hps", "words"])
def test_keys_encryption_and_decryption_take_one_call_each(name: str) -> None:
    program = PROGRAMS[name]()
    numbers = {
        key: np.arange(1, min(length, 4) + 1) / (4 if "ckks" in program.parameters.scheme else 1)
        for key, length in program.lengths.items()
    }
    if program.parameters.scheme == "bfv":
        numbers = {key: values.astype(int) for key, values in numbers.items()}
    secret_key, public_key, evaluation_keys = program.generate_keys()
    inputs = program.encrypt(public_key, numbers)
    result = compile_program(program).run(open_device("cpu"), inputs, evaluation_keys)
    found = program.decrypt(secret_key, result.outputs)
    assert {key: array.size for key, array in found.items()} == dict(program.output_lengths)
    for key, expected in program.evaluate(numbers).items():
        assert found[key].shape == expected.shape
        error = np.abs(found[key] - expected.real).max()
        assert error < (2**-8 if program.parameters.scheme == "ckks" else 1)
        assert found[key].dtype == (np.float64 if program.parameters.scheme == "ckks" else np.int64)
    if program.parameters.scheme == "ckks":
        complex_numbers = program.decrypt(secret_key, result.outputs, complex_numbers=True)["a"]
        assert abs(complex_numbers[0] - program.evaluate(numbers)["a"][0]) < 2**-8
        assert abs(complex_numbers[0].imag) > 0.1


def test_lengths_of_outputs_follow_from_inputs_or_are_declared() -> None:
    from ringsmith import matvec, sum_slots

    def lengths(function: Callable[..., Any], **options: Any) -> dict[str, int]:  # noqa: ANN401
        return dict(trace(function, ckks(), {"x": 8, "y": 1}, **options).output_lengths)

    assert lengths(lambda x, y: x * 0.5 + y) == {"result": 8}
    assert lengths(lambda x, y: (x, y + 1)) == {"result0": 8, "result1": 1}
    assert lengths(lambda x, y: matvec(np.ones((64, 8)), x) + y) == {"result": 64}
    assert lengths(lambda x, y: matvec(np.ones((3, 8)), x) + y) == {"result": 3}
    assert lengths(lambda x, y: inner_product(x, np.ones(8), 8) + y) == {"result": 1}
    assert lengths(lambda x, y: sum_slots(x, 4) + y) == {"result": 8}
    assert lengths(lambda x, y: x.rotate(-5) + y) == {"result": 13}
    assert lengths(lambda x, y: x.rotate(5) + y) == {"result": 8}
    assert lengths(lambda x, y: sum_slots(x) * y) == {"result": 1}
    with pytest.raises(ProgramError, match=r"shapes \(8,\) and \(3,\) do not fit, as in NumPy"):
        lengths(lambda x, y: (x + np.ones(3)) * y)
    assert lengths(lambda x, y: x + y, outputs={"result": 1}) == {"result": 1}
    assert lengths(lambda x, y: x + y, outputs={"result": None}) == {"result": 512}
    for declared, message in (
        ({"other": 1}, "the program's outputs are"),
        ({"result": 513}, "is not a whole number in 1 … 512"),
        ({"result": 0}, "is not a whole number in 1 … 512"),
        ({"result": True}, "is not a whole number in 1 … 512"),
        ([1], "outputs = .1. are no lengths by name"),
    ):
        with pytest.raises(ProgramError, match=message):
            lengths(lambda x, y: x + y, outputs=declared)


def test_a_kit_has_no_constants_graph_or_lines(tmp_path: Path) -> None:
    weights = [0.123456789, -0.987654321]
    program = trace(lambda x: x * weights, ckks(), {"x": 2})
    kit = program.client_kit()
    assert {field.name for field in dataclasses.fields(kit)} == {
        *("name", "parameters", "inputs", "outputs", "key_needs"),
        *("packed_inputs", "packed_outputs"),
    }
    kit.save(tmp_path / "x.rsk")
    data = (tmp_path / "x.rsk").read_bytes()
    content = unpack(data, "it", ANYTHING, Budget(LEAST), "a kit")
    assert content.arrays == ()
    assert "test_program_file" not in repr(content.content)
    assert "multiply" not in repr(content.content)
    loaded = ClientKit.load(tmp_path / "x.rsk", security=None)
    for found in (Program.load(tmp_path / "x.rsk"), loaded):
        assert isinstance(found, ClientKit)
        assert (found.name, found.parameters) == (kit.name, kit.parameters)
        assert (found.inputs, found.outputs) == (kit.inputs, kit.outputs)
        assert found.key_needs == kit.key_needs
    program.save(tmp_path / "x.rsp")
    with pytest.raises(InteropError, match="its format is 'ringsmith-program', and this is to be"):
        ClientKit.load(tmp_path / "x.rsp")


def test_what_is_no_input_is_refused() -> None:
    program = trace(lambda x, y: x + y, ckks(), {"x": 4, "y": 1})
    secret_key, public_key, _ = program.generate_keys()
    for inputs, error, message in (
        ({"x": [1]}, ProgramError, "takes the inputs .'x', 'y'. and was given .'x'."),
        ({"x": [1], "z": [1]}, ProgramError, "was given .'x', 'z'."),
        ({"x": [1] * 5, "y": 1}, ProgramError, "input 'x' holds 4 numbers and was given 5"),
        ({"x": [1], "y": [1, 2]}, ProgramError, "input 'y' holds 1 numbers and was given 2"),
        ({"x": [1, float("nan")], "y": 1}, ValueError, "input 'x': .* of finite numbers"),
        ({"x": ["one"], "y": 1}, ValueError, "input 'x': "),
        ({"x": np.ma.array([1.0], mask=[True]), "y": 1}, ProgramError, "is a masked array"),
        ([1], TypeError, "inputs: list was given"),
    ):
        with pytest.raises(error, match=message):
            program.encrypt(public_key, inputs)  # type: ignore[arg-type]
    x = program.encrypt(public_key, {"x": [1], "y": 1})["x"]
    lower_scale = dataclasses.replace(x, scale=2.0)
    for outputs, error, message in (
        ({}, ProgramError, "has the outputs .'result'. and was given none"),
        ({"x": x}, ProgramError, "and was given .'x'."),
        ({"result": lower_scale}, ProgramError, "give the outputs of a run of this program"),
        ({"result": 1}, TypeError, "output 'result': int was given"),
        (x, TypeError, "outputs: Ciphertext was given"),
    ):
        with pytest.raises(error, match=message):
            program.decrypt(secret_key, outputs)  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="BFV computes on whole numbers"):
        PROGRAMS["bfv"]().decrypt(secret_key, {"a": x}, complex_numbers=True)


def test_results_without_noise_budget_are_refused() -> None:
    program = trace(lambda x: x + x, bfv(), {"x": 4})
    _, public_key, _ = program.generate_keys()
    other, _, _ = program.generate_keys()
    x = program.encrypt(public_key, {"x": [1]})["x"]
    with pytest.raises(ParameterError, match="the ciphertext: of another key pair"):
        program.decrypt(other, {"result": x})
    with pytest.raises(ProgramError, match="output 'result': no noise budget is left"):
        program.decrypt(other, {"result": Ciphertext(x.data)})  # as SEAL's files: no tag
