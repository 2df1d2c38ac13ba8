"""``ringsmith bench rpm``: tables 2 to 6 of the RPM paper."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import median

import numpy as np

from bench.measure import area_records, one_thread
from bench.papers import figures
from bench.record import Record
from bench.run import Run
from ringsmith import _core
from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.cpu import Cpu
from ringsmith.backends.random_operands import random_inputs, random_key
from ringsmith.backends.stream.compiler.compile import compile_graph
from ringsmith.backends.stream.debug.area import stream_areas
from ringsmith.backends.stream.debug.compare import compare_products
from ringsmith.backends.stream.design import area as cost
from ringsmith.backends.stream.design.design import StreamDesign, load_stream_design
from ringsmith.backends.stream.device.device import StreamDevice, host_values
from ringsmith.backends.stream.device.model import StreamModel
from ringsmith.backends.stream.device.rtl import StreamRtl
from ringsmith.backends.stream.model.batch import batch_cycles
from ringsmith.caching import cached
from ringsmith.errors import DeviceError, ParameterError
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.subroutines import Cut
from ringsmith.hdl.synthesis import area_less
from ringsmith.lower import RELIN_KEY
from ringsmith.objects import KeySwitchKey
from ringsmith.params import BfvParameters
from ringsmith.runtime import run_graph
from ringsmith.schemes.bfv.writer import BfvWriter

PAPER = "rpm"
PAPERS_CPU = "Core i7-3770"
SOFTWARE_BITS = 47
"""Bits of a prime of the paper's software, and of ours on the CPU alone."""

MEGAHERTZ = 200.0
"""The paper's clock; assumed for ours, which was not placed and routed."""

_SEED = 7


# ---- cases -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A row of the paper's tables 4, 5 and 6.

    Attributes:
        name: What records call it: the multiplicative depth, and what differs from w = 2, s = 30.
        log_n: log2 of the ring degree.
        log_q: Bits of the ciphertext modulus, S_q in the paper.
        lanes: Words a cycle, w.
        word_bits: Bits of a prime, s.
    """

    name: str
    log_n: int
    log_q: int
    lanes: int = 2
    word_bits: int = 30

    @property
    def design(self) -> StreamDesign:
        """The device. Raises ParameterError if there is no such design."""
        rpm = load_stream_design(PAPER)
        if (rpm.log_n, rpm.lanes, rpm.word_bits) == (self.log_n, self.lanes, self.word_bits):
            return rpm
        return StreamDesign(f"{PAPER}-{self.name}", self.log_n, self.lanes, self.word_bits)

    @property
    def work(self) -> "Work":
        """What is computed with a device: the same for every w."""
        return Work(self.log_n, self.log_q, self.word_bits)

    @property
    def software(self) -> "Work":
        """The same operation on the CPU alone, with fewer, wider primes."""
        return Work(self.log_n, self.log_q, SOFTWARE_BITS)


_DEPTHS = {"L1": (12, 94), "L5": (13, 141), "L10": (14, 235), "L20": (14, 376), "L30": (15, 564)}


def case(name: str) -> Case:
    """Returns a case by its name, such as ``L20-w4``.

    Raises ParameterError if there is no such case.
    """
    depth, _, change = name.partition("-")
    sizes = {"w": "lanes", "s": "word_bits"}
    known = not change or (change[0] in sizes and change[1:].isdigit())
    if depth not in _DEPTHS or not known:
        raise ParameterError(f"set {name!r}: give one of {', '.join(_DEPTHS)}, or such as L20-w4")
    return Case(name, *_DEPTHS[depth], **({sizes[change[0]]: int(change[1:])} if change else {}))


@dataclass(frozen=True)
class Work:
    """A BFV multiplication with relinearization as Halevi, Polyakov and Shoup have it, and t = 2.

    A digit is a residue, and keys have no special prime: k products for each part and prime.

    Attributes:
        log_n: log2 of the ring degree.
        log_q: Bits of q.
        word_bits: Bits of a word; q has the fewest primes of at most these bits.
    """

    log_n: int
    log_q: int
    word_bits: int

    @cached_property
    def parameters(self) -> BfvParameters:
        """The ring and its primes; 128-bit secure, for there is no special prime."""
        limbs = -(-self.log_q // self.word_bits)
        bits, wider = divmod(self.log_q, limbs)
        return BfvParameters.create(
            n=1 << self.log_n,
            prime_bits=[bits + 1] * wider + [bits] * (limbs - wider),
            plain_modulus=2,
            multiplication="hps",
            relinearization="word",
            word_bits=self.word_bits,
        )

    @cached_property
    def graph(self) -> SubroutineGraph:
        """Multiply and relinearize as subroutines."""
        limbs = range(self.parameters.limbs)
        keys = {RELIN_KEY: self.parameters.key_shape(len(limbs))}
        graph = SubroutineGraph.for_parameters(self.parameters, keys, products=True)
        writer = BfvWriter(graph, self.parameters)
        x, y = (writer.input(name, 2, len(limbs)) for name in "xy")
        *pair, last = writer.multiply(x, y)
        cut = Cut((1,) * len(limbs), "fast_base_conv", tuple(limbs))
        switched = graph.key_switch(last, RELIN_KEY, cut, (), added=pair)
        writer.output(graph.halves(switched), "z")
        return graph

    def key(self, random: np.random.Generator) -> dict[str, KeySwitchKey]:
        """Returns a random key."""
        of = self.parameters
        shape = of.key_shape(of.limbs)
        return {RELIN_KEY: random_key(of.primes, of.n, shape, random, seeded=False)}


def _cases(run: Run) -> Iterator[Case]:
    """The cases of a part that designs can be built for."""
    for name in run["sets"]:
        each = case(name)
        try:
            design = each.design
        except ParameterError as error:
            run.say(f"{name}: {error}")
            continue
        run.say(f"{name}: {design.name}")
        yield each


# ---- the device --------------------------------------------------------------------------------


def interval(run: Run) -> Iterator[Record]:
    """Runs random products of mixed primes through the RTL: the most cycles between two of them.

    Raises DeviceError if a product differs from core's, or its cycle from the model's; ToolError if
    Verilator or a C++ compiler is missing or fails.
    """
    design = case(run["set"]).design
    if run["products"] < 2:
        raise ParameterError(f"{run['products']} products: an interval is between at least two")
    same = compare_products(StreamRtl(design), design, run["products"])
    text = (
        f"the most between two of {same.products:,} products over {same.primes} primes in random "
        f"order, the fewest is {same.shortest:,}; every product compared with core's"
    )
    yield Record(PAPER, run["set"], "interval", "cycles", same.longest, "rtl", text)


def counted(run: Run) -> Iterator[Record]:
    """DSPs and block RAMs of designs, products per millisecond, and factors.

    ``parts`` names the designs whose parts are counted, too.
    """

    def record(params: str, operation: str, metric: str, value: float) -> Record:
        return Record(PAPER, params, operation, metric, value, "estimate", "")

    for each in (*_cases(run), *map(case, run["others"])):
        design, name = each.design, each.name
        one, memories = cost.multiplier_dsps(design), cost.memories(design)
        transforms = cost.multipliers(design) - 3 * design.lanes
        parts = {
            "rpm": (cost.dsps(design), memories.total),
            "transforms": (transforms * one, memories.exchanges + memories.factors),
            "products": (2 * design.lanes * one, 0),
            "twiddle_generator": (design.lanes * one, 0),
            "others": (0, memories.inputs + memories.output),
        }
        if name not in run["parts"]:
            parts = {"rpm": parts["rpm"]}
        for part, (dsps, brams) in parts.items():
            yield record(name, part, "dsp", dsps)
            yield record(name, part, "bram", brams)
        if name in run["others"]:
            continue
        rate = cost.products_per_millisecond(design, MEGAHERTZ)
        yield record(name, "rpm", "products_per_ms", rate)
        generated = "factors_generated"
        yield record(name, generated, "dsp", design.lanes * one)
        yield record(name, generated, "bram", 0)
        primes = len(each.work.graph.primes)
        yield record(name, generated, "bytes", cost.descriptor_bytes(design, primes))
        rate = cost.descriptor_bytes(design, 1) * MEGAHERTZ / design.period
        yield record(name, generated, "megabytes_per_second", rate)


def synthesized(run: Run) -> Iterator[Record]:
    """Areas of designs and their parts, synthesized or found in the cache.

    Raises ToolError if Yosys is not installed or fails.
    """
    for each in _cases(run):
        areas = stream_areas(each.design)
        whole, core = areas["rs_stream_axis"], areas["rs_stream_core"]
        product, generator = areas["rs_stream_product"], areas["rs_stream_generator"]
        found = {"rpm": whole}
        if each.name in run["parts"]:
            found |= {
                "transforms": area_less(core, product, generator),
                "products": product,
                "twiddle_generator": generator,
                "others": area_less(whole, core),
            }
        for operation, area in found.items():
            text = "Yosys, -family xc7"
            for row in area_records(PAPER, each.name, operation, area, "synthesis", text):
                if row.metric != "uram":  # the 7 series has none
                    yield row


def device(run: Run) -> Iterator[Record]:
    """Products of both kinds, and what a device takes for them, by the model's cycles.

    Raises DeviceError if a residue or a cycle of the model differs from the interpreter's or the
    plan's.
    """
    text = f"the model's cycles, the pipeline's filling included, at {MEGAHERTZ:.0f} MHz"
    for each in _cases(run):
        executable = compile_graph(each.work.graph, each.design)
        if run["check"]:
            check_bits(each.work, each.design)
        for name, found in zip(("multiply", "relinearize"), executable.rounds, strict=False):
            yield Record(PAPER, each.name, name, "products", found.products, "model", "")
            cycles = batch_cycles(each.design, found.products)
            what = (PAPER, each.name, f"device_{name}", "milliseconds")
            yield Record(*what, cycles / MEGAHERTZ / 1e3, "estimate", text)


def check_bits(work: Work, design: StreamDesign) -> None:
    """Runs a work with the model of a design, and on the CPU.

    Raises DeviceError if a residue or a cycle differs from the interpreter's or the plan's.
    """
    random, graph = np.random.default_rng(_SEED), work.graph
    executable = compile_graph(graph, design)
    compiled = CompiledGraph(graph, executable)
    inputs, key = random_inputs(graph, random), work.key(random)
    wanted = run_graph(compiled, Cpu(), inputs, key)
    found = run_graph(compiled, StreamDevice(StreamModel(design)), inputs, key)
    equal = all(np.array_equal(found.outputs[name], wanted.outputs[name]) for name in graph.outputs)
    if not equal or found.cycles != executable.cycles:
        raise DeviceError(f"design {design.name}: the model's product is not the interpreter's")


# ---- this CPU ----------------------------------------------------------------------------------


def host(run: Run) -> Iterator[Record]:
    """A multiplication with relinearization on this CPU alone, and what it does for a device."""
    known: dict[Work, tuple[float, float]] = {}
    for each in _cases(run):
        for work in (each.software, each.work):
            if work not in known:
                known[work] = _milliseconds(work, run["repeats"])
        text = f"CPU time of one thread, median, {_machine()}"
        alone = f"{text}; primes of at most {SOFTWARE_BITS} bits"
        whole, own = known[each.software]
        for operation, value in (
            ("cpu_mult_relin", whole),
            ("cpu_host", own),
            ("cpu_products", whole - own),
        ):
            yield Record(PAPER, each.name, operation, "milliseconds", value, "cpu", alone)
        with_device = known[each.work][1]
        what = (PAPER, each.name, "host", "milliseconds", with_device)
        yield Record(*what, "cpu", f"{text}; primes of at most s bits")


def _milliseconds(work: Work, repeats: int) -> tuple[float, float]:
    """Median milliseconds of the whole, and of what a stream device leaves to its host."""
    random, graph = np.random.default_rng(_SEED), work.graph
    bits = max(work.parameters.extended_primes).bit_length()
    rounds = compile_graph(graph, StreamDesign("any", work.log_n, 2, bits)).rounds
    compiled = CompiledGraph(graph)
    inputs, key = random_inputs(graph, random), work.key(random)
    with one_thread():
        whole = _median(lambda: run_graph(compiled, Cpu(), inputs, key), repeats)
        own = 0.0
        for each in rounds:
            values = {} if each.host is None else random_inputs(each.host, random)
            own += _median(partial(host_values, each, values), repeats)
    return whole, own


def _median(call: Callable[[], object], repeats: int) -> float:
    """Median CPU milliseconds of this thread, after a call to warm up."""
    call()
    times = []
    for _ in range(repeats):
        begin = time.thread_time()
        call()
        times.append((time.thread_time() - begin) * 1e3)
    return median(times)


@cached
def _machine() -> str:
    """What the CPU's times depend on."""
    load, processors = os.getloadavg()[0], os.cpu_count()
    return f"kernels {_core.kernel_name()}, load average {load:.1f} on {processors} processors"


def derived(run: Run) -> Iterator[Record]:
    """Times of host and device together, and speedups over this CPU and over the paper's."""
    times: dict[str, dict[str, float]] = {}
    for r in run.records:
        if r.metric == "milliseconds" and r.operation != "mult_relin":
            times.setdefault(r.params, {})[r.operation] = r.value
    for params, found in times.items():
        if "device_multiply" not in found:
            continue
        yield from _over_papers_cpu(params, found)
        if "host" not in found:
            continue
        whole = found["host"] + found["device_multiply"] + found["device_relinearize"]
        text = "host and device in turn, without the link"
        what = (PAPER, params, "mult_relin")
        yield Record(*what, "milliseconds", whole, "estimate", text)
        speedup = found["cpu_mult_relin"] / whole
        yield Record(*what, "speedup", speedup, "estimate", f"over this CPU alone; {text}")


def _over_papers_cpu(params: str, found: Mapping[str, float]) -> Iterator[Record]:
    """Speedups of our device over the paper's processor, whose times are the paper's."""
    cpu = _theirs(params) or _theirs(params.partition("-")[0])
    text = "over the paper's times of its processor (Table 3)"

    def record(operation: str, value: float) -> Record:
        what = (PAPER, params, operation, "speedup", value, "estimate", text)
        return Record(*what, PAPERS_CPU)

    products = {
        "device_multiply": cpu["cpu_multiply_products"],
        "device_relinearize": cpu["cpu_relinearize_products"],
    }
    for operation, there in products.items():
        yield record(operation, there / found[operation])
    ours = sum(found[operation] for operation in products)
    host = cpu["cpu_mult_relin"] - sum(products.values())
    yield record("mult_relin", cpu["cpu_mult_relin"] / (host + ours))


def _theirs(params: str) -> dict[str, float]:
    """The paper's milliseconds on its processor, of a parameter set; empty: it has none."""
    return {
        figure.operation: figure.value
        for figure in figures(PAPER)
        if (figure.params, figure.metric, figure.baseline) == (params, "milliseconds", "")
        and figure.operation.startswith("cpu_")
    }
