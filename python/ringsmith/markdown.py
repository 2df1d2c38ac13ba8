"""Tables as Markdown."""

from collections.abc import Sequence


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is text, and all others numbers, right-aligned."""
    rules = ["---", *["---:"] * (len(headings) - 1)]
    lines = [" | ".join(row) for row in (headings, rules, *rows)]
    return "".join(f"| {line} |\n" for line in lines)


def comparison(counts: Sequence[int] | None) -> list[str]:
    """Cells of what was compared with the RTL, first how often; None: it did not run."""
    return ["not run", "–", "–", "–"] if counts is None else [f"{count:,}" for count in counts]
