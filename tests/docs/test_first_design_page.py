"""The page docs/start/first-design.md.

Its commands, as they are printed, from a search to a decrypted result.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "start" / "first-design.md"
MOST_COMMANDS, MOST_SECONDS = 10, 600


def commands() -> list[str]:
    """The page's commands, in order; a backslash continues a line."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]


def test_the_page_has_few_commands() -> None:
    assert 0 < len(commands()) <= MOST_COMMANDS


@pytest.mark.full
def test_the_commands_of_the_page_work_as_they_are_printed(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    printed, begun = {}, time.monotonic()
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
        print(f"{time.monotonic() - begun:6.1f} s after: {command}")
    assert re.search(r"^PASS: \d+ words as expected", printed["make -C first test"], re.M)
    assert "UltraRAMs" in printed["ringsmith synth first"]
    numbers = [float(word) for word in list(printed.values())[-1].split()[:7]]
    assert numbers == pytest.approx(range(2, 9), abs=0.01)
    assert time.monotonic() - begun < MOST_SECONDS
