"""Other accelerators that the papers name: a product on each, and what Table 5 says of them."""

from collections.abc import Iterator, Mapping, Sequence

from ringsmith.bench.medha.cases import CASES, PAPERS
from ringsmith.bench.papers import Fact, facts
from ringsmith.bench.records import Record, number
from ringsmith.markdown import DASH, table_lines

PRODUCT = "multiply_relinearize"
COMPARED = "Table 5"
_OWN = {"medha": "Medha", "medha-2021": "Medha-2021"}
_COLUMNS: Mapping[str, str] = {
    "best_over_software": "best speedup over software",
    "clock": "MHz",
    "chip": "mm²",
    "lut_of_card": "% of LUTs",
    "rams_of_card": "% of RAMs",
    "card": "price, US$",
}
"""Operation of a fact of the table -> its column."""


def products(records: Sequence[Record]) -> list[str]:
    """A product with relinearization at N = 2^14 and seven data primes, on all that is named."""
    sets = {case.params for case in CASES if case.params in ("medha-set1", "medha21-set2")}
    rows: dict[tuple[str, str, str], dict[str, float]] = {}
    for r in records:
        if r.operation == PRODUCT and r.params in sets and not r.peer and ": " not in r.design:
            rows.setdefault((f"`{r.design}`", r.params, r.source), {})[r.metric] = r.value
    rows = {whose: found for whose, found in rows.items() if "microseconds" in found}
    for paper in PAPERS:
        for fact in facts(paper):
            if fact.operation == PRODUCT and fact.params in sets:
                whose = (fact.peer or _OWN[paper], fact.params, paper)
                rows.setdefault(whose, {}).setdefault(fact.metric, fact.value)
    return [
        "A product a second is one after another, except HEAX's, which has many products in its "
        "pipeline, and F1's, which its authors estimate. Source: what counted ours, or the paper.",
        "",
        *table_lines(
            ("on", "parameters", "source", "µs of a product", "products a second"),
            [
                (*whose, number(found.get("microseconds")), number(found.get("per_second")))
                for whose, found in rows.items()
                if found.keys() & {"microseconds", "per_second"}
            ],
            ("on", "parameters", "source"),
        ),
    ]


def accelerators(records: Sequence[Record]) -> list[str]:
    """What Table 5 of the paper of 2022 says of accelerators, and the same of ours."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for whose, operation, value in (*_ours(records), *_theirs()):
        rows.setdefault(whose, {})[operation] = value
    text = ("accelerator", "platform")
    return table_lines(
        (*text, *_COLUMNS.values()),
        [
            (*whose, *(number(found[key]) if key in found else DASH for key in _COLUMNS))
            for whose, found in rows.items()
        ],
        text,
    )


def is_quoted(fact: Fact) -> bool:
    """Whether these tables have a number of another accelerator."""
    product = (fact.operation, fact.metric) == (PRODUCT, "per_second")
    return bool(fact.peer) and (product or fact.where == COMPARED)


def _ours(records: Sequence[Record]) -> Iterator[tuple[tuple[str, str], str, float]]:
    design = CASES[0].design
    whose = (f"`{design}`", "Alveo U250; simulated, RPAUs alone, the clock is assumed")
    for r in records:
        if (r.design, r.params) == (design, CASES[0].params) and r.operation in _COLUMNS:
            yield whose, r.operation, r.value


def _theirs() -> Iterator[tuple[tuple[str, str], str, float]]:
    for fact in facts(PAPERS[0]):
        if fact.where == COMPARED:
            whose = (fact.peer, fact.note) if fact.peer else ("Medha", "Alveo U250")
            yield whose, fact.operation, fact.value
