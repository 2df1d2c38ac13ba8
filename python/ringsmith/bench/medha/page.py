"""The page of a measurement, written from its records and from nothing else."""

from collections.abc import Iterable, Sequence

from ringsmith.backends.registry import REFERENCE
from ringsmith.bench.beside import left_out
from ringsmith.bench.medha.applications import APPLICATIONS
from ringsmith.bench.medha.cases import PAPERS
from ringsmith.bench.papers import AREA, AREA_TIMES_CYCLES, HEXL, Fact, papers
from ringsmith.bench.records import Measurement, Record
from ringsmith.bench.tables import conditions, opening, table

_ABLATIONS = ("dyadic_cycles", "dyadic_area", "address_delaying")
_REASONS = {
    "device_with_platform": "not measured: there is no platform part here",
    "program_controller": "an RPAU is synthesized, and the controller is outside it",
    "twiddle_generator": "here its multiplier is a lane's: it is in `butterfly`",
    **dict.fromkeys(
        (*APPLICATIONS, *(f"{name}_communication" for name in APPLICATIONS)),
        "no application ran in this run",
    ),
    "dyadic_area_added": "not synthesized in this run",
}
"""Operation -> why it is not compared."""
_OTHER_REASONS = {
    "watts": "no power was measured: nothing was placed and routed for this card",
    HEXL: "SEAL with HEXL was not measured: the package that runs here is built without it",
}
"""Metric or baseline -> why it is not compared."""


def page(measurement: Measurement) -> str:
    """Returns ``docs/results/medha.md``, of at least one record."""
    records = measurement.records
    lines = [
        *opening(
            "Medha, beside the papers",
            "every number that the two Medha papers give of their accelerators, ours for the same, "
            "and where both come from",
            measurement,
        ),
        "",
        "Sources: `rtl`, counted by the simulated RTL with every result compared with the "
        "interpreter's, in this run, or in one before it that the model of this run agrees with; "
        "`model`, counted by the cycle-exact model; `synthesis`, Yosys; `estimate`, "
        "counted or computed as the conditions say; `cpu`, measured on this machine's processor. A "
        "ratio is ours over the paper's.",
        "",
    ]
    for name in dict.fromkeys(record.paper for record in records if record.paper):
        paper = papers()[name]
        lines += [f"- `{name}`: {paper.title}. {paper.conditions}."]
    for title, chosen in _sections(records):
        lines += ["", f"## {title}", "", *_fit(title, chosen, records)]
        lines += [*table(chosen), "", *conditions(chosen)]
    over = {(r.params, r.operation, r.peer) for r in records if r.metric == "speedup"}
    missing = [
        fact
        for fact in left_out(PAPERS, records)
        if fact.metric != "microseconds" or (fact.params, fact.operation, fact.peer) not in over
    ]
    if missing:
        lines += ["", "## Not measured", "", *_missing(missing)]
    return "\n".join(lines) + "\n"


def _sections(records: Sequence[Record]) -> Iterable[tuple[str, list[Record]]]:
    """Records by what they are about, in the order of the page."""

    def section(record: Record) -> str:
        if ": " in record.design or record.operation.startswith(_ABLATIONS):
            return "Ablations"
        if record.metric in (*AREA, "fits"):
            return "Area"
        if record.metric in AREA_TIMES_CYCLES:
            return "Area times cycles"
        if record.metric == "nets":
            return "Nets of the interconnect"
        if record.peer or record.source == REFERENCE:
            return "Beside software and other accelerators"
        if record.metric == "microseconds":
            return "Times"
        return f"Cycles: `{record.params}` on design `{record.design}`"

    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(section(record), []).append(record)
    return sorted(found.items(), key=lambda item: _ORDER.index(item[0].partition(":")[0]))


def _fit(title: str, chosen: Sequence[Record], records: Sequence[Record]) -> list[str]:
    """Whether the design of a section of cycles fits its card, where it was synthesized."""
    if not title.startswith("Cycles"):
        return []
    design = chosen[0].design
    judged = [r for r in records if (r.design, r.metric) == (design, "fits")]
    if not judged:
        return [f"Whether `{design}` fits its card was not measured in this run.", ""]
    return [f"On the card: {judged[0].conditions}.", ""]


_ORDER = (
    "Cycles",
    "Times",
    "Beside software and other accelerators",
    "Area",
    "Area times cycles",
    "Nets of the interconnect",
    "Ablations",
)


def _missing(facts: Sequence[Fact]) -> list[str]:
    """A line for each reason and parameter set, with what is not compared."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for fact in facts:
        what = " ".join(filter(None, (fact.operation, fact.metric, fact.peer)))
        groups.setdefault((fact.paper, fact.params, _why(fact)), []).append(f"`{what}`")
    return [
        f"- `{paper}`, {params}, {why}: {', '.join(names)}."
        for (paper, params, why), names in groups.items()
    ]


def _why(fact: Fact) -> str:
    for what in (fact.metric, fact.peer):
        if what in _OTHER_REASONS:
            return _OTHER_REASONS[what]
    if fact.operation in _REASONS:
        return _REASONS[fact.operation]
    if fact.metric in AREA:
        return "not synthesized in this run"
    return "not measured, or refused by the design"
