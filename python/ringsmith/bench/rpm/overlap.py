"""A product with relinearization where the device converts bases, too: in turn, and overlapped.

Beside the streaming multiplier stand base-conversion units (``rtl/baseconv``), which lift, scale,
reduce digits and divide by primes. Both are blocks with streams of their own: every operand crosses
the link to the device, and every result back. The host keeps what is left: sums, differences, and
transforms of CKKS's operands and results.

In turn, one product takes the sum of all parts. Of many independent products in a pipeline each
part works on another one, and the longest part is the time from one product to the next. The device
of this module was not built: cycles of its parts are the model's and the unit's own, which the RTL
of each is held to, and the link is its model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from ringsmith import runtime
from ringsmith.backends.random_operands import random_inputs, random_keys
from ringsmith.backends.registry import REFERENCE
from ringsmith.backends.rpau.device.link import Link
from ringsmith.backends.stream.compiler.compile import compile_graph
from ringsmith.backends.stream.compiler.executable import StreamExecutable
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.bench.programs import one_thread
from ringsmith.bench.records import Found
from ringsmith.bench.rpm.cases import PAPER, Case
from ringsmith.bench.rpm.projection import machine
from ringsmith.bench.rpm.timing import SEED, median_milliseconds
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.subroutines import SubroutineNode
from ringsmith.hdl.base_conversion import BaseConverter

LINK = Link(512)
"""A bus of 512 bits at 250 MHz, at most 12 GB/s each way: PCIe Gen3 x 16."""
CYCLES_A_MILLISECOND = 200_000.0
MAX_UNIT_BITS = 60
"""Widest words of a unit."""
MS = "milliseconds"

_CONVERSIONS = ("lift", "scale", "mod_up", "mod_down")
_STEP_BITS = 17


@dataclass(frozen=True)
class Conversion:
    """A base conversion of every coefficient of a polynomial.

    Attributes:
        terms: Residues that a sum is of, an output's own one included.
        outputs: Residues that it makes.
        sent: Limbs that cross to the unit for it.
        returned: Limbs that cross back.
    """

    terms: int
    outputs: int
    sent: int
    returned: int


@dataclass(frozen=True)
class Parts:
    """What a graph leaves to each part; all milliseconds, of one execution.

    Attributes:
        stream: Of the multiplier: all products, back to back.
        unit: Of the base-conversion units.
        up: Of the link to the device.
        down: Of the link back.
        resident: Of the busier way of the link, where only inputs and outputs cross.
    """

    stream: float
    unit: float
    up: float
    down: float
    resident: float

    def in_turn(self, host: float) -> float:
        """One execution, with what the host takes."""
        return host + self.stream + self.unit + self.up + self.down

    def overlapped(self, host: float) -> float:
        """From one execution to the next in a pipeline of many."""
        return max(host, self.stream, self.unit, self.up, self.down)

    @property
    def on_device(self) -> float:
        """The same where nothing is left to the host and no value leaves the device under way."""
        return max(self.stream, self.unit, self.resident)


class Split:
    """A graph on a stream design with base-conversion units beside it."""

    def __init__(self, graph: SubroutineGraph, design: StreamDesign) -> None:
        self._graph, self._design = graph, design
        self.executable: StreamExecutable = compile_graph(graph, design)

    @cached_property
    def conversions(self) -> Sequence[Conversion]:
        """All conversions of the host's graphs, in order."""
        return [
            conversion
            for host in self._hosts
            for node in host.nodes
            for conversion in _conversions(host, node)
        ]

    @cached_property
    def rest(self) -> Sequence[SubroutineGraph]:
        """The host's graphs without their conversions; those in which nothing is left are not."""
        return [rest for rest in map(_without_conversions, self._hosts) if rest.outputs]

    @property
    def _hosts(self) -> list[SubroutineGraph]:
        return [each.host for each in self.executable.rounds if each.host is not None]

    @property
    def parts(self) -> Parts:
        """The times of all parts but the host."""
        products = self.executable.products
        kinds = self._graph.inputs.values(), self._graph.outputs.values()
        operands, results = (sum(len(kind.base) for kind in each) for each in kinds)
        return Parts(
            stream=products * self._design.period / CYCLES_A_MILLISECOND,
            unit=self._unit_cycles / CYCLES_A_MILLISECOND,
            up=self._crossing(2 * products + sum(c.sent for c in self.conversions)),
            down=self._crossing(products + sum(c.returned for c in self.conversions)),
            resident=self._crossing(max(operands, results)),
        )

    @property
    def units(self) -> int:
        """Base-conversion units: one a lane, each of which takes a word a cycle as a lane does."""
        return self._design.lanes

    @property
    def _unit_cycles(self) -> int:
        """A coefficient every so many cycles as a conversion has terms or outputs, in each unit."""
        conversions, n = self.conversions, self._design.n
        if not conversions:
            return 0
        unit = BaseConverter(
            width=self._design.word_bits,
            step_bits=min(_STEP_BITS, self._design.log_n + 1),
            terms=max(c.terms for c in conversions),
            outputs=max(c.outputs for c in conversions),
        )
        return sum(
            (n // self.units - 1) * max(c.terms, c.outputs) + unit.latency(c.terms) + c.outputs
            for c in conversions
        )

    def _crossing(self, limbs: int) -> float:
        """Milliseconds in which so many limbs cross one way."""
        size = limbs * self._design.n * (4 if self._design.word_bits <= 32 else 8)
        whole, last = divmod(size, LINK.burst_bytes)
        picoseconds = whole * LINK.burst(LINK.burst_bytes) + (LINK.burst(last) if last else 0)
        return picoseconds / 1e9

    def host(self, repeats: int) -> float:
        """Median milliseconds of what is left to the host, on one thread of this CPU."""
        random = np.random.default_rng(SEED)
        calls = [
            partial(graph.to_core().run, random_inputs(graph, random), {}) for graph in self.rest
        ]
        with one_thread():
            return sum(median_milliseconds(call, repeats) for call in calls)


def alone_milliseconds(graph: SubroutineGraph, repeats: int) -> float:
    """Median milliseconds of a graph on the cpu device, one thread."""
    random = np.random.default_rng(SEED)
    compiled, machine = runtime.compile_graph(graph), runtime.open_device(REFERENCE)
    inputs, keys = random_inputs(graph, random), random_keys(graph, random)
    with one_thread():
        return median_milliseconds(
            partial(runtime.run_graph, compiled, machine, inputs, keys), repeats
        )


def rows(case: Case, scheme: str, split: Split, alone: float, repeats: int) -> Iterator[Found]:
    """The times of all parts, and of a product in turn and overlapped.

    Args:
        case: The paper's row.
        scheme: ``bfv`` or ``ckks``.
        split: What each part does.
        alone: Milliseconds of the CPU alone, one thread, with the primes that are best for it.
        repeats: Times that the host's part is timed; the median counts.
    """
    parts, host = split.parts, split.host(repeats)
    unit = f"{split.units} base-conversion units, {len(split.conversions)} conversions"
    bus = f"a bus of {LINK.bus_bits} bits, at most {LINK.bytes_per_second / 1e9:.2g} GB/s each way"
    clock = f"devices at {CYCLES_A_MILLISECOND / 1e3:.0f} MHz, assumed"
    model = f"{unit}; {bus}, all operands, keys among them, and results cross; {clock}"
    cpu = f"one thread, median of {repeats}, {machine()}"

    def found(what: str, metric: str, value: float, source: str, text: str) -> Found:
        return Found(PAPER, case.name, f"{scheme}_{what}", metric, value, source, text)

    yield found("alone", MS, alone, "cpu", f"the cpu device alone; {cpu}")
    yield found("host", MS, host, "cpu", f"sums and what is left; {cpu}")
    for name in ("stream", "unit", "up", "down"):
        yield found(name, MS, getattr(parts, name), "estimate", model)
    for name, value, text in (
        ("in_turn", parts.in_turn(host), "the sum of all parts"),
        ("overlapped", parts.overlapped(host), "the longest part"),
        (
            "on_device",
            parts.on_device,
            "the longest part if sums were made on the device, too, and only operands and results "
            "crossed: not built",
        ),
    ):
        yield found(name, MS, value, "estimate", f"{text}; {model}")
        yield found(name, "speedup", alone / value, "estimate", f"over the cpu device; {model}")


def _converts(node: SubroutineNode) -> bool:
    """Whether a node is a base conversion; a multiplication by P is none."""
    return node.op in _CONVERSIONS and node.attrs.get("variant") != "scaled"


def _conversions(graph: SubroutineGraph, node: SubroutineNode) -> Iterator[Conversion]:
    """The conversions that a node is; none where it is another one."""
    if not _converts(node):
        return
    given = len(graph.nodes[node.operands[0]].type.base)
    made = len(node.type.base)
    match node.op:
        case "lift":
            yield Conversion(given, made - given, given, made - given)
        case "scale":  # to the extension, with its own residues, and back
            extension = given - made
            yield Conversion(made + 1, extension, given, 0)
            yield Conversion(extension, made, 0, made)
        case "mod_up":
            digit = node.attrs["digit"]
            count = len(digit) if isinstance(digit, list) else 1
            yield Conversion(count, made - count, count, made - count)
        case "mod_down":
            yield Conversion(given - made + 1, made, given, made)


def _without_conversions(graph: SubroutineGraph) -> SubroutineGraph:
    """The same graph, which hands out what is to be converted and is handed what conversions make.

    What it would hand out as it was handed in is left out.
    """
    rest = SubroutineGraph(graph.n, graph.primes, graph.roots, graph.special, {}, graph.extension)
    ids: dict[int, int] = {}
    handed: set[int] = set()
    sent: set[int] = set()
    for node in graph.nodes:
        if _converts(node):
            operand = node.operands[0]
            if operand not in handed | sent:
                rest.output(ids[operand], f"sent.{operand}")
                sent.add(operand)
        if _converts(node) or node.op == "input":
            name = node.attrs.get("name", f"converted.{node.id}")
            ids[node.id] = rest.input(name, node.type.base, node.type.form)
            handed.add(node.id)
        elif node.op != "output" or node.operands[0] not in handed:
            ids[node.id] = rest.add_node(node.op, [ids[i] for i in node.operands], node.attrs)
    return rest
