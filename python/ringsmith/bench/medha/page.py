"""The page of a measurement, written from its records and from nothing else."""

from collections.abc import Iterable, Sequence

from ringsmith.backends.registry import REFERENCE
from ringsmith.bench.beside import left_out
from ringsmith.bench.medha.applications import APPLICATIONS
from ringsmith.bench.medha.area import OF_CARD
from ringsmith.bench.medha.cases import PAPERS
from ringsmith.bench.medha.larger import LARGER
from ringsmith.bench.medha.others import accelerators, is_quoted, products
from ringsmith.bench.papers import AREA, AREA_TIMES_CYCLES, HEXL, Fact, papers
from ringsmith.bench.records import Measurement, Record
from ringsmith.bench.tables import ahead, conditions, opening, table

_ABLATIONS = ("dyadic_cycles", "dyadic_area", "address_delaying")
_BESIDE = "Beside software and other accelerators"
_LARGER = "A larger ring: N = 2^16 with nine data primes (section 6 of the paper of 2022)"
_PRODUCTS = "A product on other accelerators"
_TABLE_5 = "Accelerators that the paper of 2022 compares (its Table 5)"
_REASONS = {
    "device": "an RPAU is synthesized, and what lies around RPAUs is not: `rpaus` has the sum of "
    "all, beside the sum of the paper's",
    "device_with_platform": "not measured: there is no platform part here",
    "program_controller": "an RPAU is synthesized, and the controller is outside it",
    "twiddle_generator": "here its multiplier is a lane's: it is in `butterfly`",
    **dict.fromkeys(
        (*APPLICATIONS, *(f"{name}_communication" for name in APPLICATIONS)),
        "no application ran in this run",
    ),
    "dyadic_area_added": "not synthesized in this run",
    "clock": "the clock is assumed: nothing was placed and routed for this card",
    "card": "no price is compared",
}
"""Operation -> why it is not compared."""
_OTHER_REASONS = {
    "PrivFT on a GPU": "no GPU was measured",
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
        "interpreter's, in this run, or in one before it of the same RTL, whose digest the records "
        "have; `model`, counted by the cycle-exact model; `synthesis`, Yosys; `estimate`, "
        "counted or computed as the conditions say; `cpu`, measured on this machine's processor. A "
        "ratio is ours over the paper's. Areas and `cpu` times are of this run, or of one before "
        "it; *in turn* is a product and a rescaling with a division each, as in the papers, and "
        "`multiply_relinearize_rescale` divides once.",
        "",
    ]
    for name in dict.fromkeys(record.paper for record in records if record.paper):
        paper = papers()[name]
        lines += [f"- `{name}`: {paper.title}. {paper.conditions}."]
    lines += ahead(records)
    for title, chosen in _sections(records):
        lines += ["", f"## {title}", "", *_fit(title, chosen, records)]
        lines += [*table(chosen), "", *conditions(chosen)]
        if title == _BESIDE:
            lines += ["", f"### {_PRODUCTS}", "", *products(records)]
            lines += ["", f"### {_TABLE_5}", "", *accelerators(records)]
    over = {(r.params, r.operation, r.peer) for r in records if r.metric == "speedup"}
    missing = [
        fact
        for fact in left_out(PAPERS, records)
        if not is_quoted(fact)
        and (fact.metric != "microseconds" or (fact.params, fact.operation, fact.peer) not in over)
    ]
    if missing:
        lines += ["", "## Not measured", "", *_missing(missing)]
    return "\n".join(lines) + "\n"


def _sections(records: Sequence[Record]) -> Iterable[tuple[str, list[Record]]]:
    """Records by what they are about, in the order of the page."""

    def section(record: Record) -> str:
        if ": " in record.design or record.operation.startswith(_ABLATIONS):
            return "Ablations"
        if record.params == LARGER:
            return _LARGER
        if record.metric in (*AREA, "fits") or record.operation.endswith(OF_CARD):
            return "Area"
        if record.metric in AREA_TIMES_CYCLES:
            return "Area times cycles"
        if record.metric == "nets":
            return "Nets of the interconnect"
        if record.peer or record.source == REFERENCE:
            return _BESIDE
        if record.metric in ("microseconds", "seconds", "per_second", "speedup"):
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
    if all(record.operation in APPLICATIONS for record in chosen):
        return []
    design = chosen[0].design
    judged = [r for r in records if (r.design, r.metric) == (design, "fits")]
    if not judged:
        return [f"Whether `{design}` fits its card was not measured in this run.", ""]
    return [f"On the card: {judged[0].conditions}.", ""]


_ORDER = (
    "Cycles",
    "A larger ring",
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
    if fact.metric in AREA or fact.operation.endswith(OF_CARD):
        return "not synthesized in this run"
    return "not measured, or refused by the design"
