"""The page of a measurement, written from its records and from nothing else."""

from collections.abc import Sequence

from ringsmith.bench.beside import left_out
from ringsmith.bench.papers import Fact, papers
from ringsmith.bench.records import Measurement, Record, number
from ringsmith.bench.rpm.cases import CASES, PAPER
from ringsmith.bench.rpm.check import check
from ringsmith.bench.rpm.resources import MEGAHERTZ
from ringsmith.bench.tables import conditions, opening, table
from ringsmith.markdown import table_lines

_FACTORS = ("factors_generated", "factors_stored", "factors_sent")
_PROVEN = "The proof of concept (tables 2 and 4)"
_DESIGNS = "Designs (table 4, figure 6)"
_SYNTHESIZED = "Counted and synthesized"
_GENERATED = "Factors generated, stored or sent (tables 5 and 6)"
_TIMES = "Multiplication with relinearization (tables 3 and 4)"
_REASONS = {
    "lutram": "not measured: synthesis here counts LUTs that are memory among all LUTs",
}
"""Metric -> why it is not compared."""
_FIGURE = (
    "- Figure 6c, the bandwidth that the link to the host needs, by n, w and s: not measured. No "
    "link was run here, and the figure has no numbers to compare."
)
_SECTIONS = (_PROVEN, _DESIGNS, _SYNTHESIZED, _GENERATED, _TIMES)


def page(measurement: Measurement) -> str:
    """Returns ``docs/rpm.md``, of at least one record."""
    records, paper = measurement.records, papers()[PAPER]
    lines = [
        *opening(
            "RPM, beside the paper",
            "the numbers that the RPM paper gives of its streaming multiplier, ours for the same, "
            "and where both come from",
            measurement,
            "[stream.md](stream.md) describes the device.",
        ),
        "",
        "Sources: `rtl`, counted by the simulated RTL with every product compared with core's; "
        "`model`, counted by the cycle-exact model; `synthesis`, Yosys; `estimate`, counted or "
        "computed as the conditions say; `cpu`, measured on this machine's processor in the same "
        "run. A ratio is ours over the paper's.",
        "",
        f"- `{PAPER}`: {paper.title}. {paper.conditions}.",
        "",
        *table_lines(
            ("parameters", "n", "bits of q", "s", "w"),
            [(c.name, f"2^{c.log_n}", str(c.log_q), str(c.word_bits), str(c.lanes)) for c in CASES],
        ),
    ]
    for title in _SECTIONS:
        chosen = [record for record in records if _section(record) == title]
        if title == _SYNTHESIZED and any(record.source == "synthesis" for record in records):
            lines += ["", f"## {title}", "", *check(records)]
            continue
        if not chosen:
            continue
        lines += ["", f"## {title}", ""]
        if title == _TIMES:
            lines += [*_bottleneck(chosen), ""]
        lines += [*table(chosen), "", *conditions(chosen)]
    lines += ["", "## Not measured", "", *_missing(left_out((PAPER,), records)), _FIGURE]
    return "\n".join(lines) + "\n"


def _missing(facts: Sequence[Fact]) -> list[str]:
    """A line for each reason and parameter set, with what is not compared."""
    groups: dict[tuple[str, str], list[str]] = {}
    for fact in facts:
        why = _REASONS.get(fact.metric, "not measured in this run")
        groups.setdefault((fact.params, why), []).append(f"`{fact.operation} {fact.metric}`")
    return [f"- {params}, {why}: {', '.join(names)}." for (params, why), names in groups.items()]


def _section(record: Record) -> str:
    """The title of a record's section."""
    if record.operation in _FACTORS:
        return _GENERATED
    if record.metric in ("milliseconds", "speedup", "percent", "products"):
        return _TIMES
    if record.params == CASES[0].name and record.metric != "products_per_ms":
        return _PROVEN
    whole = record.operation == "rpm" and record.source != "synthesis"
    return _DESIGNS if whole else _SYNTHESIZED


def _bottleneck(records: Sequence[Record]) -> list[str]:
    """Where the time goes with a device, set by set."""
    values = {(r.params, r.operation, r.metric): r.value for r in records}
    rows = []
    for params in dict.fromkeys(record.params for record in records):

        def of(operation: str, metric: str = "milliseconds", params: str = params) -> float:
            return values[params, operation, metric]

        parts = {
            "lift": of("host_lift"),
            "scale, digits": of("host_scale"),
            "sums": of("host_sums"),
            "device": of("device_multiply") + of("device_relinearize"),
        }
        cells = [
            of("cpu_mult_relin"),
            *parts.values(),
            of("mult_relin"),
            of("mult_relin", "speedup"),
        ]
        most = max(parts, key=lambda name: parts[name])
        rows.append((params, *map(number, cells), most))
    times = ("CPU alone", "lift", "scale, digits", "sums", "device", "together", "speedup")
    headings = ("parameters", *times, "most time")
    return [
        "Milliseconds of a BFV multiplication with relinearization: on the CPU alone; and with the "
        f"device at {MEGAHERTZ:.0f} MHz, what its host does on the same CPU and what it does, in "
        "turn. The CPU alone transforms each polynomial once, and the device all three of every "
        "product; the CPU alone has fewer and wider primes.",
        "",
        *table_lines(headings, rows, ("parameters", "most time")),
    ]
