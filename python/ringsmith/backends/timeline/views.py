"""A timeline to look at: a picture, a page on which it is zoomed, and a file for Perfetto.

The picture is plain SVG 1.1 without script or style sheet, so that any viewer shows it: a lane for
each part of the hardware, a bar for each instruction. The page finds bars by their class and makes
them zoomable.

Perfetto (ui.perfetto.dev) and chrome://tracing read the JSON object form of Chrome's Trace Event
Format: complete events (``ph`` X) with ``ts`` and ``dur`` in microseconds, metadata events (M) that
name and order processes and threads, counter events (C). One clock cycle stands as one microsecond.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from string import Template
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from ringsmith.graph.operations import Op

WIDTH = 1600
"""Width of the picture, in pixels."""
LEFT, RIGHT = 150, 70
"""Width of the columns left and right of the lanes: names, and busy shares."""
INSIDE = WIDTH - LEFT - RIGHT
"""Width of the lanes."""

_TOP = 104  # title, figures, legend and axis
_LANE, _SPACE, _GROUP_SPACE = 20, 3, 9
_LETTER = 6.1  # average width of a letter of _FONT at 11 pixels
_TICKS = 10
_FONT = 'font-family="system-ui, -apple-system, Segoe UI, DejaVu Sans, Helvetica, Arial"'
_TEXT, _FAINT, _GRID = "#1c2430", "#5f6b7a", "#dde2e8"


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes:
        begin: Its first cycle.
        end: The cycle after its last.
        label: The text on it, where it is wide enough.
        hover: What is said of it under the pointer.
        operation: The kind of HE operation that gives its colour.
    """

    begin: int
    end: int
    label: str
    hover: str
    operation: str


@dataclass(frozen=True)
class Lane:
    """One row of the picture.

    Attributes:
        name: What stands left of it.
        bars: In time.
        share: How busy it is, 0 to 1; None: not said.
    """

    name: str
    bars: Sequence[Bar]
    share: float | None = None


@dataclass(frozen=True)
class Key:
    """An HE operation in the legend.

    Attributes:
        operation: Its kind.
        share: Its share of the program's cycles.
        hover: What is said of it under the pointer.
    """

    operation: str
    share: float
    hover: str


@dataclass(frozen=True)
class Picture:
    """What a picture shows.

    Attributes:
        title: Program and design.
        figures: Cycles and busy shares, in words.
        cycles: How many the lanes are long.
        legend: HE operations; each operation of a bar is among them.
        groups: Lanes, those of a group close together.
    """

    title: str
    figures: str
    cycles: int
    legend: Sequence[Key]
    groups: Sequence[Sequence[Lane]]

    def svg(self) -> str:
        """The picture as an SVG file."""
        scale = INSIDE / max(1, self.cycles)
        colours = colour_table([key.operation for key in self.legend])
        lanes = list(self._lanes())
        height = lanes[-1][0] + _LANE + 16
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" {_FONT} font-size="11">',
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            _text(LEFT, 26, self.title, size=18, weight="600"),
            _text(LEFT, 46, self.figures, colour=_FAINT, size=12),
            *_legend(self.legend, colours),
            *_axis(self.cycles, scale, height),
            *(text for top, lane in lanes for text in _names(top, lane)),
            f'<defs><clipPath id="lanes"><rect x="{LEFT}" y="0" width="{INSIDE}" '
            f'height="{height}"/></clipPath></defs>',
            '<g id="bars" clip-path="url(#lanes)">',
            *(
                _bar(bar, top, colours[bar.operation], scale)
                for top, lane in lanes
                for bar in lane.bars
            ),
            "</g>",
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def _lanes(self) -> Iterator[tuple[int, Lane]]:
        """Lanes with their top edges."""
        top = _TOP
        for group in self.groups:
            for lane in group:
                yield top, lane
                top += _LANE + _SPACE
            top += _GROUP_SPACE - _SPACE


def tick_distance(cycles: int) -> int:
    """A round distance, 1, 2 or 5 times a power of ten, with at most ``_TICKS`` in the cycles."""
    least = max(1.0, cycles / _TICKS)
    power = int(10 ** math.floor(math.log10(least)))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least)


def _bar(bar: Bar, top: int, colour: str, scale: float) -> str:
    x, width = LEFT + bar.begin * scale, (bar.end - bar.begin) * scale
    shown = "" if len(bar.label) * _LETTER + 4 < width else ' visibility="hidden"'
    edge = ' stroke="#ffffff" stroke-width="0.5"' if width > 2 else ""
    return (
        f'<g class="bar" data-operation="{escape(bar.operation)}">'
        f"<title>{escape(bar.hover)}</title>"
        f'<rect x="{x:.2f}" y="{top}" width="{width:.2f}" height="{_LANE}" fill="{colour}"'
        f"{edge}/>"
        f'<text x="{x + width / 2:.2f}" y="{top + 14}" text-anchor="middle" '
        f'fill="{ink(colour)}"{shown}>{escape(bar.label)}</text></g>'
    )


def _legend(keys: Sequence[Key], colours: dict[str, str]) -> Iterator[str]:
    x = float(LEFT)
    for key in keys:
        label = f"{key.operation} {key.share:.1%}"
        yield (
            f'<g class="key" data-operation="{escape(key.operation)}">'
            f"<title>{escape(key.hover)}</title>"
            f'<rect x="{x:.1f}" y="58" width="11" height="11" rx="2" '
            f'fill="{colours[key.operation]}"/>{_text(x + 16, 68, label)}</g>'
        )
        x += 16 + len(label) * _LETTER + 18


def _axis(cycles: int, scale: float, height: int) -> Iterator[str]:
    yield '<g id="axis">'
    for cycle in range(0, cycles + 1, tick_distance(cycles)):
        x = LEFT + cycle * scale
        yield (
            f'<line x1="{x:.2f}" x2="{x:.2f}" y1="{_TOP - 6}" y2="{height - 12}" stroke="{_GRID}"/>'
        )
        yield _text(x, _TOP - 11, f"{cycle:,}", colour=_FAINT, anchor="middle")
    yield "</g>"
    yield _text(LEFT - 36, _TOP - 11, "cycle", colour=_FAINT, anchor="end")
    yield _text(WIDTH - RIGHT + 36, _TOP - 11, "busy", colour=_FAINT)


def _names(top: int, lane: Lane) -> Iterator[str]:
    yield (
        f'<rect x="{LEFT}" y="{top}" width="{INSIDE}" height="{_LANE}" '
        f'fill="#8793a3" fill-opacity="0.10"/>'
    )
    yield _text(LEFT - 10, top + 14, lane.name, anchor="end")
    if lane.share is not None:
        yield _text(WIDTH - RIGHT + 10, top + 14, f"{lane.share:.1%}", colour=_FAINT)


def _text(
    x: float,
    y: float,
    text: str,
    *,
    colour: str = _TEXT,
    anchor: str = "start",
    size: int = 11,
    weight: str = "400",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y}" fill="{colour}" text-anchor="{anchor}" font-size="{size}" '
        f'font-weight="{weight}">{escape(text)}</text>'
    )


# ---- One colour for each kind of HE operation, the same in every picture -------------------------


NO_OPERATION = "#9aa0a6"
"""Of what is no HE operation: its name is in parentheses."""

COLOURS: Mapping[str, str] = MappingProxyType(
    {str(op): op.record.colour for op in Op if not op.record.port}
)
"""By the operation's name."""

_OTHERS = ("#577590", "#b56576", "#6d8f3f", "#9c7c38", "#6d6875", "#3d8f9f")

_DARK, _LIGHT = "#1c2430", "#ffffff"


def colour_table(operations: list[str]) -> dict[str, str]:
    """A colour for each operation of a trace; names that are no HE operation take turns."""
    none = {name: NO_OPERATION for name in operations if name.startswith("(")}
    known = {**COLOURS, **none}
    strange = [operation for operation in operations if operation not in known]
    turns = {name: _OTHERS[index % len(_OTHERS)] for index, name in enumerate(strange)}
    return {operation: known.get(operation) or turns[operation] for operation in operations}


def ink(colour: str) -> str:
    """Black or white, whichever is easier to read on a colour like ``#5aa578``."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return _DARK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else _LIGHT


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


EventJson = dict[str, Any]


def document(title: str, design: str, cycles: int, events: Iterable[EventJson]) -> str:
    """The text of the file.

    Args:
        title: What the program is called.
        design: The design's name.
        cycles: The program's.
        events: What the functions below make.
    """
    return json.dumps(
        {
            "traceEvents": list(events),
            "displayTimeUnit": "ms",
            "otherData": {
                "program": title,
                "design": design,
                "cycles": cycles,
                "unit": "1 us is 1 clock cycle",
            },
        }
    )


def process(number: int, name: str) -> Iterator[EventJson]:
    """Names a process, and puts it in its place. Viewers take 0 for the kernel's idle task."""
    yield _metadata(number, 0, "process_name", {"name": name})
    yield _metadata(number, 0, "process_sort_index", {"sort_index": number})


def thread(process_number: int, number: int, name: str) -> Iterator[EventJson]:
    """Names a thread of a process, and puts it in its place."""
    yield _metadata(process_number, number, "thread_name", {"name": name})
    yield _metadata(process_number, number, "thread_sort_index", {"sort_index": number})


def complete(
    place: tuple[int, int],
    cycles: tuple[int, int],
    name: str,
    category: str,
    details: Mapping[str, object],
) -> EventJson:
    """Something that took time.

    Args:
        place: Process and thread.
        cycles: The first one, and the one after the last.
        name: What it is called.
        category: The kind of HE operation.
        details: Its properties.
    """
    return {
        "ph": "X",
        "pid": place[0],
        "tid": place[1],
        "ts": cycles[0],
        "dur": cycles[1] - cycles[0],
        "name": name,
        "cat": category,
        "args": dict(details),
    }


def counter(process_number: int, cycle: int, name: str, values: Mapping[str, int]) -> EventJson:
    """Numbers from a cycle on."""
    return {
        "ph": "C",
        "pid": process_number,
        "tid": 0,
        "ts": cycle,
        "name": name,
        "args": dict(values),
    }


def _metadata(process_number: int, number: int, name: str, args: EventJson) -> EventJson:
    return {"ph": "M", "pid": process_number, "tid": number, "ts": 0, "name": name, "args": args}
