"""``ringsmith trace`` and ``waves`` on files of one's own programs, compiled or not."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringsmith import AutoParameters, CkksParameters, Program, compile_program, trace
from ringsmith.backends.registry import named_design
from ringsmith.cli.main import app
from ringsmith.runtime import compile_for_smallest_design

SMALL = """\
architecture = "rpau"
name = "mine"
log_n = 10
word_bits = 30
rpaus = 2
cores = 1
dyadic_cores = 1
work_polys = 5
key_polys = 4
constants = 8
program_words = 256
reduction = "barrett"
"""
"""A design whose RTL is built in seconds."""


def run(*words: object) -> str:
    """What a command prints."""
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exit_code == 0, done.output
    return done.output


def refused(*words: object) -> str:
    """What a command that refuses prints."""
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exit_code == 2, done.output
    return " ".join(done.output.split())


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program, compiled for a small design, and that design."""
    folder = tmp_path_factory.mktemp("mine")
    (folder / "small.toml").write_text(SMALL)
    small = CkksParameters.create(
        n=1024, prime_bits=(29,), special_bits=30, scale_bits=20, security=None
    )
    program = trace(lambda x, y: {"sum": x + y}, small, {"x": 8, "y": 8})
    program.save(folder / "sums.rsp")
    compile_program(program, str(folder / "small.toml")).save(folder / "sums.rsc")
    compile_program(program).save(folder / "cpu.rsc")
    program.client_kit().save(folder / "sums.rsk")
    return folder


def test_a_program_is_traced_on_a_design_as_it_is_compiled(mine: Path) -> None:
    options = ("--design", mine / "small.toml", "--listing")
    of_program = run("trace", mine / "sums.rsp", *options)
    assert of_program == run("trace", mine / "sums.rsc", "--listing")
    assert of_program == run("trace", mine / "sums.rsc", *options)
    assert "add:" in of_program
    program = Program.load(mine / "sums.rsp")
    assert isinstance(program, Program)
    compiled = compile_program(program, named_design(str(mine / "small.toml")))
    executable = compiled.compiled_graph.executable
    assert executable is not None
    assert f"{executable.cycles:,}" in run("trace", mine / "sums.rsc")


def test_a_program_is_traced_on_the_smallest_design_where_none_is_named(mine: Path) -> None:
    program = Program.load(mine / "sums.rsp")
    assert isinstance(program, Program)
    executable = compile_for_smallest_design(program).compiled_graph.executable
    assert executable is not None
    assert f"{executable.cycles:,}" in run("trace", mine / "sums.rsp")


def test_waves_of_a_program_and_of_a_compiled_one_are_the_same(mine: Path, tmp_path: Path) -> None:
    window = ("--instructions", "0:1", "--depth", "1")
    design = ("--design", mine / "small.toml")
    told = run("waves", tmp_path / "a.vcd", mine / "sums.rsp", *window, *design)
    assert "wrote" in told
    run("waves", tmp_path / "b.vcd", mine / "sums.rsc", *window)
    assert (tmp_path / "a.vcd").read_text() == (tmp_path / "b.vcd").read_text()


def test_a_program_of_another_architecture_is_traced_too(tmp_path: Path) -> None:
    program = trace(lambda x: x + x, AutoParameters(design="vector-small"), {"x": 4})
    program.save(tmp_path / "vector.rsp")
    told = run("trace", tmp_path / "vector.rsp", "--design", "vector-small")
    assert "add" in told
    assert "computing" in told


def test_files_that_cannot_be_traced_are_refused_by_name(mine: Path, tmp_path: Path) -> None:
    assert "a client kit, which has no operations" in refused("trace", mine / "sums.rsk")
    assert "compiled for no design" in refused("trace", mine / "cpu.rsc")
    assert "leave it out" in refused("trace", mine / "sums.rsp", "--parameters", "nano")
    assert "compiled for design mine, not for design nano" in refused(
        "trace", mine / "sums.rsc", "--design", "nano"
    )
    assert "has no instructions: choose one of" in refused(
        "trace", mine / "sums.rsp", "--design", "rpm"
    )
    damaged = tmp_path / "damaged.rsp"
    damaged.write_bytes((mine / "sums.rsp").read_bytes()[:-3])
    assert "damaged.rsp" in refused("trace", damaged)
    assert "nowhere.rsp" in refused("trace", tmp_path / "nowhere.rsp")


def test_an_executable_belongs_to_one_design(mine: Path, tmp_path: Path) -> None:
    run("trace", mine / "sums.rsc", "--save", tmp_path / "sums.json")
    assert run("trace", tmp_path / "sums.json", "--design", mine / "small.toml")
    assert "an executable of design mine, not of nano" in refused(
        "trace", tmp_path / "sums.json", "--design", "nano"
    )
