"""Pictures of a search: front, breakdown, roofline, timeline."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from ringsmith.backends.explorer import Bar, OperationCost
from ringsmith.explore.points import Tried
from ringsmith.svg import COLOURS, WIDTH, Axis, Drawing, Frame, colours, legend, shares, text

_LANE, _NAME, _RIGHT = 22, 110, 24
_MOST_BARS = 3000
_FRAME = Frame()


def front_plot(points: Sequence[Tried], front: Sequence[Tried], objective: int, name: str) -> str:
    """Points by milliseconds and another objective; those of the front are large, and numbered.

    Args:
        points: All points that can be taken.
        front: Those on the front, in its order.
        objective: Index of the other objective.
        name: What it is called.
    """
    numbers = {each.key: number for number, each in enumerate(front)}
    across = Axis((p.milliseconds for p in points), *_FRAME.across)
    up = Axis((p.objectives[objective] for p in points), *_FRAME.up)
    of_name = colours(sorted({each.architecture for each in points}))
    parts = list(_FRAME.axes(across, up, ("milliseconds", name)))
    ordered = sorted(points, key=lambda each: each.key in numbers)
    for each in ordered:
        colour, number = of_name[each.architecture], numbers.get(each.key)
        value = each.objectives[objective]
        label = f"{each.name}: {each.milliseconds:.4g} ms, {name} {value:,.6g}"
        where = f'cx="{across.at(each.milliseconds):.1f}" cy="{up.at(value):.1f}"'
        if number is None:
            parts.append(f'<circle {where} r="2" fill="{colour}" opacity="0.4"/>')
        else:
            parts.append(
                f'<circle class="point" data-point="{number}" {where} r="5" fill="{colour}">'
                f"<title>{escape(label)}</title></circle>"
            )
    parts += legend(of_name, WIDTH - 130, 28)
    return Drawing(_FRAME.height, parts).picture(f"{name} by milliseconds")


def breakdown(operations: Mapping[str, OperationCost]) -> str:
    """The cycles of each operation by subroutine, as bars of one length."""
    rows = {operation: own.parts for operation, own in operations.items()}
    return shares(rows, _NAME + 40).picture("cycles by subroutine")


def roofline(operations: Mapping[str, OperationCost]) -> str:
    """Each operation under the roof: what share of its cycles the array works.

    Across is its computing over its memory's time, 1 where both take as long.
    """
    placed = {
        name: (own.bounds.get("compute", 0) / max(1, _moving(own)), _working(own))
        for name, own in operations.items()
    }
    left = min(0.1, *(x for x, _ in placed.values())) or 0.1
    right = max(10, *(x for x, _ in placed.values()))
    across = Axis([left, right], *_FRAME.across)
    up = Axis([0.05, 1, *(y for _, y in placed.values())], *_FRAME.up)
    names = ("computing over memory, in time", "share of cycles computing")
    parts = list(_FRAME.axes(across, up, names))
    roof = [(max(left, 0.05), max(left, 0.05)), (1.0, 1.0), (right, 1.0)]
    corners = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in roof)
    parts.append(
        f'<polyline points="{corners}" fill="none" stroke="currentColor" stroke-width="2"/>'
    )
    for (name, (x, y)), colour in zip(placed.items(), COLOURS * 9, strict=False):
        label = f"{name}: {y:.0%} of cycles computing, {operations[name].binds} binds"
        parts.append(
            f'<circle cx="{across.at(x):.1f}" cy="{up.at(y):.1f}" r="6" fill="{colour}">'
            f"<title>{escape(label)}</title></circle>"
        )
        parts.append(text(across.at(x), up.at(y) + 20, name))
    return Drawing(_FRAME.height, parts).picture("roofline")


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
        parts.append(text(4, y + 14, lane, "start"))
        for bar in _joined(own, gap):
            label = f"{bar.name}: cycles {bar.begin:,} to {bar.end:,}"
            wide = max(0.3, (bar.end - bar.begin) * scale)
            parts.append(
                f'<rect class="bar" x="{_NAME + bar.begin * scale:.2f}" y="{y}" '
                f'width="{wide:.2f}" height="{_LANE - 4}" fill="{of_name[bar.name]}">'
                f"<title>{escape(label)}</title></rect>"
            )
    y = 16 + _LANE * len(lanes)
    parts.append(text(_NAME, y + 8, "0", "start"))
    parts.append(text(WIDTH - _RIGHT, y + 8, f"{end:,} cycles", "end"))
    parts += legend(of_name, _NAME, y + 18)
    return Drawing(y + 22 + 18 * len(of_name), parts).picture("timeline")


def _joined(bars: Sequence[Bar], gap: int) -> Iterator[Bar]:
    """Returns the bars of a lane; joins bars of one name whose distance is at most a gap."""
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
