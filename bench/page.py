"""The page of a bench: one template for all, filled from records and from the papers' numbers.

``[page]`` in the bench's file has ``title``, ``learns`` (what its reader knows afterwards),
``text`` (paragraphs), ``left_out`` (patterns, each of records that it does not show) and
``sections``. A section makes one table of the records that match ``where`` and that no earlier
section took::

    [[page.sections]]
    title = "Cycles of operations"
    where = { metric = ["cycles"], design = ["medha*", "!medha: *"] }   # patterns; !: not these
    figures = { where = ["Table 5"] }          # numbers of the papers that get rows, too
    rows = ["design", "params"]              # fields of a record that name a row
    columns = ["operation"]                  # fields that name a column
    split = ", "                             # splits an operation: operation.0, operation.1, …
    headings = ["operation", "limbs"]        # of the rows' names, in place of the fields' names
    same = ["baseline"]                          # fields by which numbers of a cell may differ

Fields in neither must be the same in all records of a cell; those that are the same in the whole
section stand above the table. A paper's number stands in brackets behind ours, with ours over it;
ours is bold where it is worse.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from bench.papers import Figure, figures, not_compared, papers
from bench.record import SOURCES, Measurement, Record, number
from bench.run import Bench
from ringsmith.errors import ParameterError
from ringsmith.markdown import DASH, table_lines

FIELDS = ("design", "params", "operation", "metric", "baseline")
"""Fields that name rows and columns; ``source`` may, too."""

_WORDS: Mapping[str, str] = {"params": "parameters", "baseline": "compared with"}
"""Field -> how a page calls it; others by their name."""


class _Quoted(str):
    """The name of what a paper's number is of: no name of ours."""


_LOWER = (
    *("cycles", "microseconds", "milliseconds", "seconds"),
    *("dsp", "bram", "uram", "lut", "ff", "lutram"),
)
_HIGHER = ("products_per_ms", "per_second", "speedup")
_EQUAL = 0.01
"""Share by which two numbers differ at most that count as equal."""

_SHORT: Mapping[str, str] = {
    "cycles": "cycles",
    "milliseconds": "ms",
    "microseconds": "µs",
    "seconds": "s",
    "per_second": "per second",
    "gigabytes": "GB",
    "percent": "%",
    "megahertz": "MHz",
    "bytes": "bytes",
    "megabytes": "MB",
    "gigabytes_per_second": "GB/s",
    "megabytes_per_second": "MB/s",
    "square_millimeters": "mm²",
    "dollars": "US$",
    "products_per_ms": "products per ms",
}
"""Metric -> how a heading names it; others by their name."""


@dataclass(frozen=True)
class _Row:
    """What a table has a row or a cell of."""

    record: Record
    source: str


def page(bench: Bench, measurement: Measurement) -> str:
    """Returns the Markdown page of a measurement.

    Raises ParameterError if the layout has no section for a record, or does not fit the records.
    """
    layout, records = bench.page, measurement.records
    numbers = _Conditions()
    sections: list[str] = []
    hidden = layout.get("left_out", ())
    left = [each for each in records if not any(_matches(each, those) for those in hidden)]
    for section in layout["sections"]:
        chosen = [record for record in left if _matches(record, section.get("where", {}))]
        left = [record for record in left if record not in set(chosen)]
        rows = [_Row(record, record.source) for record in chosen]
        if chosen and "figures" in section:
            rows += [
                _Row(_as_record(figure), "paper")
                for paper in bench.papers
                for figure in figures(paper)
                if _matches(figure, section["figures"])
            ]
        if rows:
            sections += ["", f"## {section['title']}", "", *_section(section, rows, numbers)]
    if left:
        one = left[0]
        raise ParameterError(
            f"bench/cases/{bench.name}.toml: no section of the page takes {one.operation} "
            f"{one.metric} of {one.design}: write one"
        )
    lines = [*_opening(bench, measurement), *sections]
    lines += _missing(bench.papers, records)
    if numbers.texts:
        lines += ["", "## Conditions", "", "Numbers in square brackets name them.", ""]
        lines += [f"{n}. {text}." for n, text in enumerate(numbers.texts, 1)]
    return "\n".join(lines) + "\n"


def _opening(bench: Bench, measurement: Measurement) -> list[str]:
    layout, records = bench.page, measurement.records
    lines = [
        f"# {layout['title']}",
        "",
        f"After reading this page you know {layout['learns']}. `{measurement.command}` wrote it "
        f"from the records in `bench/records/{bench.name}.jsonl`; do not edit it.",
    ]
    for text in layout.get("text", ()):
        lines += ["", text]
    used = dict.fromkeys(record.source for record in records)
    lines += ["", "Sources:", "", *(f"- `{name}`: {SOURCES[name]}." for name in used)]
    if compared := [record for record in records if record.ratio is not None]:
        judged = [gain for record in compared if (gain := _gain(record)) is not None]
        better, worse = (sum(map(test, judged)) for test in (_is_better, _is_worse))
        lines += [
            "",
            "In brackets: the paper's number, and ours over it. **Bold**: the paper's is better. "
            f"Of {len(judged)} numbers of our designs, {better} are better than the paper's, "
            f"{worse} are worse, and {len(judged) - better - worse} are equal within "
            f"{_EQUAL:.0%}.",
            "",
        ]
        for name in dict.fromkeys(record.paper for record in compared):
            lines.append(f"- `{name}`: {papers()[name].title}. {papers()[name].conditions}.")
    return lines


def _as_record(figure: Figure) -> Record:
    """A paper's number as one of whatever it is of."""
    whose = _Quoted(figure.baseline or f"the paper's ({figure.paper})")
    what = (figure.params, figure.operation, figure.metric, figure.value)
    return Record(whose, *what, "estimate", "", where=f"{figure.paper}, {figure.where}")


def _matches(each: Record | Figure, patterns: Mapping[str, Sequence[str]]) -> bool:
    for field, wanted in patterns.items():
        value = getattr(each, field)
        excluded = [pattern[1:] for pattern in wanted if pattern.startswith("!")]
        included = [pattern for pattern in wanted if not pattern.startswith("!")]
        if any(fnmatchcase(value, pattern) for pattern in excluded):
            return False
        if included and not any(fnmatchcase(value, pattern) for pattern in included):
            return False
    return True


class _Conditions:
    """Texts of conditions, numbered over the whole page."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def number(self, text: str) -> int:
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text) + 1

    def of(self, rows: Iterable[_Row]) -> str:
        found = {self.number(row.record.conditions) for row in rows if row.record.conditions}
        return ", ".join(map(str, sorted(found)))


def _section(section: Mapping[str, Any], rows: Sequence[_Row], numbers: _Conditions) -> list[str]:
    """A section's text, what all of its records have in common, and its table."""
    named, columns = tuple(section["rows"]), tuple(section["columns"])
    split = section.get("split", "")
    own = [row for row in rows if row.source != "paper"]
    common = _common(own, {field.partition(".")[0] for field in (*named, *columns)})
    cells: dict[tuple[str, ...], dict[tuple[str, ...], list[_Row]]] = {}
    for row in rows:
        key = tuple(_field(row.record, field, split) for field in named)
        column = tuple(_field(row.record, field, split) for field in columns)
        cells.setdefault(key, {}).setdefault(column, []).append(row)
    for each in (cell for found in cells.values() for cell in found.values()):
        _check_cell(section["title"], each, section.get("same", ()))
    headings = list(dict.fromkeys(column for found in cells.values() for column in found))
    of_row = {key: numbers.of(r for c in found.values() for r in c) for key, found in cells.items()}
    of_column = {
        heading: {numbers.of(found[heading]) for found in cells.values() if heading in found}
        for heading in headings
    }
    titles = {heading: _heading(columns, heading) for heading in headings}
    used = {number for found in of_column.values() for number in found}
    several = len(set(of_row.values())) > 1
    if len(used) > 1 and all(len(found) == 1 for found in of_column.values()):
        several = False
        notes = {h: min(of_column[h]) for h in headings}
        titles = {h: f"{titles[h]} [{notes[h]}]" if notes[h] else titles[h] for h in headings}
    elif not several and (only := of_row[next(iter(of_row))]):
        common.append(f"conditions [{only}]")
    lines = []
    for key, found in cells.items():
        line = [_name(field, value) for field, value in zip(named, key, strict=True)]
        line += [_cell(found[heading]) if heading in found else DASH for heading in headings]
        lines.append([*line, f"[{of_row[key]}]" if of_row[key] else ""] if several else line)
    text = [section["text"], ""] if "text" in section else []
    if common:
        words = "; ".join(common)
        text += [f"{words[0].upper()}{words[1:]}.", ""]
    if where := dict.fromkeys(_where(row.record.where) for row in rows if row.record.where):
        text += [f"The paper's numbers: {'; '.join(where)}.", ""]
    first = section.get("headings") or [_WORDS.get(field, field) for field in named]
    head = [*first, *titles.values(), *(["conditions"] if several else [])]
    return [*text, *table_lines(head, lines, {*first, "conditions"})]


def _where(text: str) -> str:
    """The place in a paper, and a note on the number in brackets."""
    place, _, note = text.partition("; ")
    return f"{place} ({note})" if note else place


def _common(rows: Sequence[_Row], named: Collection[str]) -> list[str]:
    """The fields that name neither rows nor columns and are the same in all records, in words."""
    found = []
    for field in FIELDS:
        values = {getattr(row.record, field) for row in rows}
        if field not in named and len(values) == 1 and (value := values.pop()):
            found.append(f"{_WORDS.get(field, field)} {_name(field, value)}")
    sources = dict.fromkeys(row.source for row in rows)
    return [*found, f"source {', '.join(f'`{name}`' for name in sources)}"]


def _check_cell(title: str, rows: Sequence[_Row], same: Collection[str]) -> None:
    """Refuses a cell of numbers that are not of the same thing.

    Raises ParameterError names the field that differs.
    """
    for field in FIELDS:
        values = list(dict.fromkeys(getattr(row.record, field) for row in rows))
        if len(values) > 1 and field not in same:
            raise ParameterError(
                f"page section {title!r}: {field} is {values[0]!r} and {values[1]!r} in one cell: "
                "name it in rows or columns"
            )


def _field(record: Record, field: str, split: str) -> str:
    """A field of a record, or a part of its operation."""
    name, _, part = field.partition(".")
    value: str = getattr(record, name)
    if not part:
        return value
    parts = value.split(split)
    if len(parts) > 3 and split == ", ":
        parts = [*parts[:2], split.join(parts[2:])]
    return parts[int(part)] if int(part) < len(parts) else ""


def _name(field: str, value: str) -> str:
    if field == "metric":
        return _SHORT.get(value, value)
    if not value:
        return DASH
    return f"`{value}`" if field == "design" and not isinstance(value, _Quoted) else value


def _heading(columns: Sequence[str], values: Sequence[str]) -> str:
    shown = [_name(field, value) for field, value in zip(columns, values, strict=True) if value]
    return ", ".join(shown) or "number"


def _cell(rows: Sequence[_Row]) -> str:
    """Numbers of one place of a table, which differ in source or paper alone."""
    own = dict.fromkeys(row.record.value for row in rows)
    shown = " / ".join(map(number, own))
    if any((gain := _gain(row.record)) is not None and _is_worse(gain) for row in rows):
        shown = f"**{shown}**"
    theirs = [
        f"({number(row.record.paper_value)}; {row.record.ratio:.3g})"
        for row in rows
        if row.record.ratio is not None
    ]
    return " ".join([shown, *dict.fromkeys(theirs)])


def _gain(record: Record) -> float | None:
    """How many times as good ours is as the paper's; None where neither is the better one.

    Variants of a design are not judged, nor what depends on this machine's processor.
    """
    if record.ratio is None or record.source == "cpu" or ": " in record.design:
        return None
    if "on this CPU" in record.conditions or record.metric not in (*_LOWER, *_HIGHER):
        return None
    if record.metric in _HIGHER:
        return record.ratio
    return 1 / record.ratio if record.ratio else 2.0


def _is_better(gain: float) -> bool:
    return gain > 1 + _EQUAL


def _is_worse(gain: float) -> bool:
    return gain < 1 - _EQUAL


def _missing(names: Iterable[str], records: Iterable[Record]) -> list[str]:
    """The papers' numbers of their own accelerators that ours are not compared with."""
    groups: dict[tuple[str, str], dict[str, list[str]]] = {}
    for figure in not_compared(names, records):
        of = groups.setdefault((figure.paper, figure.params), {})
        metric = _SHORT.get(figure.metric, figure.metric)
        if metric not in of.setdefault(figure.operation, []):
            of[figure.operation].append(metric)
    if not groups:
        return []
    same: dict[tuple[str, str], list[str]] = {}
    for (paper, params), found in groups.items():
        items = ", ".join(f"{name} ({', '.join(metrics)})" for name, metrics in found.items())
        same.setdefault((paper, items), []).append(params)
    lines = ["", "## The papers' numbers without one of ours", ""]
    for (paper, items), sets in same.items():
        lines.append(f"- `{paper}`, {', '.join(sets)}: {items}.")
    return lines
