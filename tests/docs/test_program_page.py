"""What docs/guide/programs.md and arrays.md show works as it is printed there."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from ringsmith.program.plans import default_error, plan_of_error, sign_plan
from ringsmith.program.shapes import SHAPES

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"
PAGE, ARRAYS = GUIDE / "programs.md", GUIDE / "arrays.md"
BLOCKS, OF_ARRAYS = (
    re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL) for page in (PAGE, ARRAYS)
)


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


@pytest.mark.parametrize("block", OF_ARRAYS)
def test_the_programs_on_arrays_compute_encrypted_what_they_mean(
    block: str, tmp_path: Path
) -> None:
    script = tmp_path / "page.py"
    script.write_text(block)
    names = runpy.run_path(str(script))
    program, inputs = names["program"], {"x": names["records"]}
    found, expected = program.run(inputs)["result"], names["model"](**inputs)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= program.forecast().outputs["result"].error


def test_the_tables_of_comparisons_are_what_is_counted() -> None:
    superscripts = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    rows = re.findall(r"^\| 2(⁻\S+) \| (.*) \|$", PAGE.read_text(), re.M)
    assert len(rows) >= 4
    for power, cells in rows:
        margin = 2.0 ** int(power.translate(superscripts))
        plans = [sign_plan(margin, 2.0**-precision, 1.0) for precision in (4, 8, 12, 20)]
        assert cells == " | ".join(
            f"{plan.form.cost.levels}: {', '.join(str(stage.degree) for stage in plan.stages)}"
            for plan in plans
            if plan is not None
        )


def test_the_table_of_approximations_is_what_is_planned() -> None:
    rows = re.findall(r"^\| `(\w+)\(x\)` \| \[(.*), (.*)\] \| (.*) \|$", PAGE.read_text(), re.M)
    assert len(rows) == len(SHAPES)
    for name, low, high, cells in rows:
        domain = (float(low.replace("−", "-")), float(high))
        plan = plan_of_error(name, domain, default_error(name, domain))
        assert plan is not None
        cost = plan.form.cost
        assert cells == f"{plan.error:.1e} | {cost.levels} | {cost.products}"


def test_the_page_has_programs() -> None:
    assert len(BLOCKS) >= 2
    assert OF_ARRAYS
