"""BFV's multiplication with relinearization, on the CPU alone and with a stream device."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ringsmith import _core
from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.cpu import Cpu
from ringsmith.backends.random_operands import random_inputs, random_key
from ringsmith.backends.stream.compiler.compile import compile_graph
from ringsmith.backends.stream.compiler.executable import StreamExecutable
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.device.host import StreamMachine, host_values
from ringsmith.backends.stream.device.model import StreamModel
from ringsmith.backends.stream.model.batch import batch_cycles
from ringsmith.bench.records import Found
from ringsmith.bench.rpm.cases import PAPER, SOFTWARE_BITS, Case, Work
from ringsmith.bench.rpm.resources import MEGAHERTZ
from ringsmith.bench.rpm.timing import SEED, median_milliseconds
from ringsmith.caching import cached
from ringsmith.errors import DeviceError
from ringsmith.lower import RELIN_KEY
from ringsmith.objects import KeySwitchKey
from ringsmith.runtime import run_graph

HOST = {
    "lift": "before the first batch: four polynomials lifted, and their sums",
    "scale": "between both: differences, three polynomials scaled, digits of the last",
    "sums": "behind the second: what is added up",
}
"""What the host does with a device, round by round."""


@dataclass(frozen=True)
class Times:
    """CPU milliseconds of one thread, medians.

    Attributes:
        whole: Multiplication and relinearization by the interpreter, which transforms each
            polynomial once.
        host: Of that, what a stream device leaves to its host, round by round.
    """

    whole: float
    host: tuple[float, ...]


def measured(work: Work, repeats: int) -> Times:
    """Times a work on random residues on this thread; kernels take the same time for all."""
    random, graph = np.random.default_rng(SEED), work.graph
    executable = compile_graph(graph, _any_design(work))
    compiled = CompiledGraph(graph)
    inputs, key = random_inputs(graph, random), _key(work, random)
    threads = _core.threads()
    _core.set_threads(1)
    try:
        whole = median_milliseconds(lambda: run_graph(compiled, Cpu(), inputs, key), repeats)
        host = []
        for each in executable.rounds:
            values = {} if each.host is None else random_inputs(each.host, random)
            host.append(median_milliseconds(partial(host_values, each, values), repeats))
    finally:
        _core.set_threads(threads)
    return Times(whole, tuple(host))


def check_bits(work: Work, design: StreamDesign) -> None:
    """Runs a work with the model of a design beside the CPU.

    Raises:
        DeviceError: If a residue or a cycle differs from the interpreter's or the plan's.
    """
    random, graph = np.random.default_rng(SEED), work.graph
    executable = compile_graph(graph, design)
    compiled = CompiledGraph(graph, executable)
    inputs, key = random_inputs(graph, random), _key(work, random)
    wanted = run_graph(compiled, Cpu(), inputs, key)
    found = run_graph(compiled, StreamMachine(StreamModel(design)), inputs, key)
    equal = all(np.array_equal(found.outputs[name], wanted.outputs[name]) for name in graph.outputs)
    if not equal or found.cycles != executable.cycles:
        raise DeviceError(f"design {design.name}: the model's product is not the interpreter's")


def projected(
    case: Case, executable: StreamExecutable, software: Times, with_device: Times
) -> Iterator[Found]:
    """The times of a multiplication with relinearization.

    Args:
        case: The paper's row.
        executable: Its rounds on its design.
        software: Times of the CPU alone, with ``case.software``.
        with_device: Times of ``case.work``.
    """

    def found(operation: str, metric: str, value: float, source: str, text: str) -> Found:
        return Found(PAPER, case.name, operation, metric, value, source, text)

    what = (
        f"CPU time of one thread, median, {machine()}; t = 2, HPS, digits by residues, no special "
        "prime"
    )
    alone = f"{what}, primes of at most {SOFTWARE_BITS} bits"
    host = what + ", primes of at most s bits"
    cycles = f"the model's cycles, the pipeline's filling included, at {MEGAHERTZ:.0f} MHz: assumed"
    both = f"host and device in turn, without the link; {host}; {cycles}"
    yield found("cpu_mult_relin", "milliseconds", software.whole, "cpu", alone)
    yield found(
        "cpu_host",
        "milliseconds",
        sum(software.host),
        "cpu",
        f"all but transforms and products: lifting, scaling, digits, sums; {alone}",
    )
    yield found(
        "cpu_products",
        "milliseconds",
        software.whole - sum(software.host),
        "cpu",
        f"the difference of both; {alone}",
    )
    device = device_milliseconds(executable)
    for (operation, value), each in zip(device.items(), executable.rounds, strict=False):
        name, text = operation.removeprefix("device_"), "residue polynomial products handed over"
        yield found(name, "products", each.products, "model", text)
        yield found(operation, "milliseconds", value, "estimate", cycles)
    for operation, value in zip(HOST, with_device.host, strict=True):
        text = f"{HOST[operation]}; {host}"
        yield found(f"host_{operation}", "milliseconds", value, "cpu", text)
    total = sum(with_device.host) + sum(device.values())
    yield found("mult_relin", "milliseconds", total, "estimate", both)
    yield found(
        "mult_relin", "speedup", software.whole / total, "estimate", f"over cpu_mult_relin; {both}"
    )
    yield found(
        "device_of_mult_relin", "percent", 100 * sum(device.values()) / total, "estimate", both
    )


def device_milliseconds(executable: StreamExecutable) -> dict[str, float]:
    """What a device takes for the products of each round, by operation."""
    names = ("device_multiply", "device_relinearize")
    return {
        name: batch_cycles(executable.design, each.products) / MEGAHERTZ / 1e3
        for name, each in zip(names, executable.rounds, strict=False)
    }


@cached
def machine() -> str:
    """What the CPU's times depend on."""
    load, processors = os.getloadavg()[0], os.cpu_count()
    return f"kernels {_core.kernel_name()}, load average {load:.1f} on {processors} processors"


def _any_design(work: Work) -> StreamDesign:
    """A design that takes the work's primes: rounds are the same on all of them."""
    return StreamDesign("any", work.log_n, 2, max(work.parameters.extended_primes).bit_length())


def _key(work: Work, random: np.random.Generator) -> dict[str, KeySwitchKey]:
    parameters = work.parameters
    shape = (parameters.primes, parameters.n, parameters.limbs)
    return {RELIN_KEY: random_key(*shape, random, seeded=False)}
