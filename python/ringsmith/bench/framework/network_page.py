"""The page's tables of the paper's networks, from their records alone."""

from collections.abc import Sequence

from ringsmith.bench.framework.cases import PAPER
from ringsmith.bench.framework.clock import AT_CLOCK
from ringsmith.bench.framework.networks import EACH, NETWORK_SETS, NETWORKS, PROGRAM
from ringsmith.bench.papers import facts
from ringsmith.bench.records import Record, number
from ringsmith.bench.tables import conditions
from ringsmith.markdown import DASH, table_lines

TITLE = "Networks (tables VI to VIII)"

INTRODUCTION = (
    "LoLa's networks, one encrypted image at a time: inputs, keys and encoded weights lie in the "
    "card's memory. `lola-mnist` computes dense layers by diagonals, `lola-mnist-rows` row by row, "
    "as LoLa does and with about the paper's number of operations. `lola-cifar10` has the paper's "
    "layers and sizes, and random weights. A ratio is our time over the paper's: that on its U280, "
    "or, of `vector-zu15eg`, on its ACU15EG. Whole networks are compared where their numbers of "
    "operations differ by 5 % at most; else an average operation is. "
    "[LoLa's networks](../guide/mnist.md) describes networks and packing, and has accuracies."
)

_TIMES = {
    "cycles": "cycles",
    "milliseconds": "ms",
    "bytes_read": "MB read",
    "bytes_written": "MB written",
    "array": "array busy, %",
}
"""Metric, or part in use, -> its column."""

_COUNTED = ("count", "key_switchings", "percent")
"""What layers are compared by."""

_Cells = dict[str, Record]


def tables(records: Sequence[Record]) -> list[str]:
    """Returns the section's lines: sizes and times, layers, and what others take."""
    names = [name for name in NETWORKS if any(r.operation == name for r in records)]
    times = [r for r in records if r.metric == "milliseconds" and r.operation in NETWORKS]
    lines = [*_sizes(records, names), "", *_times(records, names), "", *conditions(times)]
    for name in names:
        lines += ["", f"Layers of `{name}`:", "", *_layers(records, name)]
    return [*lines, "", "What the paper gives of others and of its own:", "", *_others()]


def _of(records: Sequence[Record], name: str, design: str) -> _Cells:
    """Records of a network on a design, by metric or by the part in use."""
    found: _Cells = {}
    for record in records:
        operation, _, part = record.operation.partition(": ")
        if (operation, record.design) == (name, design):
            found[part or record.metric] = record
    return found


def _sizes(records: Sequence[Record], names: Sequence[str]) -> list[str]:
    """Operations and constants of each network, beside the paper's."""
    headings = ["network", "HE operations", "the paper's", "key switchings", "constants, MB"]
    rows = []
    for name in names:
        found = _of(records, name, PROGRAM)
        operations, size = found["count"], found["megabytes"]
        values = (operations.value, operations.paper_value, found["key_switchings"].value)
        cells = map(number, (*values, size.value, size.paper_value))
        rows.append([f"`{name}`", *cells])
    return table_lines([*headings, "the paper's model, MB"], rows)


def _times(records: Sequence[Record], names: Sequence[str]) -> list[str]:
    """A row for each network and design."""
    own = [r for r in records if r.metric == "milliseconds" and r.operation in NETWORKS]
    texts = list(dict.fromkeys(r.conditions for r in own))
    designs = [name for name in dict.fromkeys(r.design for r in records) if name != PROGRAM]
    rows = []
    for name in names:
        for design in designs:
            if found := _of(records, name, design):
                time = found["milliseconds"]
                cells = [_number(found[metric]) for metric in _TIMES]
                cells += [number(time.paper_value), number(time.ratio)]
                slow, each = found.get(AT_CLOCK), found[EACH]
                cells += [number(slow.value), number(slow.ratio)] if slow else [DASH, DASH]
                cells += [number(each.value), number(each.paper_value), number(each.ratio)]
                cells.append(str(texts.index(time.conditions) + 1))
                rows.append([f"`{name}`", f"`{design}`", *cells])
    headings = ["network", "design", *_TIMES.values(), "paper, ms", "ratio"]
    headings += ["ms at the clock by timing", "its ratio"]
    headings += ["µs an operation", "paper, µs", "ratio of these", "conditions"]
    return table_lines(headings, rows, ("network", "design", "conditions"))


def _number(record: Record) -> str:
    return number(record.value / 1e6 if record.unit == "B" else record.value)


def _layers(records: Sequence[Record], name: str) -> list[str]:
    """What each layer takes: counts, and shares of the cycles of each design."""
    layers = list(NETWORKS[name].layers)
    rows: dict[str, dict[str, str]] = {}
    for record in records:
        operation, _, layer = record.operation.partition(": ")
        if operation == name and (layer in layers or not layer) and record.metric in _COUNTED:
            row = rows.setdefault(_counted(record), {})
            share = record.metric == "percent"
            row[layer] = f"{record.value:.1f}" if share else number(record.value)
            if share:
                row[""] = "100"
    return table_lines(
        ["counted", *layers, "all"],
        [
            [counted, *(row.get(layer, DASH) for layer in (*layers, ""))]
            for counted, row in rows.items()
        ],
    )


def _counted(record: Record) -> str:
    """What a row of layers counts."""
    counts = {"count": "HE operations", "key_switchings": "key switchings"}
    return counts.get(record.metric, f"cycles on `{record.design}`, %")


def _others() -> list[str]:
    """Operations and times of the paper's tables VII and VIII."""
    rows: dict[tuple[str, str, str], dict[str, float]] = {}
    for fact in facts(PAPER):
        shown = fact.metric in ("count", "milliseconds")
        if shown and fact.params in NETWORK_SETS and fact.operation == fact.params:
            whose = (fact.params, fact.peer or "the paper's", fact.note)
            rows.setdefault(whose, {})[fact.metric] = fact.value
    text = ("network", "whose", "on or with")
    return table_lines(
        [*text, "HE operations", "ms"],
        [
            [f"`{network}`", *whose, number(found.get("count")), number(found.get("milliseconds"))]
            for (network, *whose), found in rows.items()
        ],
        text,
    )
