"""What is measured: the demo's program and single operations on ``nano``, beside Microsoft SEAL."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console

from ringsmith import runtime
from ringsmith.apps.conditions import conditions
from ringsmith.apps.logreg import DEMO, LogisticRegression, Predictions
from ringsmith.apps.operations import OperationRow, operation_rows
from ringsmith.apps.report import breakdown, refuse_different_bits
from ringsmith.apps.seal_baseline import SealBaseline, seal_missing
from ringsmith.apps.seal_program import rotation_steps
from ringsmith.apps.session import Session, begin, open_machine, time_seal
from ringsmith.apps.stages import Stages
from ringsmith.backends.registry import REFERENCE
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.bench.nano.compile_time import COLUMNS, MATVEC, measure_compile_time
from ringsmith.bench.nano.conditions import BOUND, PREDICTED, SHARED, on_the_rtl, seal_here
from ringsmith.bench.papers import SEAL
from ringsmith.bench.records import Record
from ringsmith.errors import ParameterError
from ringsmith.progress import task

DESIGN = "nano"
"""The design; its parameter set has the same name."""

PARTS = ("program", "operations", "compile-time")
"""What can be measured, in the order of the page."""

LOGREG = "logreg"
"""The operation that the program's numbers are of, and what those of its parts begin with."""

NTT_BOUND = "ntt_lower_bound"
"""The operation that the fewest cycles of an NTT are of."""


@dataclass(frozen=True)
class Options:
    """What to measure, and how.

    Attributes:
        only: Those of ``PARTS``.
        columns: Columns of the matrices whose programs are compiled.
        limbs: Single operations run at 2 limbs and at each number of limbs up to this.
    """

    only: tuple[str, ...] = PARTS
    columns: tuple[int, ...] = COLUMNS
    limbs: int = DEMO.parameters.limbs

    def __post_init__(self) -> None:
        for name in self.only:
            if name not in PARTS:
                raise ParameterError(f"part {name!r}: choose from {', '.join(PARTS)}")
        for what, numbers, least, most in (
            ("columns", self.columns, 1, DEMO.parameters.slots),
            ("limbs", (self.limbs,), 2, DEMO.parameters.limbs),
        ):
            for number in numbers:
                if not least <= number <= most:
                    raise ParameterError(f"{what} = {number}: take {least} … {most}")


QUICK = Options(columns=COLUMNS[:1], limbs=2)
"""What --quick measures where nothing is named."""


@dataclass(frozen=True, eq=False)
class _Run:
    """What the program and single operations are measured with.

    Attributes:
        stages: Shows progress.
        session: The demo's program, compiled, and its client.
        machine: The simulated RTL.
        rtl: Conditions of what it counts.
        seal: Conditions of Microsoft SEAL's times.
    """

    stages: Stages
    session: Session[Predictions]
    machine: runtime.Machine
    rtl: str
    seal: str


def measure(options: Options, say: Callable[[str], None]) -> list[Record]:
    """Measures on the simulated RTL; compile times on this CPU.

    Args:
        options: What, and how.
        say: Takes lines for people: what is measured, and what is left out.

    Raises:
        DeviceError: When a device's residues are not the interpreter's.
        ToolError: When a tool is missing.
    """
    records: list[Record] = []
    if {"program", "operations"} & set(options.only):
        run = _begin(say)
        if "program" in options.only:
            say(f"{DESIGN}: {LOGREG} on the RTL")
            records += _program(run)
        if "operations" in options.only:
            records += _operations(run, options.limbs, say)
    if "compile-time" in options.only:
        records += measure_compile_time(DESIGN, options.columns, say)
    return records


def with_kept(measured: Sequence[Record], kept: Iterable[Record]) -> list[Record]:
    """Adds the parts of an earlier run that were not measured again, in the page's order."""
    anew = {part_of(record) for record in measured}
    records = [*measured, *(record for record in kept if part_of(record) not in anew)]
    return sorted(records, key=lambda record: PARTS.index(part_of(record)))


def part_of(record: Record) -> str:
    """Which of ``PARTS`` a record belongs to."""
    if record.operation.startswith(LOGREG):
        return "program"
    return "compile-time" if record.operation.startswith(MATVEC) else "operations"


def _begin(say: Callable[[str], None]) -> _Run:
    """Compiles and encrypts the demo's program, and builds the RTL."""
    if (missing := seal_missing()) is not None:
        say(missing)
    say(f"{DESIGN}: {LOGREG} is compiled and encrypted, and the RTL is built")
    stages = Stages(Console(quiet=True))
    current = begin(stages, LogisticRegression(DEMO), DESIGN)
    machine = open_machine(stages, "rtl", DESIGN)
    seeded = current.server.seeded
    around = conditions("ringsmith bench nano", DEMO.parameters, seeded_keys=seeded)
    rtl = on_the_rtl(around, load_design(DESIGN))
    return _Run(stages, current, machine, rtl, seal_here(around))


def _program(run: _Run) -> list[Record]:
    """How well the demo's program classifies, and what it takes."""
    answer = run.session.answer(run.stages, run.machine)
    refuse_different_bits(answer.equal_bits)
    [result] = answer.results
    executable = run.session.server.executable
    assert executable is not None, "compiled for a design"
    assert result.instructions is not None, "an accelerator counts"
    assert result.cycles is not None, "an accelerator counts"
    quality = answer.outcome.quality()
    counted = {"instructions": result.instructions, "cycles": result.cycles}
    records = _records(LOGREG, {**quality, **counted}, "rtl", run.rtl)
    records += _records(LOGREG, {"cycles": executable.cycles}, "estimate", PREDICTED)
    times = time_seal(run.stages, run.session) if seal_missing() is None else None
    if times is not None:
        records += _records(LOGREG, {"seconds": times[1]}, REFERENCE, run.seal, SEAL)
    for share in breakdown(executable):
        counts = asdict(share)
        name = f"{LOGREG}, {counts.pop('operation')}"
        records += _records(name, counts, "estimate", SHARED)
    return records


def _operations(run: _Run, most: int, say: Callable[[str], None]) -> list[Record]:
    """Single operations, each alone, from ``most`` limbs to 2."""
    parameters = DEMO.parameters
    steps = rotation_steps(run.session.server.program)[0]
    baseline = SealBaseline(parameters, [steps]) if seal_missing() is None else None
    bound = {"cycles": ntt_bound(load_design(DESIGN))}
    records = _records(NTT_BOUND, bound, "estimate", BOUND)
    with task("measuring single operations", most - 1, "levels") as measured:
        for limbs in range(most, 1, -1):
            say(f"{DESIGN}: single operations on the RTL, {limbs} limbs")
            times = baseline.operation_seconds(limbs, steps) if baseline else None
            for row in operation_rows(run.machine, DESIGN, parameters, limbs, steps, times):
                records += _operation(row, run)
            measured.advance()
    return records


def _operation(row: OperationRow, run: _Run) -> list[Record]:
    name = operation_at(row.name, row.limbs)
    counted = {"instructions": row.instructions, "cycles": row.cycles}
    records = _records(name, counted, "rtl", run.rtl)
    if row.seal_seconds is not None:
        records += _records(name, {"seconds": row.seal_seconds}, REFERENCE, run.seal, SEAL)
    return records


def operation_at(name: str, limbs: int) -> str:
    """The operation that the numbers of a single operation are of."""
    return f"{name}, {limbs} limbs"


def ntt_bound(design: RpauDesign) -> int:
    """The fewest cycles of an NTT: its butterflies over the cores."""
    return design.n // 2 * design.log_n // design.cores


def _records(
    operation: str, values: Mapping[str, float], source: str, text: str, peer: str = ""
) -> list[Record]:
    """A record for each metric of an operation."""
    return [
        Record(DESIGN, DESIGN, operation, metric, value, source, text, peer)
        for metric, value in values.items()
    ]
