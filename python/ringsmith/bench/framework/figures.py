"""The paper's figures 6 to 10 and tables III to V as pictures, from records alone."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ringsmith.bench.framework.cases import DESIGNS, MAIN_OPERATION, OPERATIONS, PAPER, SETS
from ringsmith.bench.framework.resources import ANY, CARD, DEVICE
from ringsmith.bench.framework.search import SEARCHED, words_and_alus
from ringsmith.bench.framework.subroutines import SUBROUTINES, WITHOUT_FUSION
from ringsmith.bench.papers import Fact, facts
from ringsmith.bench.records import Measurement, Record, number
from ringsmith.svg import Drawing, Frame, bars, scatter, shares

FOLDER = "figures"
"""Where they lie, beside the page."""

_LEFT = 200
"""Where bars begin."""

_PAPERS = "the paper's"


def _percent(value: float) -> str:
    return f"{value:.1f} %"


def _milliseconds(value: float) -> str:
    return f"{number(value)} ms"


def _times_as_fast(value: float) -> str:
    return f"{value:.2f}"


def _figure_6(records: Sequence[Record]) -> Drawing | None:
    """Milliseconds by ALUs, a line for each rate of memory, a frame for each parameter set."""
    series: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(dict)
    for each in records:
        found = re.search(r": (\d+) ALUs, (\d+) GB", each.design)
        if found and each.metric == "milliseconds":
            points = series[each.params].setdefault(f"{found[2]} GB/s", [])
            points.append((float(found[1]), each.value))
    parts: list[str] = []
    for place, (params, lines) in enumerate(sorted(series.items())):
        frame = Frame(top=330 * place, height=330)
        names = ("ALUs", f"{params}, milliseconds")
        ordered = {name: sorted(own) for name, own in lines.items()}
        marks = sorted({x for own in ordered.values() for x, _ in own})
        parts += scatter(ordered, frame, names, marks, joined=True)
    return Drawing(330 * len(series), parts) if parts else None


def _figure_7(records: Sequence[Record]) -> Drawing | None:
    """Cycles by subroutine, a bar for each parameter set."""
    rows: dict[str, dict[str, float]] = defaultdict(dict)
    for each in records:
        operation, _, part = each.operation.partition(": ")
        if each.metric == "cycles" and operation == MAIN_OPERATION and part in SUBROUTINES:
            rows[each.params][part] = each.value
    return shares(rows, _LEFT) if rows else None


def _figure_8(records: Sequence[Record]) -> Drawing | None:
    """Each design of the search: words a cycle of permutation by milliseconds."""
    series: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for each in records:
        if each.operation == SEARCHED:
            words, alus = words_and_alus(each.design)
            series[alus].append((each.value, words))
    if not series:
        return None
    names = ("milliseconds, estimated", "words a cycle of permutation")
    named = {f"{alus} ALUs": series[alus] for alus in sorted(series)}
    frame = Frame()
    return Drawing(frame.height, list(scatter(named, frame, names)))


def _figure_9(records: Sequence[Record]) -> Drawing | None:
    """Percent of cycles in which the array is used, in transforms and in all else."""
    rows: dict[str, dict[str, float]] = {"transforms": {}, "others": {}}
    known = [each for each in facts(PAPER) if each.where == "Figure 9"]
    for each in known:
        rows[each.operation][each.peer or _PAPERS] = each.value
    ours = [
        each for each in records
        if each.metric == "percent" and each.params == SETS[0]
    ]  # fmt: skip
    for part, name in (("transforms_waits", "transforms"), ("points_waits", "others")):
        for record in ours:
            if record.operation == f"{MAIN_OPERATION}: {part}":
                rows[name][record.design] = record.value
    there = any(record.operation.startswith(f"{MAIN_OPERATION}: ") for record in ours)
    return bars(rows, _LEFT, _percent) if there else None


def _figure_10(records: Sequence[Record]) -> Drawing | None:
    """How many times as fast operations are with fusion, by the rate of memory."""
    rows: dict[str, dict[str, float]] = defaultdict(dict)
    for each in records:
        operation, _, part = each.operation.partition(": ")
        found = re.search(r"(\d+) GB", each.design)
        if part == WITHOUT_FUSION and each.metric == "speedup" and found:
            rows[OPERATIONS[operation]][f"{found[1]} GB/s"] = each.value
    return bars(rows, _LEFT, _times_as_fast) if rows else None


def _table_iii(records: Sequence[Record]) -> Drawing | None:
    """Percent of the card's resources, ours and the paper's."""
    whole = CARD.whole
    there = {
        "dsp": whole.dsps, "uram": whole.urams, "bram": whole.brams, "lut": whole.luts,
        "ff": whole.flip_flops,
    }  # fmt: skip
    rows: dict[str, dict[str, float]] = {name.upper(): {} for name in there}
    for fact in facts(PAPER):
        if fact.params == ANY and fact.operation == DEVICE and fact.metric in there:
            share = 100 * fact.value / there[fact.metric]
            rows[fact.metric.upper()][_PAPERS] = share
    ours = [each for each in records if each.params == ANY and each.operation == DEVICE]
    for each in ours:
        if each.metric in there:
            rows[each.metric.upper()][each.design] = 100 * each.value / there[each.metric]
    return bars(rows, _LEFT, _percent) if ours else None


def _table_iv(records: Sequence[Record]) -> Drawing | None:
    """Milliseconds on a logarithmic scale, ours and those of the paper's table IV."""
    known = [each for each in facts(PAPER) if each.where == "Table IV"]
    return _times(known, records, SETS[:1])


def _table_v(records: Sequence[Record]) -> Drawing | None:
    """The same of table V, which names no set: ours of all."""
    known = [each for each in facts(PAPER) if each.where == "Table V"]
    ours = [each for each in records if each.design == DESIGNS[1]]
    return _times(known, ours, SETS)


def _times(known: Sequence[Fact], records: Sequence[Record], sets: Sequence[str]) -> Drawing | None:
    rows: dict[str, dict[str, float]] = {}
    for each in known:
        rows.setdefault(OPERATIONS[each.operation], {})[each.peer or _PAPERS] = each.value
    ours = [
        each
        for each in records
        if each.metric == "milliseconds" and each.params in sets and each.design in DESIGNS
        and each.source == "model" and not each.peer and each.operation in OPERATIONS
    ]  # fmt: skip
    for record in ours:
        if (row := rows.get(OPERATIONS[record.operation])) is not None:
            several = f", {record.params}" if len(sets) > 1 else ""
            row[f"{record.design}{several}"] = record.value
    return bars(rows, _LEFT, _milliseconds, logarithmic=True) if ours else None


FIGURES: Mapping[str, tuple[str, Callable[[Sequence[Record]], Drawing | None]]] = MappingProxyType(
    {
        "framework-figure-6.svg": ("Figure 6: ALUs and bandwidth", _figure_6),
        "framework-figure-7.svg": ("Figure 7: a product by subroutine", _figure_7),
        "framework-figure-8.svg": ("Figure 8: designs that fit the card", _figure_8),
        "framework-figure-9.svg": ("Figure 9: use of the array", _figure_9),
        "framework-figure-10.svg": ("Figure 10: speedup by fusion", _figure_10),
        "framework-table-3.svg": ("Table III: share of the card", _table_iii),
        "framework-table-4.svg": ("Table IV: times of Set-1", _table_iv),
        "framework-table-5.svg": ("Table V: times beside other accelerators", _table_v),
    }
)
"""File -> its title, and what draws it."""


def figures(measurement: Measurement) -> dict[str, str]:
    """The pictures of a measurement, by the names of their files; those that have records."""
    found = {}
    for name, (title, draw) in FIGURES.items():
        if (drawing := draw(measurement.records)) is not None:
            found[name] = drawing.file(title)
    return found
