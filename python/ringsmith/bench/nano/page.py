"""The page of a measurement, written from its records and from nothing else."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from ringsmith.apps.conditions import seconds_at_assumed_clock
from ringsmith.apps.report import CLOCK
from ringsmith.bench.nano.compile_time import MATVEC, SECONDS
from ringsmith.bench.nano.measure import DESIGN, LOGREG, NTT_BOUND, PARTS, part_of
from ringsmith.bench.papers import SEAL
from ringsmith.bench.records import Measurement, Record
from ringsmith.bench.tables import conditions, opening
from ringsmith.markdown import table_lines


class _Values:
    """Numbers of records by operation, metric and source, and by what SEAL's are of."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._values = {(r.operation, r.metric, r.source, r.peer): r.value for r in records}

    def __call__(self, operation: str, metric: str, source: str, peer: str = "") -> float:
        return self._values[operation, metric, source, peer]

    def count(self, operation: str, metric: str, source: str) -> str:
        """Formats a count with separated thousands."""
        return f"{self(operation, metric, source):,}"

    def seal(self, operation: str) -> str:
        """SEAL's time; a dash where it was not measured."""
        return _milliseconds(self._values.get((operation, "seconds", "cpu", SEAL)))

    def program(self, operation: str) -> tuple[str, str]:
        """Instructions and cycles of what ran on the RTL."""
        return self.count(operation, "instructions", "rtl"), self.count(operation, "cycles", "rtl")

    def clock(self, operation: str) -> str:
        """Time of what ran on the RTL, at the assumed clock."""
        cycles = self(operation, "cycles", "rtl")
        return _milliseconds(seconds_at_assumed_clock(int(cycles)))


def page(measurement: Measurement) -> str:
    """Returns ``docs/results/nano.md``, of at least one record."""
    lines = opening(
        "Results",
        f"how many clock cycles the accelerator `{DESIGN}` needs for HE operations and for a whole "
        "encrypted program, under which conditions, and what Microsoft SEAL needs for the same",
        measurement,
    )
    for part in PARTS:
        records = [record for record in measurement.records if part_of(record) == part]
        if records:
            lines += ["", *_SECTIONS[part](records), "", *conditions(records)]
    return "\n".join(lines) + "\n"


def _program(records: Sequence[Record]) -> list[str]:
    """The encrypted program: how well it classifies, what it takes, and where its cycles go.

    The bench refuses residues that are not the CPU's.
    """
    of = _Values(records)

    def worth(metric: str) -> float:
        return of(LOGREG, metric, "rtl")

    parts = dict.fromkeys(r.operation for r in records if r.operation != LOGREG)
    cycles = of(LOGREG, "cycles", "rtl")
    predicted = of.count(LOGREG, "cycles", "estimate")
    return [
        "## An encrypted program: logistic regression",
        "",
        f"{worth('patients')} held-out patients in one ciphertext. Classes right: "
        f"{worth('accuracy_encrypted'):.1%} encrypted, {worth('accuracy_clear'):.1%} in the clear. "
        "Largest error of a probability: "
        f"{worth('largest_error_to_polynomial'):.1e} to the clear model with the same cubic, "
        f"{worth('largest_error_to_sigmoid'):.1e} to the one with the sigmoid. Every residue "
        "equal to the CPU's: yes.",
        "",
        *table_lines(
            ("instructions", "cycles", "cycles predicted", CLOCK, "SEAL"),
            [(*of.program(LOGREG), predicted, of.clock(LOGREG), of.seal(LOGREG))],
        ),
        "",
        "Its cycles by operation; operations overlap, and a cycle belongs to the instruction "
        "issued last:",
        "",
        *table_lines(
            ("operation", "times", "instructions", "cycles", "share"),
            [
                (
                    part.removeprefix(f"{LOGREG}, "),
                    of.count(part, "count", "estimate"),
                    of.count(part, "instructions", "estimate"),
                    of.count(part, "cycles", "estimate"),
                    f"{of(part, 'cycles', 'estimate') / cycles:.1%}",
                )
                for part in parts
            ],
        ),
    ]


def _operations(records: Sequence[Record]) -> list[str]:
    """Single operations; the NTT against its bound."""
    of = _Values(records)
    names = list(dict.fromkeys(r.operation for r in records if r.operation != NTT_BOUND))
    ntt = next(name for name in names if name.startswith("ntt, "))
    cycles, bound = of(ntt, "cycles", "rtl"), of(NTT_BOUND, "cycles", "estimate")
    return [
        "## Single operations",
        "",
        "Each alone, from the start command to completion. `ntt` is one polynomial, all limbs at "
        f"once: {cycles:,} cycles, {cycles / bound - 1:+.2%} against the {bound:,} of "
        "N/2 · log2 N butterflies over the cores.",
        "",
        *table_lines(
            ("operation", "limbs", "instructions", "cycles", CLOCK, "SEAL"),
            [
                (*_name_and_limbs(name), *of.program(name), of.clock(name), of.seal(name))
                for name in names
            ],
        ),
    ]


def _name_and_limbs(operation: str) -> tuple[str, str]:
    """The two columns that ``operation_at`` put into one name."""
    name, _, limbs = operation.partition(", ")
    return name, limbs.removesuffix(" limbs")


def _compile_time(records: Sequence[Record]) -> list[str]:
    """Lowering and scheduling."""
    of = _Values(records)
    return [
        "## Compile time",
        "",
        "From the traced product of a plain square matrix and an encrypted vector to a program of "
        f"`{DESIGN}`: lowering with all constants encoded, scheduling, and finding the scheduled "
        "program in the cache.",
        "",
        *table_lines(
            ("columns", "instructions", "runs", "cycles", "lower", "schedule", "find again"),
            [
                (
                    name.removeprefix(f"{MATVEC}, ").removesuffix(" columns"),
                    *(of.count(name, m, "estimate") for m in ("instructions", "runs", "cycles")),
                    *(f"{of(name, metric, 'cpu'):.2f} s" for metric in SECONDS),
                )
                for name in dict.fromkeys(record.operation for record in records)
            ],
        ),
    ]


def _milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds * 1e3:.3f} ms"


_SECTIONS: Mapping[str, Callable[[Sequence[Record]], list[str]]] = MappingProxyType(
    dict(zip(PARTS, (_program, _operations, _compile_time), strict=True))
)
"""Part -> what writes its section."""
