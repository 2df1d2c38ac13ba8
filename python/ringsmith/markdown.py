"""Tables as Markdown."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime

DASH = "–"
"""What stands where there is no number."""
NOT_RUN = "not run"
_NOTHING = (DASH, NOT_RUN)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is text, and all others numbers, right-aligned."""
    return "".join(f"{line}\n" for line in table_lines(headings, rows))


def table_lines(
    headings: Sequence[str], rows: Iterable[Sequence[str]], text: Collection[str] | None = None
) -> list[str]:
    """The lines of a table.

    Args:
        headings: Of the columns.
        rows: As many cells as there are headings, each.
        text: The headings of columns of text; None: the first. All others are right-aligned.
    """
    words = headings[:1] if text is None else text
    rules = ["---" if heading in words else "---:" for heading in headings]
    return ["| " + " | ".join(row) + " |" for row in (headings, rules, *rows)]


MEASURED = "measured"
"""Heading of the last column of a table whose rows are measured at different times."""


def measured(there: bool) -> str:
    """Returns the cell below ``MEASURED``: today's date, where a row was measured; else a dash."""
    return datetime.now(UTC).strftime("%Y-%m-%d") if there else DASH


def keep_measured(text: str, earlier: str) -> str:
    """Fills rows that were not measured from an earlier page, where they have a date there.

    Such a row takes the earlier cells in place of its dashes, if all its other cells are those of
    the earlier row, and the tables have the same headings.
    """
    known = {key: cells for key, cells, _ in _rows(earlier) if cells[-1] != DASH}
    lines = text.split("\n")
    for key, cells, number in _rows(text):
        before = known.get(key)
        if before is None or cells[-1] != DASH:
            continue
        filled = [old if new in _NOTHING else new for new, old in zip(cells, before, strict=True)]
        if filled == before:
            lines[number] = f"| {' | '.join(filled)} |"
    return "\n".join(lines)


def _rows(text: str) -> Iterator[tuple[tuple[str, str], list[str], int]]:
    """Rows of tables that end with ``MEASURED``: headings and first cell, cells, line."""
    headings = ""
    for number, line in enumerate(text.split("\n")):
        if not line.startswith("| "):
            headings = ""
        elif line.endswith(f"| {MEASURED} |"):
            headings = line
        elif headings and not line.startswith("| ---"):
            cells = line.removeprefix("| ").removesuffix(" |").split(" | ")
            yield (headings, cells[0]), cells, number


def comparison(counts: Sequence[int] | None) -> list[str]:
    """Cells of what was compared with the RTL, first how often; None: it did not run."""
    return [NOT_RUN, *[DASH] * 3] if counts is None else [f"{count:,}" for count in counts]
