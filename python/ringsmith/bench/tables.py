"""What all pages of benches have: an opening, tables of records, and their conditions by number."""

from collections.abc import Sequence

from ringsmith.backends.registry import REFERENCE
from ringsmith.bench.records import Measurement, Record, number
from ringsmith.markdown import table_lines

_NUMBERS = ("paper", "ours", "ratio")
"""Headings of columns of numbers."""

_LOWER = (
    *("cycles", "microseconds", "milliseconds", "seconds"),
    *("dsp", "bram", "uram", "lut", "ff", "lutram"),
    *("dsp_megacycles", "mbit_megacycles", "bram_megacycles", "lut_megacycles", "ff_megacycles"),
)
_HIGHER = ("products_per_ms", "per_second", "speedup")
_BETTER = {**dict.fromkeys(_LOWER, "lower"), **dict.fromkeys(_HIGHER, "higher")}
"""Metric -> which of two numbers is the better one; others are not judged."""

_EQUAL = 0.01
"""Share by which two numbers differ at most that count as equal."""


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
    columns = _columns(records)
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    rows = zip(*shown.values(), strict=True)
    return table_lines(list(shown), list(rows), shown.keys() - _NUMBERS)


def _columns(records: Sequence[Record]) -> dict[str, list[str]]:
    """Heading -> cells."""
    return {
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


def ahead(records: Sequence[Record]) -> list[str]:
    """The section with all comparisons that a paper wins, and how many it does not.

    Variants of a design are not judged, nor what depends on this machine's processor.
    """
    compared = [r for r in records if r.ratio is not None and _is_judged(r)]
    if not compared:
        return []
    gains = [(r, _gain(r)) for r in compared]
    ours = sum(gain > 1 + _EQUAL for _, gain in gains)
    papers = [r for r, gain in gains if gain < 1 - _EQUAL]
    text = (
        f"{len(compared)} numbers of our designs stand beside a paper's: {ours} are better, "
        f"{len(papers)} worse, and {len(compared) - ours - len(papers)} equal within {_EQUAL:.0%}."
    )
    lines = ["", "## Where the paper is ahead", "", f"{text} The worse ones:" if papers else text]
    if papers:
        columns = ("design", "parameters", "operation", "counted", "of or over", *_NUMBERS)
        found = _columns(papers)
        shown = {name: found[name] for name in columns if any(found[name])}
        rows = zip(*shown.values(), strict=True)
        lines += ["", *table_lines(list(shown), list(rows), shown.keys() - _NUMBERS)]
    return lines


def _is_judged(record: Record) -> bool:
    """Whether one of both numbers is the better one, and neither is of a processor."""
    here = record.source == REFERENCE or "on this CPU" in record.conditions
    return record.metric in _BETTER and ": " not in record.design and not here


def _gain(record: Record) -> float:
    """How many times as good ours is as the paper's."""
    better = record.ratio or 0.0
    return better if _BETTER[record.metric] == "higher" else 1 / better if better else 2.0


def _numbers(records: Sequence[Record]) -> list[int]:
    """For each record, the number of its conditions in the list below the table."""
    texts = list(dict.fromkeys(record.conditions for record in records))
    return [texts.index(record.conditions) + 1 for record in records]


def conditions(records: Sequence[Record]) -> list[str]:
    """What must be known of the numbers of a table, as it is numbered there."""
    texts = dict.fromkeys(record.conditions for record in records)
    return ["Conditions:", "", *(f"{n}. {text}." for n, text in enumerate(texts, 1))]
