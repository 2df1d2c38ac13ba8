"""Pictures of a search, as SVG without script: front, breakdown, roofline, timeline."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from ringsmith.backends.explorer import Bar, OperationCost
from ringsmith.explore.points import Tried

WIDTH = 760
_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 420, 80, 24, 16, 48
_COLOURS = ("#2f6f9f", "#c9693b", "#4f8f5b", "#8a5fa8", "#b0912f", "#7a7f87", "#3d8f9f", "#b56576")
_TEXT, _GRID = "#1c2430", "#dde2e8"
_LANE, _NAME = 22, 110
_MOST_BARS = 3000


def colours(names: Iterable[str]) -> dict[str, str]:
    """A colour for each name, in turn."""
    return {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(dict.fromkeys(names))}


def _svg(height: int, parts: Iterable[str], title: str) -> str:
    inner = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(title)}" font-size="12" fill="{_TEXT}">\n{inner}\n</svg>\n'
    )


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = _GRID) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


class _Axis:
    """A logarithmic axis."""

    def __init__(self, values: Iterable[float], begin: float, end: float) -> None:
        positive = [value for value in values if value > 0] or [1.0]
        low, high = math.log10(min(positive)), math.log10(max(positive))
        margin = max(0.05, (high - low) * 0.05)
        self._low, self._high = low - margin, high + margin
        self._begin, self._end = begin, end

    def at(self, value: float) -> float:
        """The place of a value."""
        share = (math.log10(max(value, 1e-12)) - self._low) / (self._high - self._low)
        return self._begin + share * (self._end - self._begin)

    def ticks(self) -> Iterator[float]:
        """Values of one digit, 1, 2 and 5, that lie on it."""
        for power in range(math.floor(self._low), math.ceil(self._high) + 1):
            for digit in (1, 2, 5):
                value = digit * 10.0**power
                if self._low <= math.log10(value) <= self._high:
                    yield value


def front_plot(points: Sequence[Tried], front: Sequence[Tried], objective: int, name: str) -> str:
    """Points by milliseconds and another objective; those of the front are filled, and numbered.

    Args:
        points: All points that can be taken.
        front: Those on the front, in its order.
        objective: Index of the other objective.
        name: What it is called.
    """
    numbers = {each.key: number for number, each in enumerate(front)}
    across = _Axis((p.milliseconds for p in points), _LEFT, WIDTH - _RIGHT)
    up = _Axis((p.objectives[objective] for p in points), _HEIGHT - _BOTTOM, _TOP)
    of_name = colours(sorted({each.architecture for each in points}))
    parts = list(_axes(across, up, "milliseconds", name))
    ordered = sorted(points, key=lambda each: each.key in numbers)
    for each in ordered:
        colour, number = of_name[each.architecture], numbers.get(each.key)
        value = each.objectives[objective]
        label = f"{each.name}: {each.milliseconds:.4g} ms, {name} {value:,.6g}"
        where = f'cx="{across.at(each.milliseconds):.1f}" cy="{up.at(value):.1f}"'
        if number is None:
            parts.append(f'<circle {where} r="2" fill="{colour}" opacity="0.25"/>')
        else:
            parts.append(
                f'<circle class="point" data-point="{number}" {where} r="5" fill="{colour}" '
                f'stroke="#ffffff"><title>{escape(label)}</title></circle>'
            )
    for place, (architecture, colour) in enumerate(of_name.items()):
        x = WIDTH - 130
        y = _TOP + 14 + 18 * place
        parts.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(x + 18, y, architecture, "start"))
    return _svg(_HEIGHT, parts, f"{name} by milliseconds")


def _axes(across: _Axis, up: _Axis, x_name: str, y_name: str) -> Iterator[str]:
    for value in across.ticks():
        x = across.at(value)
        yield _line(x, _TOP, x, _HEIGHT - _BOTTOM)
        yield _text(x, _HEIGHT - _BOTTOM + 16, f"{value:,g}")
    for value in up.ticks():
        y = up.at(value)
        yield _line(_LEFT, y, WIDTH - _RIGHT, y)
        yield _text(_LEFT - 6, y + 4, f"{value:,g}", "end")
    yield _text((_LEFT + WIDTH - _RIGHT) / 2, _HEIGHT - 8, x_name)
    yield _text(8, 12, y_name, "start")


def breakdown(operations: Mapping[str, OperationCost]) -> str:
    """The cycles of each operation by subroutine, as bars of one length."""
    of_name = colours(name for own in operations.values() for name in own.parts)
    parts, y = [], 8
    for operation, own in operations.items():
        whole = sum(own.parts.values()) or 1
        parts.append(_text(4, y + 15, operation, "start"))
        x = float(_NAME + 40)
        for name, cycles in own.parts.items():
            wide = cycles / whole * (WIDTH - _NAME - 64)
            label = f"{name}: {cycles:,} cycles, {cycles / whole:.0%}"
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{wide:.2f}" height="20" '
                f'fill="{of_name[name]}"><title>{escape(label)}</title></rect>'
            )
            x += wide
        y += 28
    for name, colour in of_name.items():
        parts.append(f'<rect x="{_NAME + 40}" y="{y}" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(_NAME + 58, y + 11, name, "start"))
        y += 18
    return _svg(y + 4, parts, "cycles by subroutine")


def roofline(operations: Mapping[str, OperationCost]) -> str:
    """Each operation under the roof: what share of its cycles the array works.

    Across is its computing over its memory's time, 1 where both take as long.
    """
    placed = {
        name: (own.bounds.get("compute", 0) / max(1, _moving(own)), _working(own))
        for name, own in operations.items()
    }
    across = _Axis([0.1, 10, *(x for x, _ in placed.values())], _LEFT, WIDTH - _RIGHT)
    up = _Axis([0.05, 1, *(y for _, y in placed.values())], _HEIGHT - _BOTTOM, _TOP)
    parts = list(_axes(across, up, "computing over memory, in time", "share of cycles computing"))
    left = min(0.1, *(x for x, _ in placed.values())) or 0.1
    roof = [(left, left), (1.0, 1.0), (max(10, *(x for x, _ in placed.values())), 1.0)]
    corners = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in roof)
    parts.append(f'<polyline points="{corners}" fill="none" stroke="{_TEXT}" stroke-width="2"/>')
    for (name, (x, y)), colour in zip(placed.items(), _COLOURS * 9, strict=False):
        label = f"{name}: {y:.0%} of cycles computing, {operations[name].binds} binds"
        parts.append(
            f'<circle cx="{across.at(x):.1f}" cy="{up.at(y):.1f}" r="6" fill="{colour}">'
            f"<title>{escape(label)}</title></circle>"
        )
        parts.append(_text(across.at(x), up.at(y) + 20, name))
    return _svg(_HEIGHT, parts, "roofline")


def _moving(own: OperationCost) -> int:
    return own.bounds.get("memory", 0) + own.bounds.get("capacity", 0)


def _working(own: OperationCost) -> float:
    return min(1.0, own.bounds.get("compute", 0) / max(1, own.cycles))


def timeline(bars: Iterable[Bar]) -> str:
    """What each part of a device does in time; bars alike that nearly touch are drawn as one."""
    lanes: dict[str, list[Bar]] = defaultdict(list)
    for bar in bars:
        lanes[bar.lane].append(bar)
    end = max((bar.end for own in lanes.values() for bar in own), default=1)
    count = sum(map(len, lanes.values()))
    gap = 0 if count <= _MOST_BARS else end // _MOST_BARS + 1
    scale = (WIDTH - _NAME - _RIGHT) / end
    of_name = colours(bar.name for own in lanes.values() for bar in own)
    parts = []
    for number, (lane, own) in enumerate(lanes.items()):
        y = 8 + _LANE * number
        parts.append(_text(4, y + 14, lane, "start"))
        for bar in _joined(own, gap):
            label = f"{bar.name}: cycles {bar.begin:,} to {bar.end:,}"
            wide = max(0.3, (bar.end - bar.begin) * scale)
            parts.append(
                f'<rect class="bar" x="{_NAME + bar.begin * scale:.2f}" y="{y}" '
                f'width="{wide:.2f}" height="{_LANE - 4}" fill="{of_name[bar.name]}">'
                f"<title>{escape(label)}</title></rect>"
            )
    y = 16 + _LANE * len(lanes)
    parts.append(_text(_NAME, y + 8, "0", "start"))
    parts.append(_text(WIDTH - _RIGHT, y + 8, f"{end:,} cycles", "end"))
    for name, colour in of_name.items():
        y += 18
        parts.append(f'<rect x="{_NAME}" y="{y}" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(_NAME + 18, y + 11, name, "start"))
    return _svg(y + 20, parts, "timeline")


def _joined(bars: Sequence[Bar], gap: int) -> Iterator[Bar]:
    """Bars of a lane, those of one name joined that are no farther apart than a gap."""
    before: Bar | None = None
    for bar in sorted(bars, key=lambda each: each.begin):
        if before and bar.name == before.name and bar.begin - before.end <= gap:
            before = Bar(bar.lane, bar.name, before.begin, max(before.end, bar.end))
            continue
        if before:
            yield before
        before = bar
    if before:
        yield before
