"""Records as Markdown: a table, and below it the conditions that its rows name by number."""

from collections.abc import Sequence

from ringsmith.bench.records import Record, number


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
    right = {"paper", "ours", "ratio"}
    rules = ["---:" if name in right else "---" for name in shown]
    rows = [list(shown), rules, *map(list, zip(*shown.values(), strict=True))]
    return ["| " + " | ".join(row) + " |" for row in rows]


def _numbers(records: Sequence[Record]) -> list[int]:
    """For each record, the number of its conditions in the list below the table."""
    texts = list(dict.fromkeys(record.conditions for record in records))
    return [texts.index(record.conditions) + 1 for record in records]


def conditions(records: Sequence[Record]) -> list[str]:
    """What must be known of the numbers of a table, as it is numbered there."""
    texts = dict.fromkeys(record.conditions for record in records)
    return ["Conditions:", "", *(f"{n}. {text}." for n, text in enumerate(texts, 1))]
