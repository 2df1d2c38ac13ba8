"""A trace as tables and as text, for a terminal."""

from collections.abc import Iterator

from rich.table import Table

from ringsmith.backends.vector.debug.summary import shares, waits
from ringsmith.backends.vector.debug.trace import PARTS, Event, Trace

_HEADINGS = (
    "cluster", "#", "cycle", "end", "list", "HE operation", "waited for", "instruction",
)  # fmt: skip
_NUMBERS = 4
"""Of the headings stand above numbers."""


def tables(trace: Trace) -> Iterator[Table]:
    """HE operations, busy parts, and what list ``computing`` waits for."""
    yield _operations(trace)
    yield _parts(trace)
    yield _waits(trace)


def _operations(trace: Trace) -> Table:
    table = Table(title="Cycles by HE operation, from issue to issue", title_justify="left")
    table.add_column("operation")
    for heading in ("times", "instructions", "cycles", "share"):
        table.add_column(heading, justify="right")
    for share in shares(trace):
        table.add_row(
            share.operation,
            f"{share.count}" if share.count else "–",
            f"{share.instructions:,}" if share.instructions else "–",
            f"{share.cycles:,}",
            f"{share.cycles / max(1, trace.cycles):.1%}",
        )
    table.add_section()
    table.add_row("all", "", f"{trace.instructions:,}", f"{trace.cycles:,}", "100.0%")
    return table


def _parts(trace: Trace) -> Table:
    table = Table(title="Busy share of each part", title_justify="left")
    table.add_column("cluster", justify="right")
    for part in PARTS:
        table.add_column(part, justify="right")
    for cluster in range(len(trace.clusters)):
        table.add_row(str(cluster), *(f"{trace.busy(cluster, part):.1%}" for part in PARTS))
    return table


def _waits(trace: Trace) -> Table:
    table = Table(title="What list computing does in each cycle", title_justify="left")
    table.add_column("it works, or waits for")
    each = [waits(trace, cluster) for cluster in range(len(trace.clusters))]
    for cluster in range(len(each)):
        table.add_column(f"cluster {cluster}", justify="right")
        table.add_column("share", justify="right")
    for reason in dict.fromkeys(reason for found in each for reason in found):
        counts = [found.get(reason, 0) for found in each]
        if any(counts):
            cells = (
                cell
                for count in counts
                for cell in (f"{count:,}", f"{count / max(1, trace.cycles):.1%}")
            )
            table.add_row(reason, *cells)
    return table


def listing(trace: Trace) -> Iterator[str]:
    """Returns a line per instruction of all lists, in the order of their start; headings first.

    ``end`` is the first cycle in which its part of the cluster takes the next one.
    """
    events = sorted(
        (event for events in trace.clusters for event in events), key=lambda event: event.begin
    )
    rows = [_HEADINGS, *(_row(event) for event in events)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    for row in rows:
        cells = [
            text.rjust(width) if column < _NUMBERS else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _row(event: Event) -> tuple[str, ...]:
    return (
        str(event.cluster),
        str(event.index),
        str(event.begin),
        str(event.end),
        event.list_name,
        event.origin,
        event.waited,
        event.text,
    )
