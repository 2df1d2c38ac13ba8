"""A product on all that a number is known of: our devices, SEAL, and what the paper quotes."""

from collections.abc import Iterable, Iterator, Sequence

from ringsmith.bench.heaws.cases import DESIGN, MAIN_OPERATION, PARAMS, SEALS, SEVERAL
from ringsmith.bench.papers import SEAL, Fact, facts
from ringsmith.bench.programs import OURS
from ringsmith.bench.records import METRICS, Record, number
from ringsmith.markdown import table_lines

_HEADINGS = ("on", "parameters", "ms of a product", "products a second", "source")
_TEXT = ("on", "parameters", "source")
_OWN = {"": "HEAWS's coprocessor", SEVERAL: "HEAWS's six coprocessors"}


def others(records: Sequence[Record]) -> list[str]:
    """The lines of the page's section."""
    quoted = [fact for fact in facts("heaws") if fact.operation == MAIN_OPERATION]
    rest = [
        f"{fact.peer}, {fact.operation.replace('_', ' ')} {number(fact.value)} "
        f"{METRICS[fact.metric]}"
        for fact in facts("heaws")
        if fact.peer and fact.operation != MAIN_OPERATION
    ]
    missing = "" if any(r.peer == SEAL for r in records) else " Microsoft SEAL was not measured."
    return [
        "Multiplication with relinearization. `cpu` is one thread of this machine's processor; "
        f"`paper` is quoted. *{SEALS}* has six primes of 30 bits and a special one, N = 2^12 and "
        f"t = 65537: a set that SEAL takes, where our cpu device gives its bits.{missing}",
        "",
        *table_lines(_HEADINGS, [*_ours(records), *_papers(quoted)], _TEXT),
        "",
        f"The paper also quotes: {'; '.join(rest)}.",
    ]


def _ours(records: Sequence[Record]) -> Iterator[tuple[str, ...]]:
    """What was counted or measured."""
    products = [record for record in records if record.operation == MAIN_OPERATION]
    for design in (DESIGN, SEVERAL):
        found = {r.metric: r for r in products if (r.design, r.params) == (design, PARAMS)}
        if "per_second" in found:
            times = found["milliseconds"].value, found["per_second"].value
            yield f"`{design}`", PARAMS, *map(number, times), found["per_second"].source
    for record in products:
        if record.metric == "microseconds":
            on = "our `cpu` device" if record.peer == OURS else f"Microsoft {record.peer}"
            times = record.value / 1e3, 1e6 / record.value
            yield on, record.params, *map(number, times), record.source


def _papers(quoted: Iterable[Fact]) -> Iterator[tuple[str, ...]]:
    """What the paper has, of its own accelerator and of others."""
    known: dict[str, dict[str, float]] = {}
    for fact in quoted:
        if fact.params == PARAMS:
            whose = fact.peer or _OWN[fact.design]
            known.setdefault(whose, {})[fact.metric] = fact.value
    for whose, values in known.items():
        times = values.get("milliseconds"), values.get("per_second")
        yield whose, PARAMS, *map(number, times), "paper"
