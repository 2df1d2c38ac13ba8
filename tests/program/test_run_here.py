"""``program.run`` and re-encryption of some inputs: what one tries first, in one process."""

import gc
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringsmith import (
    AutoBfvParameters,
    AutoParameters,
    InputSpec,
    Program,
    compile_program,
    open_device,
    trace,
)
from ringsmith.errors import DeviceError, ParameterError, ProgramError
from ringsmith.params import CkksParameters
from ringsmith.program.kit import ClientKit
from ringsmith.program.packing import Packing

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")


def total(x: Any, y: Any, z: Any) -> Any:  # noqa: ANN401 - encrypted vectors
    return {"sum": x + 2 * y - z, "product": x * y}


LENGTHS = {"x": 4, "y": 4, "z": 4}


def test_run_returns_what_the_seven_lines_return(
    small: CkksParameters, rng: np.random.Generator
) -> None:
    program = trace(total, small, LENGTHS)
    for _ in range(5):
        numbers = {name: rng.uniform(-1, 1, length) for name, length in LENGTHS.items()}
        found = program.run(**numbers)
        secret_key, public_key, keys = program.generate_keys()
        inputs = program.encrypt(public_key, numbers)
        result = compile_program(program).run(open_device("cpu"), inputs, keys)
        long_way = program.decrypt(secret_key, result.outputs)
        x, y, z = numbers.values()
        assert found.keys() == long_way.keys() == {"sum", "product"}
        for name, wanted in {"sum": x + 2 * y - z, "product": x * y}.items():
            assert found[name].shape == long_way[name].shape == wanted.shape
            assert np.allclose(found[name], wanted, atol=1e-6)
        assert np.allclose(program.run(numbers)["sum"], found["sum"], atol=1e-6)


def test_bfv_runs_exactly_and_complex_numbers_are_kept_where_asked(
    small: CkksParameters, rng: np.random.Generator
) -> None:
    exact = trace(lambda x, y: x * y, AutoBfvParameters(plain_bits=20), {"x": 5, "y": 5})
    x, y = rng.integers(-50, 50, (2, 5))
    assert np.array_equal(exact.run(x=x, y=y)["result"], x * y)
    times_i = trace(lambda x: x * 1j, small, {"x": 1})
    assert np.allclose(times_i.run(x=[1], complex_numbers=True)["result"], 1j, atol=1e-6)


@pytest.mark.parametrize("design", [None, "nano"])
def test_run_on_a_model_of_the_named_or_the_smallest_design(
    design: str | None, rng: np.random.Generator
) -> None:
    program = trace(lambda x: x * x, AutoParameters(design="nano", precision_bits=12), {"x": 3})
    x = rng.uniform(-1, 1, 3)
    found = program.run(x=x, device="model", design=design)["result"]
    assert np.allclose(found, x * x, atol=1e-3)


def test_keys_are_made_once_for_each_program(
    small: CkksParameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    own = ClientKit.generate_keys

    def counted(kit: ClientKit, **options: Any) -> Any:  # noqa: ANN401 - keys
        made.append(kit.name)
        return own(kit, **options)

    monkeypatch.setattr(ClientKit, "generate_keys", counted)
    program, other = (trace(lambda x: x + 1, small, {"x": 1}) for _ in range(2))
    for _ in range(3):
        assert np.allclose(program.run(x=1)["result"], 2, atol=1e-6)
    assert len(made) == 1
    other.run(x=1)
    assert len(made) == 2


def test_what_a_run_keeps_goes_with_its_program(small: CkksParameters) -> None:
    program: Program | None = trace(lambda x: x + 1, small, {"x": 1})
    assert program is not None
    program.run(x=1)
    gone = weakref.ref(program)
    program = None
    gc.collect()
    assert gone() is None


def test_an_input_may_have_the_name_of_an_option(small: CkksParameters) -> None:
    program = trace(lambda device, inputs: device + inputs, small, {"device": 1, "inputs": 1})
    assert np.allclose(program.run({"device": 1, "inputs": 2})["result"], 3, atol=1e-6)


def test_wrong_runs_are_refused_in_words(small: CkksParameters, tmp_path: Path) -> None:
    program = trace(total, small, LENGTHS)
    with pytest.raises(ProgramError, match=r"'z'\] and was given \[\]"):
        program.run()
    with pytest.raises(ProgramError, match="as a mapping and by keyword"):
        program.run({"x": 1}, y=2)
    with pytest.raises(DeviceError, match="there is no device 'gpu': choose one of cpu"):
        program.run(device="gpu", x=1, y=1, z=1)
    with pytest.raises(TypeError, match='name one, such as "cpu" or "model"'):
        program.run(device=open_device("cpu"), x=1, y=1, z=1)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="device cpu has no designs"):
        program.run(design="nano", x=1, y=1, z=1)
    with pytest.raises(DeviceError, match="opens no card"):
        program.run(device="card", x=1, y=1, z=1)


def test_one_input_is_encrypted_anew(small: CkksParameters, rng: np.random.Generator) -> None:
    program = trace(total, small, LENGTHS)
    secret_key, public_key, keys = program.generate_keys()
    numbers = {name: rng.uniform(-1, 1, length) for name, length in LENGTHS.items()}
    inputs = program.encrypt(public_key, numbers)
    x = rng.uniform(-1, 1, 4)
    for encrypt in (program.encrypt, program.client_kit().encrypt):
        fresh = encrypt(public_key, {"x": x}, partial=True)
        assert fresh.keys() == {"x"}
        result = compile_program(program).run(open_device("cpu"), inputs | fresh, keys)
        product = program.decrypt(secret_key, result.outputs)["product"]
        assert np.allclose(product, x * numbers["y"], atol=1e-6)


def test_some_inputs_are_encrypted_only_where_asked_and_known(small: CkksParameters) -> None:
    program = trace(total, small, LENGTHS)
    public_key = program.generate_keys()[1]
    with pytest.raises(ProgramError, match=r"given \['x'\]: .*or some of them with partial=True"):
        program.encrypt(public_key, {"x": [1]})
    for wrong in ({}, {"w": [1]}, {"x": [1], "w": [1]}):
        with pytest.raises(ProgramError, match=r"takes the inputs \['x', 'y', 'z'\]"):
            program.encrypt(public_key, wrong, partial=True)


def test_one_tensor_of_an_imported_program_is_encrypted_anew(small: CkksParameters) -> None:
    spec = InputSpec(4, bound=8)
    program = trace(lambda x, y: x + y, small, {"x": spec, "y": spec})
    table = np.array([1, 2, 0, 0])
    packed = {
        name: Packing((2,), (port,), 4, table, False) for name, port in (("a", "x"), ("b", "y"))
    }
    program = replace(program, packed_inputs=packed)
    secret_key, public_key, keys = program.generate_keys()
    inputs = program.encrypt(public_key, {"a": [1, 2], "b": [3, 4]})
    fresh = program.encrypt(public_key, {"b": [5, 6]}, partial=True)
    assert fresh.keys() == {"y"}
    result = compile_program(program).run(open_device("cpu"), inputs | fresh, keys)
    found = program.decrypt(secret_key, result.outputs)["result"]
    assert np.allclose(found[:2], [6, 8], atol=1e-6)
    with pytest.raises(ProgramError, match=r"takes the arrays \['a', 'b'\]"):
        program.encrypt(public_key, {"b": [5, 6]})


def test_the_page_s_program_runs_in_one_call() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "programs.md").read_text()
    names: dict[str, Any] = {}
    exec(page.partition("```python\n")[2].partition("```")[0], names)  # noqa: S102 - a page's
    call = page.partition("**For trying things**, `")[2].partition("`")[0]
    found = eval(call, names)["result"]  # noqa: S307 - a page's
    logit = np.dot([0.1, 0.2, 0.3, 0.4], [0.5, -1, 2, 0.25]) + 0.5
    wanted = 0.5 + 0.197 * logit - 0.004 * logit**3
    assert found[0] == pytest.approx(wanted, abs=1e-5)
