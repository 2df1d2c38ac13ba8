"""The pages of docs/start: a first design, a first program, one multiplication."""

import os
import re
import runpy
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ringsmith.cli.main import app

DESIGN_PAGE = Path(__file__).resolve().parents[2] / "docs" / "start" / "first-design.md"
MOST_COMMANDS, MOST_SECONDS = 10, 600


def commands() -> list[str]:
    """The page's commands, in order; a backslash continues a line."""
    blocks = re.findall(r"```sh\n(.*?)```", DESIGN_PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]


def test_the_page_has_few_commands() -> None:
    assert 0 < len(commands()) <= MOST_COMMANDS


@pytest.mark.full
def test_the_commands_of_the_page_work_as_they_are_printed(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    printed, start = {}, time.monotonic()
    for command in commands():
        done = subprocess.run(  # noqa: S602 - as a reader's shell does
            command,
            shell=True,
            cwd=tmp_path,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
        printed[command] = done.stdout
        print(f"{time.monotonic() - start:6.1f} s after: {command}")
    assert re.search(r"^PASS: \d+ words as expected", printed["make -C first test"], re.M)
    assert "UltraRAMs" in printed["ringsmith synth first"]
    numbers = [float(word) for word in list(printed.values())[-1].split()[:7]]
    assert numbers == pytest.approx(range(2, 9), abs=0.01)
    assert time.monotonic() - start < MOST_SECONDS


# ---- The programs of docs/start/first-program.md run, and all devices agree ----------------------


PAGE = Path(__file__).resolve().parents[2] / "docs" / "start" / "first-program.md"
DEVICES = '("cpu", "model", "rtl")'


def run(folder: Path, devices: str, capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """What the page's programs print of each device, and in the clear."""
    text = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
    assert DEVICES in text
    script = folder / "first.py"
    script.write_text(text.replace(DEVICES, devices))
    names = runpy.run_path(str(script))
    lines = [
        line.split() for line in capsys.readouterr().out.splitlines()[-devices.count(",") - 2 :]
    ]
    answer = names["program"].evaluate({"x": names["record"]})["result"]
    assert np.isclose(float(lines[-1][-1]), answer)
    assert all(np.isclose(float(line[2]), answer, atol=1e-4) for line in lines[:-1])
    return {line[0]: line[1:] for line in lines[:-1]}


def test_the_page_computes_on_cpu_and_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(tmp_path, '("cpu", "model")', capsys)
    assert found["cpu"][0] == "None"
    assert found["cpu"][1] == found["model"][1], "the same residues"
    assert int(found["model"][0]) > 0


@pytest.mark.full
def test_the_page_computes_on_all_three_devices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(tmp_path, DEVICES, capsys)
    assert found["model"] == found["rtl"]


# docs/start/one-multiplication.md: its code prints what it says; its listing is the real one


PRODUCT_PAGE = Path(__file__).resolve().parents[2] / "docs" / "start" / "one-multiplication.md"
BLOCK = re.compile(r"^```(python|text|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLOCKS = BLOCK.findall(PRODUCT_PAGE.read_text())
LISTING = "ringsmith trace product.rsp --design nano --listing\n"
END = "end of a block\n"


def printed(folder: Path, capsys: pytest.CaptureFixture[str], rtl: bool) -> list[str]:
    """Runs the page's code as one program; returns what each block that prints printed."""
    code = f"print({END.strip()!r})\n".join(text for kind, text in BLOCKS if kind == "python")
    if not rtl:
        code = code.replace(', "rtl")', ")").replace('results["rtl"]', 'results["model"]')
    script = folder / "page.py"
    script.write_text(code)
    runpy.run_path(str(script))
    return [text for text in capsys.readouterr().out.split(END) if text]


@pytest.mark.parametrize("rtl", [False, pytest.param(True, marks=pytest.mark.full)])
def test_the_page_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rtl: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    stated = [text for kind, text in BLOCKS if kind == "text"]
    (listing,) = (text for text in stated if "waited for" in text)
    stated.remove(listing)
    without = "" if rtl else "rtl (2, 3, 8192) 159026\n"
    assert printed(tmp_path, capsys, rtl) == [text.replace(without, "") for text in stated]

    assert LISTING in [text for kind, text in BLOCKS if kind == "sh"]
    result = CliRunner().invoke(app, LISTING.split()[1:])
    lines = [line.split() for line in result.output.splitlines()]
    assert len(lines) == 1 + 113
    assert [line for line in listing.splitlines() if line.split() not in lines] == []
