"""The ``ringsmith`` command as a person types it."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from ringsmith.cli import doctor
from ringsmith.cli.main import app, main
from ringsmith.errors import DeviceError

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


def test_an_unknown_device_is_refused_with_the_known_ones() -> None:
    done = runner.invoke(app, ["run", "logreg", "--device", "gpu"])
    assert done.exit_code == 2
    assert all(f"'{name}'" in done.output for name in ("gpu", "cpu", "model", "rtl"))


def test_an_error_of_ours_ends_with_its_message_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise DeviceError("no such card")

    monkeypatch.setattr("ringsmith.cli.main.app", fail)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    assert capsys.readouterr().err == "ringsmith: no such card\n"


def test_doctor_finds_everything_that_the_demo_needs() -> None:
    done = subprocess.run([COMMAND, "doctor"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Everything that the demo needs is here." in done.stdout


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


def test_an_optional_tool_missing_is_no_failure() -> None:
    console = Console(record=True, width=120)
    doctor.report([doctor.Finding("SEAL", "", "comparison", "pip install it", False)], console)
    text = console.export_text()
    assert "optional: SEAL: pip install it" in text
    assert "Everything that the demo needs is here." in text
