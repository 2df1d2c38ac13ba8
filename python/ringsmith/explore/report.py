"""What a search found, as a section of a Markdown page, in place of an earlier one like it."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from ringsmith import __version__
from ringsmith.explore.points import Tried
from ringsmith.explore.request import CPU, clock_mhz
from ringsmith.explore.search import Found, infeasible
from ringsmith.explore.tables import best_of_each, row
from ringsmith.markdown import table
from ringsmith.platforms import load_platform

_BUDGETS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
"""Shares of a platform's resource for which the fastest designs are compared."""

_ROWS = 6

_END = "<!-- end of section -->\n"


def section(found: Found, command: str, named: Sequence[Tried]) -> str:
    """The section.

    Args:
        found: What the search found.
        command: What was typed.
        named: Named designs to compare with.
    """
    parts = [f"## {_title(found)}\n", _heading(found, command), _counts(found)]
    several = len({each.architecture for each in found.front}) > 1
    if several:
        parts += [_who_wins(found, name) for name in ("DSP", "LUT", "RAM Mbit")]
    parts += [_fastest(found, named), _binds(found, named)]
    if CPU in found.host:
        parts.append(_gain(found))
    return "\n".join([*parts, _END])


def _title(found: Found) -> str:
    return f"{found.request.subject} on {load_platform(found.request.platform).card}"


def placed_in(page: str, text: str) -> str:
    """A page with a section, in place of the one of the same title or behind all others."""
    title = text.partition("\n")[0]
    old = re.compile(rf"^{re.escape(title)}\n.*?{re.escape(_END)}", re.MULTILINE | re.DOTALL)
    if old.search(page):
        return old.sub(lambda _: text, page, count=1)
    return f"{page.rstrip()}\n\n{text}" if page.strip() else text


def _heading(found: Found, command: str) -> str:
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    clocks = ", ".join(
        f"`{name}` at {clock_mhz(found.request, name):g} MHz"
        for name in found.request.architectures
    )
    return (
        f"Written on {date} by `{command}` (Ringsmith {__version__}). Assumed clocks: {clocks}. "
        "Cycles on this page are the model's. DSPs and RAMs are counted, LUTs estimated; nothing "
        "was placed or routed. Milliseconds are of all operations together.\n"
    )


def _counts(found: Found) -> str:
    rows = []
    for name in found.request.architectures:
        own = [each for each in found.points if each.architecture == name]
        if name in found.refused:
            rows.append([f"`{name}`", "–", "–", "–", found.refused[name]])
            continue
        no = infeasible(own)
        large = next((each for each in own if each.kind == "capacity"), None)
        why = "" if large is None else f"the first that is too large: {large.reason}"
        on_front = sum(each.architecture == name for each in found.front)
        counts = ", ".join(f"{count} {kind}" for kind, count in no.items()) or "–"
        rows.append([f"`{name}`", f"{len(own):,}", f"{on_front:,}", counts, why])
    heads = ("architecture", "points tried", "on the front", "cannot be taken", "why")
    return table(heads, rows)


def _who_wins(found: Found, name: str) -> str:
    """The fastest designs within shares of a resource, where a greater share has faster ones."""
    platform = load_platform(found.request.platform)
    whole = {
        "DSP": platform.whole.dsps,
        "LUT": platform.whole.luts,
        "RAM Mbit": (platform.whole.brams * 36 + platform.whole.urams * 288) / 1024,
    }[name]
    index = {"DSP": 1, "LUT": 2, "RAM Mbit": 3}[name]
    names = [each for each in found.request.architectures if each not in found.refused]
    rows: list[list[str]] = []
    for share in _BUDGETS:
        best = {}
        for architecture in names:
            own = [
                each.milliseconds
                for each in found.fronts[architecture]
                if each.objectives[index] <= share * whole
            ]
            if own:
                best[architecture] = min(own)
        winner = min(best, key=lambda each: best[each]) if best else "–"
        cells = [f"{best[each]:.3g}" if each in best else "–" for each in names]
        if not rows or cells != rows[-1][2:-1]:
            rows.append([f"{share:.0%}", f"{share * whole:,.0f}", *cells, f"`{winner}`"])
    heads = ("of the card", name, *(f"`{each}`, ms" for each in names), "fastest")
    return f"The fastest designs within a share of the card's {name}:\n\n{table(heads, rows)}"


def _fastest(found: Found, named: Sequence[Tried]) -> str:
    shown = [*found.front[:_ROWS]]
    shown += [each for each in best_of_each(found) if each not in shown]
    rows = [[f"`{cells[0]}`", *cells[1:], "yes"] for cells in map(row, shown)]
    rows += [
        [f"`{cells[0]}`, named", *cells[1:], "yes" if each.feasible else each.reason]
        for each in named
        for cells in [row(each)]
    ]
    heads = ("design", "ms", "DSP", "LUT", "BRAM", "URAM", "GB/s", "fits")
    count = f"{len(found.front)} designs are on the front; the fastest, and the fastest of each "
    return f"{count}architecture:\n\n{table(heads, rows)}"


def _binds(found: Found, named: Sequence[Tried]) -> str:
    rows = []
    for each in [*best_of_each(found), *named]:
        for name, own in each.operations.items():
            bounds = ", ".join(f"{what} {count:,}" for what, count in own.bounds.items() if count)
            rows.append([f"`{each.name}`", name, f"{own.cycles:,}", own.binds, bounds])
    heads = ("design", "operation", "cycles", "binds", "cycles of each by itself")
    return f"What binds:\n\n{table(heads, rows)}"


def _gain(found: Found) -> str:
    """Whether a device that needs a host is faster than that host alone."""
    rows = list(_gains(found))
    heads = (
        *("design", "operation", "CPU alone, ms", "in turn, ms", "of it host", "link", "device"),
        *("speedup", "speedup without host and link"),
    )
    return (
        "A device with a host, in turn, and the same CPU alone (processor time of one thread "
        f"of the machine that wrote this section):\n\n{table(heads, rows)}"
    )


def _gains(found: Found) -> Iterator[list[str]]:
    for name in found.host:
        points = [p for p in found.points if p.architecture == name and p.feasible]
        for each in sorted(points, key=lambda point: point.milliseconds)[:2]:
            for operation, own in each.operations.items():
                alone = found.host[CPU][operation]
                rate = own.cycles / own.milliseconds
                parts = [own.bounds.get(what, 0) / rate for what in ("host", "memory", "compute")]
                cells = [alone, own.milliseconds, *parts]
                without = f"{alone / parts[2]:.2f}" if parts[2] else "–"
                yield [
                    f"`{each.name}`",
                    operation,
                    *(f"{value:.3g}" for value in cells),
                    f"{alone / own.milliseconds:.2f}",
                    without,
                ]
