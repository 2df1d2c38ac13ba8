"""A trace of an architecture, as every inspector shows it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from importlib import resources
from string import Template
from typing import Generic, TypeVar

from ringsmith.backends.timeline.picture import INSIDE, LEFT, Picture

Trace = TypeVar("Trace")


@dataclass(frozen=True)
class DrawnTimeline(Generic[Trace]):
    """A trace and what makes its forms; see ``backends.inspector.Timeline``.

    Attributes:
        trace: The trace.
        tables_of: Makes tables for a terminal.
        listing_of: Makes a line for each instruction.
        picture_of: Draws the trace, with a title.
        perfetto_of: Writes a file for ui.perfetto.dev, with a title.
    """

    trace: Trace
    tables_of: Callable[[Trace], Iterable[object]]
    listing_of: Callable[[Trace], Iterator[str]]
    picture_of: Callable[[Trace, str], Picture]
    perfetto_of: Callable[[Trace, str], str]

    def tables(self) -> Iterable[object]:
        """Tables for a terminal."""
        return self.tables_of(self.trace)

    def listing(self) -> Iterator[str]:
        """A line an instruction."""
        return self.listing_of(self.trace)

    def html(self, title: str) -> str:
        """A page to zoom in."""
        return timeline_page(self.picture_of(self.trace, title))

    def svg(self, title: str) -> str:
        """A picture."""
        return self.picture_of(self.trace, title).svg()

    def perfetto(self, title: str) -> str:
        """A file for ui.perfetto.dev."""
        return self.perfetto_of(self.trace, title)


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
