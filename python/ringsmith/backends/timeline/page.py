"""A timeline as one HTML page: the picture, with zoom and hover, and nothing from outside."""

from html import escape
from importlib import resources
from string import Template

from ringsmith.backends.timeline.picture import INSIDE, LEFT, Picture


def timeline_page(picture: Picture) -> str:
    """The picture as an HTML file that needs no other file and no network."""
    page = (resources.files("ringsmith.backends.timeline") / "page.html").read_text(
        encoding="utf-8"
    )
    return Template(page).substitute(
        TITLE=escape(picture.title),
        SVG=picture.svg(),
        LEFT=LEFT,
        WIDTH=INSIDE,
        CYCLES=picture.cycles,
    )
