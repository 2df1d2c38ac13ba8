"""The page of ``ringsmith bench heir``: compile time, keys and latency by plan, and cycles."""

from collections.abc import Sequence

from ringsmith.backends.registry import REFERENCE
from ringsmith.bench.heir.measure import FOR_DESIGN, HEIRS, parts
from ringsmith.bench.papers import SEAL
from ringsmith.bench.records import Measurement, Record, number
from ringsmith.bench.tables import conditions, opening
from ringsmith.markdown import table_lines

_WORDS = {"program", "scheme", "plan", "design"}
"""Headings of columns of text."""


def page(measurement: Measurement) -> str:
    """A page from a measurement and nothing else."""
    records = measurement.records
    own = [record for record in records if record.design == REFERENCE]
    designs = [record for record in records if record.design != REFERENCE]
    lines = opening(
        "HEIR's programs",
        "how long programs of HEIR take to compile, how many bytes of keys they need and how long "
        "they run, as HEIR planned them and as Ringsmith plans them",
        measurement,
        "[HEIR](../guide/heir.md) describes plans and parameters.",
    )
    lines += ["", "## Compile time, keys and latency", "", *_times(own)]
    lines += ["", "## Parameters and operations", "", *_counts(own)]
    if designs:
        lines += ["", "## Cycles on accelerators", "", *_cycles(designs)]
    return "\n".join(lines) + "\n"


class _Numbers:
    """The numbers of some records."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._known = {
            (one.design, one.operation, one.metric, one.peer): one.value for one in records
        }

    def seal(self, of: Record) -> float | None:
        """SEAL's milliseconds with HEIR's plan of a record's program."""
        program, scheme, _ = parts(of)
        plan = f"{program}, {scheme}, {HEIRS}"
        return self._known.get((of.design, plan, "milliseconds", SEAL))

    def value(self, of: Record, metric: str) -> float | None:
        """A number of ours, of the design and operation of a record."""
        return self._known.get((of.design, of.operation, metric, ""))

    def cell(self, of: Record, metric: str) -> str:
        """The same, as a table has it."""
        return number(self.value(of, metric))


def _plans(records: Sequence[Record]) -> list[Record]:
    """The first record of each design and operation."""
    return list({(one.design, one.operation): one for one in reversed(records)}.values())[::-1]


def _times(records: Sequence[Record]) -> list[str]:
    numbers = _Numbers(records)
    shown = ("heir_seconds", "plan_seconds", "milliseconds", "largest_error")
    timed = [record for record in records if record.metric in shown]
    rows = []
    for one in _plans(timed):
        ours, seal = numbers.value(one, "milliseconds"), numbers.seal(one)
        rows.append(
            [
                *parts(one),
                numbers.cell(one, "heir_seconds"),
                numbers.cell(one, "plan_seconds"),
                _megabytes(numbers.value(one, "key_bytes")),
                number(seal),
                number(ours),
                "–" if seal is None or not ours else f"{seal / ours:.1f} ×",
                numbers.cell(one, "largest_error"),
            ]
        )
    headings = [
        *("program", "scheme", "plan", "heir-opt, s", "read and planned, s", "keys, MB"),
        *("SEAL, ms", "`cpu`, ms", "SEAL / `cpu`", "error"),
    ]
    text = (
        "Microsoft SEAL executes HEIR's plan operation by operation, with the same primes, on one "
        "thread; the `cpu` device executes each plan on one thread. The last ratio is of SEAL "
        "with HEIR's plan to the `cpu` device with the plan of the row. Inputs are random numbers, "
        "or those of the list, and each result was compared with the program in the clear. BFV "
        "and BGV are exact, and have no error."
    )
    return [text, "", *table_lines(headings, rows, _WORDS), "", *conditions(timed)]


def _counts(records: Sequence[Record]) -> list[str]:
    numbers = _Numbers(records)
    counted = [record for record in records if record.source == "program"]
    rows = [
        [
            *parts(one),
            numbers.cell(one, "degree"),
            numbers.cell(one, "data_primes"),
            numbers.cell(one, "rotations"),
            f"{numbers.cell(one, 'products')}, {numbers.cell(one, 'plain_products')}",
            numbers.cell(one, "digits"),
            numbers.cell(one, "rotation_keys"),
            numbers.cell(one, "key_bytes"),
        ]
        for one in _plans(counted)
    ]
    headings = [
        *("program", "scheme", "plan", "N", "data primes", "rotations"),
        *("products of two, with a plaintext", "digits of key switching", "rotation keys"),
        "bytes of keys",
    ]
    text = (
        "HEIR's plan has its operations and levels, with one special prime of 60 bits in place of "
        "its own. A key switching has a digit for each limb."
    )
    return [text, "", *table_lines(headings, rows, _WORDS), "", *conditions(counted)]


def _cycles(records: Sequence[Record]) -> list[str]:
    numbers = _Numbers(records)
    rows = [
        [
            f"`{one.design}`",
            *parts(one),
            numbers.cell(one, "degree"),
            numbers.cell(one, "data_primes"),
            numbers.cell(one, "cycles"),
            numbers.cell(one, "milliseconds"),
            numbers.cell(one, "largest_error"),
        ]
        for one in sorted(_plans(records), key=lambda one: one.design)
    ]
    headings = ["design", "program", "scheme", "plan", "N", "data primes", "cycles", "ms", "error"]
    text = (
        f"HEIR's plan keeps its parameters; *{FOR_DESIGN}* has parameters that the design takes. "
        "A missing row is a program that the design does not hold: its primes, its N, its keys, or "
        "an operation of the scheme; or one that errs by more than a hundredth with scales that "
        "fit its words. *error* is that of the `cpu` device, whose bits are the design's. [Named "
        "designs](designs.md) has the sizes of the designs."
    )
    shown = [record for record in records if record.source != "program"]
    return [text, "", *table_lines(headings, rows, _WORDS), "", *conditions(shown)]


def _megabytes(value: float | None) -> str:
    return "–" if not value else f"{value / 1e6:.1f}"
