"""The pictures of the documentation are what docs/pictures/draw.py draws, and their labels fit."""

import importlib.util
import itertools
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringsmith.cli.commands_page import PAGE, page
from ringsmith.cli.main import app

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
