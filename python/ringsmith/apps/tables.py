"""Tables that applications print: what a program took, where its cycles went, single operations."""

from collections.abc import Collection, Iterable, Sequence

from rich.table import Table

from ringsmith.apps.breakdown import Share
from ringsmith.apps.conditions import ASSUMED_HZ, seconds_at_assumed_clock
from ringsmith.apps.layers import Layer
from ringsmith.apps.operations import OperationRow
from ringsmith.backends.base import Executable
from ringsmith.runtime import RunResult

CLOCK = f"at {ASSUMED_HZ / 1e6:.0f} MHz (assumed)"
"""Of tables at the usual clock."""


def rows_table(
    title: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    text: Collection[str] = (),
) -> Table:
    """Returns a table of rows.

    Args:
        title: Of the table.
        headings: Of the columns.
        rows: As many cells as there are headings, each.
        text: The headings of columns of text; all others are right-aligned.
    """
    table = Table(title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in text else "right")
    for row in rows:
        table.add_row(*row)
    return table


def some(count: int, shown: int = 8) -> range:
    """Returns about ``shown`` of ``count`` places, spread evenly, the first among them."""
    return range(0, count, max(1, count // shown))


def against(truth: str, guess: str) -> str:
    """Returns the truth, in another colour where the guess is not the same."""
    return truth if guess == truth else f"[yellow]{truth}[/yellow]"


def figures_table(title: str, rows: Iterable[tuple[str, str]]) -> Table:
    """Returns figures and their values, one a row."""
    table = Table(title=title, title_justify="left", show_header=False)
    table.add_column("figure")
    table.add_column("value", justify="right")
    for row in rows:
        table.add_row(*row)
    return table


def program_table(
    device: str,
    result: RunResult,
    executable: Executable | None,
    equal_bits: bool | None,
    seal_seconds: float | None = None,
    cpu_seconds: float | None = None,
    hz: float = ASSUMED_HZ,
) -> Table:
    """Returns what the whole encrypted program took.

    Args:
        device: Name of the device and its design.
        result: What ran.
        executable: Its schedule; None on the cpu device.
        equal_bits: Whether every residue equals the cpu device's; None: not compared.
        seal_seconds: SEAL's time for the same program; None: not measured.
        cpu_seconds: The cpu device's CPU time for it; None: not measured.
        hz: The clock at which cycles become seconds.
    """
    cycles, rows = result.cycles, []
    if equal_bits is not None:
        verdict = "[green]yes[/green]" if equal_bits else "[red]NO[/red]"
        rows.append(("every residue equal to the cpu device's", verdict))
    if result.instructions is not None:
        rows.append(("instructions", f"{result.instructions:,}"))
    if cycles is not None:
        rows.append(("cycles", f"{cycles:,}"))
    if executable is not None:
        rows.append(("cycles predicted by the scheduler", f"{executable.cycles:,}"))
    if cycles is not None:
        clock = f"time at {hz / 1e6:.0f} MHz (assumed)"
        rows.append((clock, _milliseconds(seconds_at_assumed_clock(cycles, hz))))
    if result.memory_read:
        moved = (result.memory_read / 2**20, result.memory_written / 2**20)
        rows.append(("MiB read from memory, and written", "{:,.1f}, {:,.1f}".format(*moved)))
    rows += [(f"{part} busy", f"{share:.1%}") for part, share in result.busy.items()]
    if seal_seconds is not None:
        seal = "Microsoft SEAL, same program, this CPU, 1 thread"
        rows.append((seal, _milliseconds(seal_seconds)))
    if cpu_seconds is not None:
        rows.append(("cpu device, same program, CPU time", _milliseconds(cpu_seconds)))
    return figures_table(f"The program on {device}", rows)


def breakdown_table(shares: Sequence[Share], total: int) -> Table:
    """Returns where the program's cycles went, as a table.

    Args:
        shares: From ``breakdown``.
        total: The program's cycles.
    """
    headings = ("operation", "times", "instructions", "cycles", "share")
    rows = [
        (
            share.operation,
            str(share.count),
            str(share.instructions),
            f"{share.cycles:,}",
            f"{share.cycles / total:.1%}",
        )
        for share in shares
    ]
    return rows_table("The program's cycles by operation", headings, rows, headings[:1])


def layers_table(found: Sequence[Layer]) -> Table:
    """Returns what each layer takes."""
    total = sum(layer.cycles or 0 for layer in found)
    headings = ("layer", "HE operations", "key switchings", "cycles", "share")
    rows = [
        (
            layer.name,
            f"{layer.operations:,}",
            str(layer.key_switchings),
            f"{layer.cycles or 0:,}",
            f"{(layer.cycles or 0) / (total or 1):.1%}",
        )
        for layer in found
    ]
    operations = sum(layer.operations for layer in found)
    switchings = sum(layer.key_switchings for layer in found)
    rows.append(("all", f"{operations:,}", str(switchings), f"{total:,}", ""))
    shown = len(headings) if total else 3  # without a design there are no cycles
    cells = (row[:shown] for row in rows)
    return rows_table("Layers", headings[:shown], cells, headings[:1])


def operations_table(rows: Sequence[OperationRow], design: str) -> Table:
    """Returns single operations as a table."""
    headings = ("operation", "instructions", "cycles", CLOCK, "SEAL, this CPU, 1 thread")
    cells = [
        (
            row.name,
            f"{row.instructions:,}",
            f"{row.cycles:,}",
            _milliseconds(row.seconds),
            "–" if row.seal_seconds is None else _milliseconds(row.seal_seconds),
        )
        for row in rows
    ]
    title = f"Single operations on {design}, {rows[0].limbs} limbs"
    return rows_table(title, headings, cells, headings[:1])


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"
