"""docs/guide/heir.md: its commands give the digit, its program prints its number."""

import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.heir.make import text_of
from tests.service.served import Server

from ringsmith.heir.module import VERSIONS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guide" / "heir.md").read_text()


def test_the_pages_program_prints_its_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "dot.mlir").write_text(text_of("dot_f32", "vector"))
    (tmp_path / "page.py").write_text(block)
    monkeypatch.chdir(tmp_path)
    runpy.run_path("page.py")
    assert capsys.readouterr().out.strip() == re.findall(r"It prints `([\d.]+)`", PAGE)[0]


def test_the_page_names_the_versions_that_are_read() -> None:
    assert " and ".join(VERSIONS) in " ".join(PAGE.split())


def printed_by(script: str, folder: Path) -> str:
    """What a script prints; in a process of its own, since importing ``heir`` replaces modules."""
    (folder / "page.py").write_text(script)
    command = [sys.executable, "page.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_pages_function_is_compiled_by_heir_and_runs_here_and_on_a_service(
    tmp_path: Path,
) -> None:
    local, remote = re.findall(r"```py\n(.*?)```", PAGE, re.DOTALL)
    (expected,) = re.findall(r"It prints `(-?\d+ -?\d+)`", PAGE)
    save, _, decorated = remote.partition("\n\n\n")
    assert printed_by(f"{local}\n{save}", tmp_path) == expected
    with Server(tmp_path, [tmp_path / "func.rsp"], "--workers", "1") as server:
        imports, _, function = local.partition("\n\n\n")
        (header,) = re.findall(r"def func.*:\n", function)
        called = decorated.replace("http://127.0.0.1:8000", server.url)
        called = called.replace(f"{header[:-1]} ...\n", function[function.index(header) :])
        assert "service=" in called
        assert printed_by(f"{imports}\n{called}", tmp_path) == expected


@pytest.mark.full
def test_the_pages_five_commands_read_an_encrypted_digit_on_vector(tmp_path: Path) -> None:
    block, _ = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    install, *commands = block.splitlines()
    assert (install, len(commands)) == ("pip install 'ringsmith[heir]'", 4)
    for name in ("examples", "tests/images"):
        shutil.copytree(ROOT / name, tmp_path / name)
    bin_folder = Path(sys.executable).parent
    output = ""
    for command in commands:
        program, *words = shlex.split(command)
        done = subprocess.run(
            [bin_folder / program, *words], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        output += done.stdout
    assert "clock cycles" in output
    assert output.splitlines()[-1] == "7"
    scores = np.load(tmp_path / "scores" / "result.npy")
    assert scores.shape == (10,)
