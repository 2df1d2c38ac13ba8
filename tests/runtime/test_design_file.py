"""``--design`` takes a name or a TOML file in every command that has it; so do functions."""

import json
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from ringsmith import AutoParameters, compile_program, design_files, open_device, trace
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.stream.design.design import load_stream_design
from ringsmith.cli.main import app
from ringsmith.design_files import MAX_FILE_BYTES
from ringsmith.errors import ParameterError, RingsmithError
from ringsmith.runtime.designs import limits_of, named_design

COMMANDS = {
    "run logreg": ["--device", "model"],
    "run gmdh": ["--device", "model"],
    "run cnn": ["--device", "model"],
    "run lookup": ["--device", "model"],
    "run mnist": ["--device", "model"],
    "run cifar10": ["--device", "model", "--image", "{folder}/x"],
    "import onnx": ["{folder}/x", "-o", "{folder}/y"],
    "import heir": ["{folder}/x", "-o", "{folder}/y"],
    "run-program": ["{folder}/x", "--output-dir", "{folder}/y", "--device", "model"],
    "trace": ["--operation", "add"],
    "waves": ["{folder}/x.vcd", "--operation", "add", "--cycles", "0:10"],
    "serve": ["{folder}/x", "--data", "{folder}/y", "--device", "model"],
    "seal eval": ["add", "{folder}/x", "{folder}/x", "--params", "{folder}/x", "-o", "{folder}/y"],
}


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The file of a design that is ``nano`` with twice the cores."""
    path = tmp_path / "mine.toml"
    values = asdict(replace(load_design("nano"), name="mine", cores=8))
    path.write_text(
        'architecture = "rpau"\n' + "".join(f"{k} = {json.dumps(v)}\n" for k, v in values.items())
    )
    return path


def commands_with_a_design(group: TyperGroup, name: str = "") -> set[str]:
    found = set()
    for key, command in group.commands.items():
        if isinstance(command, TyperGroup):
            found |= commands_with_a_design(command, f"{name}{key} ")
        elif any("--design" in parameter.opts for parameter in command.params):
            found.add(f"{name}{key}")
    return found


def test_the_commands_below_are_all_that_have_a_design() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    assert commands_with_a_design(group) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_design_file_that_is_missing_or_none_is_named(command: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('architecture = "rpau"\nlog_n = 13\n')
    for path, message in ((tmp_path / "none.toml", "No such file"), (wrong, "missing keys: ")):
        arguments = [text.format(folder=tmp_path) for text in COMMANDS[command]]
        if command == "seal eval":  # files are read first: an empty one is refused
            arguments += ["--device", "cpu"]
        done = CliRunner().invoke(app, [*command.split(), *arguments, "--design", str(path)])
        assert done.exit_code == 2
        assert message in done.stderr
        assert str(path) in done.stderr


def test_a_command_computes_for_the_design_of_a_file(mine: Path, tmp_path: Path) -> None:
    saved = tmp_path / "rotate.json"
    arguments = ["trace", "--operation", "add", "--design", str(mine), "--save", str(saved)]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    assert json.loads(saved.read_text())["content"]["design"]["cores"] == [8]


def test_functions_take_the_file_where_they_take_a_name(mine: Path) -> None:
    design = named_design(str(mine))
    assert isinstance(design, RpauDesign)
    assert (design.name, design.cores) == ("mine", 8)
    assert limits_of(str(mine)).design == "mine"
    program = trace(lambda x: x + x, AutoParameters(design=str(mine)), {"x": 4})
    assert compile_program(program, str(mine)).compiled_graph.design == design
    assert open_device("model", str(mine)).name == "model"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xff", "not a text file"),
        (b"log_n = ", "not a TOML file"),
        (b"log_n = 13", "architecture = None is not one of rpau, stream"),
        (b'architecture = "other"', "architecture = 'other' is not one of rpau, stream"),
        (b'architecture = "stream"\nname = "x"', "missing keys: .'lanes'"),
        (
            b'architecture = "stream"\nname = "x"\nlog_n = "12"\nlanes = 2\nword_bits = 30',
            "log_n = '12' is to be a whole number",
        ),
        (b"#" * (MAX_FILE_BYTES + 1), "more than 65536 bytes"),
    ],
)
def test_a_file_that_is_no_design_is_refused(text: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(text)
    with pytest.raises(ParameterError, match=message) as raised:
        named_design(str(path))
    assert str(raised.value).startswith(f"design {path}: ")


ODD_VALUES = (
    *("2.5", "nan", "inf", "-1", "0", "1e308", "99999999999999999999999", "true", "'x'", "''"),
    *("[]", "[1]", "[[1]]", "[true]", "[{}]", '["a", "b"]', "{}", "{a = 1}", "1979-05-27"),
    *("1979-05-27T07:32:00Z", "07:32:00", "'\\u0000'"),
)


@pytest.mark.parametrize("name", ["nano", "heaws6", "rpm", "vector-small"])
def test_any_value_of_any_key_makes_a_design_or_an_error_of_ours(name: str, tmp_path: Path) -> None:
    known = design_files.text(name).splitlines()
    keys = {field.name for field in fields(named_design(name))} | {"architecture"}
    path, messages = tmp_path / "odd.toml", list[str]()
    for key in sorted(keys):
        others = [line for line in known if not line.startswith(f"{key} =")]
        for value in ODD_VALUES:
            path.write_text("\n".join([*others, f"{key} = {value}"]))
            try:
                named_design(str(path))
            except RingsmithError as error:
                messages.append(str(error))
    assert not any("\n" in message for message in messages)
    assert len(messages) > len(keys) * len(ODD_VALUES) // 2
    if "platform" in keys:
        others = [line for line in known if not line.startswith("platform =")]
        path.write_text("\n".join([*others, "platform = 2.5"]))
        with pytest.raises(ParameterError, match=r"platform = 2.5 is to be a text"):
            named_design(str(path))


def test_a_design_of_the_other_architecture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "stream.toml"
    path.write_text('architecture = "stream"\nname = "s"\nlog_n = 12\nlanes = 2\nword_bits = 30\n')
    assert load_stream_design(str(path)).word_bits == 30
    with pytest.raises(ParameterError, match="is of architecture 'stream', and a design of 'rpau'"):
        load_design(str(path))
    with pytest.raises(ParameterError, match=r"there is no design 'nix': choose one of .* path of"):
        named_design("nix")


def test_results_are_not_written_over_the_design_that_is_read(mine: Path) -> None:
    before = mine.read_bytes()
    for application in ("logreg", "gmdh", "cnn", "lookup", "mnist"):
        words = ["run", application, "--device", "model", "--design", str(mine)]
        done = CliRunner().invoke(app, [*words, "--output", str(mine), "--force"])
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
        assert f"{mine}: is read for this and not overwritten" in done.stderr
    assert mine.read_bytes() == before
