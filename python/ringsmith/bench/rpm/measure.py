"""``ringsmith bench rpm``: tables 2 to 6 of the RPM paper, ours measured or counted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType

from ringsmith.backends.stream.compiler.compile import compile_graph
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.bench.beside import beside
from ringsmith.bench.records import Found, Record
from ringsmith.bench.rpm.cases import (
    BESIDE,
    CASES,
    CKKS,
    PAPER,
    SOFTWARE_BITS,
    Approximate,
    Case,
    Work,
)
from ringsmith.bench.rpm.interval import interval
from ringsmith.bench.rpm.one_cpu import PAPERS_CPU, THEIR_DEVICE, by_ours, by_the_papers
from ringsmith.bench.rpm.overlap import MAX_UNIT_BITS, Split, alone_milliseconds
from ringsmith.bench.rpm.overlap import rows as overlap_rows
from ringsmith.bench.rpm.projection import (
    HOST,
    Times,
    check_bits,
    device_milliseconds,
    measured,
    projected,
)
from ringsmith.bench.rpm.resources import counted, parts, resources
from ringsmith.bench.rpm.synthesis import kept, synthesized
from ringsmith.errors import ParameterError
from ringsmith.progress import task


@dataclass(frozen=True)
class Options:
    """What to measure, and how.

    Attributes:
        sets: Names of ``cases.CASES``.
        area: Names of these, and of ``cases.BESIDE``, whose designs are synthesized, minutes each.
        kept: Records of an earlier run: areas synthesized there stay, of designs that count as many
            DSPs and block RAMs as then.
        products: Random products that go through the RTL of the proof of concept; 0: none.
        repeats: Times that the CPU does each part of a multiplication; 0: it is not timed, and what
            is kept stays.
    """

    sets: tuple[str, ...] = tuple(case.name for case in CASES)
    area: tuple[str, ...] = ()
    kept: tuple[Record, ...] = ()
    products: int = 1000
    repeats: int = 7

    def __post_init__(self) -> None:
        sets = [case.name for case in CASES]
        designs = [*sets, *(case.name for case in BESIDE)]
        for what, names, known in (("set", self.sets, sets), ("area", self.area, designs)):
            for name in names:
                if name not in known:
                    raise ParameterError(f"{what} {name!r}: choose from {', '.join(known)}")
        if self.products == 1 or min(self.products, self.repeats) < 0:
            raise ParameterError(
                f"{self.products} products, {self.repeats} repeats: give none, or at least two "
                "products, between which there is an interval"
            )


QUICK: Mapping[str, tuple[str, ...]] = MappingProxyType({"sets": (CASES[0].name,)})
"""What --quick measures of ``Options`` where nothing is named."""


def measure(options: Options, say: Callable[[str], None]) -> list[Record]:
    """Measures.

    Args:
        options: What, and how.
        say: Takes lines for people: what is measured, and what no design does.

    Returns:
        Ours beside the paper's; what no design does is left out.

    Raises:
        DeviceError: If a product on a device differs from core's.
        ToolError: If the RTL is simulated and a tool for that is missing.
    """
    times: dict[Work, Times] = {}
    checked: set[Work] = set()
    records: list[Record] = []
    before = {record.params for record in options.kept}
    beside_only = [case for case in BESIDE if case.name in {*options.area, *before}]
    cases = [case for case in (*CASES, *BESIDE) if case.name in options.sets or case in beside_only]
    with task("measuring what the RPM paper has", len(cases), "cases") as measured:
        for case in cases:
            if case.name in options.sets:
                found = list(_case(case, options, times, checked, say))
            else:
                found = list(_area(case, case.design, options, say))
            records += [record for each in found for record in beside(each, (PAPER,))]
            measured.advance()
    return records


def _area(
    case: Case, design: StreamDesign, options: Options, say: Callable[[str], None]
) -> Iterator[Found]:
    """What is counted of a design, and what was synthesized, now or in the run that is kept.

    A synthesized design, and the proof of concept, are reported part by part.
    """
    if case.name in options.area:
        say(f"{case.name}: synthesis of {design.name}")
        areas = list(synthesized(case.name, design))
    else:
        areas = list(kept(case.name, design, options.kept))
    if areas or case == CASES[0]:
        yield from parts(case.name, design)
    yield from areas
    yield from counted(case.name, design)


def _case(
    case: Case,
    options: Options,
    times: dict[Work, Times],
    checked: set[Work],
    say: Callable[[str], None],
) -> Iterator[Found]:
    """All numbers of a row; times that several rows share are measured once."""
    try:
        design = case.design
    except ParameterError as error:
        say(f"{case.name}: {error}")
        return
    if case == CASES[0] and options.products:
        say(f"{case.name}: {options.products} products on the rtl")
        yield interval(case.name, design, options.products)
    yield from _area(case, design, options, say)
    work = case.work
    yield from resources(case, design, len(work.graph.primes))
    executable = compile_graph(work.graph, design)
    device = device_milliseconds(executable)
    yield from by_the_papers(case, device)
    if not options.repeats:
        rows = list(_kept_times(case, device, options.kept))
        yield from rows
        yield from _papers_device(case, rows)
        return
    for each in (case.software, work):
        if each not in times:
            say(f"{case.name}: N = 2^{each.log_n}, {each.parameters.limbs} primes on the CPU")
            times[each] = measured(each, options.repeats)
    if work not in checked:
        say(f"{case.name}: the model's bits")
        check_bits(work, design)
        checked.add(work)
    rows = list(projected(case, executable, times[case.software], times[work]))
    yield from rows
    yield from _papers_device(case, rows)
    if design.word_bits > MAX_UNIT_BITS:
        say(f"{case.name}: no base-conversion unit has words of {design.word_bits} bits")
        return
    split, alone = Split(work.graph, design), times[case.software].whole
    yield from overlap_rows(case, "bfv", split, alone, options.repeats)
    if case.name in CKKS:
        say(f"{case.name}: CKKS")
        graphs = [
            Approximate(case.log_n, case.log_q, bits).graph
            for bits in (SOFTWARE_BITS, case.word_bits)
        ]
        alone = alone_milliseconds(graphs[0], options.repeats)
        yield from overlap_rows(case, "ckks", Split(graphs[1], design), alone, options.repeats)


def _papers_device(case: Case, rows: Sequence[Found]) -> Iterator[Found]:
    """The paper's device beside this processor, as its times here tell."""
    found = {row.operation: row for row in rows if row.metric == "milliseconds"}
    if alone := found.get("cpu_mult_relin"):
        host = sum(found[f"host_{part}"].value for part in HOST)
        yield from by_ours(case, alone.value, host, alone.conditions)


def _kept_times(
    case: Case, device: Mapping[str, float], earlier: Sequence[Record]
) -> Iterator[Found]:
    """What an earlier run measured with this processor, if the device takes as long as then."""
    rows = [
        each
        for each in earlier
        if each.params == case.name
        and each.metric in ("milliseconds", "speedup", "percent", "products")
        and each.operation != THEIR_DEVICE
        and each.peer != PAPERS_CPU
    ]
    then = {row.operation: row.value for row in rows if row.metric == "milliseconds"}
    if any(then.get(name) != value for name, value in device.items()):
        return
    names = [each.name for each in fields(Found)]
    found = (Found(**{name: getattr(row, name) for name in names}) for row in rows)
    yield from dict.fromkeys(found)
