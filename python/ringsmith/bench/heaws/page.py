"""The page of a measurement, written from its records and from nothing else."""

from collections.abc import Sequence

from ringsmith.bench.beside import left_out
from ringsmith.bench.heaws.cases import COSTED, LARGER, PAPER, SEVERAL
from ringsmith.bench.heaws.cost import SOURCE
from ringsmith.bench.heaws.forecast import FORECAST, HOST
from ringsmith.bench.heaws.others import others
from ringsmith.bench.papers import AREA, Fact, papers
from ringsmith.bench.records import Measurement, Record
from ringsmith.bench.tables import conditions, opening, table

_CYCLES = "Operations on one coprocessor (table 1)"
_TIMES = "Times (table 1)"
_AREA = "Area (tables 2 and 3)"
_CHOICES = "Design choices (table 3, sections 4 and 5)"
_LARGER = "Larger parameters (table 4)"
_SEVERAL = "Six coprocessors behind one link (table 1, section 5.1)"
_OTHERS = "Beside software and other accelerators (table 1, section 5.6)"
_FORECAST = "The smart-grid forecast (section 5.2)"
_SECTIONS = (_CYCLES, _TIMES, _SEVERAL, _FORECAST, _AREA, _CHOICES, _LARGER)

_REASONS = {
    "six_coprocessors": "what joins six coprocessors was not synthesized with them",
    "forecast": "no application ran in this run",
    "communication": "no link to a host ran here",
}
"""Operation -> why it is not compared."""
_COST = (
    "No design holds the two largest parameter sets: an instruction names 16 RPAUs at most, and a "
    "base conversion takes one prime of each. Their rows are by `cost`: the latencies of all "
    "instructions, composed by `backends/rpau/product_cost.py` for shapes that cannot be built. "
    "*cost_over_model* is what that gives where a design can be run, in percent of the model's "
    "cycles. The first shape of each set is the paper's scaling: RPAUs and converters double, an "
    "RPAU keeps two cores. Rows of two cores have four words, and feed four converters: the other "
    "two shapes have no more, or as many cores as feed all."
)
"""Of the section with larger parameters."""
_MEANT = (
    "The paper's time is wall time of one forecast, software included; ours are of all 496 meters "
    "at once, by the model and the link's model. What the host does in between is "
    "`forecast_host`, timed on this CPU where it was, and not part of them. "
    "[The smart-grid forecast](../guide/gmdh.md#the-smart-grid-forecast) says what runs."
)
"""Of the section with the forecast."""


def page(measurement: Measurement) -> str:
    """Returns ``docs/results/heaws.md``, of at least one record."""
    records, paper = measurement.records, papers()[PAPER]
    lines = [
        *opening(
            "HEAWS, beside the paper",
            "the numbers that the HEAWS paper gives of its BFV coprocessor, ours for the same, and "
            "where both come from",
            measurement,
            "[Base conversion](../reference/baseconv.md) describes the converters.",
        ),
        "",
        "Sources: `rtl`, counted by the simulated RTL with every result compared with the "
        "interpreter's, in this run, or in one before it that the model of this run agrees with; "
        "`model`, counted by the cycle-exact model; `cost`, composed of instructions' latencies, "
        "not run; `synthesis`, Yosys; `cpu`, measured on this machine's processor. A ratio is "
        "ours over the paper's.",
        "",
        "The paper measures wall time with its drivers, while keys stream from the host. Here keys "
        "stream in, too; one coprocessor has its operands on the device, and six take theirs and "
        "give back results over the link's model "
        "([The RPAU architecture](../reference/rpau.md)), without "
        "drivers. So the times below are not of the same thing, and cycles of the operations "
        "alone the paper does not give.",
        "",
        f"- `{PAPER}`: {paper.title}. {paper.conditions}.",
    ]
    for title in _SECTIONS:
        chosen = [record for record in records if _section(record) == title]
        if chosen:
            text = _text(title, chosen)
            words = [text, ""] if text else []
            lines += ["", f"## {title}", "", *words, *table(chosen), "", *conditions(chosen)]
    lines += ["", f"## {_OTHERS}", "", *others(records)]
    missing = [fact for fact in left_out((PAPER,), records) if not fact.peer]
    if missing:
        lines += ["", "## Not measured", "", *_missing(missing)]
    return "\n".join(lines) + "\n"


def _text(title: str, chosen: Sequence[Record]) -> str:
    """What a section says before its table."""
    if title == _FORECAST:
        return _MEANT
    return _COST if any(record.source == SOURCE for record in chosen) else ""


def _section(record: Record) -> str:
    """The title of a record's section."""
    if record.operation in (FORECAST, HOST):
        return _FORECAST
    if record.source == SOURCE or record.params in (LARGER, *COSTED):
        return _LARGER
    if record.design.partition(":")[0] == SEVERAL:
        return _SEVERAL
    if ": " in record.design:
        return _CHOICES
    if record.metric in (*AREA, "fits"):
        return _AREA
    return _CYCLES if record.metric in ("cycles", "instructions") else _TIMES


def _missing(facts: Sequence[Fact]) -> list[str]:
    """A line for each reason and parameter set, with what is not compared."""
    groups: dict[tuple[str, str], list[str]] = {}
    for fact in facts:
        groups.setdefault((fact.params, _why(fact)), []).append(f"`{fact.operation} {fact.metric}`")
    return [f"- {params}, {why}: {', '.join(names)}." for (params, why), names in groups.items()]


def _why(fact: Fact) -> str:
    if fact.operation in _REASONS:
        return _REASONS[fact.operation]
    return "not synthesized in this run" if fact.metric in AREA else "not measured"
