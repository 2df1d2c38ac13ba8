"""Where limbs and tables lie in memory, and whether all of them fit.

A limb lies in the memory of one cluster's ports: of the first that loads or stores it. Others read
it there. Each port holds a slice of every row, so that all are given the same addresses.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ringsmith.backends.vector.design import package
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.isa.instructions import Limb, Program
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
    for cluster, own in enumerate(programs):
        moved = [(load.limb, load.rows) for load in own.loads]
        moved += [(store.limb, store.rows) for store in own.stores]
        for limb, count in moved:
            if limb not in found:
                found[limb] = Place(cluster, rows[cluster])
                rows[cluster] += -(-count // whole) * whole
    return found, max(rows)


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
