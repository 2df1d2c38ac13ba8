"""The timeline as one HTML page: the picture, with zoom and hover, and nothing from outside."""

from html import escape
from importlib import resources
from string import Template

from ringsmith.backends.rpau.debug.picture import LEFT, RIGHT, WIDTH, timeline_svg
from ringsmith.backends.rpau.debug.trace import Trace


def timeline_page(trace: Trace, title: str = "") -> str:
    """The timeline as an HTML file that needs no other file and no network.

    Args:
        trace: The program in time.
        title: What the program is called.
    """
    page = (resources.files("ringsmith.backends.rpau.debug") / "page.html").read_text(
        encoding="utf-8"
    )
    return Template(page).substitute(
        TITLE=escape(f"{title or 'A program'} on {trace.design.name}"),
        SVG=timeline_svg(trace, title),
        LEFT=LEFT,
        WIDTH=WIDTH - LEFT - RIGHT,
        CYCLES=trace.cycles,
    )
