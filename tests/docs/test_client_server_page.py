"""The page docs/guide/client-server.md.

Its scripts are the examples, and run as processes that share files.
"""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guide" / "client-server.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
SCRIPTS = ROOT / "examples" / "python"
WATCHED = """
import runpy, sys
script = sys.argv[1]
sys.argv = sys.argv[1:]
runpy.run_path(script, run_name="__main__")
print(*(name for name in ("ringsmith.client", "ringsmith._core.secret") if name in sys.modules))
"""


def test_the_page_shows_the_scripts_as_they_are() -> None:
    for block, name in zip(BLOCKS, ("server.py", "client.py"), strict=False):
        assert block in (SCRIPTS / name).read_text()


def test_the_page_hides_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (hiding,) = BLOCKS[2:]
    script = tmp_path / "hiding.py"
    script.write_text(hiding)
    runpy.run_path(str(script))
    assert re.fullmatch(r"\[ 3  2 12  4\] \{'result': [1-9]\d*\}\n", capsys.readouterr().out)


def run(folder: Path, script: str, step: str) -> list[str]:
    """Runs a step as a process of its own; returns its lines and the modules it ended with."""
    command = [sys.executable, "-c", WATCHED, str(SCRIPTS / script), step]
    child = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    return child.stdout.splitlines()


@pytest.fixture(scope="module")
def steps() -> list[tuple[str, str]]:
    return re.findall(r"^python (\w+\.py) (\w+)", PAGE.partition("## In order")[2], re.MULTILINE)


def test_client_and_server_exchange_only_files(
    tmp_path: Path, steps: list[tuple[str, str]]
) -> None:
    assert [script for script, _ in steps] == ["server.py", "client.py"] * 2
    server, client, exchange = (tmp_path / name for name in ("server", "client", "exchange"))
    for folder in (server, client, exchange):
        folder.mkdir()
    away = tmp_path / "away"
    for script, step in steps:
        hidden = client if script == "server.py" else server  # neither process sees the other's
        hidden.rename(away)
        *printed, modules = run(tmp_path, script, step)
        away.rename(hidden)
        assert bool(modules) == (script == "client.py")
    said = re.search(r"# (score: [0-9.]+)", PAGE)
    assert said is not None
    assert printed == [said[1]]
    weights = np.array([0.5, -1.25, 2, 0.75, -0.5, 1, 0.25, -1.5])
    logit = weights @ [0.5, -0.25, 0.125, 1, 0, -0.5, 0.75, 0.25] + 0.25
    expected = 0.5 + 0.197 * logit - 0.004 * logit**3
    assert abs(float(printed[0].split()[1]) - expected) < 1e-4
    assert (client / "secret_key.seal").stat().st_mode & 0o777 == 0o600
    names = {path.name for path in exchange.iterdir()}
    assert names == {"score.rsk", "evaluation", "x.seal", "result.seal"}
