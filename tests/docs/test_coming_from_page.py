"""What docs/guide/coming-from.md shows runs as it is printed there, and computes what it says."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import ringsmith
from ringsmith import EncryptedVector, Program

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "guide" / "coming-from.md").read_text()
BLOCKS = re.findall(r"^## (\w+):.*?```python\n(.*?)```", PAGE, re.DOTALL | re.M)


@pytest.mark.parametrize(("library", "block"), BLOCKS)
def test_a_librarys_program_runs_here(library: str, block: str, tmp_path: Path) -> None:
    script = tmp_path / f"{library}.py"
    script.write_text(block)
    found = runpy.run_path(str(script))
    assert np.abs(found["answer"] - found["expected"]).max() < 2e-3


def test_the_page_has_a_program_of_each_library() -> None:
    assert [library for library, _ in BLOCKS] == ["TenSEAL", "SEAL", "OpenFHE"]


def test_every_call_that_the_table_names_exists() -> None:
    table = PAGE.partition("## Common calls")[2].partition("**Not here")[0]
    ours = " ".join(row.split("|")[-2] for row in table.splitlines() if row.startswith("| "))
    names = set(re.findall(r"`(\w+)\(", ours))
    assert {"sum_slots", "conv2d", "chebyshev", "compare"} <= names
    assert [name for name in names if not hasattr(ringsmith, name)] == []
    for owner, name in re.findall(r"`(a|program)\.(\w+)", ours):
        assert hasattr({"a": EncryptedVector, "program": Program}[owner], name)
