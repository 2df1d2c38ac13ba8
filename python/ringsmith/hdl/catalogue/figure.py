"""Block diagrams: blocks inside of blocks, in rows, with arrows where words go."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from ringsmith.hdl.catalogue.blocks import Block
from ringsmith.svg import WIDTH, Drawing

SHARED = ("mem", "arith")
"""Folders of blocks that diagrams leave out: they are in most others."""

_ARROWS = {"|": (False, False), ">": (False, True), "<": (True, False), "<>": (True, True)}
"""What stands between two blocks of a row: whether an arrow points left, right."""
_VERTICAL = {"down": (False, True), "up": (True, False), "both": (True, True)}
"""Between two rows: whether an arrow points up, down."""

_LETTER, _SMALL = 6.6, 5.7
_HEIGHT, _TITLE, _PADDING = 38.0, 34.0, 10.0
_GAP, _ARROW, _BELOW = 10.0, 26.0, 8.0
_MARGIN = 12.0


@dataclass(frozen=True)
class Plan:
    """What is drawn.

    Attributes:
        inside: Block -> rows of the blocks in it; others are drawn closed.
        labels: Block -> what it is called.
    """

    inside: Mapping[str, Sequence[str]]
    labels: Mapping[str, str]

    def drawn_in(self, name: str) -> set[str]:
        """Blocks that the rows of a block name."""
        rows = (row.split() for row in self.inside[name])
        return {word for words in rows if words[0] not in _VERTICAL for word in words[::2]}

    def without(self, closed: Collection[str]) -> "Plan":
        """The same with some blocks drawn closed."""
        inside = {name: rows for name, rows in self.inside.items() if name not in closed}
        return Plan(inside, self.labels)

    def wrong(self, blocks: Mapping[str, Block]) -> list[str]:
        """Differences between the plan and the instances in the sources, as sentences."""
        found = []
        for name in self.inside:
            instances = {n for n in blocks[name].instances if blocks[n].folder not in SHARED}
            if instances != self.drawn_in(name):
                found.append(
                    f"rtl/catalogue.toml draws {', '.join(sorted(self.drawn_in(name)))} in {name}, "
                    f"whose instances are {', '.join(sorted(instances))}: change its rows"
                )
        return found


@dataclass
class _Box:
    """A block with its size, and with its place when it has been placed."""

    name: str
    width: float
    height: float
    rows: list[tuple[list["_Box"], list[str]]] = field(default_factory=list)
    links: dict[int, tuple[str, str]] = field(default_factory=dict)
    x: float = 0.0
    y: float = 0.0


def _measure(name: str, plan: Plan) -> _Box:
    label = plan.labels[name]
    width = max(len(label) * _LETTER, len(name) * _SMALL) + 14
    box = _Box(name, width, _HEIGHT)
    for row in plan.inside.get(name, ()):
        words = row.split()
        if words[0] in _VERTICAL:
            box.links[len(box.rows)] = (words[0], words[1])
        else:
            box.rows.append(([_measure(word, plan) for word in words[::2]], words[1::2]))
    if box.rows:
        inner = max(_row_width(*row) for row in box.rows)
        box.width = max(width, inner + 2 * _PADDING)
        heights = sum(max(each.height for each in row) for row, _ in box.rows)
        gaps = sum(_gap_above(box, number) for number in range(1, len(box.rows)))
        box.height = _TITLE + heights + gaps + _PADDING
    return box


def _gap_above(box: _Box, row: int) -> float:
    return _ARROW - 4 if row in box.links else _BELOW


def _row_width(boxes: Sequence[_Box], arrows: Sequence[str]) -> float:
    return sum(box.width for box in boxes) + sum(_between(arrow) for arrow in arrows)


def _between(arrow: str) -> float:
    return _GAP if arrow == "|" else _ARROW


def _place(box: _Box, x: float, y: float) -> None:
    box.x, box.y = x, y
    top = y + _TITLE
    for number, (boxes, arrows) in enumerate(box.rows):
        top += _gap_above(box, number) if number else 0
        height = max(each.height for each in boxes)
        left = x + (box.width - _row_width(boxes, arrows)) / 2
        for each, arrow in zip(boxes, [*arrows, "|"], strict=True):
            _place(each, left, top + (height - each.height) / 2)
            left += each.width + _between(arrow)
        top += height


def _arrow(x1: float, y1: float, x2: float, y2: float, ends: tuple[bool, bool]) -> Iterator[str]:
    yield (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" '
        'stroke-width="1.5"/>'
    )
    across = x1 != x2
    for there, (x, y), way in ((ends[0], (x1, y1), 1.0), (ends[1], (x2, y2), -1.0)):
        if there and across:
            corners = f"{x:.1f},{y:.1f} {x + 7 * way:.1f},{y - 4:.1f} {x + 7 * way:.1f},{y + 4:.1f}"
        elif there:
            corners = f"{x:.1f},{y:.1f} {x - 4:.1f},{y + 7 * way:.1f} {x + 4:.1f},{y + 7 * way:.1f}"
        else:
            continue
        yield f'<polygon points="{corners}"/>'


def _draw(box: _Box, plan: Plan, depth: int) -> Iterator[str]:
    yield (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="4" fill="currentColor" fill-opacity="{0.03 if box.rows else 0.09}" '
        f'stroke="currentColor" stroke-opacity="0.6"/>'
    )
    middle = box.x + box.width / 2
    yield (
        f'<text x="{middle:.1f}" y="{box.y + 16:.1f}" text-anchor="middle">'
        f"{escape(plan.labels[box.name])}</text>"
    )
    yield (
        f'<text x="{middle:.1f}" y="{box.y + 29:.1f}" text-anchor="middle" font-size="10" '
        f'opacity="0.75">{escape(box.name)}</text>'
    )
    for number, (boxes, arrows) in enumerate(box.rows):
        for each in boxes:
            yield from _draw(each, plan, depth + 1)
        for left, right, arrow in zip(boxes, boxes[1:], arrows, strict=False):
            if arrow != "|":
                y = left.y + left.height / 2
                yield from _arrow(left.x + left.width + 2, y, right.x - 2, y, _ARROWS[arrow])
        if number in box.links:
            yield from _link(box, number)


def _link(box: _Box, number: int) -> Iterator[str]:
    way, name = box.links[number]
    above, below = box.rows[number - 1][0], box.rows[number][0]
    at = next(each for each in (*above, *below) if each.name == name)
    x = at.x + at.width / 2
    top = max(each.y + each.height for each in above) + 2
    yield from _arrow(x, top, x, min(each.y for each in below) - 2, _VERTICAL[way])


def draw(top: str, title: str, plan: Plan) -> str:
    """A block diagram as a file.

    Args:
        top: The block that holds all others.
        title: The picture's title.
        plan: What is drawn.
    """
    box = _measure(top, plan)
    _place(box, (WIDTH - box.width) / 2, _MARGIN)
    return Drawing(box.height + 2 * _MARGIN, list(_draw(box, plan, 0))).file(title)
