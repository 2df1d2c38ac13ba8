"""Draws the pictures of the documentation: ``python docs/pictures/draw.py`` writes them again.

A picture is boxes and arrows in a grid of 760 units across. A test compares the files with what
this script draws, and checks that every label fits its box.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

from ringsmith.svg import COLOURS, Drawing

FOLDER = Path(__file__).parent
LETTER, SMALL = 6.6, 5.6
"""Width of a letter of a box's first line, and of its other lines."""

BLUE, ORANGE, GREEN, PURPLE = COLOURS[:4]


@dataclass(frozen=True)
class Box:
    """A box with a label.

    Attributes:
        x, y: Its upper left corner.
        width, height: Its size.
        lines: Its label: the first line, and smaller ones below it.
        colour: Of its ground; empty: that of the text.
        group: Whether it holds other boxes: the label is at its top.
    """

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    colour: str = ""
    group: bool = False

    @property
    def left(self) -> tuple[float, float]:
        """The middle of its left side."""
        return self.x, self.y + self.height / 2

    @property
    def right(self) -> tuple[float, float]:
        """The middle of its right side."""
        return self.x + self.width, self.y + self.height / 2

    @property
    def top(self) -> tuple[float, float]:
        """The middle of its upper side."""
        return self.x + self.width / 2, self.y

    @property
    def bottom(self) -> tuple[float, float]:
        """The middle of its lower side."""
        return self.x + self.width / 2, self.y + self.height

    def needs(self) -> float:
        """The width that its label takes."""
        first, *others = self.lines
        return max(len(first) * LETTER, *(len(line) * SMALL for line in others), 0) + 8

    def draw(self) -> Iterator[str]:
        """Its parts."""
        fill = self.colour or "currentColor"
        yield (
            f'<rect x="{self.x:.1f}" y="{self.y:.1f}" width="{self.width:.1f}" '
            f'height="{self.height:.1f}" rx="5" fill="{fill}" '
            f'fill-opacity="{0.07 if self.group else 0.18}" stroke="{fill}" stroke-opacity="0.8"/>'
        )
        height = 13.0 * len(self.lines)
        first = self.y + (17 if self.group else (self.height - height) / 2 + 11)
        for number, line in enumerate(self.lines):
            small = ' font-size="10.5" opacity="0.8"' if number else ""
            yield (
                f'<text x="{self.x + self.width / 2:.1f}" y="{first + 13 * number:.1f}" '
                f'text-anchor="middle"{small}>{escape(line)}</text>'
            )


Point = tuple[float, float]


def arrow(*points: Point, label: str = "") -> Iterator[str]:
    """A line through points, with a head at its end, and words above its middle."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield f'<polyline points="{path}" fill="none" stroke="currentColor" stroke-width="1.4"/>'
    (x0, y0), (x, y) = points[-2:]
    if abs(x - x0) >= abs(y - y0):
        back = -7 if x > x0 else 7
        corners = f"{x:.1f},{y:.1f} {x + back:.1f},{y - 4:.1f} {x + back:.1f},{y + 4:.1f}"
    else:
        back = -7 if y > y0 else 7
        corners = f"{x:.1f},{y:.1f} {x - 4:.1f},{y + back:.1f} {x + 4:.1f},{y + back:.1f}"
    yield f'<polygon points="{corners}"/>'
    if label:
        (x1, y1), (x2, y2) = points[0], points[1]
        yield (
            f'<text x="{(x1 + x2) / 2:.1f}" y="{(y1 + y2) / 2 - 5:.1f}" text-anchor="middle" '
            f'font-size="10.5" opacity="0.8">{escape(label)}</text>'
        )


@dataclass(frozen=True)
class Picture:
    """A picture.

    Attributes:
        title: Its title.
        height: How far down it goes.
        boxes: Its boxes, groups first.
        arrows: Their points; with words, which come last.
    """

    title: str
    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[tuple[tuple[Point, ...], str], ...]

    def file(self) -> str:
        """The picture as a file."""
        parts = [part for box in self.boxes for part in box.draw()]
        parts += [part for points, label in self.arrows for part in arrow(*points, label=label)]
        return Drawing(self.height, parts).file(self.title)


def _straight(*boxes: Box) -> tuple[tuple[tuple[Point, ...], str], ...]:
    """Arrows from each box to the next one at its right."""
    pairs = pairwise(boxes)
    return tuple(((one.right, other.left), "") for one, other in pairs)


def two_ways() -> Picture:
    """The program's way and the design's way through the software."""
    function = Box(16, 30, 118, 44, ("Python function", "or HEIR, SEAL"), BLUE)
    graph = Box(164, 30, 118, 44, ("HE graph", "trace, plan"), BLUE)
    subroutines = Box(312, 30, 132, 44, ("subroutine graph", "lower"), BLUE)
    instructions = Box(474, 30, 118, 44, ("instructions", "compile"), BLUE)
    design = Box(16, 196, 118, 44, ("design file", "parameters, TOML"), ORANGE)
    explore = Box(16, 262, 118, 40, ("explore", "program + card"), ORANGE)
    rtl = Box(312, 196, 132, 44, ("SystemVerilog", "generate, verilog"), ORANGE)
    cost = Box(164, 196, 118, 44, ("cost model", "cycles, area"), ORANGE)
    card = Box(474, 262, 118, 40, ("bitstream, card", "synth, bitstream"), ORANGE)
    devices = Box(464, 98, 280, 148, ("devices: equal residues on all",), GREEN, group=True)
    cpu = Box(474, 124, 80, 50, ("cpu", "interpreter"), GREEN)
    model = Box(564, 124, 80, 50, ("model", "cycle-exact"), GREEN)
    simulated = Box(654, 124, 80, 50, ("rtl", "Verilator"), GREEN)
    runtime = Box(474, 188, 260, 44, ("runtime", "queue, keys, driver, service"), GREEN)
    return Picture(
        "From a program and a design to a result",
        318,
        (
            devices,
            *(function, graph, subroutines, instructions, design, explore, cost, rtl, card),
            *(cpu, model, simulated, runtime),
        ),
        (
            *_straight(function, graph, subroutines, instructions),
            ((subroutines.bottom, (378, 149), cpu.left), ""),
            (((560, 74), (560, 98)), ""),
            ((design.right, cost.left), ""),
            ((cost.right, rtl.left), ""),
            ((cost.top, (223, 87), (500, 87), (500, 74)), ""),
            ((explore.top, design.bottom), ""),
            ((rtl.right, (464, 218)), ""),
            ((rtl.bottom, (378, 282), card.left), ""),
        ),
    )


def rpau() -> Picture:
    """The datapath of an RPAU."""
    unit = Box(150, 76, 460, 238, ("RPAU: one or several primes",), BLUE, group=True)
    controller = Box(
        150,
        14,
        460,
        40,
        ("program controller", "one instruction at a time, issued to a mask of RPAUs"),
        PURPLE,
    )
    work = Box(
        166,
        104,
        196,
        60,
        ("work polynomials", "banks, two ports each", "2 x cores words a row"),
        GREEN,
    )
    keys = Box(
        398,
        104,
        196,
        60,
        ("key store and constants", "b parts; a parts from seeds", "(Trivium)"),
        GREEN,
    )
    main = Box(
        166,
        196,
        196,
        56,
        ("main unit", "butterfly cores: NTT, INTT,", "automorphism, broadcast"),
        ORANGE,
    )
    dyadic = Box(
        398,
        196,
        196,
        56,
        ("dyadic unit", "multiply, add, accumulate", "next to the main unit"),
        ORANGE,
    )
    link = Box(166, 270, 196, 32, ("link unit", "sends polynomials"), ORANGE)
    coefficient = Box(398, 270, 196, 32, ("coefficient unit", "words to the converters"), ORANGE)
    host = Box(14, 104, 100, 60, ("host port", "registers, DMA", "data path"))
    neighbours = Box(14, 258, 100, 44, ("other RPAUs", "ring or gather"))
    converters = Box(646, 258, 100, 44, ("converters", "shared by all"))
    return Picture(
        "The datapath of an RPAU",
        328,
        (
            unit,
            *(
                controller,
                work,
                keys,
                main,
                dyadic,
                link,
                coefficient,
                host,
                neighbours,
                converters,
            ),
        ),
        (
            ((controller.bottom, (380, 76)), ""),
            ((host.right, work.left), ""),
            (((264, 164), (264, 196)), ""),
            (((310, 196), (310, 164)), ""),
            (((496, 164), (496, 196)), ""),
            (((430, 196), (430, 180), (340, 180), (340, 164)), ""),
            (((352, 164), (352, 186), (452, 186), (452, 196)), ""),
            ((link.left, (114, 286)), ""),
            (((114, 272), (140, 272), (140, 224), main.left), ""),
            ((coefficient.right, (646, 286)), ""),
        ),
    )


def stream() -> Picture:
    """The datapath of the streaming multiplier."""
    descriptor = Box(14, 20, 110, 44, ("descriptor", "prime, root, scale"), PURPLE)
    generator = Box(160, 20, 200, 44, ("factor generator", "w powers of psi a cycle"), PURPLE)
    banks = Box(396, 20, 220, 44, ("banks of factors", "in every stage of every NTT"), PURPLE)
    a = Box(14, 104, 70, 40, ("a", "w words"), BLUE)
    b = Box(14, 164, 70, 40, ("b", "w words"), BLUE)
    forward_a = Box(120, 104, 150, 40, ("forward NTT", "log2 N stages"), ORANGE)
    forward_b = Box(120, 164, 150, 40, ("forward NTT", "log2 N stages"), ORANGE)
    product = Box(308, 134, 84, 40, ("a b", "pointwise"), ORANGE)
    scale = Box(424, 134, 72, 40, ("scale", "1 / N"), ORANGE)
    inverse = Box(528, 134, 120, 40, ("inverse NTT", "log2 N stages"), ORANGE)
    result = Box(680, 134, 70, 40, ("product", "w words"), BLUE)
    return Picture(
        "The datapath of the streaming multiplier",
        218,
        (
            *(descriptor, generator, banks, a, b, forward_a, forward_b),
            *(product, scale, inverse, result),
        ),
        (
            *_straight(descriptor, generator, banks),
            *_straight(product, scale, inverse, result),
            ((a.right, forward_a.left), ""),
            ((b.right, forward_b.left), ""),
            ((forward_a.right, (289, 124), (289, 148), (308, 148)), ""),
            ((forward_b.right, (289, 184), (289, 160), (308, 160)), ""),
            (((416, 64), (416, 84), (195, 84), (195, 104)), ""),
            (((588, 64), (588, 134)), ""),
        ),
    )


def life() -> Picture:
    """The life of a program, from Python to RTL and back."""
    client = Box(14, 14, 210, 296, ("client: has the secret key",), BLUE, group=True)
    server = Box(262, 14, 484, 296, ("server: has the program, no secret key",), ORANGE, group=True)
    kit = Box(30, 44, 178, 40, ("client kit", "parameters, packing, key needs"), BLUE)
    generated = Box(30, 102, 178, 40, ("generate_keys", "secret, public, evaluation"), BLUE)
    encrypt = Box(30, 160, 178, 40, ("encrypt", "pack, encode, encrypt"), BLUE)
    decrypt = Box(30, 258, 178, 40, ("decrypt", "decrypt, decode, unpack"), BLUE)
    trace = Box(278, 44, 136, 40, ("trace", "function to HE graph"), ORANGE)
    plan = Box(436, 44, 136, 40, ("plan", "levels, scales, keys"), ORANGE)
    lower = Box(594, 44, 136, 40, ("lower", "subroutine graph"), ORANGE)
    compiled = Box(594, 116, 136, 40, ("compile", "schedule, allocate"), ORANGE)
    keys = Box(278, 116, 136, 40, ("evaluation keys", "stay on the server"), GREEN)
    load = Box(436, 160, 136, 40, ("load", "program, keys, inputs"), GREEN)
    run = Box(594, 196, 136, 48, ("run", "RTL, model or cpu", "cycles counted"), GREEN)
    results = Box(436, 258, 136, 40, ("read results", "ciphertexts"), GREEN)
    return Picture(
        "The life of a program: from Python to RTL and back",
        324,
        (
            *(client, server, kit, generated, encrypt, decrypt, trace, plan, lower, compiled),
            *(keys, load, run, results),
        ),
        (
            *_straight(trace, plan, lower),
            ((trace.left, kit.right), ""),
            ((kit.bottom, generated.top), ""),
            ((generated.bottom, encrypt.top), ""),
            (((208, 130), (278, 136)), ""),
            ((lower.bottom, compiled.top), ""),
            (((346, 156), (346, 172), (436, 172)), ""),
            (((208, 188), (436, 188)), ""),
            (((616, 156), (616, 180), (572, 180)), ""),
            (((504, 200), (504, 220), (594, 220)), ""),
            (((662, 244), (662, 278), results.right), ""),
            ((results.left, decrypt.right), ""),
        ),
    )


PICTURES: Mapping[str, Callable[[], Picture]] = {
    "two-ways.svg": two_ways,
    "rpau.svg": rpau,
    "stream.svg": stream,
    "life.svg": life,
}


def main() -> None:
    """Writes all pictures."""
    for name, make in PICTURES.items():
        (FOLDER / name).write_text(make().file())


if __name__ == "__main__":
    main()
