"""``ringsmith bench medha``: everything that the two papers have numbers of, measured."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ringsmith.apps.logreg import DEMO
from ringsmith.apps.seal_baseline import seal_missing
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.bench.beside import beside
from ringsmith.bench.medha import ablations
from ringsmith.bench.medha.applications import (
    APPLICATIONS,
    GMDH,
    LOGREG,
    LOGREG_FUSED,
    Application,
    application_rows,
    logistic_regression,
    power_forecast,
)
from ringsmith.bench.medha.area import (
    MANNERS,
    Synthesized,
    counted_fit,
    counted_rams,
    kept_areas,
    synthesized,
)
from ringsmith.bench.medha.area_times_cycles import of_operations, papers_times_area
from ringsmith.bench.medha.cases import CASES, OPERATIONS, Case
from ringsmith.bench.medha.cycles import instruction_cycles, operation_cycles
from ringsmith.bench.medha.larger import LARGER, larger_rows
from ringsmith.bench.medha.mixes import LENET5, PRIVFT, mix_rows
from ringsmith.bench.medha.software import best_over_software, in_turn, software_times, times
from ringsmith.bench.medha.surroundings import host_transfers, nets
from ringsmith.bench.papers import AREA
from ringsmith.bench.programs import DEVICES, kept, kept_times
from ringsmith.bench.records import Found, Record
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.params import ckks_set
from ringsmith.progress import task


@dataclass(frozen=True)
class Options:
    """What to measure, and how.

    Attributes:
        device: What counts cycles: ``model`` or ``rtl``.
        rtl: What ``rtl`` counts in any case: parameter sets, on designs with as many RPAUs as their
            files say; ``logreg``, by all its circuits; ``gmdh``.
        kept: Records of an earlier run. What ``rtl`` counted there stays ``rtl`` where ``model``
            counts the same and the RTL is the same. Areas of designs that are not synthesized now,
            and times on this CPU where none are taken, stay.
        sets: Parameter sets; those of ``cases.CASES``.
        operations: HE operations; those of ``cases.OPERATIONS``.
        area: How areas are found: one of ``area.MANNERS``.
        area_of: Designs that are synthesized; empty: all, and variants of the design too.
        ablations: Whether to compare variants of the design, a minute.
        applications: Whether to run the logistic regressions and the forecast, and estimate PrivFT
            and LeNet-5.
        repeats: Calls of each operation of SEAL's and of the cpu device; 0: neither is timed.
        quick: Whether variants are compared by a sum, the logistic regression is as large as the
            demo's and the only application, and one application alone is estimated.
    """

    device: str = "model"
    rtl: tuple[str, ...] = ()
    kept: tuple[Record, ...] = ()
    sets: tuple[str, ...] = tuple(case.params for case in CASES)
    operations: tuple[str, ...] = OPERATIONS
    area: str = "none"
    area_of: tuple[str, ...] = ()
    ablations: bool = False
    applications: bool = False
    repeats: int = 15
    quick: bool = False

    def __post_init__(self) -> None:
        _check("device", [self.device], DEVICES)
        _check("to count on the RTL", self.rtl, [LOGREG, GMDH, *(case.params for case in CASES)])
        _check("area", [self.area], MANNERS)
        _check("design to synthesize", self.area_of, [case.design for case in CASES])
        _check("set", self.sets, [case.params for case in CASES])
        _check("operation", self.operations, OPERATIONS)

    def synthesizes(self, design: str) -> bool:
        """Whether the area of a design is found by synthesis."""
        return self.area != "none" and (not self.area_of or design in self.area_of)

    def device_of(self, name: str) -> str:
        """What counts the cycles of a parameter set, or of ``logreg`` or ``gmdh``."""
        return "rtl" if name in self.rtl else self.device


QUICK: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"sets": (CASES[0].params,), "operations": ("add",)}
)
"""What --quick measures of ``Options`` where nothing is named."""


def _check(what: str, chosen: Collection[str], known: Collection[str]) -> None:
    for name in chosen:
        if name not in known:
            raise ParameterError(f"{what} {name!r}: choose from {', '.join(known)}")


def measure(options: Options, say: Callable[[str], None]) -> list[Record]:
    """Measures.

    Args:
        options: What, and how.
        say: Takes lines for people: what is measured, and what a design refuses.

    Returns:
        Ours beside the papers'; what a design cannot run is left out.

    Raises:
        DeviceError: If a result on the RTL differs from the interpreter's.
        ToolError: If a tool is missing or fails that the options ask for.
    """
    records: list[Record] = []
    known = _Known()
    cases = [case for case in CASES if case.params in options.sets]
    missing = seal_missing() if options.repeats else None
    if missing is not None:
        say(missing)
    total = len(cases) + options.applications + options.ablations
    with task("measuring what the Medha papers have", total, "cases") as measured:
        for number, case in enumerate(cases):
            first = all(case.design != before.design for before in cases[:number])
            records += _design(case, options, known, say, first=first)
            measured.advance()
        if options.applications:
            records += _applications(options, say)
            measured.advance()
        if options.ablations:
            records += _ablations(known.areas.get(CASES[0].design), options, say)
            measured.advance()
    return records


@dataclass(frozen=True)
class _Known:
    """What several cases share, and is measured once.

    Attributes:
        areas: By the name of a design.
        software: Times on this CPU, by parameter set.
    """

    areas: dict[str, Synthesized | None] = field(default_factory=dict)
    software: dict[str, list[Found]] = field(default_factory=dict)


def _design(
    case: Case,
    options: Options,
    known: _Known,
    say: Callable[[str], None],
    *,
    first: bool,
) -> list[Record]:
    """A design with a parameter set, its area too where that is asked for.

    ``first``: no case before it has this design, so its instructions are counted.
    """
    found = list(_case(case, options, known, say, first=first))
    design, areas = case.hardware, _areas(case, options, known, say)
    shown = first or case.rpaus is not None
    if areas is None:
        found += counted_rams(design, case.params) if first else ()
        found += [counted_fit(design, case.params)] if shown else ()
    else:
        found += areas.rows(design, case.params) if first else ()
        found += [areas.fit(design, case.params)] if shown else ()
    cycles = [each for each in found if each.metric == "cycles" and not each.peer]
    unit = areas.average(design) if areas else None
    found += best_over_software(found) if case == CASES[0] else ()
    return _beside([*found, *of_operations(design, cycles, unit)], case.papers)


def _areas(
    case: Case, options: Options, known: _Known, say: Callable[[str], None]
) -> Synthesized | None:
    """Areas of the design's RPAUs: of this run, or of the one that is kept; None: of neither."""
    name, design = case.design, load_design(case.design)
    if name not in known.areas:
        if options.synthesizes(name):
            say(f"{name}: synthesis of an RPAU")
            known.areas[name] = synthesized(design, options.area)
        else:
            known.areas[name] = kept_areas(design, case.params, options.kept)
    return known.areas[name]


def _case(
    case: Case, options: Options, known: _Known, say: Callable[[str], None], *, first: bool
) -> Sequence[Found]:
    """All numbers of a design with a parameter set, but area."""
    device = options.device if case.rpaus is not None else options.device_of(case.params)
    name, found = case.hardware.name, list[Found]()
    if first:
        say(f"{name}, {case.params}: instructions on the {device}")
        for row in instruction_cycles(case, device):
            found += kept([row], options.kept, case.hardware)
    operations: list[Found] = []
    try:
        for operation, rows in operation_cycles(case, options.operations, device):
            say(f"{name}, {case.params}: {operation}: {rows[0].value:,.0f} cycles")
            operations += kept(rows, options.kept, case.hardware)
    except ProgramError as error:
        say(f"{name}, {case.params}: {error}")
    told = case.params in known.software
    if not told:
        known.software[case.params] = _software(case.params, options, say)
    software = known.software[case.params]
    both = in_turn(each for each in operations if each.metric == "cycles")
    cycles = [*(each for each in operations if each.metric == "cycles"), *both]
    run = "the same" if options.repeats else "an earlier"
    timed = times(cycles, [*software, *in_turn(software)], run)
    numbers = [*found, *operations, *both, *timed, *([] if told else software)]
    return [*numbers, *nets(case), *host_transfers(case)] if case == CASES[0] else numbers


def _software(params: str, options: Options, say: Callable[[str], None]) -> list[Found]:
    """Times on this CPU, of this run, or else of the one that is kept."""
    if options.repeats:
        say(f"{params}: SEAL and the cpu device on this CPU")
        return software_times(ckks_set(params), options.operations, options.repeats)
    times = kept_times(options.kept)
    return [t for t in times if t.params == params and t.operation in options.operations]


def _applications(options: Options, say: Callable[[str], None]) -> list[Record]:
    """Whole programs on the design of the first case, beside the first paper."""
    design, papers = load_design(CASES[0].design), CASES[0].papers
    chosen = (LOGREG, LOGREG_FUSED) if options.quick else APPLICATIONS
    size = replace(DEMO, parameter_set=CASES[0].params) if options.quick else None
    found: list[Found] = []
    for operation in chosen:
        device = options.device_of(GMDH if operation == GMDH else LOGREG)
        say(f"{design.name}: {operation} on the {device}")
        application: Application = (
            power_forecast(design)
            if operation == GMDH
            else logistic_regression(operation, design, size)
        )
        rows = application_rows(
            application,
            design,
            device=device,
            software=options.repeats > 0,
            earlier=() if options.repeats else list(kept_times(options.kept)),
        )
        say(f"{design.name}: {operation}: {rows[0].value:,.0f} cycles")
        found += kept(rows, options.kept, design)
    mixes = (PRIVFT,) if options.quick else (PRIVFT, LENET5)
    found += [row for mix in mixes for row in mix_rows(mix, design)]
    if not options.quick:
        say(f"{design.name}: {LARGER}")
        found += larger_rows(design)
    return _beside(found, papers)


def _ablations(
    base: Synthesized | None, options: Options, say: Callable[[str], None]
) -> list[Record]:
    """Variants of the first case's design."""
    operation = "add" if options.quick else ablations.OPERATION
    manner = "none" if options.area_of else options.area
    parts = base.parts if base else None
    found = ablations.ablations(parts or None, manner, say, operation)
    records = _beside(found, CASES[0].papers)
    return records if parts else _with_kept_areas(records, options.kept)


def _with_kept_areas(records: Sequence[Record], earlier: Sequence[Record]) -> list[Record]:
    """Areas of variants as an earlier run synthesized them, in place of what is counted now.

    They stay where the variant counts as many DSPs and UltraRAMs as then.
    """
    then, now = _variant_areas(earlier), _variant_areas(records)
    found: list[Record] = []
    for name, rows in now.items():
        before = {row.metric: row for row in then.get(name, ())}
        if "lut" in before and all(
            row.value == before[row.metric].value for row in rows if row.metric in ("dsp", "uram")
        ):
            now[name] = list(before.values())
    placed: set[str] = set()
    for record in records:
        if record.design not in now or not _is_area(record):
            found.append(record)
        elif record.design not in placed:
            placed.add(record.design)
            found += now[record.design]
    if found != list(records):
        found += [row for row in earlier if row.operation == "dyadic_area_added"]
    return found


def _variant_areas(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Rows of the areas of variants' RPAUs, by variant."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if ": " in record.design and _is_area(record):
            found.setdefault(record.design, []).append(record)
    return found


def _is_area(record: Record) -> bool:
    return record.operation == "rpau" and record.metric in AREA


def _beside(found: Iterable[Found], papers: Sequence[str]) -> list[Record]:
    """Numbers beside those of papers, and beside what follows from them."""
    return [record for each in found for record in beside(each, papers, papers_times_area())]
