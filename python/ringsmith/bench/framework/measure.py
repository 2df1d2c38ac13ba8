"""``ringsmith bench framework``: what the paper has numbers of, by our model, and by counting."""

import gc
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.bench.beside import beside
from ringsmith.bench.framework.cases import (
    DESIGNS,
    FIGURE_SETS,
    FUSED,
    FUSION_POINTS,
    FUSION_SETS,
    HERTZ,
    MAIN_OPERATION,
    OPERATIONS,
    PAPER,
    POINTS,
    SEARCH_SETS,
    SETS,
    compiled,
    design_of,
    graph_of,
    parameters,
)
from ringsmith.bench.framework.clock import (
    Clocks,
    at_clock,
    kept_clock,
    papers_at_clock,
    timed_clock,
)
from ringsmith.bench.framework.formula import formula_rows
from ringsmith.bench.framework.networks import (
    EQUAL_COUNTS,
    NETWORK_DESIGNS,
    NETWORKS,
    Planned,
    each_operation,
    papers_each_operation,
)
from ringsmith.bench.framework.resources import resource_rows
from ringsmith.bench.framework.search import designs as searched_designs
from ringsmith.bench.framework.subroutines import WITHOUT_FUSION, breakdown, unfused_cycles
from ringsmith.bench.framework.use import PARTS, shares
from ringsmith.bench.programs import OURS, cpu_times, kept_times, security_text
from ringsmith.bench.records import Found, Record, check_names
from ringsmith.graph import SubroutineGraph
from ringsmith.progress import task

_ISSUED = (
    "from the issue of an instruction to that of the next one; transforms and conversions belong "
    "to the subroutine that asks for them"
)

_APART = (
    "each subroutine a program of its own, operands and results in memory: inverse transforms, "
    "basis conversions, transforms, inner products, ModDown, automorphisms, products and sums; "
    "speedup: their cycles over those of the operation in one program"
)

_KEY_FORMS = 3
"""How many times its bytes a key takes in memory at most, while it is made and used."""


@dataclass(frozen=True)
class Options:
    """What to measure.

    Attributes:
        operations: HE operations; those of ``cases.OPERATIONS``.
        designs: Designs; those of ``cases.DESIGNS``.
        sets: Parameter sets; those of ``cases.SETS``.
        points: Points of figure 6; those of ``cases.POINTS``.
        figure_sets: Parameter sets of figure 6.
        fusion_sets: Parameter sets of figure 10.
        search_sets: Parameter sets of figure 8.
        networks: The paper's networks; those of ``networks.NETWORKS``.
        network_designs: Designs that they are counted on, those of ``networks.NETWORK_DESIGNS``; of
            these each network has its own.
        repeats: Calls of each operation of the cpu device; 0: it is not timed, and the times that
            are kept stay.
        clock: Whether the designs' clocks are found by timing analysis, minutes each; else those
            that are kept stay.
        kept: Records of an earlier run.
    """

    operations: tuple[str, ...] = tuple(OPERATIONS)
    designs: tuple[str, ...] = DESIGNS
    sets: tuple[str, ...] = SETS
    points: tuple[str, ...] = tuple(POINTS)
    figure_sets: tuple[str, ...] = FIGURE_SETS
    fusion_sets: tuple[str, ...] = FUSION_SETS
    search_sets: tuple[str, ...] = SEARCH_SETS
    networks: tuple[str, ...] = tuple(NETWORKS)
    network_designs: tuple[str, ...] = NETWORK_DESIGNS
    repeats: int = 15
    clock: bool = False
    kept: tuple[Record, ...] = ()

    def __post_init__(self) -> None:
        check_names("operation", self.operations, OPERATIONS)
        check_names("design", self.designs, DESIGNS)
        others = (*self.figure_sets, *self.fusion_sets, *self.search_sets)
        check_names("set", [*self.sets, *others], SETS)
        check_names("point", self.points, POINTS)
        check_names("network", self.networks, NETWORKS)
        check_names("design", self.network_designs, NETWORK_DESIGNS)


QUICK = Options(
    operations=("add", "multiply_relinearize"),
    designs=("framework",),
    sets=SETS[2:],
    points=("64-128",),
    figure_sets=SETS[2:],
    fusion_sets=SETS[2:],
    search_sets=SETS[2:],
    networks=("lola-mnist",),
    network_designs=("framework-512",),
)
"""What --quick measures of ``Options`` where nothing is named."""


def measure(options: Options, say: Callable[[str], None]) -> list[Record]:
    """Measures.

    Args:
        options: What.
        say: Takes lines for people: what is measured.

    Returns:
        Ours beside the paper's.
    """
    clocks = _clocks(options, say)
    parts: list[tuple[Callable[[], Iterable[Found]], Sequence[str]]] = [
        (lambda: clocks.values(), ()),
        (lambda: _operations(options, clocks, say), (PAPER,)),
        (lambda: _figure(options, say), ()),
        (lambda: _breakdowns(options), ()),
        (lambda: _searches(options, say), ()),
        (lambda: _fusion(options, say), ()),
        (lambda: _networks(options, clocks, say), (PAPER,)),
        (lambda: _formulas(options), (PAPER,)),
        (lambda: _resources(options), (PAPER,)),
    ]
    records: list[Record] = []
    derived = [*papers_at_clock(), *papers_each_operation()]
    with task("measuring what the Framework paper has", len(parts), "parts") as measured:
        for part, papers in parts:
            records += [record for each in part() for record in beside(each, papers, derived)]
            measured.advance()
    return [_like_with_like(record, records) for record in records]


def _clocks(options: Options, say: Callable[[str], None]) -> dict[str, Found]:
    """The clock of each design that is known."""
    found: dict[str, Found] = {}
    for name in dict.fromkeys((*options.designs, *options.network_designs)):
        design = design_of(name)
        if options.clock:
            say(f"{name}: timing")
            found[name] = timed_clock(design)
        elif (clock := kept_clock(design, options.kept)) is not None:
            found[name] = clock
    return found


def _operations(options: Options, clocks: Clocks, say: Callable[[str], None]) -> Iterator[Found]:
    """Cycles, times, bytes and use of operations on the designs, beside our cpu device."""
    for params in options.sets:
        for operation in options.operations:
            software = _software(operation, params, options, say)
            for name in options.designs:
                executable = compiled(operation, params, design_of(name))
                found = list(_counted(executable, params, operation))
                say(f"{name}, {params}: {operation}: {executable.cycles:,} cycles")
                yield from found
                yield from at_clock(found, clocks)
                yield from (_speedup(found[1], each) for each in software)
            yield from software


def _counted(executable: VectorExecutable, params: str, operation: str) -> Iterator[Found]:
    """All numbers of a program; first its cycles, then its time."""
    design, cycles = executable.design, executable.cycles
    times = _times(executable, params, operation, _memory(design))
    yield from times
    moved = executable.bytes_read + executable.bytes_written
    for metric, value in (
        ("bytes", moved),
        ("bytes_read", executable.bytes_read),
        ("bytes_written", executable.bytes_written),
        ("gigabytes_per_second", moved / cycles * HERTZ / 1e9),
    ):
        yield replace(times[0], metric=metric, value=value)
    for part, share in shares(executable):
        name, percent = f"{operation}: {part}", 100 * share
        yield Found(design.name, params, name, "percent", percent, "model", PARTS[part])


def _memory(design: VectorDesign) -> str:
    """What must be known of its memory's rate."""
    own, each = design.memory, _cycles(design.row_cycles)
    crossing = " behind FIFOs" if design.crossed_ports else ""
    return (
        f"a row takes {each} of {design.ports} ports to memory{crossing} each way, which pause for "
        f"{own.read_pause} cycles in {own.interval} where they read, {own.write_pause} where they "
        "write; "
    )


def _times(
    executable: VectorExecutable, params: str, operation: str, memory: str = ""
) -> list[Found]:
    """A program's cycles and its time; ``memory``: what must be known of the memory's rate."""
    design = executable.design
    several = f"{design.clusters} clusters, each of " if design.clusters > 1 else ""
    text = (
        f"{security_text(parameters(params))}; {design.alus} ALUs, {several}rows of "
        f"{design.lanes} words; {memory}{design.scratchpad_bytes / 2**20:.0f} MiB of scratchpad; "
        f"operands, full keys and results in the card's memory; at {HERTZ / 1e6:.0f} MHz, assumed"
    )
    cycles = Found(design.name, params, operation, "cycles", executable.cycles, "model", text)
    milliseconds = executable.cycles / HERTZ * 1e3
    return [cycles, replace(cycles, metric="milliseconds", value=milliseconds)]


def _cycles(count: int) -> str:
    return f"{count} cycle" if count == 1 else f"{count} cycles"


def _figure(options: Options, say: Callable[[str], None]) -> Iterator[Found]:
    """The main operation on designs of several sizes behind memories of several rates."""
    for params in options.figure_sets:
        for name in options.points:
            design = POINTS[name].design()
            executable = compiled(MAIN_OPERATION, params, design)
            say(f"{design.name}, {params}: {executable.cycles:,} cycles")
            yield from _times(executable, params, MAIN_OPERATION)


def _breakdowns(options: Options) -> Iterator[Found]:
    """The main operation by subroutine, on the design that has the paper's figures."""
    if MAIN_OPERATION not in options.operations or DESIGNS[0] not in options.designs:
        return
    for params in options.sets:
        for name, cycles in breakdown(MAIN_OPERATION, params, design_of(DESIGNS[0])).items():
            what = f"{MAIN_OPERATION}: {name}"
            yield Found(DESIGNS[0], params, what, "cycles", cycles, "model", _ISSUED)


def _searches(options: Options, say: Callable[[str], None]) -> Iterator[Found]:
    for params in options.search_sets:
        found = list(searched_designs(params))
        say(f"{params}: {len(found)} designs fit the card")
        yield from found


def _fusion(options: Options, say: Callable[[str], None]) -> Iterator[Found]:
    """Operations whose subroutines are programs of their own, and how much fusion gains."""
    for params in options.fusion_sets:
        for operation in FUSED:
            for name in FUSION_POINTS:
                design = POINTS[name].design()
                apart = unfused_cycles(operation, params, design)
                fused = compiled(operation, params, design).cycles
                say(f"{design.name}, {params}: {operation}: {apart:,} cycles without fusion")
                what = f"{operation}: {WITHOUT_FUSION}"
                yield Found(design.name, params, what, "cycles", apart, "model", _APART)
                yield Found(design.name, params, what, "speedup", apart / fused, "model", _APART)


def _networks(options: Options, clocks: Clocks, say: Callable[[str], None]) -> Iterator[Found]:
    """The paper's networks: operations, and cycles, times, bytes and use on the designs."""
    for name in options.networks:
        network = NETWORKS[name]
        say(f"{name}: plans its program")
        planned = Planned(name)
        counts = list(planned.counts())
        yield from counts
        for design in (each for each in options.network_designs if each in network.designs):
            executable = planned.compiled(design_of(design))
            say(f"{design}: {name}: {executable.cycles:,} cycles")
            found = list(_counted(executable, network.params, name))
            yield from found
            yield from at_clock(found, clocks)
            yield each_operation(found, counts)
            yield from planned.shares(executable)


def _like_with_like(record: Record, records: Sequence[Record]) -> Record:
    """A time of a network without the paper's where that takes another number of operations."""
    network = record.operation.partition(": ")[0]
    if network not in NETWORKS or record.metric != "milliseconds":
        return record
    (count,) = (r for r in records if (r.operation, r.metric) == (network, "count"))
    if count.ratio is not None and abs(count.ratio - 1) <= EQUAL_COUNTS:
        return record
    return replace(record, paper="", paper_value=None, where="")


def _formulas(options: Options) -> Iterator[Found]:
    """The paper's own estimate of the same operations."""
    for params in options.sets:
        for operation in options.operations:
            yield from formula_rows(operation, params)


def _resources(options: Options) -> Iterator[Found]:
    for name in options.designs:
        yield from resource_rows(design_of(name))


# ---- the cpu device ----------------------------------------------------------------------------


def _software(
    operation: str, params: str, options: Options, say: Callable[[str], None]
) -> list[Found]:
    """Our cpu device's time of an operation; none where it is not known or a key is too large."""
    if not options.repeats:
        times = kept_times(options.kept)
        return [each for each in times if (each.operation, each.params) == (operation, params)]
    graph = graph_of(operation, params)
    needed = _KEY_FORMS * key_bytes(graph)
    if needed > available_bytes():
        say(f"cpu, {params}: {operation} is left out: it needs {needed / 1e9:.2f} GB of memory")
        return []
    gc.collect()  # keys of the operation before, gigabytes of them
    say(f"cpu, {params}: {operation}")
    return list(cpu_times(parameters(params), {operation: graph}, options.repeats))


def key_bytes(graph: SubroutineGraph) -> int:
    """Bytes of the keys that a graph takes, in the core's words."""
    return sum(digits * 2 * graph.key_primes * graph.n * 8 for digits in graph.keys.values())


def available_bytes() -> int:
    """Bytes of memory that a program can still take."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        text = Path("/proc/meminfo").read_text()
    except OSError:
        return free
    known = re.search(r"^MemAvailable: +(\d+) kB$", text, re.MULTILINE)
    return int(known[1]) * 1024 if known else free


def _speedup(time: Found, software: Found) -> Found:
    """How many times as fast as our cpu device."""
    return replace(
        time,
        metric="speedup",
        value=software.value / (time.value * 1e3),
        conditions=f"{time.conditions}; over {OURS}, timed as its own row says",
        peer=OURS,
    )
