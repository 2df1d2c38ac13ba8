"""Pictures as SVG without script, which pages hold or files are: axes, points, lines, bars.

Text and grid are of the colour of the text around them. A picture that is a file has its own, for
light and for dark surroundings.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 760
COLOURS = ("#2f6f9f", "#c9693b", "#4f8f5b", "#8a5fa8", "#b0912f", "#7a7f87", "#3d8f9f", "#b56576")
"""Of series: each is at least three times as light, or as dark, as either ground."""

LIGHT, DARK = ("#ffffff", "#1c2430"), ("#0d1117", "#e6edf3")
"""Ground and text."""

_FILE_STYLE = (
    "<style>svg{{color:{1};font-family:system-ui,'Segoe UI','DejaVu Sans',sans-serif}}"
    ".ground{{fill:{0}}}@media(prefers-color-scheme:dark){{svg{{color:{3}}}.ground{{fill:{2}}}}}"
    "</style>"
).format(*LIGHT, *DARK)

_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 24, 24, 48


def colours(names: Iterable[str]) -> dict[str, str]:
    """A colour for each name, in their order."""
    return {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(dict.fromkeys(names))}


@dataclass(frozen=True)
class Drawing:
    """Parts of a picture.

    Attributes:
        height: How far down they go.
        parts: The parts.
    """

    height: float
    parts: Sequence[str]

    def picture(self, title: str) -> str:
        """A picture for a page, as wide as what it lies in."""
        inner = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height:.0f}" '
            f'role="img" aria-label="{escape(title)}" font-size="12" fill="currentColor">\n'
            f"{inner}\n</svg>\n"
        )

    def file(self, title: str) -> str:
        """A picture as a file: it has its own colours, and its title."""
        ground = f'<rect class="ground" width="{WIDTH}" height="{self.height:.0f}"/>'
        name = f"<title>{escape(title)}</title>"
        return Drawing(self.height, [name, _FILE_STYLE, ground, *self.parts]).picture(title)


def text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    """Words at a position."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """A line of the grid."""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" '
        'opacity="0.18"/>'
    )


def square(x: float, y: float, colour: str) -> str:
    """A square of a legend."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="12" height="12" fill="{colour}"/>'


def legend(of_name: Mapping[str, str], x: float, y: float) -> Iterator[str]:
    """Names with their colours, one below the other."""
    for position, (name, colour) in enumerate(of_name.items()):
        yield square(x, y + 18 * position, colour)
        yield text(x + 18, y + 11 + 18 * position, name, "start")


class Axis:
    """A logarithmic axis."""

    def __init__(self, values: Iterable[float], begin: float, end: float) -> None:
        positive = [value for value in values if value > 0] or [1.0]
        low, high = math.log10(min(positive)), math.log10(max(positive))
        margin = max(0.05, (high - low) * 0.05)
        self._low, self._high = low - margin, high + margin
        self._begin, self._end = begin, end

    def at(self, value: float) -> float:
        """The position of a value."""
        share = (math.log10(max(value, 1e-12)) - self._low) / (self._high - self._low)
        return self._begin + share * (self._end - self._begin)

    def ticks(self) -> Iterator[float]:
        """Values of one digit, 1, 2 and 5, that lie on it."""
        for power in range(math.floor(self._low), math.ceil(self._high) + 1):
            for digit in (1, 2, 5):
                value = digit * 10.0**power
                if self._low <= math.log10(value) <= self._high:
                    yield value


@dataclass(frozen=True)
class Frame:
    """Where axes lie in a picture.

    Attributes:
        top: Above.
        height: Of all, with the names of the axes.
    """

    top: float = 0
    height: float = 420

    @property
    def across(self) -> tuple[float, float]:
        """Ends of the axis across."""
        return _LEFT, WIDTH - _RIGHT

    @property
    def up(self) -> tuple[float, float]:
        """Ends of the axis up: lower end first."""
        return self.top + self.height - _BOTTOM, self.top + _TOP

    def axes(self, across: Axis, up: Axis, names: tuple[str, str]) -> Iterator[str]:
        """Grid and names of both axes.

        Args:
            across: The axis across.
            up: The axis up.
            names: What both are.
        """
        (left, right), (low, high) = self.across, self.up
        for value in across.ticks():
            x = across.at(value)
            yield line(x, high, x, low)
            yield text(x, low + 16, f"{value:,g}")
        for value in up.ticks():
            y = up.at(value)
            yield line(left, y, right, y)
            yield text(left - 6, y + 4, f"{value:,g}", "end")
        yield text((left + right) / 2, self.top + self.height - 8, names[0])
        yield text(8, self.top + 12, names[1], "start")


def shares(rows: Mapping[str, Mapping[str, float]], left: float) -> Drawing:
    """Bars of one length, each cut into shares, and what their colours are.

    Args:
        rows: Bar -> name -> its part of the bar.
        left: Where bars begin.
    """
    of_name = colours(name for row in rows.values() for name in row)
    parts, y = [], 8.0
    for row, own in rows.items():
        x, whole = left, sum(own.values()) or 1
        parts.append(text(4, y + 15, row, "start"))
        for name, share in own.items():
            wide = share / whole * (WIDTH - left - _RIGHT)
            label = escape(f"{name}: {share:,.6g}, {share / whole:.0%}")
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.0f}" width="{wide:.2f}" height="20" '
                f'fill="{of_name[name]}"><title>{label}</title></rect>'
            )
            x += wide
        y += 28
    return Drawing(y + 18 * len(of_name) + 4, [*parts, *legend(of_name, left, y)])
