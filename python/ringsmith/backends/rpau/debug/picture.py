"""The timeline of a trace as an SVG picture: one lane a unit and RPAU, one bar an instruction.

Plain SVG 1.1 without script or style sheet, so that any viewer shows it; the page of
:mod:`ringsmith.backends.rpau.debug.page` finds bars by their class and makes them zoomable.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from ringsmith.backends.rpau.debug.colours import colour_table, ink
from ringsmith.backends.rpau.debug.summary import (
    FETCH,
    Step,
    busy_cycles,
    busy_share,
    critical_path,
    shares,
)
from ringsmith.backends.rpau.debug.trace import Event, Trace
from ringsmith.backends.rpau.isa.instruction_set import ISA

WIDTH = 1600
"""Width of the picture, in pixels."""
LEFT, RIGHT = 150, 70
"""Width of the columns beside the lanes: names, and busy shares."""

_TOP = 104  # title, figures, legend and axis
_LANE, _SPACE, _GROUP_SPACE = 20, 3, 9
_LETTER = 6.1  # average width of a letter of _FONT at 11 pixels
_TICKS = 10
_FONT = 'font-family="system-ui, -apple-system, Segoe UI, DejaVu Sans, Helvetica, Arial"'
_TEXT, _FAINT, _GRID = "#1c2430", "#5f6b7a", "#dde2e8"


@dataclass(frozen=True)
class _Lane:
    """One row of the picture: its place, its name, and how busy it is."""

    top: int
    name: str
    bars: list[str]
    share: float | None


def timeline_svg(trace: Trace, title: str = "") -> str:
    """The timeline as an SVG file.

    Args:
        trace: The program in time.
        title: What the program is called; the design, cycles and busy shares are always said.
    """
    scale = (WIDTH - LEFT - RIGHT) / trace.cycles
    colours = colour_table([*trace.operations(), FETCH])
    lanes = list(_lanes(trace, colours, scale))
    height = lanes[-1].top + _LANE + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" {_FONT} font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        *_heading(trace, title),
        *_legend(trace, colours),
        *_axis(trace.cycles, scale, height),
        *(text for lane in lanes for text in _names(lane)),
        f'<defs><clipPath id="lanes"><rect x="{LEFT}" y="0" width="{WIDTH - LEFT - RIGHT}" '
        f'height="{height}"/></clipPath></defs>',
        '<g id="bars" clip-path="url(#lanes)">',
        *(bar for lane in lanes for bar in lane.bars),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _lanes(trace: Trace, colours: dict[str, str], scale: float) -> Iterator[_Lane]:
    top = _TOP
    steps = _join(critical_path(trace))
    bars = [_step_bar(step, top, colours[step.operation], scale) for step in steps]
    yield _Lane(top, "critical path", bars, None)
    top += _LANE + _GROUP_SPACE
    for rpau in range(trace.design.rpaus):
        for unit in ISA.units_of(trace.design):
            bars = [
                _event_bar(event, trace, top, colours[event.operation], scale)
                for event in trace.lane(rpau, unit)
            ]
            share = busy_cycles(trace, rpau, unit) / trace.cycles
            yield _Lane(top, f"RPAU {rpau}  {unit}", bars, share)
            top += _LANE + _SPACE
        top += _GROUP_SPACE - _SPACE


def _join(steps: list[Step]) -> list[Step]:
    """Neighbouring steps of one HE operation as one."""
    joined: list[Step] = []
    for step in steps:
        last = joined[-1] if joined else None
        same = last and (last.fetching, last.event.origin) == (step.fetching, step.event.origin)
        if last and same:
            joined[-1] = Step(last.begin, step.end, last.event, last.fetching)
        else:
            joined.append(step)
    return joined


def _event_bar(event: Event, trace: Trace, top: int, colour: str, scale: float) -> str:
    waited = ""
    if event.blocker is not None:
        blocker = trace.events[event.blocker]
        waited = f"\nissued at the end of #{blocker.index} {blocker.text}"
    hover = (
        f"#{event.index}  {event.text}\n{event.origin}\n"
        f"cycles {event.start:,} to {event.end:,} ({event.end - event.start:,}){waited}"
    )
    place = (event.start, event.end, top)
    return _bar(place, event.name, hover, event.operation, colour, scale)


def _step_bar(step: Step, top: int, colour: str, scale: float) -> str:
    what = "waits for instructions" if step.fetching else step.event.origin
    hover = (
        f"critical path: {what}\ncycles {step.begin:,} to {step.end:,} ({step.end - step.begin:,})"
    )
    return _bar((step.begin, step.end, top), step.operation, hover, step.operation, colour, scale)


def _bar(
    place: tuple[int, int, int], label: str, hover: str, operation: str, colour: str, scale: float
) -> str:
    """One bar: ``place`` is its first cycle, the cycle after its last, and its top edge."""
    begin, end, top = place
    x, width = LEFT + begin * scale, (end - begin) * scale
    shown = "" if len(label) * _LETTER + 4 < width else ' visibility="hidden"'
    edge = ' stroke="#ffffff" stroke-width="0.5"' if width > 2 else ""
    return (
        f'<g class="bar" data-operation="{escape(operation)}"><title>{escape(hover)}</title>'
        f'<rect x="{x:.2f}" y="{top}" width="{width:.2f}" height="{_LANE}" fill="{colour}"'
        f"{edge}/>"
        f'<text x="{x + width / 2:.2f}" y="{top + 14}" text-anchor="middle" '
        f'fill="{ink(colour)}"{shown}>{escape(label)}</text></g>'
    )


def _heading(trace: Trace, title: str) -> Iterator[str]:
    design = trace.design
    name = f"{title} on {design.name}" if title else f"A program on {design.name}"
    built = (
        f"N = {design.n:,}, {design.rpaus} RPAUs of {design.cores} butterfly and "
        f"{design.dyadic_cores} dyadic cores"
    )
    busy = ", ".join(f"{unit} {busy_share(trace, unit):.1%}" for unit in ISA.units_of(design))
    yield _text(LEFT, 26, name, size=18, weight="600")
    yield _text(
        LEFT,
        46,
        f"{trace.cycles:,} cycles · {len(trace.events):,} instructions · units busy: {busy} · "
        f"{built}",
        colour=_FAINT,
        size=12,
    )


def _legend(trace: Trace, colours: dict[str, str]) -> Iterator[str]:
    """The HE operations, with their cycles on the critical path."""
    x = float(LEFT)
    for share in shares(trace):
        label = f"{share.operation} {share.critical_cycles / trace.cycles:.1%}"
        yield (
            f'<g class="key" data-operation="{escape(share.operation)}"><title>'
            f"{share.critical_cycles:,} cycles on the critical path</title>"
            f'<rect x="{x:.1f}" y="58" width="11" height="11" rx="2" '
            f'fill="{colours[share.operation]}"/>{_text(x + 16, 68, label)}</g>'
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


def tick_distance(cycles: int) -> int:
    """A round distance, 1, 2 or 5 times a power of ten, with at most ``_TICKS`` in the cycles."""
    least = max(1.0, cycles / _TICKS)
    power = int(10 ** math.floor(math.log10(least)))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least)


def _names(lane: _Lane) -> Iterator[str]:
    yield (
        f'<rect x="{LEFT}" y="{lane.top}" width="{WIDTH - LEFT - RIGHT}" height="{_LANE}" '
        f'fill="#8793a3" fill-opacity="0.10"/>'
    )
    yield _text(LEFT - 10, lane.top + 14, lane.name, anchor="end")
    if lane.share is not None:
        yield _text(WIDTH - RIGHT + 10, lane.top + 14, f"{lane.share:.1%}", colour=_FAINT)


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
