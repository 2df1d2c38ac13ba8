"""The programs of docs/start/first-program.md run, and all devices agree."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

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
