"""What every benchmark yields: records of one form, printed as a table and written as JSON."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ringsmith.errors import InteropError
from ringsmith.files import write_whole

SOURCES = ("rtl", "model", "synthesis", "estimate", "cpu")
"""Where a value can come from."""


@dataclass(frozen=True)
class Record:
    """One measured number beside the one it is compared with.

    Attributes:
        paper: Whose number it stands beside: ``medha``, ``medha-2021``, …; empty: nobody's.
        design: The design, or what else was measured (``cpu``).
        params: The parameter set.
        operation: What was done: ``multiply_relinearize``, ``rescale``, ….
        metric: What was counted: ``cycles``, ``dsp``, ``milliseconds``, ``speedup``, ….
        unit: Its unit; empty for counts.
        paper_value: The paper's number; None: it gives none.
        value: Ours.
        source: One of ``SOURCES``.
        conditions: What must be known to compare the two, in words.
        peer: The other library that was measured in the same run, or whose number the paper
            quotes; empty: none.
        where: Table or section of the paper, and what must be known of its number; may be empty.
    """

    paper: str
    design: str
    params: str
    operation: str
    metric: str
    unit: str
    paper_value: float | None
    value: float
    source: str
    conditions: str
    peer: str = ""
    where: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours over the paper's; None where the paper gives none."""
        return self.value / self.paper_value if self.paper_value else None


def show(records: Sequence[Record], title: str, console: Console) -> None:
    """Prints records as a table."""
    table = Table(title=title, title_justify="left")
    peers = any(record.peer for record in records)
    table.add_column("parameters")
    table.add_column("operation")
    table.add_column("metric")
    for name in ("paper", "ours", "ratio"):
        table.add_column(name, justify="right")
    table.add_column("source")
    if peers:
        table.add_column("peer")
    for record in records:
        cells = [record.params, record.operation, " ".join((record.metric, record.unit)).strip()]
        cells += [number(record.paper_value), number(record.value), number(record.ratio)]
        cells += [record.source, *([record.peer] if peers else [])]
        table.add_row(*cells)
    console.print(table)
    for text in dict.fromkeys(record.conditions for record in records):
        console.print(f"  {text}", soft_wrap=True)


def number(value: float | None) -> str:
    """A number for people: thousands apart, three digits where it is small, a dash for none."""
    if value is None:
        return "–"
    if value == int(value) and abs(value) >= 10:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def write_json(records: Iterable[Record], path: Path) -> None:
    """Writes records as a JSON list; an existing file is replaced, whole or not at all.

    Raises:
        InteropError: When the file cannot be written.
    """
    text = json.dumps([asdict(record) for record in records], indent=1) + "\n"
    if path.is_dir():
        raise InteropError(f"{path}: is a folder: name a file")
    write_whole(path, text.encode(), overwrite=True)


def read_json(path: Path) -> tuple[Record, ...]:
    """Reads what ``write_json`` wrote.

    Raises:
        InteropError: When the file cannot be read, or holds no records.
    """
    try:
        return tuple(Record(**entry) for entry in json.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, ValueError, TypeError) as error:
        raise InteropError(f"{path}: no records can be read: {error}") from error
