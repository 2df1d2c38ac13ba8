"""Compiled programs as files: a loaded one runs as the one that was saved, and damage is seen."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringsmith import Program, compile_program, open_device, trace
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.types import CompiledGraph
from ringsmith.errors import InteropError, ProgramError
from ringsmith.files.budget import Budget
from ringsmith.files.container import Container, pack, unpack
from ringsmith.graph import to_json
from ringsmith.params import BfvParameters, CkksParameters
from ringsmith.runtime import Compiled, compiled_file
from ringsmith.runtime.compiled_file import FORMAT, MAX_FILE, VERSION, from_bytes, to_bytes
from ringsmith.runtime.designs import Design


def tiny() -> RpauDesign:
    return replace(load_design("nano"), name="tiny", log_n=10, rpaus=3, work_polys=16)


@pytest.fixture(scope="module")
def program() -> Program:
    parameters = CkksParameters.create(
        n=1024, prime_bits=(36, 26), special_bits=37, scale_bits=26, security=None
    )
    return trace(lambda x: (x * x + x).rotate(1) + np.array([0.5, 2]), parameters, {"x": 4})


@pytest.fixture(scope="module")
def compiled(program: Program) -> Compiled:
    return compile_program(program, tiny())


def unpacked(compiled: Compiled) -> Container:
    data = to_bytes(compiled.lowered, compiled.compiled_graph)
    return unpack(data, "it", {FORMAT: VERSION}, Budget(MAX_FILE), "it")


def _text(compiled: Compiled) -> str | None:
    """The executable as text; None where it has no such form."""
    executable = compiled.compiled_graph.executable
    return (
        None if executable is None or not hasattr(executable, "to_json") else executable.to_json()
    )


def same(one: Compiled, other: Compiled) -> bool:
    """Whether two compiled programs hold the same."""
    a, b = one.lowered, other.lowered
    return (
        to_json(a.graph) == to_json(b.graph)
        and a.plaintexts.keys() == b.plaintexts.keys()
        and all(np.array_equal(a.plaintexts[key], b.plaintexts[key]) for key in a.plaintexts)
        and (a.inputs, a.outputs, a.keys) == (b.inputs, b.outputs, b.keys)
        and a.parameters_id == b.parameters_id is not None
        and _text(one) == _text(other)
        and one.compiled_graph.design == other.compiled_graph.design
    )


def test_a_loaded_executable_runs_as_the_one_that_was_saved(
    program: Program, compiled: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled.save(tmp_path / "x.rsc")
    with pytest.raises(InteropError, match="exists and is not overwritten"):
        compiled.save(tmp_path / "x.rsc")
    monkeypatch.delattr("ringsmith.backends.rpau.backend.compile_cached")  # nothing is compiled
    found = Compiled.load(tmp_path / "x.rsc", tiny())
    assert same(found, compiled)
    secret_key, public_key, keys = program.generate_keys()
    inputs = program.encrypt(public_key, {"x": [0.5, -1, 0.25, 1]})
    results = [
        each.run(open_device(device, tiny()), inputs, keys)
        for each, device in ((compiled, "cpu"), (found, "cpu"), (found, "model"))
    ]
    data = [result.outputs["result"].data.tobytes() for result in results]
    assert data[0] == data[1] == data[2]
    numbers = program.decrypt(secret_key, results[2].outputs)["result"]
    assert np.abs(numbers - [0.5, 2.3125, 2, 0]).max() < 2**-8


def test_a_program_for_the_cpu_or_a_stream_device_comes_back() -> None:
    parameters = BfvParameters.create(
        n=4096,
        prime_bits=(30, 30),
        special_bits=30,
        plain_bits=17,
        multiplication="hps",
        security=None,
    )
    program = trace(lambda x: x * x + 1, parameters, {"x": 4})
    for design in (None, "rpm"):
        compiled = compile_program(program, design)
        found = Compiled(*from_bytes(to_bytes(compiled.lowered, compiled.compiled_graph)))
        assert same(found, compiled)
        a, b = found.compiled_graph.executable, compiled.compiled_graph.executable
        assert (a is None) == (b is None) == (design is None)
        if a is not None and b is not None:
            assert (a.cycles, a.outputs) == (b.cycles, b.outputs)


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ("octo", "compiled for design tiny, not for design octo: compile it for that one"),
        (
            replace(tiny(), cores=8),
            r"for another design tiny \(cores = 4, here 8\): compile the program again",
        ),
    ],
)
def test_a_file_for_another_design_is_refused(
    compiled: Compiled, tmp_path: Path, design: str | Design, message: str
) -> None:
    compiled.save(tmp_path / "x.rsc")
    with pytest.raises(InteropError, match=message):
        Compiled.load(tmp_path / "x.rsc", design)


def test_a_named_design_that_has_changed_since_is_noticed(program: Program, tmp_path: Path) -> None:
    compile_program(program, replace(tiny(), name="nano")).save(tmp_path / "x.rsc")
    with pytest.raises(InteropError, match=r"another design nano \(log_n = 10, here 13; rpaus"):
        Compiled.load(tmp_path / "x.rsc")
    compile_program(program).save(tmp_path / "cpu.rsc")
    assert Compiled.load(tmp_path / "cpu.rsc").compiled_graph.design is None
    with pytest.raises(InteropError, match="compiled for no design, for the cpu, not for design"):
        Compiled.load(tmp_path / "cpu.rsc", "nano")


WRONG = (None, True, -1, 0, 2**63, 0.5, "", "x", [], {}, {"x": 1})


def mutations(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Copies of a JSON value with one part of it wrong or missing."""
    yield from (wrong for wrong in WRONG if wrong != value or type(wrong) is not type(value))
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, item in list(items):
        for changed in mutations(item):
            copy = value.copy()
            copy[key] = changed
            yield copy
        copy = value.copy()
        del copy[key]
        yield copy


def message_of(data: bytes) -> str:
    """The message that bytes are refused with; empty when they are taken."""
    try:
        from_bytes(data, "x.rsc")
    except InteropError as error:
        return str(error)
    return ""


def test_a_mutated_file_is_refused_in_one_line(compiled: Compiled) -> None:
    whole = unpacked(compiled)
    tried = taken = 0
    for content in mutations(whole.content):
        message = message_of(pack(FORMAT, VERSION, content, whole.arrays))
        tried += 1
        taken += not message
        assert not message or message.startswith("x.rsc: ")
        assert "\n" not in message
    print(f"{tried} tried, {taken} taken")
    assert tried > 300
    assert taken < tried / 10  # another scale, and the limbs of keys, are another program


def test_an_executable_of_another_program_is_refused(program: Program, compiled: Compiled) -> None:
    executable: Any = compiled.compiled_graph.executable
    for changed, message in (
        (replace(executable, inputs={}), "it loads a value that the host does not have"),
        (
            replace(executable, outputs={"y.0": executable.outputs["result.0"]}),
            "the executable's outputs differ from the graph's",
        ),
    ):
        graph = CompiledGraph(compiled.lowered.graph, changed)
        with pytest.raises(ProgramError, match=message):
            to_bytes(compiled.lowered, graph)


def test_a_program_that_another_ringsmith_lowers_otherwise_is_refused(compiled: Compiled) -> None:
    """Its executable would take the constants in another order."""
    whole = unpacked(compiled)
    data = pack(FORMAT, VERSION, whole.content | {"graph": "00" * 32}, whole.arrays)
    assert "lowered by another Ringsmith: compile the program again" in message_of(data)


def test_a_graph_that_is_no_programs_is_not_written(compiled: Compiled) -> None:
    with pytest.raises(ProgramError, match="a graph alone is not written to a file"):
        to_bytes(replace(compiled.lowered, program=None), compiled.compiled_graph)


def test_constants_are_encoded_by_the_first_run(program: Program) -> None:
    compiled = compile_program(program)
    lowered, _ = from_bytes(to_bytes(compiled.lowered, compiled.compiled_graph))
    assert "kept" not in vars(lowered.plaintexts)
    assert np.array_equal(lowered.plaintexts["plain:0"], compiled.lowered.plaintexts["plain:0"])
    assert "kept" in vars(lowered.plaintexts)


def test_a_file_of_another_kind_is_named(program: Program, tmp_path: Path) -> None:
    program.save(tmp_path / "x.rsp")
    with pytest.raises(InteropError, match="its format is 'ringsmith-program', and this is to be"):
        compiled_file.load(tmp_path / "x.rsp", None)
