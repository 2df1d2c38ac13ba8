"""Where limbs and tables lie in memory, and whether all of them fit.

A limb lies in the memory of one cluster's ports: of the first that loads or stores it. Others read
it there. Each port holds a slice of every row, so that all are given the same addresses.

What gave way to memory, and is read by the cluster that stored it alone, leaves its place to what
that cluster stores later. An instruction takes a limb from a stream when it has come, so that a
later instruction's results cannot overtake it.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from ringsmith.backends.vector.design import package
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.isa.instructions import (
    SPILLED,
    STREAMS,
    Limb,
    Program,
    Stream,
    sources,
    stores,
)
from ringsmith.errors import ProgramError

HOME_SHIFT = package.MEMORY_ROW_BITS
"""Bits of a row's number in the memory of a cluster; its address has the cluster's above them."""


@dataclass(frozen=True)
class Place:
    """Where rows lie.

    Attributes:
        home: The preferred bank: the cluster whose ports' memory has them.
        row: The first row there.
    """

    home: int
    row: int

    @property
    def address(self) -> int:
        """As lists have it."""
        return self.home << HOME_SHIFT | self.row


def places(programs: Sequence[Program], design: VectorDesign) -> tuple[dict[Limb, Place], int]:
    """Where each limb and table lies, one behind the other, and the most rows that a cluster has.

    Each begins with a burst of its own, so that no burst crosses a page.
    """
    found: dict[Limb, Place] = {}
    rows = [0] * design.clusters
    whole = design.burst_beats // design.row_cycles  # rows of a burst
    own_spills = [_last_reads(programs, cluster) for cluster in range(design.clusters)]
    passing = {limb for each in own_spills for limb in each}

    def add(cluster: int, count: int) -> Place:
        place = Place(cluster, rows[cluster])
        rows[cluster] += -(-count // whole) * whole
        return place

    for cluster, own in enumerate(programs):
        moved = [(load.limb, load.rows) for load in own.loads]
        moved += [(store.limb, store.rows) for store in own.stores]
        for limb, count in moved:
            if limb not in found and limb not in passing:
                found[limb] = add(cluster, count)
    for cluster, (own, last) in enumerate(zip(programs, own_spills, strict=True)):
        free: list[tuple[int, int, Place]] = []  # rows are those of a limb, of all alike
        for number, (store, instruction) in enumerate(zip(own.stores, _storing(own), strict=True)):
            if store.limb in last:
                reused = free and free[0][0] < instruction
                place = heappop(free)[2] if reused else add(cluster, store.rows)
                found[store.limb] = place
                heappush(free, (last[store.limb], number, place))
    return found, max(rows)


def _last_reads(programs: Sequence[Program], cluster: int) -> dict[Limb, int]:
    """What gave way in a cluster and is read there alone -> the last instruction that takes it."""
    own = programs[cluster]
    elsewhere = {load.limb for other in programs if other is not own for load in other.loads}
    stored = {store.limb for store in own.stores if store.limb.kind == SPILLED} - elsewhere
    waiting: list[deque[Limb]] = [deque() for _ in range(STREAMS)]
    for load in own.loads:
        if load.stream is not None:
            waiting[load.stream].append(load.limb)
    last: dict[Limb, int] = {}
    for number, each in enumerate(own.computing):
        for source in sources(each.operation):
            if isinstance(source, Stream):
                last[waiting[source.number].popleft()] = number
    return {limb: last[limb] for limb in stored if limb in last}


def _storing(program: Program) -> list[int]:
    """The instruction that makes what each store takes."""
    return [number for number, each in enumerate(program.computing) for _ in stores(each.operation)]


def check_size(programs: Sequence[Program], design: VectorDesign) -> None:
    """Refuses programs whose operands, keys, tables and results do not fit.

    Raises:
        ProgramError: If a cluster's part of memory is too small; says how large it must be.
    """
    _, rows = places(programs, design)
    there = design.ports * design.memory.port_bytes
    if (needed := rows * design.row_bytes) > there:
        raise ProgramError(
            f"operands, keys, tables and results of this program take {needed:,} bytes of a "
            f"cluster's memory, and {design.ports} ports of platform {design.platform} have "
            f"{there:,}: give the design more ports, or run the program in parts"
        )
