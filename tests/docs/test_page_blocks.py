"""What pages show: Python that can be compiled, names that exist, commands with options that exist.

Pages with a test of their own run their programs; this one reads the blocks of every page.
"""

import ast
import importlib.util
import itertools
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from tests.docs.words import count
from typer.testing import CliRunner

from ringsmith.cli.commands_page import PAGE, page
from ringsmith.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_of_a_page_compiles_and_its_imports_exist(page: Path) -> None:
    for block in blocks(page, "python"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("ringsmith"):
                module = import_module(str(node.module))
                for name in node.names:
                    if not hasattr(module, name.name):
                        import_module(f"{node.module}.{name.name}")


def command_lines(page: Path) -> Iterator[list[str]]:
    """The commands ``ringsmith …`` of a page's shell blocks, without what is piped or commented."""
    for block in [*blocks(page, "sh"), *blocks(page, "console")]:
        for line in block.replace("\\\n", " ").splitlines():
            found = re.match(r"^\$? ?(?:\.venv/bin/)?ringsmith (.*)$", line.partition(" #")[0])
            if found and "OPTIONS" not in found[1]:
                yield shlex.split(re.split(r" [|>&] | && ", found[1])[0])


def unknown(words: list[str]) -> str:
    """What of a command line does not exist; empty: nothing."""
    command: Any = typer.main.get_command(app)
    rest = list(words)
    while hasattr(command, "commands"):
        while rest and rest[0].startswith("--"):  # of all commands
            del rest[: 1 if "=" in rest[0] or rest[0] == "--version" else 2]
        if not rest:
            return ""
        known = command.commands.get(rest[0])
        if known is None:
            return f"{rest[0]} of {words}"
        command, rest = known, rest[1:]
    options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    wrong = [w for w in rest if re.match(r"^--?[a-z]", w) and w.partition("=")[0] not in options]
    return f"{', '.join(wrong)} of {words}" if {*wrong} - {"--help"} else ""


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_of_a_page_have_the_options_that_they_show(page: Path) -> None:
    assert [found for words in command_lines(page) if (found := unknown(words))] == []


def test_commands_are_found_and_wrong_ones_are_seen() -> None:
    assert sum(1 for page in PAGES for _ in command_lines(page)) > 40
    assert unknown(["bench", "medha", "--only", "x"]) == ""
    assert "--sun" in unknown(["bench", "medha", "--sun"])
    assert "moon" in unknown(["run", "moon"])


# The pictures of the documentation are what docs/pictures/draw.py draws, and their labels fit


FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"
_SPEC = importlib.util.spec_from_file_location("draw", FOLDER / "draw.py")
assert _SPEC is not None
assert _SPEC.loader is not None
draw = importlib.util.module_from_spec(_SPEC)
sys.modules["draw"] = draw
_SPEC.loader.exec_module(draw)


@pytest.mark.parametrize("name", draw.PICTURES)
def test_a_picture_is_what_the_script_draws(name: str) -> None:
    assert (FOLDER / name).read_text() == draw.PICTURES[name]().file()


@pytest.mark.parametrize("name", draw.PICTURES)
def test_labels_fit_their_boxes_and_boxes_the_picture(name: str) -> None:
    picture = draw.PICTURES[name]()
    assert [box.lines[0] for box in picture.boxes if box.needs() > box.width] == []
    for box in picture.boxes:
        assert 0 <= box.x <= 760 - box.width, box.lines[0]
        assert 0 <= box.y <= picture.height - box.height, box.lines[0]


@pytest.mark.parametrize("name", draw.PICTURES)
def test_boxes_do_not_overlap(name: str) -> None:
    boxes = [box for box in draw.PICTURES[name]().boxes if not box.group]
    for one, other in itertools.combinations(boxes, 2):
        apart = (
            one.x + one.width <= other.x
            or other.x + other.width <= one.x
            or one.y + one.height <= other.y
            or other.y + other.height <= one.y
        )
        assert apart, (one.lines[0], other.lines[0])


@pytest.mark.parametrize("name", draw.PICTURES)
def test_a_page_shows_the_picture(name: str) -> None:
    pages = [*FOLDER.parent.glob("**/*.md"), FOLDER.parents[1] / "README.md"]
    assert any(re.search(rf"!\[[^\]]+\]\([^)]*{name}\)", page.read_text()) for page in pages)


def test_the_timeline_is_what_the_command_draws(tmp_path: Path) -> None:
    target = tmp_path / "timeline.svg"
    words = ["trace", "--operation", "relinearize", "--svg", str(target)]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0
    assert target.read_text() == (FOLDER / "timeline.svg").read_text()


def test_the_page_of_commands_is_generated_from_them() -> None:
    assert (FOLDER.parents[1] / PAGE).read_text() == page()


# ---- What README.md shows works as it is printed there -------------------------------------------


README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_program_in_the_readme_computes_what_it_says(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) == 1
    script = tmp_path / "readme.py"
    script.write_text(blocks[0])
    names = runpy.run_path(str(script))
    expected = names["program"].evaluate({"x": names["record"]})["result"]
    assert np.isclose(names["answer"], expected, atol=1e-4)
    assert names["result"].cycles > 0


# The site of the documentation is built without a warning, with every page and every name


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
    for each in ROOT.glob("docs/**/*.md"):
        assert (site / each.relative_to(ROOT).with_suffix(".html")).exists(), each
    python = (site / "docs" / "reference" / "python.html").read_text()
    missing = [name for name in ringsmith.__all__ if f'.{name}"' not in python]
    assert missing == ["__version__"]
    cpp = (site / "docs" / "reference" / "cpp-api.html").read_text()
    assert "Negacyclic NTT over" in cpp
    assert "mod_down" in cpp


# ---- Home-made terms of pages are seen, in prose alone -------------------------------------------


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Each of the rooms imports it.", "package, codebase, interface"),
        ("An RPAU with two prime sets.", "modulus bank"),
        ("Whoever reads it.", "someone, a name"),
    ],
)
def test_a_home_made_term_is_seen(text: str, term: str) -> None:
    assert count({"page": text}).home_made[term] == 1
    assert count({"page": f"```\n{text}\n```\nOther words."}).home_made[term] == 0
