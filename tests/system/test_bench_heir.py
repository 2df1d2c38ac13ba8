"""``ringsmith bench heir``: whole, its lists, its records and its page."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from tests.heir.make import EXAMPLES, PROGRAMS, VECTOR, text_of
from typer.testing import CliRunner

from ringsmith.apps.seal_baseline import seal_missing
from ringsmith.bench.heir import measure
from ringsmith.bench.heir.measure import HEIRS, OURS, PLANS, counts, operation, wish_of
from ringsmith.bench.heir.modules import Module, read_modules
from ringsmith.bench.heir.page import page
from ringsmith.bench.records import Record, read_records
from ringsmith.cli.main import app
from ringsmith.errors import DeviceError, ParameterError
from ringsmith.heir import Scheme, Traced, program_of, trace_module
from ringsmith.heir.compiler import module_text
from ringsmith.heir.text import HeirError

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "bench" / "records" / "heir.jsonl"
NETWORKS = ("perceptron", "lola", "lola-2x2")
CASES = [(name, scheme) for name, program in PROGRAMS.items() for scheme in program.schemes]

runner = CliRunner()


def test_the_page_is_what_its_records_say() -> None:
    assert (ROOT / "docs" / "results" / "heir.md").read_text() == page(read_records(RECORDS))


def test_the_records_have_every_program_and_plan() -> None:
    rows = {record.operation for record in read_records(RECORDS, "heir").records}
    every = [operation(PROGRAMS[name], scheme, plan) for name, scheme in CASES for plan in PLANS]
    every += [f"{name}, CKKS, {plan}" for name in NETWORKS for plan in PLANS]
    assert set(every) <= rows


def check_counts(module: Module, scheme: Scheme, heirs: Traced, vector: Traced) -> None:
    """Compares the counts of the records with those of today's programs."""
    kept = {
        (record.operation, record.metric): record.value
        for record in read_records(RECORDS).records
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


def test_the_bench_measures_a_program_and_keeps_others(tmp_path: Path) -> None:
    path, records, written = a_list(tmp_path), tmp_path / "heir.jsonl", tmp_path / "heir.md"
    words = ["bench", "heir", str(path), "--quick", "--json", str(records), "--page", str(written)]
    done = runner.invoke(app, words)
    assert done.exit_code == 0, done.output
    found = read_records(records, "heir")
    assert written.read_text() == page(found)
    assert f"bench heir {path} --designs" in found.command
    on_cpu = [each for each in found.records if each.design == "cpu"]
    assert {each.operation for each in on_cpu} == {f"dot_f32, CKKS, {plan}" for plan in PLANS}
    values = {(each.operation, each.metric, each.peer): each.value for each in on_cpu}
    ours, theirs = (operation(PROGRAMS["dot_f32"], Scheme.CKKS, p) for p in (OURS, HEIRS))
    assert values[ours, "key_bytes", ""] < values[theirs, "key_bytes", ""]
    assert values[ours, "largest_error", ""] < 1e-6
    assert values[theirs, "heir_seconds", ""] > 0
    assert ((theirs, "milliseconds", "SEAL") in values) == (seal_missing() is None)
    cycles = {each.design: each.value for each in found.records if each.metric == "cycles"}
    assert cycles["vector-small"] > 0

    blur = Record("cpu", "p", "box_blur, BFV, ours", "degree", 4096, "program", "counted")
    again = measure.with_kept(found.records, [blur, *found.records])
    assert again == [blur, *found.records]


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


def test_a_design_that_is_not_there_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "module_text", None)
    done = runner.invoke(app, ["bench", "heir", str(a_list(tmp_path)), "--designs", "medha,nix"])
    assert done.exit_code == 2
    assert "nix" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_module_that_cannot_be_read_costs_no_others_numbers(tmp_path: Path) -> None:
    (tmp_path / "bad.mlir").write_text(PROGRAMS["weighted"].file.read_text())  # without its weights
    bad, good = Module("bad", tmp_path / "bad.mlir", (Scheme.CKKS,)), PROGRAMS["weighted"]
    said: list[str] = []
    records = measure.measure([bad, good], measure.Options((), 1), said.append)
    assert {record.operation.partition(",")[0] for record in records} == {"weighted"}
    (line,) = (text for text in said if "left out" in text)
    assert "bad, CKKS: left out: " in line
    assert "arg1" in line
    with pytest.raises(HeirError, match="arg1"):
        measure.measure([bad], measure.Options((), 1), said.append)


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
    tensors = measure.inputs_of(module, vector)
    assert measure.on_cpu(program, tensors, 1)[0] < 1e-6
    exact = program.evaluate(tensors)["result"]
    monkeypatch.setattr(
        type(program), "decrypt", lambda *_: {"result": np.asarray(exact) + np.float64(0.01)}
    )
    with pytest.raises(DeviceError, match=r"result errs by 0\.01"):
        measure.on_cpu(program, tensors, 1)
