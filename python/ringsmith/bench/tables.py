"""What all pages of benches have: an opening, tables of records, and their conditions by number."""

from collections.abc import Sequence

from ringsmith.bench.records import Measurement, Record, number
from ringsmith.markdown import table_lines

_NUMBERS = ("paper", "ours", "ratio")
"""Headings of columns of numbers."""


def opening(title: str, known: str, measurement: Measurement, more: str = "") -> list[str]:
    """The first lines of a page.

    Args:
        title: The page's.
        known: What its reader knows afterwards.
        measurement: What the page is written from.
        more: What follows in the same paragraph.
    """
    words = f"After reading this page you know {known}. `{measurement.command}` wrote it; do not "
    words += "edit it."
    if " --json " in measurement.command:
        words += " The file of `--json` has the same records."
    return [f"# {title}", "", f"{words} {more}".rstrip()]


def table(records: Sequence[Record]) -> list[str]:
    """A Markdown table; columns that say nothing here are left out."""
    columns = {
        "design": [f"`{r.design}`" for r in records],
        "parameters": [r.params for r in records],
        "operation": [r.operation for r in records],
        "counted": [r.metric for r in records],
        "of or over": [r.peer for r in records],
        "paper": [number(r.paper_value) for r in records],
        "ours": [number(r.value) for r in records],
        "ratio": ["–" if r.ratio is None else f"{r.ratio:.3f}" for r in records],
        "source": [r.source for r in records],
        "in the paper": [f"{r.paper}: {r.where}" if r.where else "" for r in records],
        "conditions": [str(n) for n in _numbers(records)],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    rows = zip(*shown.values(), strict=True)
    return table_lines(list(shown), list(rows), shown.keys() - _NUMBERS)


def _numbers(records: Sequence[Record]) -> list[int]:
    """For each record, the number of its conditions in the list below the table."""
    texts = list(dict.fromkeys(record.conditions for record in records))
    return [texts.index(record.conditions) + 1 for record in records]


def conditions(records: Sequence[Record]) -> list[str]:
    """What must be known of the numbers of a table, as it is numbered there."""
    texts = dict.fromkeys(record.conditions for record in records)
    return ["Conditions:", "", *(f"{n}. {text}." for n, text in enumerate(texts, 1))]
