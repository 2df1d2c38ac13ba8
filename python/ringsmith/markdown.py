"""Tables as Markdown."""

from collections.abc import Collection, Iterable, Sequence


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


def comparison(counts: Sequence[int] | None) -> list[str]:
    """Cells of what was compared with the RTL, first how often; None: it did not run."""
    return ["not run", "–", "–", "–"] if counts is None else [f"{count:,}" for count in counts]
