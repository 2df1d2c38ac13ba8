"""Design points of the vector architecture for a platform, and what they cost."""

from collections.abc import Iterator
from typing import cast

from ringsmith.backends.explorer import (
    Bar,
    Explorer,
    OperationCost,
    Parameter,
    Point,
    Task,
    Usage,
    whole_excess,
)
from ringsmith.backends.types import Design
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.cost import Cost, estimate, exact, subroutine
from ringsmith.backends.vector.compiler.timeline import Cycles
from ringsmith.backends.vector.design.area import device_area
from ringsmith.backends.vector.design.design import (
    ARCHITECTURE,
    BARRETT,
    MONTGOMERY,
    VectorDesign,
    row_ports,
)
from ringsmith.backends.vector.design.die_placement import SHARE, placed
from ringsmith.backends.vector.design.word_layout import Shape, table_rows
from ringsmith.errors import ParameterError
from ringsmith.platforms import Memory, Platform

_URAM_ROWS = 4096
"""Rows of an UltraRAM: banks grow by them."""

_BRAM_ROWS = 512
"""Rows of a block RAM of the widest words: FIFOs and tables have at least this many."""

_BURST_BEATS = 16

_MOST_BANK_STEPS = 16

_LIMBS_OF_STREAM, _TABLES = 2, 4
"""Limbs that a stream's FIFO holds, and tables that the twiddle memory does."""


def ports_of(platform: Platform, clusters: int, row_bits: int) -> int:
    """The most ports of a cluster that a row divides into whole beats of.

    Raises:
        ParameterError: If the platform's memory is not known, or a row is shorter than a beat.
    """
    memory = memory_of(platform)
    for count in range(row_ports(platform, memory, clusters), 0, -1):
        beats, rest = divmod(row_bits, count * memory.port_bits)
        if not rest and beats:
            return count
    raise ParameterError(
        f"rows of {row_bits} bits and {clusters} clusters on {memory.ports} ports of "
        f"{memory.port_bits} bits: a row is whole beats of one port at least, and each cluster has "
        "one: take more lanes, or fewer clusters"
    )


def memory_of(platform: Platform) -> Memory:
    """The platform's memory.

    Raises:
        ParameterError: If there are no figures of it.
    """
    if platform.memory is None:
        raise ParameterError(
            f"platform {platform.card} has no figures of its memory: add table [memory] to its file"
        )
    return platform.memory


class VectorExplorer(Explorer):
    """Lanes, radix, clusters, banks and their rows, reduction; all else follows."""

    architecture = ARCHITECTURE
    megahertz = 250.0

    def space(self, task: Task) -> tuple[Parameter, ...]:
        """See ``Explorer.space``; ``bank_rows`` grows by whole UltraRAMs."""
        if not 8 <= task.log_n <= 16:
            raise ParameterError(f"N = {1 << task.log_n} is outside 2^8 … 2^16")
        memory_of(task.platform)
        lanes = tuple(range(2, min(9, task.log_n - 2) + 1))
        steps = tuple(_URAM_ROWS * count for count in range(1, _MOST_BANK_STEPS))
        doubled = tuple(_URAM_ROWS << k for k in range(4))
        reductions = (MONTGOMERY, BARRETT)
        return (
            Parameter("log_lanes", lanes, tuple(m for m in lanes if m % 2 == 0)),
            Parameter("log_radix", (2, 4), (2, 4)),
            Parameter("clusters", tuple(range(1, 9)), (1, 2, 4, 8)),
            Parameter("banks", tuple(range(3, 9)), (4,)),
            Parameter("bank_rows", steps, doubled),
            Parameter("reduction", reductions, reductions),
        )

    def design(self, point: Point, task: Task) -> VectorDesign:
        """See ``Explorer.design``."""
        log_n, values = task.log_n, dict(point)
        log_lanes, log_radix = int(values["log_lanes"]), int(values["log_radix"])
        clusters, bits = int(values["clusters"]), max(task.prime_bits, log_n + 3)
        if log_lanes % log_radix or log_lanes + max(log_radix, 3) > log_n:
            raise ParameterError(
                f"log_lanes = {log_lanes} with log_radix = {log_radix} at N = 2^{log_n}: log_radix "
                "divides log_lanes, and both together are at most log2 N; a limb has 8 rows or more"
            )
        row_bits = (32 if bits <= 32 else 64) << log_lanes
        ports = ports_of(task.platform, clusters, row_bits)
        shape = Shape(log_n, log_lanes, log_radix)
        tables = table_rows(shape)
        name = "-".join(f"{key}{value}" for key, value in _short(values).items())
        beats = row_bits // (ports * memory_of(task.platform).port_bits)
        found = VectorDesign(
            name=f"vector-{name}",
            log_n=log_n,
            log_lanes=log_lanes,
            log_radix=log_radix,
            word_bits=bits,
            reduction=str(values["reduction"]),
            clusters=clusters,
            banks=int(values["banks"]),
            bank_rows=max(int(values["bank_rows"]), 2 * shape.rows),
            table_rows=max(_TABLES * tables, _BRAM_ROWS),
            stream_rows=max(_LIMBS_OF_STREAM * shape.rows, tables, _BRAM_ROWS),
            platform=task.platform_name,
            ports=ports,
            burst_beats=max(_BURST_BEATS, beats),
        )
        for prime in task.primes:
            if error := found.prime_error(prime):
                raise ParameterError(error)
        return found

    def usage(self, design: Design) -> Usage:
        """See ``Explorer.usage``."""
        area = device_area(cast("VectorDesign", design))
        return Usage(area.lut_sites, area.fabric_flip_flops, area.dsps, area.brams, area.urams)

    def excess(self, design: Design, task: Task) -> tuple[str, ...]:
        """See ``Explorer.excess``: first of the whole FPGA, then die by die."""
        point = cast("VectorDesign", design)
        found = whole_excess(self.usage(point), task.platform)
        if found or task.platform.dies == 1:
            return found
        place = placed(point, task.platform)
        wires, most = max(place.wires, default=0), task.platform.die_wires
        if wires > most:
            return (f"{wires:,} wires between two dies, which have {most:,}",)
        if place.fits:
            return ()
        resource, shares = max(place.shares.items(), key=lambda each: max(each[1]))
        text = f"{resource}: {max(shares):.0%} of a die's, and a design may take {SHARE:.0%}"
        return (text,)

    def gigabytes_per_second(self, design: Design, task: Task) -> float:
        """See ``Explorer.gigabytes_per_second``."""
        point, memory = cast("VectorDesign", design), memory_of(task.platform)
        beats = memory.port_bits / 8 * task.megahertz / 1e3
        return 2 * point.clusters * point.ports * beats

    def cost(self, design: Design, operation: str, task: Task) -> OperationCost:
        """See ``Explorer.cost``."""
        found = estimate(task.graphs[operation], cast("VectorDesign", design))
        return _operation_cost(found, task, exact=False)

    def exact(self, design: Design, operation: str, task: Task) -> OperationCost:
        """See ``Explorer.exact``."""
        found = exact(task.graphs[operation], cast("VectorDesign", design))
        return _operation_cost(found, task, exact=True)

    def timeline(self, design: Design, operation: str, task: Task) -> Iterator[Bar]:
        """See ``Explorer.timeline``: array and memory of each cluster."""
        compiled = compile_graph(task.graphs[operation], cast("VectorDesign", design))
        cycles = Cycles(compiled.design, compiled.shape)
        both = zip(compiled.programs, compiled.schedules, strict=True)
        for number, (own, times) in enumerate(both):
            for each, span in zip(own.computing, times.computing, strict=True):
                end = span.begin + cycles.occupied(each.operation)
                yield Bar(f"array {number}", subroutine(each.operation), span.begin, end)
            for load, span in zip(own.loads, times.loads, strict=True):
                end = min(span.end, span.begin + compiled.design.read_cycles(load.rows))
                yield Bar(f"reads {number}", load.limb.kind, span.begin, end)
            for store, span in zip(own.stores, times.stores, strict=True):
                yield Bar(f"writes {number}", store.limb.kind, span.begin, span.end)


def _short(values: Point) -> dict[str, object]:
    """What a design's name has of a point."""
    return {
        "t": 1 << int(values["log_lanes"]),
        "r": values["log_radix"],
        "c": values["clusters"],
        "b": f"{values['banks']}x{values['bank_rows']}",
        "": values["reduction"],
    }


def _operation_cost(found: Cost, task: Task, *, exact: bool) -> OperationCost:
    bounds = {
        "compute": found.compute,
        "permutation": found.permutation,
        "memory": found.memory,
        "capacity": found.spilled,
    }
    milliseconds = task.milliseconds(found.cycles)
    return OperationCost(found.cycles, milliseconds, exact, bounds, found.parts, found.bytes)
