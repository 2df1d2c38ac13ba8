"""The page of a measurement, written from its records and from nothing else."""

from collections.abc import Sequence

from ringsmith.bench.beside import left_out
from ringsmith.bench.framework import network_page
from ringsmith.bench.framework.cases import HERTZ, OPERATIONS, PAPER
from ringsmith.bench.framework.networks import NETWORK_SETS
from ringsmith.bench.framework.resources import ANY, CARD, MEMORY
from ringsmith.bench.framework.use import PARTS
from ringsmith.bench.papers import AREA, Fact, facts, papers
from ringsmith.bench.records import Measurement, Record, number
from ringsmith.bench.tables import conditions, opening, table
from ringsmith.markdown import DASH, table_lines

_OPERATIONS = "Operations (table IV)"
_TIMES = "All times together (tables IV and V)"
_USE = "Use of the array (figure 9)"
_FIGURE = "Other sizes, and slower memory (figure 6)"
_FORMULA = "The paper's equations (section V)"
_RESOURCES = "Resources, estimated (table III)"
_NETWORKS = network_page.TITLE
_CPU = "The cpu device"

_INTRODUCTIONS = {
    _OPERATIONS: "A ratio is our time over the paper's. GB/s are all bytes that memory reads and "
    f"writes over the operation's time. The {CARD.card}'s high-bandwidth memory has a peak of "
    f"{CARD.hbm_gigabytes_per_second} GB/s; its {MEMORY.ports} ports of {MEMORY.port_bits} bits "
    f"carry {MEMORY.gigabytes_per_second:.0f} GB/s each way at {HERTZ / 1e6:.0f} MHz, a row of 256 "
    f"words a cycle, but in pauses: {MEMORY.read_pause} cycles of each {MEMORY.interval} where "
    f"they read, {MEMORY.write_pause} where they write ({MEMORY.source}).",
    _USE: "The share of cycles in which the array takes a row, in percent. The paper gives 100 for "
    "its transforms and for its other computing, in a figure and without waits. A row of a point "
    "instruction need not use all ALUs.",
    _FIGURE: "The paper's figure 6 has no numbers to compare. Its bandwidth is that of reading and "
    "writing together, and so it is here, one half each way. A row must move in a whole number of "
    "cycles, so 512 GB/s stands for its 460; lanes are a whole number of passes' bits, so 128 "
    "ALUs are two arrays of 64.",
    _FORMULA: "Milliseconds that the paper's estimator gives for arrays of its kind, beside table "
    "IV. It counts three cycles of an ALU for a butterfly, where an ALU of ours takes one. The "
    "paper says that the estimate is within 5 % of its designs. What it gives for Set-1 is several "
    "times table IV, whose set and design the paper does not name.",
    _NETWORKS: network_page.INTRODUCTION,
    _RESOURCES: "DSPs and RAMs are counted from the design's shapes. LUTs and flip-flops are "
    "estimated from blocks that Yosys synthesized for UltraScale+; [vector.md](vector.md) has the "
    "synthesis of whole clusters. What joins clusters to the card's memory and to the host is not "
    "in these numbers.",
}


def page(measurement: Measurement) -> str:
    """Returns ``docs/framework.md``, of at least one record."""
    records, paper = measurement.records, papers()[PAPER]
    names = ", ".join(f"`{ours}` is its {theirs}" for ours, theirs in OPERATIONS.items())
    lines = [
        *opening(
            "Framework, beside the paper",
            "the numbers that the Framework paper gives of its generated accelerators, ours for "
            "the same, and where both come from",
            measurement,
            "[vector.md](vector.md) describes the architecture, [parameters.md](parameters.md) the "
            "parameter sets.",
        ),
        "",
        "Sources: `model`, counted by the cycle-exact model; `estimate`, counted from shapes; "
        "`formula`, the paper's equations; `program`, counted in the HE program; `cpu`, measured "
        "on this machine's processor. Nothing was placed or routed, and the clock is assumed.",
        "",
        f"The paper's operations: {names}.",
        "",
        f"- `{PAPER}`: {paper.title}. {paper.conditions}.",
    ]
    for title, chosen in _sections(records).items():
        lines += ["", f"## {title}", "", *_introduced(title), *_table(title, chosen)]
    return "\n".join([*lines, "", "## Not measured", "", *_missing(records)]) + "\n"


def _sections(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Records by the titles of their sections, those that have some."""
    order = (_OPERATIONS, _TIMES, _USE, _FIGURE, _NETWORKS, _FORMULA, _RESOURCES, _CPU)
    found: dict[str, list[Record]] = {title: [] for title in order}
    for record in records:
        found[_section(record)].append(record)
    found[_TIMES] = [r for r in found[_OPERATIONS] if r.metric == "milliseconds"]
    return {title: chosen for title, chosen in found.items() if chosen}


def _section(record: Record) -> str:
    """The title of a record's section."""
    if record.params in NETWORK_SETS:
        return _NETWORKS
    if record.source == "formula":
        return _FORMULA
    if record.params == ANY:
        return _RESOURCES
    if record.peer:
        return _CPU
    if ": " in record.design:
        return _FIGURE
    return _USE if record.metric == "percent" else _OPERATIONS


def _introduced(title: str) -> list[str]:
    text = _INTRODUCTIONS.get(title)
    return [text, ""] if text else []


def _table(title: str, records: Sequence[Record]) -> list[str]:
    """A section's table, and what must be known of it."""
    if title == _TIMES:
        return _all_times(records)
    if title == _NETWORKS:
        return network_page.tables(records)
    if title == _USE:
        parts = (f"- {_heading(part)}: {text}." for part, text in PARTS.items())
        return [*_use(records), "", *parts]
    if title == _FORMULA:
        return [*_formula(records), "", *conditions(records)]
    lines = _wide(records) if title in (_OPERATIONS, _FIGURE) else table(records)
    return [*lines, "", *conditions(records)]


# ---- tables of a row for several records -------------------------------------------------------


_COLUMNS = {
    "cycles": "cycles",
    "milliseconds": "ms",
    "bytes": "MB moved",
    "bytes_read": "MB read",
    "bytes_written": "MB written",
    "gigabytes_per_second": "GB/s",
}
"""Metric -> its column of a table of operations."""


def _wide(records: Sequence[Record]) -> list[str]:
    """A row for each program, with all that was counted of it."""
    rows: dict[tuple[str, str, str], dict[str, Record]] = {}
    for record in records:
        rows.setdefault((record.params, record.operation, record.design), {})[record.metric] = (
            record
        )
    texts = list(dict.fromkeys(record.conditions for record in records))
    shown = [metric for metric in _COLUMNS if any(metric in row for row in rows.values())]
    compared = any(row["milliseconds"].paper_value for row in rows.values())
    lines = []
    for (params, operation, design), row in rows.items():
        time = row["milliseconds"]
        cells = [params, operation, f"`{design}`"]
        cells += [_number(row[metric]) if metric in row else DASH for metric in shown]
        cells += [number(time.paper_value), number(time.ratio)] if compared else []
        lines.append([*cells, str(texts.index(time.conditions) + 1)])
    headings = ["parameters", "operation", "design", *(_COLUMNS[metric] for metric in shown)]
    headings += ["paper, ms", "ratio"] if compared else []
    text = ("parameters", "operation", "design", "conditions")
    return table_lines([*headings, "conditions"], lines, text)


def _number(record: Record) -> str:
    """A record's number in the unit of its column."""
    return number(record.value / 1e6 if record.unit == "B" else record.value)


def _use(records: Sequence[Record]) -> list[str]:
    """A row for each program, with a column for each kind of use."""
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for record in records:
        operation, _, part = record.operation.partition(": ")
        row = rows.setdefault((record.params, operation, record.design), {})
        row[part] = f"{record.value:.1f}"
    return table_lines(
        ["parameters", "operation", "design", *map(_heading, PARTS)],
        [
            [params, operation, f"`{design}`", *(row.get(part, DASH) for part in PARTS)]
            for (params, operation, design), row in rows.items()
        ],
        ("parameters", "operation", "design"),
    )


def _heading(part: str) -> str:
    """One of ``PARTS`` as a column is called."""
    return part.replace("_", ", with ")


def _formula(records: Sequence[Record]) -> list[str]:
    """A row for each operation, with a column for each array."""
    arrays = list(dict.fromkeys(record.design for record in records))
    rows: dict[tuple[str, str], dict[str, Record]] = {}
    for record in records:
        rows.setdefault((record.params, record.operation), {})[record.design] = record
    return table_lines(
        ["parameters", "operation", *(name.rpartition(", ")[2] for name in arrays), "table IV"],
        [
            [
                *what,
                *(number(row[name].value) for name in arrays),
                number(row[arrays[0]].paper_value),
            ]
            for what, row in rows.items()
        ],
        ("parameters", "operation"),
    )


def _all_times(records: Sequence[Record]) -> list[str]:
    """Milliseconds: those of the paper's tables, and ours for every set."""
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for fact in facts(PAPER):
        if fact.metric == "milliseconds" and fact.operation in OPERATIONS:
            whose = (fact.peer or "the paper's", fact.where, fact.params)
            rows.setdefault(whose, {})[fact.operation] = number(fact.value)
    for record in records:
        row = rows.setdefault((f"`{record.design}`", "model", record.params), {})
        row[record.operation] = number(record.value)
    operations = [name for name in OPERATIONS if any(name in row for row in rows.values())]
    return [
        *table_lines(
            ["whose", "from", "parameters", *operations],
            [
                [*whose, *(row.get(name, DASH) for name in operations)]
                for whose, row in rows.items()
            ],
            ("whose", "from", "parameters"),
        ),
        "",
        "Table V does not say which parameter set its times are of, so nothing is divided by them. "
        "Table IV does not either; Set-1 is the likely one.",
    ]


# ---- what is missing ---------------------------------------------------------------------------


def _missing(records: Sequence[Record]) -> list[str]:
    """A line for each reason, with what is not compared."""
    groups: dict[str, list[str]] = {}
    for fact in left_out((PAPER,), records):
        if (why := _why(fact)) is not None:
            groups.setdefault(why, []).append(f"`{fact.operation} {fact.metric}`")
    lines = [f"- {why}: {', '.join(names)}." for why, names in groups.items()]
    return [
        *lines,
        "- Figure 8, the paper's search through designs; figure 10, its fusion switched off: not "
        "run here.",
    ]


def _why(fact: Fact) -> str | None:
    """Why a number of the paper has none of ours beside it; None: it stands in a table above."""
    if fact.peer or fact.where == "Table V":
        return None
    return "not counted in this run" if fact.metric in AREA else "not in this run"
