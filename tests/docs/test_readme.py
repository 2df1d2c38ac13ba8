"""What README.md shows works as it is printed there."""

import re
import runpy
from pathlib import Path

import numpy as np

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_program_in_the_readme_computes_what_it_says(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) == 1
    script = tmp_path / "readme.py"
    script.write_text(blocks[0])
    names = runpy.run_path(str(script))
    expected = names["program"].evaluate({"x": names["record"]})["result"][0]
    assert np.isclose(names["answer"], expected, atol=1e-4)
    assert names["result"].cycles > 0
