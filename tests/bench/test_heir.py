"""``ringsmith bench heir``: its lists, and what is counted of programs."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from tests.heir.make import EXAMPLES, PROGRAMS, VECTOR, text_of

from bench import heir
from bench.heir import HEIRS, OURS, PLANS, counts, operation, wish_of
from bench.heir_modules import Module, read_modules
from bench.record import read_records
from bench.run import Choice, load, measure
from ringsmith.errors import DeviceError, ParameterError
from ringsmith.heir import Scheme, Traced, program_of, trace_module
from ringsmith.heir.compiler import module_text
from ringsmith.heir.text import HeirError

BENCH = load("heir")
RECORDS = read_records(BENCH.records, "heir").records
NETWORKS = ("perceptron", "lola", "lola-2x2")
CASES = [(name, scheme) for name, program in PROGRAMS.items() for scheme in program.schemes]


def test_the_records_have_every_program_and_plan() -> None:
    rows = {record.operation for record in RECORDS}
    every = [operation(PROGRAMS[name], scheme, plan) for name, scheme in CASES for plan in PLANS]
    every += [f"{name}, CKKS, {plan}" for name in NETWORKS for plan in PLANS]
    assert set(every) <= rows


def check_counts(module: Module, scheme: Scheme, heirs: Traced, vector: Traced) -> None:
    """Compares the counts of the records with those of today's programs."""
    kept = {
        (record.operation, record.metric): record.value
        for record in RECORDS
        if record.design == "cpu"
    }
    for plan in PLANS:
        program = program_of(heirs if plan == HEIRS else vector, wish_of(plan, module, scheme))
        what = operation(module, scheme, plan)
        for metric, value in counts(program).items():
            assert kept[what, metric] == value, f"{what}, {metric}"


@pytest.mark.parametrize(("name", "scheme"), CASES)
def test_programs_are_counted_as_in_the_records(name: str, scheme: Scheme) -> None:
    module = PROGRAMS[name]
    heirs, vector = (
        trace_module(text_of(name, level), name, module.clear) for level in (scheme, VECTOR)
    )
    check_counts(module, scheme, heirs, vector)


@pytest.mark.full
def test_networks_are_counted_as_in_the_records(tmp_path: Path) -> None:
    runpy.run_path(str(EXAMPLES / "networks.py"))["write_all"](tmp_path)
    modules = read_modules(tmp_path / "networks.toml")
    assert tuple(module.name for module in modules) == NETWORKS
    for module in modules:
        heirs, vector = (
            trace_module(*module_text(module.file, module.lowering(scheme)), module.clear)
            for scheme in (Scheme.CKKS, None)
        )
        check_counts(module, Scheme.CKKS, heirs, vector)


def a_list(folder: Path) -> Path:
    """A list of two modules."""
    for name in ("dot_f32", "box_blur"):
        (folder / f"{name}.mlir").write_text(PROGRAMS[name].file.read_text())
    path = folder / "list.toml"
    path.write_text("[dot_f32]\n\n[box_blur]\nplain_modulus = 786433\nbound = 9\n")
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no module"),
        ("[a", "not a TOML file"),
        ("a" + ".b" * 2000 + " = 1", "has 2000 points, and at most 1024 are read"),
        ("a = 1", "is not a table"),
        ('["a b"]', "letters, digits"),
        ("[a]\nfiles = 1", "a.files is unknown: choose of file, schemes"),
        ("[a]\nfile = 7", "a.file = 7: name a file"),
        ('[dot_f32]\nschemes = ["tfhe"]', "list some of ckks, bfv, bgv"),
        ("[dot_f32]\nslots = 1000", "slots = 1000 is not a power of two"),
        ("[dot_f32]\nslots = 1048576", "give a whole number in 2 … 16384"),
        ("[dot_f32]\nplain_modulus = true", "plain_modulus = True: give a whole number"),
        ("[dot_f32]\nbound = -1", "bound = -1: give a number above 0"),
        ("[dot_f32]\nbound = nan", "bound = nan: give a number above 0"),
        ("[dot_f32]\nheadroom_bits = 31", "headroom_bits = 31: give a whole number in 0 … 30"),
        ("[dot_f32]\nclear = 3", "clear is not a table"),
        ("[dot_f32]\ninputs = []", "inputs is not a table"),
        ('[dot_f32]\nclear = { arg1 = ["x"] }', "clear.arg1 = ['x']: list numbers"),
        ("[dot_f32]\nclear = { arg1 = [] }", "clear.arg1 = []: list numbers"),
    ],
)
def test_a_list_that_is_wrong_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = a_list(tmp_path)
    path.write_text(text)
    with pytest.raises(ParameterError) as refused:
        read_modules(path)
    message = str(refused.value)
    assert words in message
    assert str(path) in message
    assert "\n" not in message


def test_a_design_that_is_not_there_is_refused_before_anything_is_measured() -> None:
    with pytest.raises(ParameterError, match="nix"):
        measure(BENCH, Choice(values={"designs": "medha,nix", "modules": ""}), (), print)


def test_a_module_that_cannot_be_read_costs_no_others_numbers(tmp_path: Path) -> None:
    (tmp_path / "weighted.mlir").write_text(PROGRAMS["weighted"].file.read_text())
    np.save(tmp_path / "w.npy", PROGRAMS["weighted"].clear["arg1"])
    text = '[bad]\nfile = "weighted.mlir"\n[weighted]\nclear = { arg1 = "w.npy" }\n'
    (tmp_path / "list.toml").write_text(text)
    said: list[str] = []
    values = {"designs": "", "calls": "1", "modules": str(tmp_path / "list.toml")}
    records = measure(BENCH, Choice(values=values), (), said.append)
    assert {record.operation.partition(",")[0] for record in records} == {"weighted"}
    (line,) = (text for text in said if "left out: " in text and "bad" in text)
    assert "arg1" in line
    alone = {**values, "modules": str(tmp_path / "weighted.mlir")}
    with pytest.raises(HeirError, match="arg1"):
        measure(BENCH, Choice(values=alone), (), print)


def test_a_module_alone_is_a_list_of_one() -> None:
    (module,) = read_modules(EXAMPLES / "dot_i16.mlir")
    assert (module.name, module.schemes) == ("dot_i16", (Scheme.BFV,))


def test_clear_numbers_come_from_a_file(tmp_path: Path) -> None:
    path = a_list(tmp_path)
    np.save(tmp_path / "w.npy", np.arange(3.0))
    path.write_text('[dot_f32]\nclear = { arg0 = "w.npy", arg1 = [[1, 2], [3, 4]] }\n')
    (module,) = read_modules(path)
    np.testing.assert_array_equal(module.clear["arg0"], np.arange(3.0))
    assert module.clear["arg1"].shape == (2, 2)


def test_a_wrong_result_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = PROGRAMS["dot_f32"]
    vector = trace_module(text_of("dot_f32", VECTOR), "dot_f32")
    program = program_of(vector, wish_of(OURS, module, Scheme.CKKS))
    tensors = heir.inputs_of(module, vector)
    assert heir.on_cpu(program, tensors, 1)[0] < 1e-6
    exact = program.evaluate(tensors)["result"]
    monkeypatch.setattr(
        type(program), "decrypt", lambda *_: {"result": np.asarray(exact) + np.float64(0.01)}
    )
    with pytest.raises(DeviceError, match=r"result errs by 0\.01"):
        heir.on_cpu(program, tensors, 1)
