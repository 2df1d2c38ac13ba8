"""A search as one page of HTML that needs no other file and no network."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib import resources
from string import Template

from ringsmith.backends.explorer import Bar, OperationCost
from ringsmith.explore.evaluate import Evaluator
from ringsmith.explore.points import OBJECTIVES, Tried
from ringsmith.explore.request import clock_mhz, explorer
from ringsmith.explore.search import Found
from ringsmith.explore.tables import row
from ringsmith.platforms import load_platform
from ringsmith.svg import COLOURS, WIDTH, Axis, Drawing, Frame, colours, legend, shares, text

_MOST_POINTS = 100
"""Designs of the front that the page has."""

_REASONS = 10

_HEADS = ("design", "ms", "DSP", "LUT", "BRAM", "URAM", "GB/s", "binds")


def page_of(found: Found, chosen: Tried, evaluator: Evaluator) -> str:
    """The page.

    Args:
        found: What the search found.
        chosen: The design of the front whose timeline is shown.
        evaluator: Knows what was explored for.
    """
    front = [*found.front[:_MOST_POINTS]]
    if chosen.key not in {each.key for each in front}:
        front.append(chosen)
    feasible = [each for each in found.points if each.feasible]
    others = list(enumerate(OBJECTIVES))[1:]
    plots = "\n".join(
        f'<figure data-objective="{number}">{front_plot(feasible, front, number, name)}</figure>'
        for number, name in others
    )
    page = (resources.files("ringsmith.explore") / "page.html").read_text(encoding="utf-8")
    return Template(page).substitute(
        TITLE=escape(f"{found.request.subject} on {load_platform(found.request.platform).card}"),
        ABOUT=escape(_about(found)),
        OBJECTIVES="".join(
            f'<option value="{number}">{escape(name)}</option>' for number, name in others
        ),
        PLOTS=plots,
        TABLE=_table(front),
        CHOSEN=escape(chosen.name),
        SECTIONS="\n".join(_sections(front)),
        TIMELINES="\n".join(_timelines(chosen, evaluator)),
        REASONS=_reasons(found),
        NUMBER=next(n for n, each in enumerate(front) if each.key == chosen.key),
    )


def _about(found: Found) -> str:
    feasible = sum(each.feasible for each in found.points)
    clocks = ", ".join(
        f"{name} at {clock_mhz(found.request, name):g} MHz" for name in found.request.architectures
    )
    refused = "; ".join(f"{name}: {reason}" for name, reason in found.refused.items())
    return (
        f"{len(found.points)} points tried, {feasible} can be taken, {len(found.front)} are on the "
        f"front. Clocks are assumed: {clocks}. Cycles of the front are the model's. LUTs are "
        f"estimates; nothing was placed or routed. {refused}"
    )


def _table(front: list[Tried]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in _HEADS)
    rows = "\n".join(
        f'<tr data-point="{number}">'
        + "".join(f"<td>{escape(cell)}</td>" for cell in (*row(each), _binds(each)))
        + "</tr>"
        for number, each in enumerate(front)
    )
    return f"<figure><table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></figure>"


def _binds(point: Tried) -> str:
    return ", ".join(dict.fromkeys(own.binds for own in point.operations.values()))


def _sections(front: list[Tried]) -> Iterator[str]:
    for number, each in enumerate(front):
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{own.cycles:,}</td><td>{own.milliseconds:.4g}</td>"
            f"<td>{escape(own.binds)}</td><td>{escape(_bounds(own.bounds))}</td></tr>"
            for name, own in each.operations.items()
        )
        yield (
            f'<section data-details="{number}" hidden><figure><table><thead><tr><th>operation</th>'
            "<th>cycles</th><th>ms</th><th>binds</th><th>cycles by themselves</th></tr></thead>"
            f"<tbody>{rows}</tbody></table></figure><h3>Cycles by subroutine</h3>"
            f"<figure>{breakdown(each.operations)}</figure><h3>Roofline</h3>"
            f"<figure>{roofline(each.operations)}</figure></section>"
        )


def _bounds(bounds: object) -> str:
    assert isinstance(bounds, dict)
    return ", ".join(f"{name} {count:,}" for name, count in bounds.items() if count)


def _timelines(chosen: Tried, evaluator: Evaluator) -> Iterator[str]:
    own, task = explorer(chosen.architecture), evaluator.task(chosen.architecture)
    design = own.design(dict(chosen.values), task)
    for operation in task.graphs:
        picture = timeline(own.timeline(design, operation, task))
        yield f"<h3>{escape(operation)}</h3>\n<figure>{picture}</figure>"


def _reasons(found: Found) -> str:
    """The commonest reasons; of points that are too large, what they have too little of."""
    counted = Counter(
        (each.architecture, each.kind, each.reason.partition(":")[0])
        for each in found.points
        if not each.feasible
    )
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(kind)}</td><td>{escape(what[:160])}</td>"
        f"<td>{count:,}</td></tr>"
        for (name, kind, what), count in counted.most_common(_REASONS)
    )
    return (
        '<figure><table class="words"><thead><tr><th>architecture</th><th>kind</th><th>what</th>'
        f"<th>points</th></tr></thead><tbody>{rows}</tbody></table></figure>"
    )


# ---- Pictures of a search: front, breakdown, roofline, timeline ----------------------------------


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
