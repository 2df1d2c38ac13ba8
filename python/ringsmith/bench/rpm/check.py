"""What is counted of the designs, held against their synthesis."""

from collections.abc import Sequence

from ringsmith.bench.records import Record, number
from ringsmith.bench.rpm.cases import BESIDE, CASES
from ringsmith.markdown import table_lines


def check(records: Sequence[Record]) -> list[str]:
    """Lines of the page: counts beside synthesis, and by how much they differ at most.

    Args:
        records: All of a measurement, the synthesis of one design among them at least.
    """
    values = {(r.params, r.operation, r.metric, r.source): r.value for r in records}
    synthesized = {(r.params, r.operation) for r in records if r.source == "synthesis"}
    designs: dict[tuple[int, int, int], list[str]] = {}  # rows of one design differ in q alone
    for case in (*CASES, *BESIDE):
        if (case.name, "rpm") in synthesized:
            shape = (case.log_n, case.lanes, case.word_bits)
            designs.setdefault(shape, []).append(case.name)

    def most(metric: str) -> str:
        """The largest deviation of a count, over designs and their parts."""
        pairs = [
            (values[*what, metric, "estimate"], values[*what, metric, "synthesis"])
            for what in synthesized
        ]
        return f"{max(abs(counted - found) / max(found, 1) for counted, found in pairs):.1%}"

    rows = []
    for (log_n, lanes, word_bits), names in designs.items():
        cells = [
            values[names[0], "rpm", metric, source]
            for metric in ("dsp", "bram")
            for source in ("estimate", "synthesis")
        ]
        cells += [values[names[0], "rpm", metric, "synthesis"] for metric in ("lut", "ff")]
        sizes = (f"2^{log_n}", str(lanes), str(word_bits))
        rows.append((", ".join(names), *sizes, *map(number, cells)))
    counts = ("DSP, counted", "synthesized", "BRAM36, counted", "synthesized", "LUT", "FF")
    return [
        f"Designs synthesized: {len(designs)}. In each, and in each of its parts that table 2 "
        f"names, the count of DSPs is off by at most {most('dsp')}, and that of block RAMs by at "
        f"most {most('bram')}. All other DSPs and block RAMs on this page are counted in the same "
        "way. Synthesis takes the shapes of memories from the elaborated design.",
        "",
        *table_lines(("parameters", "n", "w", "s", *counts), rows),
    ]
