"""Design points of the stream architecture for a platform, and what they cost with their host.

The device makes products; its host, the CPU that explores, does the rest and is measured. Both work
in turn, and operands and products cross a link of ``LINK_GIGABYTES_PER_SECOND``, the peak of PCIe
Gen3 x16: less than any real transfer takes.
"""

import time
from collections.abc import Iterator
from statistics import median
from typing import cast

import numpy as np

from ringsmith import _core
from ringsmith.backends.explorer import (
    ULTRASCALE_PLUS,
    Bar,
    Explorer,
    OperationCost,
    Parameter,
    Point,
    Task,
    Usage,
    whole_excess,
)
from ringsmith.backends.stream.compiler.compile import compile_graph
from ringsmith.backends.stream.compiler.executable import StreamExecutable
from ringsmith.backends.stream.design import area
from ringsmith.backends.stream.design.design import (
    ARCHITECTURE,
    ASSUMED_MHZ,
    BARRETT,
    LANES,
    MONTGOMERY,
    StreamDesign,
)
from ringsmith.backends.stream.device.device import host_values
from ringsmith.backends.stream.isa.descriptor import prime_error
from ringsmith.backends.stream.model.batch import batch_cycles
from ringsmith.backends.types import Design
from ringsmith.caching import cached
from ringsmith.errors import ParameterError
from ringsmith.graph import SubroutineGraph
from ringsmith.hdl.dsps import DspSlice

SERIES_7 = "xc7"

LINK_GIGABYTES_PER_SECOND = 15.75
"""Peak of PCIe Gen3 x16, each way."""

_REPEATS = 3


class StreamExplorer(Explorer):
    """Lanes and multiplier."""

    architecture = ARCHITECTURE
    families = (ULTRASCALE_PLUS, SERIES_7)
    megahertz = ASSUMED_MHZ

    def space(self, task: Task) -> tuple[Parameter, ...]:
        """See ``Explorer.space``."""
        if not 8 <= task.log_n <= 15:
            raise ParameterError(f"N = 2^{task.log_n} is outside 2^8 … 2^15")
        multipliers = (MONTGOMERY, BARRETT)
        return (
            Parameter("lanes", LANES, LANES),
            Parameter("multiplier", multipliers, multipliers),
        )

    def design(self, point: Point, task: Task) -> StreamDesign:
        """See ``Explorer.design``."""
        lanes, multiplier = int(point["lanes"]), str(point["multiplier"])
        bits = max(task.prime_bits, 16, task.log_n + 3)
        name = f"stream-w{lanes}-{multiplier}"
        found = StreamDesign(name, task.log_n, lanes, bits, multiplier, platform=task.platform_name)
        for prime in task.primes:
            if error := prime_error(prime, found):
                raise ParameterError(error)
        return found

    def usage(self, design: Design) -> Usage:
        """See ``Explorer.usage``; DSPs of UltraScale+."""
        return _usage(cast("StreamDesign", design), DspSlice.DSP48E2)

    def excess(self, design: Design, task: Task) -> tuple[str, ...]:
        """See ``Explorer.excess``."""
        slices = DspSlice.DSP48E1 if task.platform.family == SERIES_7 else DspSlice.DSP48E2
        return whole_excess(_usage(cast("StreamDesign", design), slices), task.platform)

    def gigabytes_per_second(self, design: Design, task: Task) -> float:
        """See ``Explorer.gigabytes_per_second``: words in and out at full speed."""
        return sum(area.gigabytes_per_second(cast("StreamDesign", design), task.megahertz))

    def cost(self, design: Design, operation: str, task: Task) -> OperationCost:
        """See ``Explorer.cost``: exact: cycles follow from the number of products."""
        point = cast("StreamDesign", design)
        executable = _rounds(_Asked(task.graphs[operation], point))
        cycles = sum(batch_cycles(point, each.products) for each in executable.rounds)
        word = 4 if point.word_bits <= 32 else 8
        moved = executable.host_transfers * point.n * word
        link = moved / LINK_GIGABYTES_PER_SECOND / 1e6
        host = task.host_milliseconds.get(operation, 0.0)
        rate = task.megahertz * 1e3
        bounds = {"compute": cycles, "memory": round(link * rate), "host": round(host * rate)}
        parts = {"products": cycles, "link": bounds["memory"], "host": bounds["host"]}
        together = task.milliseconds(cycles) + link + host
        return OperationCost(round(together * rate), together, True, bounds, parts, moved)

    def exact(self, design: Design, operation: str, task: Task) -> OperationCost:
        """See ``Explorer.exact``."""
        return self.cost(design, operation, task)

    def timeline(self, design: Design, operation: str, task: Task) -> Iterator[Bar]:
        """See ``Explorer.timeline``: host, link and device in turn, each as one interval."""
        begin = 0
        for name, cycles in self.cost(design, operation, task).parts.items():
            yield Bar(name, name, begin, begin + cycles)
            begin += cycles

    def with_host(self, graph: SubroutineGraph) -> float:
        """The median of several runs of the host's part of a graph, on random residues.

        Processor time of one thread, so that other work on the machine counts little.
        """
        bits = max(prime.bit_length() for prime in graph.primes)
        log_n = graph.n.bit_length() - 1
        design = StreamDesign("host", log_n, 2, max(bits, 16, log_n + 3))
        executable = compile_graph(graph, design)
        rng = np.random.default_rng(1)
        times, threads = [], _core.threads()
        _core.set_threads(1)
        for _ in range(_REPEATS):
            values = {name: _random(graph, kind.base, rng) for name, kind in graph.inputs.items()}
            spent = 0.0
            for each in executable.rounds:
                started = time.process_time()
                values |= host_values(each, values)
                spent += time.process_time() - started
                values |= {task.result: _random(graph, task.base, rng) for task in each.tasks}
            times.append(spent * 1e3)
        _core.set_threads(threads)
        return median(times)


class _Asked:
    """A graph and a design, as a key by the graph's identity."""

    def __init__(self, graph: SubroutineGraph, design: StreamDesign) -> None:
        self.graph, self.design = graph, design

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[int, StreamDesign]:
        return id(self.graph), self.design


@cached
def _rounds(asked: _Asked) -> StreamExecutable:
    return compile_graph(asked.graph, asked.design)


def _random(graph: SubroutineGraph, base: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    rows = [rng.integers(0, graph.primes[i], graph.n, dtype=np.uint64) for i in base]
    return np.stack(rows)


def _usage(design: StreamDesign, slices: DspSlice) -> Usage:
    luts, registers = area.fabric(design)
    return Usage(luts, registers, area.dsps(design, slices), area.memories(design).total, 0)
