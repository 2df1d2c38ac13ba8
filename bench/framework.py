"""``ringsmith bench framework``: what the Framework paper has numbers of, by our model."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, cast

from bench.measure import OURS, area_records, cpu_times
from bench.papers import Figure, compared, figures
from bench.record import Record
from bench.run import Run
from ringsmith import memory, runtime
from ringsmith.apps import cifar, mnist
from ringsmith.apps.cifar import PARAMETERS as CIFAR_SET
from ringsmith.apps.mnist import PARAMETERS as MNIST_SET
from ringsmith.apps.mnist import Order
from ringsmith.apps.report import Layer, layers
from ringsmith.backends.registry import inspector_of
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.design.area import cluster_parts, memory_ports
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.die_placement import SHARE, placed
from ringsmith.graph import SubroutineGraph
from ringsmith.hdl.synthesis import area_times, total_area
from ringsmith.lower import lower, lower_operation
from ringsmith.params import CkksParameters
from ringsmith.params.sets import ckks_set
from ringsmith.platforms import load_platform
from ringsmith.program import CkksProgram
from ringsmith.runtime.designs import named_design

PAPER = "framework"
HERTZ = 250e6
"""The paper's clock. Assumed for ours: no place and route backs it."""

ANY = "all sets"
"""What records name in place of a parameter set: clocks and resources do not depend on it."""

CLOCK, AT_CLOCK, EACH, ARRAY = "clock", "at its clock", "an operation", "array"
PROGRAM: Final = "HE program"
"""Stands for the design where a number is the same on every design."""

CARD = load_platform("u280")
"""The paper's card."""

EQUAL_COUNTS = 0.05
"""Share by which two numbers of operations differ at most whose networks' times are compared."""

_WORD = 4
"""Bytes of a residue of the networks' primes."""
_KEY_FORMS = 3
"""How many times its bytes a key takes in memory at most, while it is made and used."""


def design_of(name: str) -> VectorDesign:
    """Returns a design of architecture ``vector``."""
    return cast("VectorDesign", named_design(name))


def graph_of(operation: str, params: str) -> SubroutineGraph:
    """Returns the graph of an operation in a parameter set, at all limbs."""
    of = ckks_set(params)
    return lower_operation(operation, of, of.limbs, steps=1)


def compiled(graph: SubroutineGraph, design: VectorDesign) -> VectorExecutable:
    """Returns a graph, compiled for a design."""
    return cast("VectorExecutable", runtime.compile_graph(graph, design).executable)


# ---- operations --------------------------------------------------------------------------------


def operations(run: Run) -> Iterator[Record]:
    """Cycles, times, bytes and use of operations on designs."""
    for params in run["sets"]:
        for operation in run["operations"]:
            graph = graph_of(operation, params)
            for name in run["designs"]:
                executable = compiled(graph, design_of(name))
                run.say(f"{name}, {params}: {operation}: {executable.cycles:,} cycles")
                yield from counted(executable, params, operation, moved=operation in run["moved"])


def counted(
    executable: VectorExecutable, params: str, operation: str, *, moved: bool = True
) -> Iterator[Record]:
    """Yields all numbers of a program; first its cycles, then its time."""
    design, cycles, use = executable.design, executable.cycles, executable.use
    text = design_text(design)
    base = Record(design.name, params, operation, "cycles", cycles, "model", text)
    yield base
    yield replace(base, metric="milliseconds", value=cycles / HERTZ * 1e3)
    if moved:
        yield replace(base, metric="bytes_read", value=executable.bytes_read)
        yield replace(base, metric="bytes_written", value=executable.bytes_written)
    busy = (use.transforms + use.points) / (design.clusters * cycles)
    yield replace(base, operation=f"{operation}: {ARRAY}", metric="percent", value=100 * busy)


def design_text(design: VectorDesign) -> str:
    """Returns what must be known of a design's cycles."""
    return (
        f"{design.clusters} × {design.alus // design.clusters} ALUs, rows of {design.lanes} words, "
        f"{design.ports} ports to memory, {design.scratchpad_bytes / 2**20:.0f} MiB of scratchpad"
    )


# ---- clocks and derived numbers ----------------------------------------------------------------


def clocks(run: Run) -> Iterator[Record]:
    """The clock of the longest path that ``ringsmith timing`` finds in each design.

    Raises ToolError if Yosys is not installed or fails.
    """
    for name in run["designs"]:
        run.say(f"{name}: timing")
        design = design_of(name)
        inspector = inspector_of(design, "is not timed")
        longest = inspector.timing(design, in_part=True).timing.worst("clk_i")
        assert longest is not None, "a clock has a path"
        text = (
            f"longest path, {longest.delay_ps / 1e3:.2f} ns into {longest.block}: delays of cells "
            "of UltraScale+, and an estimate for each net"
        )
        value = 1e6 / longest.delay_ps
        yield Record(name, ANY, CLOCK, "megahertz", value, "synthesis", text)


def derived(run: Run) -> Iterator[Record]:
    """Times at the clock by timing analysis, speedups, times of average operations of networks.

    The paper's numbers for these follow from its times.
    """
    numbers = {r.key: replace(r, paper="", paper_value=None, where="") for r in run.records}
    values = [*numbers.values()]
    clock = {r.design: r.value for r in values if r.operation == CLOCK}
    counts = {r.operation: r.value for r in values if r.metric == "count"}
    software = {(r.params, r.operation): r for r in values if r.source == "cpu"}
    theirs = [f for f in figures(PAPER) if f.metric == "milliseconds" and not f.baseline]
    equal = {name for name in NETWORKS if _comparable(name, counts)}
    for each in values:
        if each.metric != "milliseconds" or ": " in each.operation or each.baseline:
            continue
        network = each.operation in NETWORKS
        if megahertz := clock.get(each.design):
            slow = replace(
                each,
                operation=f"{each.operation}: {AT_CLOCK}",
                value=each.value * HERTZ / 1e6 / megahertz,
                source="estimate",
            )
            fitting = [f for f in theirs if not network or f.operation in equal]
            yield from _with(slow, fitting, AT_CLOCK)
        if network:
            count = counts[each.operation]
            micros = 1e3 * each.value / count
            what = f"{each.operation}: {EACH}"
            yield from _with(
                replace(each, operation=what, metric="microseconds", value=micros),
                [_of_each(f) for f in theirs if f.operation in NETWORKS],
                EACH,
            )
        if (time := software.get((each.params, each.operation))) is not None:
            speedup = time.value / (each.value * 1e3)
            text = f"over {OURS}, timed as its own row says"
            yield replace(each, metric="speedup", value=speedup, baseline=OURS, conditions=text)


def _with(record: Record, known: Sequence[Figure], mark: str) -> list[Record]:
    """A derived number with those that follow from the paper's in the same way."""
    marked = [replace(figure, operation=f"{figure.operation}: {mark}") for figure in known]
    return compared(record, (), marked)


def _of_each(figure: Figure) -> Figure:
    """The paper's time of an average operation of a network."""
    (count,) = {
        f.value
        for f in figures(PAPER)
        if f.metric == "count" and not f.baseline and f.operation == figure.operation
    }
    return replace(figure, metric="microseconds", value=float(f"{1e3 * figure.value / count:.3g}"))


def _comparable(name: str, counts: Mapping[str, float]) -> bool:
    """Whether a network of ours has about as many operations as the paper's."""
    theirs = {
        f.operation: f.value for f in figures(PAPER) if f.metric == "count" and not f.baseline
    }
    known = name in counts and name in theirs
    return known and abs(counts[name] / theirs[name] - 1) <= EQUAL_COUNTS


# ---- networks ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Network:
    """A network of the paper's.

    Attributes:
        params: Its parameter set.
        layers: Names of its layers.
        plan: Plans its program.
        designs: What it is counted on; empty: on all designs.
    """

    params: str
    layers: Sequence[str]
    plan: Callable[[CkksParameters], CkksProgram]
    designs: tuple[str, ...] = ()


NETWORKS: Mapping[str, Network] = MappingProxyType(
    {
        "lola-mnist": Network(
            MNIST_SET,
            mnist.LAYERS,
            lambda of: mnist.plan(mnist.trained_network(), of, Order.DIAGONALS),
        ),
        "lola-mnist-rows": Network(
            MNIST_SET, mnist.LAYERS, lambda of: mnist.plan(mnist.trained_network(), of, Order.ROWS)
        ),
        "lola-cifar10": Network(
            CIFAR_SET,
            cifar.LAYERS,
            lambda of: cifar.plan(cifar.Network.random(), of),
            ("framework-512", "vector-zu15eg"),  # minutes each
        ),
    }
)
"""By the name of the operation in records; ``-rows``: dense layers row by row, as LoLa has them."""


def networks(run: Run) -> Iterator[Record]:
    """The paper's networks: operations of each layer, and cycles, times, bytes and use.

    A whole time is not compared with the paper's where that is of another number of operations.
    """
    for name in run["networks"]:
        network = NETWORKS[name]
        run.say(f"{name}: plans its program")
        program = network.plan(ckks_set(network.params))
        lowered = lower(program)
        found = layers(network.layers, program, None)
        for layer in found:
            yield from _counts(network, f"{name}: {layer.name}", [layer])
        yield from _counts(network, name, found)
        words = lowered.graph.n * sum(
            len(lowered.graph.inputs[constant].base) for constant in lowered.plaintexts
        )
        text = "constants, each once, a word of 32 bits a residue"
        what = (PROGRAM, network.params, name, "megabytes")
        yield Record(*what, _WORD * words / 1e6, "program", text)
        for design in run["designs"]:
            if network.designs and design not in network.designs:
                continue
            executable = compiled(lowered.graph, design_of(design))
            run.say(f"{design}: {name}: {executable.cycles:,} cycles")
            alone = not _comparable(name, {name: sum(layer.operations for layer in found)})
            for row in counted(executable, network.params, name):
                whole = row.metric == "milliseconds"
                yield replace(row, paper=PAPER) if whole and alone else row
            yield from _shares(network, name, program, executable)


def _counts(network: Network, operation: str, found: Sequence[Layer]) -> Iterator[Record]:
    for metric, value in (
        ("count", sum(layer.operations for layer in found)),
        ("key_switchings", sum(layer.key_switchings for layer in found)),
    ):
        yield Record(PROGRAM, network.params, operation, metric, value, "program", "")


def _shares(
    network: Network, name: str, program: CkksProgram, executable: VectorExecutable
) -> Iterator[Record]:
    """Each layer's share of a compiled program's cycles."""
    found = layers(network.layers, program, executable)
    total = sum(layer.cycles or 0 for layer in found)
    for layer in found:
        what = (executable.design.name, network.params, f"{name}: {layer.name}", "percent")
        yield Record(*what, 100 * (layer.cycles or 0) / total, "model", "")


# ---- resources ---------------------------------------------------------------------------------


def resources(run: Run) -> Iterator[Record]:
    """Areas of designs, and whether each die of the card has enough for them.

    ``detailed`` names designs whose parts have numbers, too.
    """
    for name in run["designs"]:
        design = design_of(name)
        found = {
            part: area_times(area, design.clusters) for part, area in cluster_parts(design).items()
        }
        found["others"] = total_area(found[p] for p in ("streams", "twiddle_memory", "control"))
        ports = memory_ports(design)
        parts = [area for part, area in found.items() if part != "others"]
        found |= {"memory_ports": ports, "device": total_area([*parts, ports])}
        for part, area in found.items():
            if part != "device" and name not in run["detailed"]:
                continue
            for row in area_records(name, ANY, part, area, "estimate", ""):
                if row.value or (part, row.metric) == ("permute_network", "bram"):
                    yield row
        yield _fit(design)


def _fit(design: VectorDesign) -> Record:
    place = placed(design, CARD)
    most = "; ".join(f"{what} {max(of_dies):.1%}" for what, of_dies in place.shares.items())
    units = " + ".join(map(str, place.units))
    text = (
        f"{units} units of {1 << design.log_radix} lanes on the dies of an {CARD.card}; the "
        f"fullest die: {most}; at most {SHARE:.0%} of each are used"
    )
    return Record(design.name, ANY, "device", "fits", float(place.fits), "estimate", text)


# ---- the cpu device ----------------------------------------------------------------------------


def software(run: Run) -> Iterator[Record]:
    """Our cpu device's time of operations; without those whose keys are too large for memory."""
    for params in run["sets"]:
        for operation in run["operations"]:
            graph = graph_of(operation, params)
            needed = _KEY_FORMS * key_bytes(graph)
            left = memory.available()
            if left is not None and needed > left:
                run.say(f"{params}: {operation} is left out: it needs {needed / 1e9:.2f} GB")
                continue
            gc.collect()  # keys of the operation before, gigabytes of them
            run.say(f"cpu, {params}: {operation}")
            yield from cpu_times(ckks_set(params), {operation: graph}, run["repeats"])


def key_bytes(graph: SubroutineGraph) -> int:
    """Returns the bytes of the keys that a graph takes, in the core's words."""
    return sum(shape.bytes(graph.n) for shape in graph.keys.values())
