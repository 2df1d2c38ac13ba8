"""``ringsmith import heir`` and ``ringsmith run-program``, whole, and what they refuse."""

import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
from tests.heir.make import module_of, text_of
from typer.testing import CliRunner, Result

from ringsmith import AutoParameters, trace
from ringsmith.cli import doctor
from ringsmith.cli.main import app
from ringsmith.files.arrays import array_bytes, read_array
from ringsmith.heir import compiler
from ringsmith.heir.module import VERSIONS

runner = CliRunner()
ROOT = Path(__file__).resolve().parents[2]


def run(*words: object, status: int = 0) -> Result:
    """Runs a command in this process."""
    done = runner.invoke(app, list(map(str, words)))
    assert done.exit_code == status, done.output
    return done


def refused(*words: object) -> str:
    """The one line that a command refuses with."""
    done = run(*words, status=2)
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.fixture
def dot(tmp_path: Path) -> Path:
    """A compiled module."""
    path = tmp_path / "dot.mlir"
    path.write_text(text_of("dot_f32", "ckks"))
    return path


def test_a_module_is_imported_and_run(tmp_path: Path, dot: Path) -> None:
    program = tmp_path / "dot.rsp"
    printed = run("import", "heir", dot, "-o", program, "--design", "nano").stdout
    assert "keys of HEIR        2 rotations and relinearization" in printed
    assert "arg0 (8,) in 1 ciphertext, arg1 (8,) in 1 ciphertext" in printed
    a, b = np.arange(8) / 8, np.ones(8) / 2
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b.astype(np.float32))
    given = ["--input", f"arg0={tmp_path}/a.npy", "--input", f"arg1={tmp_path}/b.npy"]
    for device, words in (
        ("cpu", []),
        ("model", ["--device", "model"]),
        ("model-nano", ["--device", "model", "--design", "nano"]),
    ):
        out = tmp_path / device
        printed = run("run-program", program, *given, *words, "--output-dir", out).stdout
        assert ("clock cycles" in printed) == (device != "cpu")
        np.testing.assert_allclose(np.load(out / "result.npy"), a @ b + 0.1, atol=1e-4)
    assert "exists" in refused("run-program", program, *given, "--output-dir", tmp_path / "cpu")


def test_a_traced_program_is_run_too(tmp_path: Path) -> None:
    trace(lambda x: x * x, AutoParameters(), {"x": 4}).save(tmp_path / "square.rsp")
    np.save(tmp_path / "x.npy", np.array([0.5, -0.25, 0.0, 1.0]))
    words = ["--input", f"x={tmp_path}/x.npy", "--output-dir", tmp_path / "out"]
    run("run-program", tmp_path / "square.rsp", *words)
    found = np.load(tmp_path / "out" / "result.npy")
    np.testing.assert_allclose(found, [0.25, 0.0625, 0, 1], atol=1e-5)


def test_options_that_do_not_go_together_are_refused(tmp_path: Path, dot: Path) -> None:
    def heir(*words: object) -> str:
        return refused("import", "heir", dot, "-o", tmp_path / "x.rsp", *words)

    assert "--precision-bits is for --plan ours" in heir("--plan", "heir", "--precision-bits", 9)
    assert "take --plan ours --parameters auto" in heir("--plan", "heir", "--design", "nano")
    assert "--slots 12 is not a power of two: give 16" in heir("--slots", 12)
    assert "no parameter set" in heir("--parameters", "none")
    assert "write NAME=FILE.npy" in heir("--clear", "arg0")
    assert "HEIR's scale is 2^45" in heir("--plan", "heir", "--parameters", "nano")
    assert not (tmp_path / "x.rsp").exists()
    program = tmp_path / "dot.rsp"
    run("import", "heir", dot, "-o", program)
    out = ["--output-dir", tmp_path / "out"]
    assert "takes the arrays ['arg0', 'arg1']" in refused("run-program", program, *out)
    np.save(tmp_path / "a.npy", np.ones(7))
    words = ["--input", f"arg0={tmp_path}/a.npy", "--input", f"arg1={tmp_path}/a.npy"]
    assert "has the shape (7,)" in refused("run-program", program, *words, *out)
    assert "names 'arg0' twice" in refused("run-program", program, *words[:2], *words[:2], *out)
    assert "--design is for --device model" in refused(
        "run-program", program, *out, "--design", "nano"
    )
    run("keys", tmp_path / "keys", "--set", "nano")
    assert "program or client kit" in refused(
        "run-program", tmp_path / "keys" / "public_key.seal", *out
    )
    assert not (tmp_path / "out").exists()


def test_heir_opt_that_is_missing_or_of_another_version_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path / "cache"))
    words = ["import", "heir", module_of("dot_f32"), "-o", tmp_path / "x.rsp"]
    monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda _: None)
    assert "heir_py is not installed: pip install 'ringsmith[heir]'" in refused(*words)
    folder = tmp_path / "heir"
    monkeypatch.setattr(
        compiler.importlib.util,
        "find_spec",
        lambda _: type("Spec", (), {"submodule_search_locations": [str(folder)]}),
    )
    monkeypatch.setattr(compiler.importlib.metadata, "version", lambda _: "2026.7.1")
    assert "heir_py 2026.7.1 is installed, and 2026.10.1 or 2026.11.1 is read" in refused(*words)


def test_doctor_finds_heirs_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> str:
        return next(each.found for each in doctor.examine() if each.name == "HEIR")

    assert found() in VERSIONS
    monkeypatch.setattr(compiler, "VERSIONS", ("2026.7.1",))
    assert found() == ""


def test_the_extras_install_the_versions_that_are_read() -> None:
    """Any version in between would be refused after it was installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    bounds = f"heir_py>={VERSIONS[0]},<={VERSIONS[-1]}"
    extras = project["project"]["optional-dependencies"]
    assert extras["heir"] == [bounds]
    assert bounds in extras["heir-python"]
    assert set(extras["heir-python"]) <= set(project["dependency-groups"]["dev"])


def a_program(folder: Path, body: str) -> Path:
    """Writes a program heir-opt."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "heir-opt"
    program.write_text(f"#!{sys.executable}\nimport os, sys\n{body}\n")
    program.chmod(0o755)
    return program


def a_compiler(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a program in the place of heir-opt."""
    program = a_program(folder, body)
    monkeypatch.setenv("RINGSMITH_CACHE", str(folder / "cache"))
    monkeypatch.setattr(compiler, "heir_opt", lambda: compiler.HeirOpt(program, VERSIONS[-1]))


def test_what_heir_opt_made_is_kept_by_input_and_options(
    tmp_path: Path, dot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (
        f"out = sys.argv[sys.argv.index('-o') + 1]\n"
        f"open({str(tmp_path / 'runs')!r}, 'a').write('x')\n"
        f"open(out, 'w').write(open({str(dot)!r}).read())"
    )
    a_compiler(tmp_path / "bin", body, monkeypatch)
    for i, words in enumerate(((), (), ("--slots", 512), ("--plan", "heir"), ("--plan", "heir"))):
        own = ("-o", tmp_path / f"{i}.rsp", "--no-check")
        run("import", "heir", module_of("dot_f32"), *own, *words)
    again = ["import", "heir", module_of("dot_f32"), "-o", tmp_path / "0.rsp"]
    assert "exists and is not overwritten" in refused(*again)
    assert (tmp_path / "runs").read_text() == "xxx"
    monkeypatch.setattr(compiler, "MAX_KEPT_BYTES", 0)
    run("import", "heir", module_of("dot_f32"), "-o", tmp_path / "5.rsp", "--slots", 256)
    assert len(list((tmp_path / "bin" / "cache").glob("heir-*"))) == 1


def test_a_module_that_heir_opt_refuses_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["import", "heir", module_of("dot_f32"), "-o", tmp_path / "x.rsp"]
    body = (
        "print('module.mlir:0:0: error: Unable to find backend attribute on module')\n"
        "print('module.mlir:7:3: error: no such thing')\nsys.exit(1)"
    )
    a_compiler(tmp_path / "bin", body, monkeypatch)
    assert "dot_f32.mlir:7: heir-opt refuses it: no such thing" in refused(*words)
    a_compiler(tmp_path / "bin", "os.abort()", monkeypatch)
    message = run(*words, status=2).stderr
    assert "trying 2048" in message
    assert "heir-opt was ended by signal 6" in message.splitlines()[-1]


def test_an_interrupt_ends_heir_opt_and_keeps_nothing(tmp_path: Path) -> None:
    package, pid = tmp_path / "packages" / "heir", tmp_path / "pid"
    a_program(
        package,
        f"open('compiled.mlir', 'w').write('half')\nopen({str(pid)!r}, 'w')"
        ".write(f'{os.getpid()} ')\nimport time; time.sleep(600)",
    )
    (package / "__init__.py").touch()
    about = package.with_name(f"heir_py-{VERSIONS[-1]}.dist-info")
    about.mkdir()
    (about / "METADATA").write_text(f"Name: heir_py\nVersion: {VERSIONS[-1]}\n")
    command = Path(sys.executable).with_name("ringsmith")
    process = subprocess.Popen(
        [command, "import", "heir", module_of("dot_f32"), "-o", tmp_path / "x.rsp"],
        env={
            **os.environ,
            "PYTHONPATH": str(package.parent),
            "RINGSMITH_CACHE": str(tmp_path / "cache"),
        },
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 30
    while not (pid.exists() and pid.read_text().endswith(" ")) and time.monotonic() < end:
        time.sleep(0.02)
    child = Path("/proc") / pid.read_text().strip()
    assert "heir-opt" in (child / "cmdline").read_text()
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=30)
    assert process.returncode == 130, message
    assert not child.exists()
    assert list((tmp_path / "cache").iterdir()) == []
    assert not (tmp_path / "x.rsp").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no array"),
        (b"\x93NUMPY\x01\x00\x10\x00{'descr': '|O', }", "no array"),
        (array_bytes(np.array(["a"])), "give numbers"),
        (array_bytes(np.ones(3))[:-1], "cut off"),
        (array_bytes(np.ones(3)) + b"x", "cut off"),
        (array_bytes(np.ones(3)).replace(b"(3,)", b"(9e9,)"), "no array"),
    ],
)
def test_a_damaged_array_is_refused(tmp_path: Path, dot: Path, content: bytes, words: str) -> None:
    path = tmp_path / "array.npy"
    path.write_bytes(content)
    message = refused("import", "heir", dot, "-o", tmp_path / "x.rsp", "--clear", f"arg7={path}")
    assert f"ringsmith: {path}: " in message
    assert words in message


def test_arrays_keep_their_numbers(tmp_path: Path) -> None:
    for array in (np.array(3), np.arange(6, dtype=np.int16).reshape(2, 3).T, np.ones((0, 2))):
        np.save(tmp_path / "x.npy", array)
        np.testing.assert_array_equal(read_array(tmp_path / "x.npy"), array)
