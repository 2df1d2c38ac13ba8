"""What docs/programs.md shows works as it is printed there."""

import re
import runpy
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "programs.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_programs_of_the_page_are_planned(block: str, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    script.write_text(block)
    program = runpy.run_path(str(script))["program"]
    assert program.choice
    assert program.forecast().bits >= 20  # of precision in CKKS, of noise budget in BFV


def test_the_page_has_programs() -> None:
    assert len(BLOCKS) >= 2
