"""The site of the documentation is built without a warning, with every page and every name."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.full
@pytest.mark.skipif(find_spec("sphinx") is None, reason="the site's packages are not installed")
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    import ringsmith

    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"]
    done = subprocess.run(
        [*command, "-c", "docs", "-d", str(tmp_path / "trees"), ".", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    assert "docs/README.html" in (site / "index.html").read_text()
    for page in ROOT.glob("docs/**/*.md"):
        assert (site / page.relative_to(ROOT).with_suffix(".html")).exists(), page
    python = (site / "docs" / "reference" / "python.html").read_text()
    missing = [name for name in ringsmith.__all__ if f'.{name}"' not in python]
    assert missing == ["__version__"]
    cpp = (site / "docs" / "reference" / "cpp-api.html").read_text()
    assert "Negacyclic NTT over" in cpp
    assert "mod_down" in cpp
