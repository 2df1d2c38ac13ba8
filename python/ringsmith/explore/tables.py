"""What a terminal shows of a search."""

from collections.abc import Iterator

from rich.table import Table

from ringsmith.explore.points import Tried
from ringsmith.explore.search import Found, infeasible

_COLUMNS = ("design", "ms", "DSP", "LUT", "BRAM", "URAM", "GB/s")


def tables(found: Found, rows: int) -> Iterator[Table]:
    """The front, and what binds each operation of its fastest points."""
    shown = found.front[:rows]
    title = f"Front: {len(shown)} of {len(found.front)} designs, the fastest first"
    table = Table(title=title, title_justify="left")
    for name in _COLUMNS:
        table.add_column(name, justify="left" if name == "design" else "right", overflow="fold")
    for each in shown:
        table.add_row(*row(each))
    yield table
    binds = Table(title="What binds", title_justify="left")
    for name in ("design", "operation", "cycles", "ms", "binds", "cycles by themselves"):
        right = name in ("cycles", "ms")
        binds.add_column(name, justify="right" if right else "left", overflow="fold")
    for each in best_of_each(found):
        for operation, own in each.operations.items():
            bounds = ", ".join(f"{name} {count:,}" for name, count in own.bounds.items() if count)
            binds.add_row(
                each.name,
                operation,
                f"{own.cycles:,}",
                f"{own.milliseconds:.4g}",
                own.binds,
                bounds,
            )
    yield binds


def row(point: Tried) -> tuple[str, ...]:
    """A point's cells."""
    used = point.usage
    assert used is not None
    return (
        point.name,
        f"{point.milliseconds:.4g}",
        f"{used.dsps:,}",
        f"{used.luts:,}",
        f"{used.brams:,.1f}",
        f"{used.urams:,}",
        f"{point.gigabytes_per_second:,.0f}",
    )


def best_of_each(found: Found) -> list[Tried]:
    """The fastest design of each architecture, on the front or not."""
    return [own[0] for own in found.fronts.values() if own]


def lines(found: Found) -> Iterator[str]:
    """What else is to be said: counts, reasons, architectures that cannot."""
    feasible = sum(each.feasible for each in found.points)
    counts = ", ".join(f"{count} {kind}" for kind, count in infeasible(found.points).items())
    yield (
        f"{len(found.points)} points tried: {feasible} can be taken"
        f"{f'; not: {counts}' if counts else ''}"
    )
    for name in found.request.architectures:
        own = [p for p in found.points if p.architecture == name and p.kind == "capacity"]
        if own:
            yield f"{name}: the first point that is too large, {own[0].name}: {own[0].reason}"
    for name, reason in found.refused.items():
        yield f"{name}: {reason}"
    if found.left:
        yield f"{found.left} points were left out by --limit"
