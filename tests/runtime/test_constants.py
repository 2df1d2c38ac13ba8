"""Constants of a program that take too much memory are encoded whenever they are read."""

from pathlib import Path

import numpy as np
import pytest

from ringsmith import runtime
from ringsmith.errors import ProgramError
from ringsmith.lower import ConstantsOnDemand, lowering
from ringsmith.params import ckks_set
from ringsmith.program import CkksProgram, EncryptedVector, trace
from ringsmith.runtime import compiled_file


def weigh(x: EncryptedVector) -> EncryptedVector:
    """Two weighted sums; one is rotated."""
    weights = np.random.default_rng(7).uniform(-1, 1, (3, 16))
    return (x * weights[0] + x.rotate(1) * weights[1]) * weights[2] + weights[0]


@pytest.fixture(scope="module")
def program() -> CkksProgram:
    return trace(weigh, ckks_set("nano"), {"x": 16})


@pytest.mark.parametrize(
    ("device", "design"), [("cpu", None), ("model", "nano"), ("model", "vector-small")]
)
def test_results_are_the_same_bits(
    device: str, design: str | None, program: CkksProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = runtime.compile_program(program, design)
    monkeypatch.setattr(lowering, "KEPT_BYTES", 0)
    on_demand = runtime.compile_program(program, design)
    assert "kept" in vars(kept.lowered.plaintexts)
    assert "kept" not in vars(on_demand.lowered.plaintexts)
    assert on_demand.lowered.plaintexts.keys() == kept.lowered.plaintexts.keys()
    _, public, keys = program.generate_keys()
    inputs = program.encrypt(public, {"x": np.linspace(-1, 1, 16)})
    opened = runtime.open_device(device, design or "nano")
    results = [each.run(opened, inputs, keys).outputs for each in (kept, on_demand)]
    assert np.array_equal(results[0]["result"].data, results[1]["result"].data)


def test_on_the_cpu_each_constant_is_encoded_once_a_run(
    program: CkksProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lowering, "KEPT_BYTES", 0)
    compiled = runtime.compile_program(program)
    read: list[str] = []
    encode = ConstantsOnDemand.__getitem__

    def noted(constants: ConstantsOnDemand, name: str) -> np.ndarray:
        read.append(name)
        return encode(constants, name)

    monkeypatch.setattr(ConstantsOnDemand, "__getitem__", noted)
    _, public, keys = program.generate_keys()
    inputs = program.encrypt(public, {"x": np.linspace(-1, 1, 16)})
    compiled.run(runtime.open_device("cpu"), inputs, keys)
    assert sorted(read) == sorted(compiled.lowered.plaintexts)
    assert len(read) == 4


def repeated(x: EncryptedVector) -> EncryptedVector:
    """Constants of period 2 and 8, one of no period and one number, which i makes a polynomial."""
    pair, eight = np.tile([1.0, -0.5], 2048), np.tile(np.arange(8.0) / 8, 512)
    rest = np.linspace(-1, 1, 4096)
    return x * pair + x.rotate(1) * eight + x.rotate(2) * rest + x * 0.25j


@pytest.mark.parametrize(
    ("device", "design"), [("cpu", None), ("model", "nano"), ("model", "vector-small")]
)
def test_of_equal_words_one_is_kept_and_results_are_the_same_bits(
    device: str, design: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = trace(repeated, ckks_set("nano"))
    shortened = runtime.compile_program(program, design)
    constants = shortened.lowered.plaintexts
    assert isinstance(constants, ConstantsOnDemand)
    lengths = sorted({each.shape[1] for each in constants.shortened.values()})
    assert lengths == [4, 16, 8192]
    assert {each.shape[1] for each in constants.values()} == {8192}
    monkeypatch.setattr(lowering, "KEPT_BYTES", 0)
    on_demand = runtime.compile_program(program, design)
    assert all(np.array_equal(constants[k], on_demand.lowered.plaintexts[k]) for k in constants)
    _, public, keys = program.generate_keys()
    inputs = program.encrypt(public, {"x": np.linspace(-1, 1, 4096)})
    opened = runtime.open_device(device, design or "nano")
    results = [each.run(opened, inputs, keys).outputs for each in (shortened, on_demand)]
    assert np.array_equal(results[0]["result"].data, results[1]["result"].data)


def test_a_file_holds_the_same_bytes_and_too_many_are_refused(
    program: CkksProgram, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runtime.compile_program(program).save(tmp_path / "kept.rsc")
    monkeypatch.setattr(lowering, "KEPT_BYTES", 0)
    compiled = runtime.compile_program(program)
    compiled.save(tmp_path / "on_demand.rsc")
    files = [(tmp_path / f"{name}.rsc").read_bytes() for name in ("kept", "on_demand")]
    assert files[0] == files[1]
    monkeypatch.setattr(compiled_file, "MAX_FILE", 1 << 15)
    with pytest.raises(ProgramError, match=r"cannot be written: .* takes more than the 32768 byt"):
        compiled.save(tmp_path / "large.rsc")
    assert not (tmp_path / "large.rsc").exists()
