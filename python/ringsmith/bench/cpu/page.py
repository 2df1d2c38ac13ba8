"""The page of a measurement, written from its records and from nothing else."""

from collections.abc import Sequence

from ringsmith.bench.records import Measurement, Record
from ringsmith.bench.tables import opening
from ringsmith.markdown import table_lines


def page(measurement: Measurement) -> str:
    """Returns the Markdown page, of at least one record."""
    records = measurement.records
    conditions = dict.fromkeys(record.conditions for record in records)
    lines = opening(
        "The cpu device beside its peers",
        "how fast the `cpu` device is beside other libraries",
        measurement,
        "Milliseconds; speedup is the peer's time over ours, the median over rounds in which both "
        "ran in turn; floor is the least that ours could take, and the last column how far from it "
        "ours is. [The cpu device](../guide/cpu.md) says what the sets and the floor are.",
    )
    for text in conditions:
        lines += ["", f"{text}.", "", *_table([r for r in records if r.conditions == text])]
    return "\n".join(lines + _key_table(records)) + "\n"


def _table(records: Sequence[Record]) -> list[str]:
    """Times and roofline bounds measured under the same conditions."""
    values = {(r.params, r.operation, r.peer, r.metric): r.value for r in records}
    rows = []
    for params, operation, peer in dict.fromkeys(key[:3] for key in values):
        key = (params, operation, peer)
        own, floor = values[(*key, "milliseconds")], values.get((*key, "floor_milliseconds"))
        cells = (
            *key,
            f"{own:.4g}",
            f"{values[(*key, 'peer_milliseconds')]:.4g}",
            f"{values[(*key, 'speedup')]:.2f}",
            "–" if floor is None else f"{floor:.4g}",
            "–" if floor is None else f"{own / floor:.1f}",
        )
        rows.append(cells)
    text = ("parameters", "operation", "peer")
    return table_lines((*text, "ours", "peer's", "speedup", "floor", "ours / floor"), rows, text)


def _key_table(records: Sequence[Record]) -> list[str]:
    """Memory that keys take, where two forms of one were compared."""
    values = {(r.params, r.operation, r.peer, r.metric): r.value for r in records}
    rows = [
        (params, operation, f"{value:,.0f}", peer, f"{theirs:,.0f}")
        for (params, operation, peer, metric), value in values.items()
        if metric == "key_bytes"
        for theirs in [values[params, operation, peer, "peer_key_bytes"]]
    ]
    if not rows:
        return []
    text = ("parameters", "operation", "peer")
    head = ("parameters", "operation", "key, bytes", "peer", "peer's key, bytes")
    return ["", *table_lines(head, rows, text)]
