"""What docs/guide/programs.md shows works as it is printed there."""

import re
import runpy
from pathlib import Path

import pytest

from ringsmith.program.comparisons import sign_steps

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "programs.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_programs_of_the_page_are_planned_and_print_what_it_says(
    block: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "page.py"
    script.write_text(block)
    program = runpy.run_path(str(script))["program"]
    assert program.choice
    asked = re.search(r"precision_bits=(\d+)", block)
    # Of precision in CKKS, of noise budget in BFV.
    assert program.forecast().bits >= (int(asked[1]) if asked else 20)
    if comment := re.search(r"\)  # (\d.*)", block):
        assert capsys.readouterr().out.strip() == comment[1]


def test_the_tables_of_comparisons_are_what_is_counted() -> None:
    superscripts = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    rows = re.findall(r"^\| 2(⁻\S+) \| (.*) \|$", PAGE.read_text(), re.M)
    assert len(rows) >= 4
    for power, cells in rows:
        margin = 2.0 ** int(power.translate(superscripts))
        found = [sign_steps(margin, precision) for precision in (4, 8, 12, 20)]
        assert cells == " | ".join(f"{steep} g, {flat} f" for steep, flat in found)


def test_the_page_has_programs() -> None:
    assert len(BLOCKS) >= 2
