"""The page docs/guide/gallery.md: its programs are the files of examples/arrays."""

import ast
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "arrays").glob("*.py"))
MOST_LINES = 25
TOLERANCE, APPROXIMATE = 2e-6, {"attention": 1e-4}
"""Automatic parameters promise 20 bits after the point; the error of softmax is declared."""


def program_lines(source: str) -> list[str]:
    """The lines of a script without its docstring, imports, comments and empty lines."""
    tree = ast.parse(source)
    left_out = set()
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) or node is tree.body[0]:
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(source.splitlines(), 1)
    kept = [line for number, line in lines if number not in left_out]
    return [line for line in kept if line.strip() and not line.strip().startswith("#")]


def test_the_page_shows_every_example_as_it_is() -> None:
    page = (ROOT / "docs" / "guide" / "gallery.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == len(EXAMPLES)
    sources = [path.read_text() for path in EXAMPLES]
    assert all(any(source.endswith(block) for source in sources) for block in blocks)
    assert len(set(blocks)) == len(blocks)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_computes_what_numpy_computes(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = path.read_text()
    assert len(program_lines(source)) <= MOST_LINES
    if "sklearn" in source:
        pytest.importorskip("sklearn")
    names: dict[str, Any] = runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
    found, expected = names["found"], names["expected"]
    tolerance = APPROXIMATE.get(path.stem, TOLERANCE)
    if not isinstance(found, dict):
        found, expected = {"result": found}, {"result": expected}
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name].shape == np.shape(value)
        assert np.abs(found[name] - value).max() <= tolerance * max(1, np.abs(value).max())
