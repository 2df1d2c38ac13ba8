"""Small programs on arrays as their users run them: by files, a client's kit, and the commands."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from ringsmith import (
    AutoBfvParameters,
    ClientKit,
    Compiled,
    InputSpec,
    Program,
    compile_program,
    open_device,
    sigmoid,
    trace,
)
from ringsmith.cli.main import app
from ringsmith.client import load_secret_key, save_secret_key
from ringsmith.interop import load_object, save_object
from ringsmith.objects import Ciphertext, EvaluationKeys

Array = NDArray[Any]
WEIGHTS = np.random.default_rng(1).normal(size=(30, 4)) / 8
WHOLE = AutoBfvParameters()
PROGRAMS: dict[str, tuple[Callable[..., Any], Any, dict[str, InputSpec]]] = {
    "dense": (lambda x: sigmoid(x @ WEIGHTS, error=0.01), "auto", {"x": InputSpec((5, 30))}),
    "statistics": (
        lambda age, pay: {"mean": age.mean(), "both": np.stack([age, pay]), "spread": pay.var()},
        "auto",
        {"age": InputSpec((50,), bound=(0, 12)), "pay": InputSpec((50,), bound=9)},
    ),
    "records": (lambda x: x @ np.arange(1, 4) + 1, "auto", {"x": InputSpec((5000, 3))}),
    "number": (lambda x: x * x + 1, "auto", {"x": InputSpec(())}),
    "matrices": (
        lambda a, b: (a @ b, a.T),
        "auto",
        {"a": InputSpec((4, 6)), "b": InputSpec((6, 3))},
    ),
    "spectrum": (np.fft.fft, "auto", {"a": InputSpec((8,), complex_numbers=True)}),
    "both rows": (lambda x: 2 * x + 1, WHOLE, {"x": InputSpec((4096,), bound=1000)}),
    "neighbours": (lambda x: np.roll(x, 1) * x, WHOLE, {"x": InputSpec((11,), bound=100)}),
    "counts": (lambda v: (v.sum(axis=0), v[:, 0] * 3), WHOLE, {"v": InputSpec((3000, 5), bound=1)}),
}


def numbers(rng: np.random.Generator, spec: InputSpec, *, whole: bool) -> Array:
    """Random numbers in an input's range."""
    shape, bound = spec.length, spec.bound or 1
    assert isinstance(shape, tuple)
    low, high = bound if isinstance(bound, tuple) else (-bound, bound)
    if whole:
        return rng.integers(low, high + 1, shape)
    real = rng.uniform(low, high, shape)
    return (real + 1j * rng.uniform(low, high, shape)) / 2 if spec.complex_numbers else real


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_client_with_a_kit_gets_what_the_program_means(
    tmp_path: Path, rng: np.random.Generator, name: str
) -> None:
    function, wish, specs = PROGRAMS[name]
    program = trace(function, wish, specs)
    program.save(tmp_path / "program.rsp")
    program.client_kit().save(tmp_path / "kit.rsk")
    compile_program(program).save(tmp_path / "compiled.rsc")

    kit = ClientKit.load(tmp_path / "kit.rsk")
    of = kit.parameters
    data = {key: numbers(rng, spec, whole=wish is WHOLE) for key, spec in specs.items()}
    secret_key, public_key, evaluation_keys = kit.generate_keys()
    save_secret_key(tmp_path / "secret.seal", secret_key, of)
    save_object(tmp_path / "evaluation", evaluation_keys, of)
    for key, ciphertext in kit.encrypt(public_key, data).items():
        save_object(tmp_path / f"{key}.seal", ciphertext, of)

    served = Program.load(tmp_path / "program.rsp")
    keys = load_object(tmp_path / "evaluation", EvaluationKeys, served.parameters)
    inputs = {
        key: load_object(tmp_path / f"{key}.seal", Ciphertext, served.parameters)
        for key in served.inputs
    }
    result = Compiled.load(tmp_path / "compiled.rsc").run(open_device("cpu"), inputs, keys)
    for key, ciphertext in result.outputs.items():
        save_object(tmp_path / f"out-{key}.seal", ciphertext, served.parameters)

    outputs = {
        key: load_object(tmp_path / f"out-{key}.seal", Ciphertext, of) for key in kit.outputs
    }
    found = kit.decrypt(load_secret_key(tmp_path / "secret.seal", of), outputs)
    expected = program.evaluate(data)
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert found[key].shape == value.shape
        assert np.abs(found[key] - value).max() <= (0 if wish is WHOLE else 1e-3)


def test_complex_numbers_come_from_a_file(tmp_path: Path, rng: np.random.Generator) -> None:
    function, wish, specs = PROGRAMS["spectrum"]
    trace(function, wish, specs).save(tmp_path / "spectrum.rsp")
    given = numbers(rng, specs["a"], whole=False)
    np.save(tmp_path / "a.npy", given)
    words = ["--input", f"a={tmp_path / 'a.npy'}", "--output-dir", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["run-program", str(tmp_path / "spectrum.rsp"), *words])
    assert done.exit_code == 0, done.output
    found = np.load(tmp_path / "out" / "result.npy")
    assert np.abs(found - np.fft.fft(given)).max() < 1e-5


def test_arrays_of_bfv_fill_both_rows() -> None:
    program = trace(lambda x, y: x * y + 1, WHOLE, {"x": InputSpec((8192,), bound=9), "y": (8192,)})
    slots = program.parameters.slots
    assert len(program.inputs) == 2 * max(1, 8192 // slots)
    batch = trace(lambda x: x @ np.arange(3), WHOLE, {"x": InputSpec((30000, 3), bound=9)})
    ciphertexts = len(batch.packed_inputs["x"].ports)
    assert ciphertexts == 2 * -(-30000 // batch.parameters.slots)  # a column times 0 is left out
    assert not batch.key_needs.galois
    share = batch.packed_inputs["x"].words
    assert f"in {ciphertexts} ciphertexts" in share
