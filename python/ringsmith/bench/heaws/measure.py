"""``ringsmith bench heaws``: what the paper has numbers of, measured on one coprocessor."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ringsmith.apps.conditions import ASSUMED_HZ
from ringsmith.apps.seal_baseline import seal_missing
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.bench.beside import beside
from ringsmith.bench.heaws import cost
from ringsmith.bench.heaws.area import area_rows
from ringsmith.bench.heaws.cases import (
    CHOICES,
    DESIGN,
    MAIN_OPERATION,
    OPERATIONS,
    PAPER,
    PARAMS,
    SEVERAL,
    graph_of,
    larger_design,
    larger_parameters,
    parameters,
    variant,
)
from ringsmith.bench.heaws.coprocessors import coprocessor_rows, transfer_rows
from ringsmith.bench.heaws.forecast import HOST, forecast_rows
from ringsmith.bench.heaws.software import software_times
from ringsmith.bench.programs import DEVICES, conditions, kept, kept_times, run
from ringsmith.bench.records import Found, Record
from ringsmith.errors import ParameterError
from ringsmith.params import BfvParameters
from ringsmith.progress import task

_CLOCK = f"at {ASSUMED_HZ / 1e6:.0f} MHz, assumed"


def _check(what: str, chosen: Collection[str], known: Collection[str]) -> None:
    for name in chosen:
        if name not in known:
            raise ParameterError(f"{what} {name!r}: choose from {', '.join(known)}")


@dataclass(frozen=True)
class Options:
    """What to measure, and how.

    Attributes:
        device: What counts cycles: ``model`` or ``rtl``.
        operations: HE operations; those of ``cases.OPERATIONS``.
        area: Whether the coprocessor is synthesized, minutes.
        choices: Design choices that are made differently, on the model; those of ``cases.CHOICES``.
        larger: Whether to run the next larger parameters, and to estimate those behind them.
        coprocessors: Whether to run several coprocessors behind one link, on the model.
        forecast: Whether the smart-grid forecast runs, on the model.
        repeats: Calls of each operation of the cpu device and of SEAL; 0: they are not timed, and
            the times that are kept stay.
        kept: Records of an earlier run: what ``rtl`` counted there stays ``rtl`` where ``model``
            counts the same.
    """

    device: str = "model"
    operations: tuple[str, ...] = OPERATIONS
    area: bool = False
    choices: tuple[str, ...] = tuple(CHOICES)
    larger: bool = True
    coprocessors: bool = True
    forecast: bool = True
    repeats: int = 15
    kept: tuple[Record, ...] = ()

    def __post_init__(self) -> None:
        _check("device", [self.device], DEVICES)
        _check("operation", self.operations, OPERATIONS)
        _check("design choice", self.choices, CHOICES)


QUICK = Options(operations=("add",), choices=("cores_4",), larger=False, forecast=False)
"""What --quick measures of ``Options`` where nothing is named."""


def measure(options: Options, say: Callable[[str], None]) -> list[Record]:
    """Measures.

    Args:
        options: What, and how.
        say: Takes lines for people: what is measured.

    Returns:
        Ours beside the paper's.

    Raises:
        DeviceError: If a result on the RTL differs from the interpreter's.
        ToolError: If a tool is missing or fails that the options ask for.
    """
    parts: list[Callable[[], Iterable[Found]]] = [
        lambda: _operations(options, say),
        *([lambda: _coprocessors(say)] if options.coprocessors else []),
        *([lambda: _forecast(options, say)] if options.forecast else []),
        *([lambda: _areas(say)] if options.area else []),
        *([lambda: _choices(options, say)] if options.choices else []),
        *([lambda: _larger(options, say)] if options.larger else []),
    ]
    records: list[Record] = []
    with task("measuring what the HEAWS paper has", len(parts), "parts") as measured:
        for part in parts:
            records += [record for each in part() for record in beside(each, (PAPER,))]
            measured.advance()
    return records


def _operations(options: Options, say: Callable[[str], None]) -> Iterator[Found]:
    """Cycles and times of HE operations on the design, beside our cpu device."""
    of, design = parameters(), load_design(DESIGN)
    times = list(_software(options, say))
    ours = {each.operation: each for each in times if each.params == of.name}
    for name in options.operations:
        counted = kept(_counted(name, of, design, options.device), options.kept, design)
        say(f"{design.name}: {name}: {counted[0].value:,.0f} cycles")
        yield from counted
        yield from _times(counted[0], ours.get(name), "the same" if options.repeats else "another")
    yield from times


def _software(options: Options, say: Callable[[str], None]) -> Iterator[Found]:
    """Times on this CPU, of this run, or else of the one that is kept."""
    if not options.repeats:
        yield from (t for t in kept_times(options.kept) if t.operation in options.operations)
        return
    say("the cpu device and Microsoft SEAL on this CPU")
    if (missing := seal_missing()) is not None:
        say(missing)
    yield from software_times(options.operations, options.repeats)


def _counted(operation: str, of: BfvParameters, design: RpauDesign, device: str) -> list[Found]:
    cycles, instructions, executable = run(graph_of(operation, of), design, device)
    text = conditions(of, executable)
    return [
        Found(design.name, of.name, operation, metric, value, device, text)
        for metric, value in (("cycles", cycles), ("instructions", instructions))
    ]


def _times(cycles: Found, software: Found | None = None, run: str = "") -> Iterator[Found]:
    """Times of one operation at the assumed clock; ``run``: which run timed the software."""
    seconds = cycles.value / ASSUMED_HZ
    text = f"{cycles.conditions}; {_CLOCK}"
    for metric, value in (("milliseconds", seconds * 1e3), ("per_second", 1 / seconds)):
        yield replace(cycles, metric=metric, value=value, conditions=text)
    if software is not None:
        yield replace(
            cycles,
            metric="speedup",
            value=software.value / (seconds * 1e6),
            conditions=f"{text}; over {software.peer} on this CPU in {run} run",
            peer=software.peer,
        )


def _coprocessors(say: Callable[[str], None]) -> Iterator[Found]:
    """Six coprocessors behind one link, and the way to one of them."""
    yield from transfer_rows(load_design(DESIGN))
    yield from coprocessor_rows(load_design(SEVERAL), say)


def _forecast(options: Options, say: Callable[[str], None]) -> Iterator[Found]:
    """The smart-grid forecast on one coprocessor and on six; the host's times as ``_software``."""
    say("the smart-grid forecast")
    earlier = next((t for t in kept_times(options.kept) if t.operation == HOST), None)
    yield from forecast_rows(options.repeats, say, earlier)


def _areas(say: Callable[[str], None]) -> Iterator[Found]:
    say(f"{DESIGN}: synthesis of the coprocessor")
    yield from area_rows(load_design(DESIGN))


def _choices(options: Options, say: Callable[[str], None]) -> Iterator[Found]:
    """What the main operation takes where one choice is made differently."""
    of = parameters()
    (base,) = _cycles_of(of, load_design(DESIGN))
    for name in options.choices:
        (row,) = _cycles_of(of, variant(name))
        say(f"{row.design}: {row.value:,.0f} cycles")
        yield replace(row, operation=name, conditions=f"{MAIN_OPERATION}; {row.conditions}")
        text = f"the design's cycles over the variant's, {MAIN_OPERATION}; {row.conditions}"
        percent = 100 * base.value / row.value
        yield Found(row.design, PARAMS, name, "percent", percent, "model", text)


def _larger(options: Options, say: Callable[[str], None]) -> Iterator[Found]:
    """The main operation at larger parameters: counted where a design holds them, else by cost."""
    of, design = larger_parameters(), larger_design()
    (row,) = kept(_cycles_of(of, design, options.device), options.kept, design)
    say(f"{row.design}: {row.value:,.0f} cycles")
    yield row
    yield from (each for each in _times(row) if each.metric == "milliseconds")
    yield from cost.rows(say)
    yield from cost.communication(say)


def _cycles_of(of: BfvParameters, design: RpauDesign, device: str = "model") -> Sequence[Found]:
    rows = _counted(MAIN_OPERATION, of, design, device)
    return [
        replace(row, conditions=f"{design.work_polys} work polynomials, {row.conditions}")
        for row in rows
        if row.metric == "cycles"
    ]
