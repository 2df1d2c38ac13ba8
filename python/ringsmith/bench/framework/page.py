"""The page of a measurement, written from its records and from nothing else."""

from collections.abc import Mapping, Sequence

from ringsmith.bench.beside import left_out
from ringsmith.bench.framework import network_page
from ringsmith.bench.framework.cases import HERTZ, OPERATIONS, PAPER
from ringsmith.bench.framework.clock import AT_CLOCK, CLOCK
from ringsmith.bench.framework.figures import FIGURES, FOLDER, figures
from ringsmith.bench.framework.networks import NETWORK_SETS, NETWORKS
from ringsmith.bench.framework.resources import ANY, CARD, CROSSED, MEMORY
from ringsmith.bench.framework.search import SEARCHED, words_and_alus
from ringsmith.bench.framework.subroutines import SUBROUTINES, WITHOUT_FUSION
from ringsmith.bench.framework.use import PARTS
from ringsmith.bench.papers import AREA, Fact, facts, papers
from ringsmith.bench.records import Measurement, Record, number
from ringsmith.bench.tables import ahead, conditions, opening, table
from ringsmith.markdown import DASH, table_lines

_OPERATIONS = "Operations (table IV)"
_TIMES = "All times together (tables IV and V)"
_USE = "Use of the array (figure 9)"
_FIGURE = "Other sizes, and slower memory (figure 6)"
_BREAKDOWN = "A product by subroutine (figure 7)"
_SEARCH = "Designs that fit the card (figure 8)"
_FUSION = "Without fusion (figure 10)"
_FORMULA = "The paper's equations (section V)"
_RESOURCES = "Resources, estimated (table III)"
_NETWORKS = network_page.TITLE
_CPU = "The cpu device"

_PICTURES = {
    _TIMES: ("framework-table-4.svg", "framework-table-5.svg"),
    _USE: ("framework-figure-9.svg",),
    _FIGURE: ("framework-figure-6.svg",),
    _BREAKDOWN: ("framework-figure-7.svg",),
    _SEARCH: ("framework-figure-8.svg",),
    _FUSION: ("framework-figure-10.svg",),
    _RESOURCES: ("framework-table-3.svg",),
}
"""Section -> its pictures."""

_INTRODUCTIONS = {
    _OPERATIONS: "A ratio is our time over the paper's: at the paper's clock, which is assumed for "
    "ours, and at the clock that our timing analysis supports. GB/s are all bytes that memory "
    f"reads and writes over the operation's time. The {CARD.card}'s high-bandwidth memory has a "
    f"peak of {CARD.hbm_gigabytes_per_second} GB/s; its {MEMORY.ports} ports of "
    f"{MEMORY.port_bits} bits carry {MEMORY.gigabytes_per_second:.0f} GB/s each way at "
    f"{HERTZ / 1e6:.0f} MHz, a row of 256 words a cycle, but in pauses: {MEMORY.read_pause} cycles "
    f"of each {MEMORY.interval} where "
    f"they read, {MEMORY.write_pause} where they write ({MEMORY.source}). Behind FIFOs that "
    f"cross to the memory's clock they read without a pause, {CROSSED.latency} cycles after an "
    f"address in place of {MEMORY.latency}, and write but in {CROSSED.write_pause} cycles.",
    _USE: "The share of cycles in which the array takes a row, in percent. The paper gives 100 for "
    "its transforms and for its other computing, in a figure and without waits. A row of a point "
    "instruction need not use all ALUs.",
    _FIGURE: "The paper's figure 6 has no numbers to compare. Its bandwidth is that of reading and "
    "writing together, and so it is here, one half each way. A row must move in a whole number of "
    "cycles, so 512 GB/s stands for its 460; lanes are a whole number of passes' bits, so 128 "
    "ALUs are two arrays of 64.",
    _BREAKDOWN: "Cycles of design `framework`, which has the paper's figures. The paper says that "
    "ModUp, InnerProd and ModDown are over 85 % of a product. A digit that is raised and "
    "transformed limb by limb for an inner product counts for the inner product.",
    _SEARCH: "Each design that fits the card, by its estimated time and the words a cycle of its "
    "permutation networks. Algorithm 2 of the paper, and a finer search, are "
    "[ringsmith explore](explore.md).",
    _FUSION: "The paper fuses subroutines that work limb by limb, for a speedup of up to 1.8. "
    "Here each subroutine is a program of its own, whose operands and results go through memory; "
    "the speedup is that of the operation as one program. 512 GB/s stands for the paper's 460.",
    _FORMULA: "Milliseconds that the paper's estimator gives for arrays of its kind, beside table "
    "IV. It counts three cycles of an ALU for a butterfly, where an ALU of ours takes one. The "
    "paper says that the estimate is within 5 % of its designs. What it gives for Set-1 is several "
    "times table IV, whose set and design the paper does not name.",
    _NETWORKS: network_page.INTRODUCTION,
    _RESOURCES: "DSPs and RAMs are counted from the design's shapes. LUTs and flip-flops are "
    "estimated from blocks that Yosys synthesized for UltraScale+; "
    "[The vector architecture](../reference/vector.md) has the "
    "synthesis of whole clusters.",
}


def page(measurement: Measurement) -> str:
    """Returns ``docs/results/framework.md``, of at least one record."""
    records, paper = measurement.records, papers()[PAPER]
    drawn = figures(measurement)
    names = ", ".join(f"`{ours}` is its {theirs}" for ours, theirs in OPERATIONS.items())
    lines = [
        *opening(
            "Framework, beside the paper",
            "the numbers that the Framework paper gives of its generated accelerators, ours for "
            "the same, and where both come from",
            measurement,
            "[The vector architecture](../reference/vector.md) describes the architecture, "
            "[Parameters](../guide/parameters.md) the "
            "parameter sets.",
        ),
        "",
        "Sources: `model`, counted by the cycle-exact model; `estimate`, counted from shapes, or "
        "cycles of one of the compiler's tries in place of the fastest; "
        "`formula`, the paper's equations; `program`, counted in the HE program; `cpu`, measured "
        "on this machine's processor. Nothing was placed or routed, and the clock is assumed.",
        "",
        f"The paper's operations: {names}.",
        "",
        f"- `{PAPER}`: {paper.title}. {paper.conditions}.",
    ]
    lines += ahead(records)
    for title, chosen in _sections(records).items():
        pictures = [
            line
            for name in _PICTURES.get(title, ())
            if name in drawn
            for line in (f"![{FIGURES[name][0]}]({FOLDER}/{name})", "")
        ]
        lines += ["", f"## {title}", "", *_introduced(title), *pictures, *_table(title, chosen)]
    if missing := _missing(records):
        lines += ["", "## Not measured", "", *missing]
    return "\n".join(lines) + "\n"


def _sections(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Records by the titles of their sections, those that have some."""
    order = (
        *(_OPERATIONS, _TIMES, _FIGURE, _BREAKDOWN, _SEARCH, _USE, _FUSION, _NETWORKS, _FORMULA),
        *(_RESOURCES, _CPU),
    )
    found: dict[str, list[Record]] = {title: [] for title in order}
    for record in records:
        found[_section(record)].append(record)
    times = [r for r in found[_OPERATIONS] if r.metric == "milliseconds"]
    found[_TIMES] = [r for r in times if r.operation in OPERATIONS]
    found[_NETWORKS] += [r for r in records if r.operation == CLOCK]
    return {title: chosen for title, chosen in found.items() if chosen}


def _section(record: Record) -> str:
    """The title of a record's section."""
    if record.params in NETWORK_SETS:
        return _NETWORKS
    if record.source == "formula":
        return _FORMULA
    if record.params == ANY and record.operation != CLOCK:
        return _RESOURCES
    if record.peer:
        return _CPU
    part = record.operation.partition(": ")[2]
    if record.operation == SEARCHED:
        return _SEARCH
    if part == WITHOUT_FUSION:
        return _FUSION
    if part in SUBROUTINES:
        return _BREAKDOWN
    if record.operation == CLOCK or part == AT_CLOCK:
        return _OPERATIONS
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
    if title == _BREAKDOWN:
        return [*_breakdown(records), "", *conditions(records)]
    if title == _SEARCH:
        return [*_designs(records), "", *conditions(records)]
    if title == _FUSION:
        return [*_fusion(records), "", *conditions(records)]
    if title == _FORMULA:
        return [*_formula(records), "", *conditions(records)]
    lines = _wide(records) if title in (_OPERATIONS, _FIGURE) else table(records)
    clocks = _clock_lines([record for record in records if record.operation == CLOCK])
    return [*lines, "", *conditions(_conditioned(records)), *clocks]


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
    clocks = {r.design: r for r in records if r.operation == CLOCK}
    for record in records:
        operation, _, part = record.operation.partition(": ")
        if operation != CLOCK:
            metric = AT_CLOCK if part == AT_CLOCK else record.metric
            rows.setdefault((record.params, operation, record.design), {})[metric] = record
    texts = list(dict.fromkeys(record.conditions for record in _conditioned(records)))
    shown = [metric for metric in _COLUMNS if any(metric in row for row in rows.values())]
    compared = any(row["milliseconds"].paper_value for row in rows.values())
    lines = []
    for (params, operation, design), row in rows.items():
        time, own = row["milliseconds"], row.get(AT_CLOCK)
        cells = [params, operation, f"`{design}`"]
        cells += [_number(row[metric]) if metric in row else DASH for metric in shown]
        cells += [number(time.paper_value), number(time.ratio)] if compared else []
        if clocks:
            cells += [number(clocks[design].value)] if design in clocks else [DASH]
            cells += [number(own.value), number(own.ratio)] if own else [DASH, DASH]
        lines.append([*cells, str(texts.index(time.conditions) + 1)])
    headings = ["parameters", "operation", "design", *(_COLUMNS[metric] for metric in shown)]
    headings += ["paper, ms", "ratio"] if compared else []
    headings += ["MHz by timing", "ms at it", "its ratio"] if clocks else []
    text = ("parameters", "operation", "design", "conditions")
    return table_lines([*headings, "conditions"], lines, text)


def _conditioned(records: Sequence[Record]) -> list[Record]:
    """Records whose conditions stand below their table; a time at a clock has its column."""
    return [r for r in records if r.operation != CLOCK and not r.operation.endswith(AT_CLOCK)]


def _clock_lines(records: Sequence[Record]) -> list[str]:
    """What must be known of the clocks."""
    lines = [f"- `{r.design}`: {r.value:.0f} MHz, {r.conditions}." for r in records]
    return ["", "*MHz by timing*:", "", *lines] if lines else []


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


def _breakdown(records: Sequence[Record]) -> list[str]:
    """A row for each parameter set, with a column for each subroutine."""
    rows: dict[str, dict[str, float]] = {}
    for record in records:
        rows.setdefault(record.params, {})[record.operation.partition(": ")[2]] = record.value
    names = [name for name in SUBROUTINES if any(name in row for row in rows.values())]
    return table_lines(
        ["parameters", *names, "the first three"],
        [
            [params, *(number(row[name]) for name in names), _share_of_three(row)]
            for params, row in rows.items()
        ],
        ("parameters",),
    )


def _share_of_three(row: Mapping[str, float]) -> str:
    return f"{sum(row[name] for name in SUBROUTINES[:3]) / sum(row.values()):.0%}"


def _designs(records: Sequence[Record]) -> list[str]:
    """A row for each design, the fastest first."""
    rows = []
    for record in sorted(records, key=lambda each: (each.params, each.value)):
        words, alus = words_and_alus(record.design)
        cells = [f"`{record.design}`", f"{alus:,}", f"{words:,}", number(record.value)]
        rows.append([record.params, *cells])
    headings = ["parameters", "design", "ALUs", "words a cycle", "ms, estimated"]
    return table_lines(headings, rows, ("parameters", "design"))


def _fusion(records: Sequence[Record]) -> list[str]:
    """A row for each operation and design."""
    rows: dict[tuple[str, str, str], dict[str, Record]] = {}
    for record in records:
        operation = record.operation.partition(": ")[0]
        rows.setdefault((record.params, operation, record.design), {})[record.metric] = record
    headings = ["parameters", "operation", "design", "cycles without fusion", "speedup by fusion"]
    return table_lines(
        headings,
        [
            [*what[:2], f"`{what[2]}`", number(row["cycles"].value), number(row["speedup"].value)]
            for what, row in rows.items()
        ],
        ("parameters", "operation", "design"),
    )


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
    return [f"- {why}: {', '.join(dict.fromkeys(names))}." for why, names in groups.items()]


def _why(fact: Fact) -> str | None:
    """Why a number of the paper has none of ours beside it; None: it stands in a table above."""
    if fact.operation in NETWORKS and fact.metric == "milliseconds" and not fact.peer:
        return "of another number of operations: an average operation is compared"
    if fact.peer or fact.where == "Table V" or fact.where.startswith("Figure"):
        return None
    return "not counted in this run" if fact.metric in AREA else "not in this run"
