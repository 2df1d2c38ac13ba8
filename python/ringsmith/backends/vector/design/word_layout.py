"""Where a polynomial's words lie, and what moves them between the passes of a transform.

A position in a limb is a row and a lane; its bits carry the bits of an index, each its own: that is
a layout. ``docs/reference/vector.md`` names the two, and says how the passes lead from one to the
other.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ringsmith.caching import cached
from ringsmith.errors import ParameterError


@dataclass(frozen=True)
class Shape:
    """What a layout depends on.

    Attributes:
        log_n: log2 of the ring degree N.
        log_lanes: log2 of the words of a row.
        log_radix: Stages of a pass; divides ``log_lanes``.
    """

    log_n: int
    log_lanes: int
    log_radix: int

    def __post_init__(self) -> None:
        if self.log_lanes % self.log_radix:
            raise ParameterError(
                f"log_lanes = {self.log_lanes} is no multiple of log_radix = {self.log_radix}: "
                "choose one"
            )
        if self.row_bits < self.log_radix:
            raise ParameterError(
                f"N = 2^{self.log_n} on 2^{self.log_lanes} lanes is 2^{self.row_bits} rows, and a "
                f"pass of {self.log_radix} stages needs 2^{self.log_radix}: choose fewer lanes or "
                "a larger ring"
            )

    @property
    def row_bits(self) -> int:
        """log2 of the rows of a limb."""
        return self.log_n - self.log_lanes

    @property
    def rows(self) -> int:
        """Rows of a limb."""
        return 1 << self.row_bits

    @property
    def passes(self) -> int:
        """Passes of a transform, one for each group of index bits."""
        return -(-self.log_n // self.log_radix)

    @property
    def lane_groups(self) -> int:
        """Groups of index bits that fit into a row's lanes."""
        return self.log_lanes // self.log_radix

    @property
    def top_bits(self) -> int:
        """Index bits of the top group."""
        return self.log_n - self.log_radix * (self.passes - 1)


@dataclass(frozen=True)
class Layout:
    """Which index bit each bit of a lane's and of a row's number carries, lowest first."""

    lanes: tuple[int, ...]
    rows: tuple[int, ...]

    def rotated(self, radix: int, inverse: bool) -> "Layout":
        """L(k) becomes L(k-1), and L0 the last; inverse: the way back."""
        cut = len(self.lanes) - radix if inverse else radix
        return Layout(self.lanes[cut:] + self.lanes[:cut], self.rows)

    def exchanged(self, mask: int, turn: int) -> "Layout":
        """Lane bit i and row bit i + turn (mod row bits) change places where mask has bit i."""
        lanes, rows = list(self.lanes), list(self.rows)
        for bit in range(mask.bit_length()):
            if mask >> bit & 1:
                row = (bit + turn) % len(rows)
                lanes[bit], rows[row] = rows[row], lanes[bit]
        return Layout(tuple(lanes), tuple(rows))

    @property
    def order(self) -> NDArray[np.int64]:
        """Index of the word at each position, of shape (rows, lanes)."""
        row = np.arange(1 << len(self.rows))[:, None]
        lane = np.arange(1 << len(self.lanes))[None, :]
        index = np.zeros((row.size, lane.size), dtype=np.int64)
        for position, bits in ((row, self.rows), (lane, self.lanes)):
            for i, bit in enumerate(bits):
                index |= (position >> i & 1) << bit
        return index


@dataclass(frozen=True)
class Pass:
    """One pass of a transform.

    Attributes:
        group: The group of index bits whose stages it computes.
        stages: A mask of the positions in L0 whose stages it computes.
        rotate: Whether lanes are rotated: forward before the exchange, inverse behind it.
        exchange: A mask of the positions in L0 that are exchanged with row bits.
        turn: At time c it reads and writes row rotl(c, turn).
        layout: The layout in which the stages are computed.
        table: Row of the table of factors with its first; row v of the limb takes the factors of
            row ``table + (v >> shift)``.
        shift: See ``table``.
    """

    group: int
    stages: int
    rotate: bool
    exchange: int
    turn: int
    layout: Layout
    table: int
    shift: int


def ntt_layout(shape: Shape) -> Layout:
    """The layout of a polynomial in NTT form; a bit of the index is one of SEAL's position."""
    r, groups = shape.log_radix, shape.lane_groups
    lanes = [*range(r)]
    for k in range(1, groups):
        lanes += range(r * (groups - k), r * (groups - k + 1))
    return Layout(tuple(lanes), tuple(range(shape.log_lanes, shape.log_n)))


def coefficient_layout(shape: Shape) -> Layout:
    """The layout of a polynomial in coefficient form."""
    r, last = shape.log_radix, shape.passes - 1
    highest_in_rows = last - shape.lane_groups
    lanes = [*range(r * highest_in_rows, r * highest_in_rows + r - shape.top_bits)]
    lanes += range(r * last, shape.log_n)
    for k in range(1, shape.lane_groups):
        lanes += range(r * (last - k), r * (last - k + 1))
    rows = [*range(r * highest_in_rows)]
    rows += range(r * highest_in_rows + r - shape.top_bits, r * (highest_in_rows + 1))
    return Layout(tuple(lanes), tuple(rows))


def _exchange(shape: Shape, group: int) -> tuple[int, int]:
    """Mask and turn of the exchange that brings a group from the rows into L0, or (0, 0)."""
    r = shape.log_radix
    highest_in_rows = shape.passes - 1 - shape.lane_groups
    if group > highest_in_rows:
        return 0, 0
    full = (1 << r) - 1
    if group < highest_in_rows:
        return full, r * group % shape.row_bits
    missing = r - shape.top_bits
    return full & (full << missing), (r * group - missing) % shape.row_bits


@cached
def forward_passes(shape: Shape) -> tuple[Pass, ...]:
    """The passes from coefficient form to NTT form."""
    r, last = shape.log_radix, shape.passes - 1
    layout, found, table = coefficient_layout(shape), [], 0
    for group in range(last, -1, -1):
        mask, turn = _exchange(shape, group)
        if group < last:
            layout = layout.rotated(r, inverse=False)
        layout = layout.exchanged(mask, turn)
        stages = (1 << r) - 1
        if group == last:
            stages &= stages << (r - shape.top_bits)
        above = r * (group + 1)
        shift = next((i for i, bit in enumerate(layout.rows) if bit >= above), shape.row_bits)
        found.append(Pass(group, stages, group < last, mask, turn, layout, table, shift))
        table += 1 << (shape.row_bits - shift)
    return tuple(found)


@cached
def inverse_passes(shape: Shape) -> tuple[Pass, ...]:
    """The passes from NTT form to coefficient form: those of ``forward_passes``, backwards.

    Before a pass's stages comes what leads back from the pass that follows it forward.
    """
    ahead = forward_passes(shape)
    undone = [
        replace(own, rotate=True, exchange=behind.exchange, turn=behind.turn)
        for own, behind in pairwise(ahead)
    ]
    return (replace(ahead[-1], rotate=False, exchange=0, turn=0), *reversed(undone))


def table_rows(shape: Shape) -> int:
    """Rows of a prime's table of factors, in one direction."""
    last = forward_passes(shape)[-1]
    return last.table + (1 << (shape.row_bits - last.shift))


@cached
def _table_order(shape: Shape) -> NDArray[np.int64]:
    """Where in SEAL's table of powers each word of a table comes from; (table rows, lanes)."""
    r = shape.log_radix
    source = np.zeros((table_rows(shape), 1 << shape.log_lanes), dtype=np.int64)
    unit = np.arange(1 << shape.log_lanes >> r) << r
    for each in forward_passes(shape):
        row = np.arange(1 << (shape.row_bits - each.shift)) << each.shift
        for position in range(r):
            if not each.stages >> position & 1:
                continue
            bit = each.layout.lanes[position]
            stage = shape.log_n - 1 - bit
            for high in range(1 << (r - 1 - position)):
                lane = unit | high << (position + 1)
                block = _bits_above(each.layout, bit, row, lane)
                node = (1 << (r - 1 - position)) + high
                rows = slice(each.table, each.table + row.size)
                source[rows, unit + node] = (1 << stage) + block
    return source


def _bits_above(
    layout: Layout, bit: int, row: NDArray[np.int64], lane: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The index above one of its bits, for each row and lane."""
    above = np.zeros((row.size, lane.size), dtype=np.int64)
    for position, bits in ((row[:, None], layout.rows), (lane[None, :], layout.lanes)):
        for i, other in enumerate(bits):
            if other > bit:
                above |= (position >> i & 1) << (other - bit - 1)
    return above


def table(shape: Shape, powers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A table of factors as rows for the twiddle memory.

    Args:
        shape: The ring and the array.
        powers: SEAL's table for a prime, N words: of psi^brv(i), or of their inverses.

    Returns:
        Rows of lanes; the first word of each unit is not used.
    """
    rows: NDArray[np.uint64] = powers[_table_order(shape)]
    return rows


def placed(shape: Shape, layout: Layout, limb: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A limb's N words as rows of lanes."""
    _check(shape, limb.size)
    rows: NDArray[np.uint64] = limb[layout.order]
    return rows


def taken(shape: Shape, layout: Layout, rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Rows of lanes as a limb's N words: ``placed`` backwards."""
    _check(shape, rows.size)
    limb = np.empty(rows.size, dtype=rows.dtype)
    limb[layout.order] = rows
    return limb


def _check(shape: Shape, words: int) -> None:
    if words != 1 << shape.log_n:
        raise ParameterError(f"{words} words are no limb of N = {1 << shape.log_n}")


def time_order(shape: Shape, turn: int) -> NDArray[np.int64]:
    """Row that a pass reads, and writes, at each time."""
    time, bits = np.arange(shape.rows), shape.row_bits
    rows: NDArray[np.int64] = (time << turn | time >> (bits - turn)) & (shape.rows - 1)
    return rows
