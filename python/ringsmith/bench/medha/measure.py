"""``ringsmith bench medha``: everything that the two papers have numbers of, measured."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ringsmith.apps.logreg.sizes import DEMO
from ringsmith.apps.seal_baseline import seal_missing
from ringsmith.backends.rpau.design import load_design
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
from ringsmith.bench.medha.area import MANNERS, Synthesized, synthesized
from ringsmith.bench.medha.area_times_cycles import of_operations, papers_times_area
from ringsmith.bench.medha.cases import CASES, OPERATIONS, Case
from ringsmith.bench.medha.cycles import instruction_cycles, operation_cycles
from ringsmith.bench.medha.mixes import LENET5, PRIVFT, mix_cycles
from ringsmith.bench.medha.software import software_times, times
from ringsmith.bench.medha.surroundings import host_transfers, nets
from ringsmith.bench.programs import DEVICES, kept
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
        kept: Records of an earlier run: what ``rtl`` counted there stays ``rtl`` where ``model``
            counts the same.
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

    areas: dict[str, Synthesized] = field(default_factory=dict)
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
    design, unit = case.hardware, None
    if options.synthesizes(case.design):
        if case.design not in known.areas:
            say(f"{case.design}: synthesis of an RPAU")
            known.areas[case.design] = synthesized(design, options.area)
        areas = known.areas[case.design]
        if first:
            found += areas.rows(design, case.params)
        if first or case.rpaus is not None:
            found.append(areas.fit(design, case.params))
        unit = areas.average(design)
    cycles = [each for each in found if each.metric == "cycles" and not each.peer]
    return _beside([*found, *of_operations(design, cycles, unit)], case.papers)


def _case(
    case: Case, options: Options, known: _Known, say: Callable[[str], None], *, first: bool
) -> Sequence[Found]:
    """All numbers of a design with a parameter set, but area."""
    device = options.device if case.rpaus is not None else options.device_of(case.params)
    name, found = case.hardware.name, list[Found]()
    if first:
        say(f"{name}, {case.params}: instructions on the {device}")
        found = kept(instruction_cycles(case, device), options.kept)
    operations: list[Found] = []
    try:
        for operation, rows in operation_cycles(case, options.operations, device):
            say(f"{name}, {case.params}: {operation}: {rows[0].value:,.0f} cycles")
            operations += kept(rows, options.kept)
    except ProgramError as error:
        say(f"{name}, {case.params}: {error}")
    software, told = known.software.get(case.params, []), case.params in known.software
    if options.repeats and not told:
        say(f"{case.params}: SEAL and the cpu device on this CPU")
        software = software_times(ckks_set(case.params), options.operations, options.repeats)
        known.software[case.params] = software
    cycles = [each for each in operations if each.metric == "cycles"]
    numbers = [*found, *operations, *times(cycles, software), *([] if told else software)]
    return [*numbers, *nets(case), *host_transfers(case)] if case == CASES[0] else numbers


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
        software = options.repeats > 0
        rows = application_rows(application, design, device=device, software=software)
        say(f"{design.name}: {operation}: {rows[0].value:,.0f} cycles")
        found += kept(rows, options.kept)
    mixes = (PRIVFT,) if options.quick else (PRIVFT, LENET5)
    found += [mix_cycles(mix, design) for mix in mixes]
    return _beside(found, papers)


def _ablations(
    base: Synthesized | None, options: Options, say: Callable[[str], None]
) -> list[Record]:
    """Variants of the first case's design."""
    operation = "add" if options.quick else ablations.OPERATION
    manner = "none" if options.area_of else options.area
    parts = base.parts if base else None
    return _beside(ablations.ablations(parts, manner, say, operation), CASES[0].papers)


def _beside(found: Iterable[Found], papers: Sequence[str]) -> list[Record]:
    """Numbers beside those of papers, and beside what follows from them."""
    return [record for each in found for record in beside(each, papers, papers_times_area())]
