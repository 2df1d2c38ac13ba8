"""What docs/client.md shows works as it is printed there."""

import re
import runpy
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "client.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


def printed(block: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What a program of the page prints."""
    script = folder / "page.py"
    script.write_text(block)
    runpy.run_path(str(script))
    return capsys.readouterr().out


def test_the_pages_programs_print_their_messages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ckks, seeded, compact, prepared, bfv = BLOCKS
    first, second = re.findall(r"-?[0-9.]+", printed(ckks, tmp_path, capsys))
    assert (round(float(first), 3), round(float(second), 3)) == (1.5, -2.25)
    assert re.fullmatch(r"\(4, 2, 5, 8192\) [0-9a-f]{20}\n", printed(seeded, tmp_path, capsys))
    whole, half = map(int, printed(compact, tmp_path, capsys).split())
    assert (whole, half) == (8 * 4 * 2 * 5 * 8192 + 10, 8 * 4 * 5 * 8192 + 10)
    assert printed(prepared, tmp_path, capsys) == "(2, 4, 8192) True\n"
    first, second, budget = re.findall(r"-?[0-9.]+", printed(bfv, tmp_path, capsys))
    assert (float(first), float(second)) == (0.375, -3.125)
    assert int(budget) > 0
