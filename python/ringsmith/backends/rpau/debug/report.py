"""What ``ringsmith trace`` prints: where the cycles go, and a line an instruction."""

from collections.abc import Iterator

from rich.markup import escape
from rich.table import Table

from ringsmith.backends.rpau.debug.summary import Gap, busy_cycles, gaps, shares
from ringsmith.backends.rpau.debug.trace import Event, Trace
from ringsmith.backends.rpau.isa.instruction_set import CONTROL, ISA


def tables(trace: Trace, gap_count: int = 8) -> Iterator[Table]:
    """The summary of a trace as tables: operations, units, the largest idle gaps.

    Args:
        trace: The program in time.
        gap_count: How many gaps to list.
    """
    yield _operations(trace)
    yield _units(trace)
    yield _gaps(gaps(trace)[:gap_count])


def _operations(trace: Trace) -> Table:
    table = Table(title="Cycles by HE operation, on the critical path", title_justify="left")
    table.add_column("operation")
    for heading in ("times", "instructions", "cycles", "share", "unit cycles"):
        table.add_column(heading, justify="right")
    for share in shares(trace):
        table.add_row(
            share.operation,
            f"{share.count}" if share.count else "–",
            f"{share.instructions}" if share.instructions else "–",
            f"{share.critical_cycles:,}",
            f"{share.critical_cycles / trace.cycles:.1%}",
            f"{share.unit_cycles:,}" if share.unit_cycles else "–",
        )
    table.add_section()
    table.add_row("all", "", str(len(trace.events)), f"{trace.cycles:,}", "100.0%", "")
    return table


def _units(trace: Trace) -> Table:
    table = Table(title="Busy share of each unit", title_justify="left")
    table.add_column("RPAU", justify="right")
    units = ISA.units_of(trace.design)
    for unit in units:
        table.add_column(unit, justify="right")
    for rpau in range(trace.design.rpaus):
        busy = (busy_cycles(trace, rpau, unit) / trace.cycles for unit in units)
        table.add_row(str(rpau), *(f"{share:.1%}" for share in busy))
    return table


def _gaps(largest: list[Gap]) -> Table:
    table = Table(title="Largest idle gaps", title_justify="left")
    for heading in ("cycles", "from", "to"):
        table.add_column(heading, justify="right")
    for heading in ("unit", "RPAUs", "before", "why"):
        table.add_column(heading)
    for gap in largest:
        before = "–" if gap.before is None else f"#{gap.before.index}"
        table.add_row(
            f"{gap.cycles:,}",
            f"{gap.begin:,}",
            f"{gap.end:,}",
            gap.unit,
            ",".join(map(str, gap.rpaus)),
            before,
            escape(gap.reason),
        )
    return table


_HEADINGS = ("#", "cycle", "end", "unit", "HE operation", "waited for", "instruction")


def listing(trace: Trace) -> Iterator[str]:
    """The lines of the listing, headings first, without line ends.

    ``end`` is the first cycle in which the unit is idle again; ``waited for`` names the instruction
    whose end let this one issue, and is ``fetch`` where only the controller's pace did.
    """
    rows = [_HEADINGS, *(_row(event) for event in trace.events)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    for row in rows:
        numbers = [text.rjust(width) for text, width in zip(row[:3], widths[:3], strict=True)]
        words = [text.ljust(width) for text, width in zip(row[3:], widths[3:], strict=True)]
        yield "  ".join([*numbers, *words]).rstrip()


def _row(event: Event) -> tuple[str, ...]:
    return (
        str(event.index),
        str(event.start),
        "" if event.unit == CONTROL else str(event.end),
        event.unit,
        event.origin,
        "fetch" if event.blocker is None else f"#{event.blocker}",
        event.text,
    )
