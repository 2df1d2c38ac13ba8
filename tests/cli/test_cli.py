"""The ``ringsmith`` command as a person types it."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from ringsmith.apps.logreg import SIZES
from ringsmith.cli import doctor
from ringsmith.cli.applications import Size
from ringsmith.cli.main import app
from ringsmith.errors import DeviceError, ToolError

COMMAND = Path(sys.executable).with_name("ringsmith")
runner = CliRunner()


def test_the_installed_command_prints_its_version() -> None:
    done = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"ringsmith {version('ringsmith')}\n"


def test_help_names_every_subcommand() -> None:
    done = runner.invoke(app, ["--help"])
    assert done.exit_code == 0
    assert all(re.search(rf"\b{name}\b", done.stdout) for name in ("demo", "doctor", "run"))


def test_help_imports_no_numpy() -> None:
    code = "import sys, ringsmith.cli.main; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_threads_are_an_option_of_every_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGSMITH_THREADS", "1")
    assert runner.invoke(app, ["--threads", "3", "bench", "--help"]).exit_code == 0
    assert os.environ["RINGSMITH_THREADS"] == "3"
    refused = runner.invoke(app, ["--threads", "0", "bench", "--help"])
    assert refused.exit_code == 2
    assert "--threads" in refused.output


def test_the_sizes_of_the_logistic_regression_are_those_of_the_application() -> None:
    assert [size.value for size in Size] == list(SIZES)


def test_an_unknown_device_is_refused_with_the_known_ones() -> None:
    done = runner.invoke(app, ["run", "logreg", "--device", "gpu"])
    assert done.exit_code == 2
    assert all(f"'{name}'" in done.output for name in ("gpu", "cpu", "model", "rtl"))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (DeviceError("no such\ncard"), "ringsmith: no such card\n"),
        (ToolError("g++ failed:\nx.cpp:1"), "ringsmith: g++ failed:\nx.cpp:1\n"),
        (PermissionError(13, "Permission denied", "x"), "[Errno 13] Permission denied: 'x'\n"),
        (
            MemoryError("2 GiB"),
            "not enough memory: 2 GiB: use smaller parameters or a machine with more\n",
        ),
        (
            ImportError("lib.so: failed to map segment from shared object"),
            "not enough memory: a library could not be loaded: use smaller parameters or a machine "
            "with more\n",
        ),
    ],
)
def test_an_error_ends_any_command_with_its_message_and_no_traceback(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("ringsmith.cli.doctor.examine", fail)
    done = runner.invoke(app, ["doctor"])
    assert done.exit_code == 2
    assert done.stderr.startswith("ringsmith: ")
    assert done.stderr.endswith(said)
    assert done.stderr.count("\n") == said.count("\n")


WRITERS = [
    ["trace", "--operation", "rescale", "--html"],
    ["trace", "--operation", "rescale", "--svg"],
    ["trace", "--operation", "rescale", "--perfetto"],
    ["trace", "--operation", "rescale", "--save"],
    ["waves", "--operation", "rescale", "--cycles", "1:2"],
    ["designs", "--table"],
    ["coverage", "--report"],
    ["run", "logreg", "--output"],
    ["run", "cnn", "--output"],
    ["run", "mnist", "--output"],
    ["demo", "--output"],
]
WORK = [
    "ringsmith.cli.traced.executable_of",
    "ringsmith.backends.rpau.debug.designs.operation_costs",
    "ringsmith.backends.rpau.debug.campaign.run_campaign",
    "ringsmith.backends.vector.debug.campaign.run_campaign",
    "ringsmith.apps.session.begin",
]


@pytest.mark.parametrize("words", WRITERS, ids=" ".join)
def test_a_target_that_cannot_be_written_is_refused_before_the_work(
    words: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in WORK:
        monkeypatch.setattr(name, lambda *_: pytest.fail("the work started"))
    target = tmp_path / "missing" / "file"
    done = runner.invoke(app, [*words, str(target)])
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    missing = f"{tmp_path / 'missing'} is no folder: make it first"
    assert done.stderr == f"ringsmith: {target}: cannot be written: {missing}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"\xff\xfe", b"", b"[]", b"{}"])
def test_a_file_that_is_no_executable_is_refused_with_its_name(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "program.json"
    path.write_bytes(content)
    done = runner.invoke(app, ["trace", str(path)])
    assert done.exit_code == 2
    assert done.stderr.startswith(f"ringsmith: {path}: ")
    assert done.stderr.count("\n") == 1


def test_a_trace_is_not_written_over_its_program(tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    path.write_text("{}")
    done = runner.invoke(app, ["trace", str(path), "--html", str(path), "--force"])
    assert done.exit_code == 2
    assert "is read for this and not overwritten" in done.stderr
    assert path.read_text() == "{}"


@pytest.mark.parametrize("device", ["cpu", "model", "rtl"])
def test_an_unknown_design_is_refused_at_once_for_every_device(device: str) -> None:
    done = runner.invoke(app, ["run", "logreg", "--device", device, "--design", "nope"])
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith("ringsmith: there is no design 'nope': choose one of ")


def test_doctor_finds_everything_that_the_demo_needs() -> None:
    done = subprocess.run([COMMAND, "doctor"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Everything that the demo needs is here." in done.stdout


def test_doctor_tells_what_is_needed_before_what_is_not() -> None:
    needed = [finding.needed for finding in doctor.examine()]
    assert needed == sorted(needed, reverse=True)


def test_doctor_ends_with_status_1_and_the_remedy_when_a_needed_tool_is_missing() -> None:
    environment = {"PATH": "/nonexistent", "HOME": str(Path.home())}
    done = subprocess.run(
        [COMMAND, "doctor"], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 1
    assert "missing: C++ compiler: apt install g++, or set CXX" in done.stdout
    assert "optional: make: apt install make" in done.stdout
    assert "Everything" not in done.stdout


def test_doctor_makes_the_cache_folder_and_says_when_it_cannot(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path / "cache"))
    finding = next(item for item in doctor.examine() if item.name == "cache folder")
    assert finding.found == f"{tmp_path / 'cache'} (0 MiB)"
    (tmp_path / "file").touch()
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path / "file" / "cache"))
    finding = next(item for item in doctor.examine() if item.name == "cache folder")
    assert not finding.ok


def test_doctor_measures_a_cache_in_which_another_process_builds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("kept", "removed"):
        (tmp_path / name).write_bytes(bytes(2**20))
    lstat = Path.lstat

    def remove_first(path: Path) -> os.stat_result:
        if path.name == "removed":
            path.unlink()
        return lstat(path)

    with monkeypatch.context() as patch:
        patch.setenv("RINGSMITH_CACHE", str(tmp_path))
        patch.setattr(Path, "lstat", remove_first)
        finding = next(item for item in doctor.examine() if item.name == "cache folder")
    assert finding.found == f"{tmp_path} (1 MiB)"


def test_an_optional_tool_missing_is_no_failure() -> None:
    console = Console(record=True, width=120)
    doctor.report([doctor.Finding("SEAL", "", "comparison", "pip install it", False)], console)
    text = console.export_text()
    assert "optional: SEAL: pip install it" in text
    assert "Everything that the demo needs is here." in text
