"""What a linear map adds up, and how far each entry moves for it.

A map of many terms has few distances. Products with matrices and convolutions are sums over
combinations of indices, and the address of an entry is a sum over its axes: their distances follow
from those of each axis, without a list of all terms.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ringsmith.program.ndarray.layout import Addresses, Layout
from ringsmith.program.plain import PlainValues

Counted = tuple[Addresses, Addresses]
"""Different moves, ascending, and how often each occurs."""


@dataclass(frozen=True)
class Moves:
    """Numbers for moves of entries from one layout to another.

    A move's number combines the ciphertext of the result, that of the source and the distance. The
    distance says how many slots an entry moves to the left and, above that, whether it changes its
    row.

    Attributes:
        source: Where entries lie.
        target: Where they move to.
        period: Slots after which everything repeats, a power of two.
        row: Slots of a row, in which rotations wrap around.
    """

    source: Layout
    target: Layout
    period: int
    row: int

    def numbers(self, entry: Addresses, to: Addresses) -> Addresses:
        """Returns the numbers of moves between addresses."""
        bits = self.target.slot_bits
        ciphertexts = (to >> bits) * self.source.ciphertexts + (entry >> bits)
        return ciphertexts * self.period + distance(entry, to, self.period, self.row)

    def both(self, a: Addresses, b: Addresses) -> Addresses:
        """Returns the numbers of moves whose addresses are sums of those of two others.

        No bit of an address may be 1 in both.
        """
        steps = self.period - 1
        ciphertexts = (a & ~steps) + (b & ~steps)
        return ciphertexts | shifted(a & steps, b & steps, self.period, self.row)

    def split(self, moves: Addresses) -> tuple[Addresses, Addresses, Addresses]:
        """Returns the ciphertexts of the result, of the source, and the distances."""
        to, origin = np.divmod(moves // self.period, self.source.ciphertexts)
        return to, origin, moves & (self.period - 1)


def distance(entry: Addresses, to: Addresses, period: int, row: int) -> Addresses:
    """Returns how far an entry moves: slots to the left, and a row more where it changes its row.

    Args:
        entry: Addresses of entries.
        to: Addresses that they move to.
        period: Slots after which everything repeats.
        row: Slots of a row, in which rotations wrap around.
    """
    steps = (entry - to) & (min(period, row) - 1)
    return steps if period <= row else steps + ((entry ^ to) & row)


def shifted(distances: Addresses, more: Addresses, period: int, row: int) -> Addresses:
    """Returns the distances of two moves after each other; arguments as for ``distance``."""
    steps = (distances + more) & (min(period, row) - 1)
    return steps if period <= row else steps + ((distances ^ more) & row)


class Terms(Protocol):
    """What is added up."""

    @property
    def weighted(self) -> bool:
        """Whether terms are multiplied by numbers."""

    @property
    def weight(self) -> PlainValues | None:
        """The number that each term is multiplied by; None: all are 1."""

    def targets(self, layout: Layout) -> Addresses:
        """Returns where each term arrives, in a layout of the result."""

    def moves(self, moves: Moves) -> Addresses:
        """Returns the move of each term."""

    def counted(self, moves: Moves) -> Counted:
        """Returns the different moves of the terms."""


@dataclass(frozen=True, eq=False)
class Listed:
    """Terms one by one.

    Attributes:
        to: The entry of the result of each term, in the order of the flat array.
        entry: The entry of the source.
        weight: As of ``Terms``.
    """

    to: Addresses
    entry: Addresses
    weight: PlainValues | None = None

    @property
    def weighted(self) -> bool:
        """As of ``Terms``."""
        return self.weight is not None

    def targets(self, layout: Layout) -> Addresses:
        """As of ``Terms``."""
        return layout.addresses.reshape(-1)[self.to]

    def moves(self, moves: Moves) -> Addresses:
        """As of ``Terms``."""
        entry = moves.source.addresses.reshape(-1)[self.entry]
        return moves.numbers(entry, self.targets(moves.target))

    def counted(self, moves: Moves) -> Counted:
        """As of ``Terms``."""
        return _counted(self.moves(moves), 1)


@dataclass(frozen=True, eq=False)
class Correlations:
    """The terms of a correlation of all records with kernels; of no axes: of a matrix product.

    The source has shape (…, channels, *lengths), the result (…, maps, *counts).

    Attributes:
        kernels: Shape (maps, channels, *sizes); zeros make no term.
        records: Lengths of the first axes, which both arrays have.
        lengths: Of the source's last axes.
        counts: Of the result's last axes.
        strides: For each of them.
        before: Zeros before each of them.
    """

    kernels: PlainValues
    records: tuple[int, ...] = ()
    lengths: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    before: tuple[int, ...] = ()

    weighted = True
    """As of ``Terms``."""

    @property
    def weight(self) -> PlainValues:
        """As of ``Terms``."""
        inside = self._inside
        taps = self.kernels[np.nonzero(self.kernels)].reshape(-1, *[1] * (inside.ndim - 1))
        return np.broadcast_to(taps, inside.shape)[inside]

    def targets(self, layout: Layout) -> Addresses:
        """As of ``Terms``."""
        maps = len(self.records)
        total = layout.along(maps)[np.nonzero(self.kernels)[0]]
        total = total.reshape(-1, *[1] * (len(self.records) + len(self.counts)))
        for axis in (*range(maps), *range(maps + 1, len(layout.shape))):
            at = axis + 1 if axis < maps else axis
            total = total + self._spread(layout.along(axis), at)
        inside = self._inside
        return np.broadcast_to(total, inside.shape)[inside]

    def moves(self, moves: Moves) -> Addresses:
        """As of ``Terms``."""
        maps, channels, *offsets = np.nonzero(self.kernels)
        first = len(self.records)
        total = moves.numbers(
            moves.source.along(first)[channels], moves.target.along(first)[maps]
        ).reshape(-1, *[1] * (first + len(self.counts)))
        for axis in range(first):
            of_record = moves.numbers(moves.source.along(axis), moves.target.along(axis))
            total = moves.both(total, self._spread(of_record, axis + 1))
        for number, offset in enumerate(offsets):
            of_place = self._places(moves, number)[offset]
            shape = [offset.size, *[1] * (first + len(self.counts))]
            shape[first + 1 + number] = of_place.shape[1]
            total = moves.both(total, of_place.reshape(shape))
        inside = self._inside
        return np.broadcast_to(total, inside.shape)[inside]

    def counted(self, moves: Moves) -> Counted:
        """As of ``Terms``."""
        first, sizes = len(self.records), self.kernels.shape[2:]
        around: Counted = np.zeros(1, np.int64), np.ones(1, np.int64)
        for axis in range(first):
            of_record = moves.numbers(moves.source.along(axis), moves.target.along(axis))
            around = _combined(around, _counted(of_record, 1), moves)
        places = [self._places(moves, number) for number in range(len(sizes))]
        inside = [self._valid(number) for number in range(len(sizes))]
        if self.kernels.all():
            for of_place, valid in zip(places, inside, strict=True):
                around = _combined(around, _counted(of_place[valid], 1), moves)
            return _combined(around, self._channels(moves, np.ones(self.kernels.shape[:2])), moves)
        found: list[Counted] = []
        for offsets in np.argwhere(self.kernels.any(axis=(0, 1))).tolist():
            taps: Any = (slice(None), slice(None), *offsets)
            each = self._channels(moves, self.kernels[taps])
            for offset, of_place, valid in zip(offsets, places, inside, strict=True):
                each = _combined(each, _counted(of_place[offset][valid[offset]], 1), moves)
            found.append(each)
        numbers, counts = (np.concatenate(each) for each in zip(*found, strict=True))
        return _combined(around, _counted(numbers, counts), moves)

    def _channels(self, moves: Moves, weights: PlainValues) -> Counted:
        """The moves from channels to maps that have a weight."""
        maps, channels = np.nonzero(weights)
        axis = len(self.records)
        entry, to = moves.source.along(axis)[channels], moves.target.along(axis)[maps]
        return _counted(moves.numbers(entry, to), 1)

    def _spread(self, values: Addresses, axis: int) -> Addresses:
        """Values along one axis of the terms: taps, records, places."""
        shape = [1] * (1 + len(self.records) + len(self.counts))
        shape[axis] = values.size
        return values.reshape(shape)

    def _positions(self, number: int) -> Addresses:
        """Of an axis the index in the source for each offset and place, shape (size, count)."""
        places = np.arange(self.counts[number]) * self.strides[number]
        offsets = np.arange(self.kernels.shape[2 + number])
        return np.asarray(places + offsets[:, None] - self.before[number])

    def _valid(self, number: int) -> NDArray[np.bool_]:
        """Of an axis which offsets and places have an entry: others are padding."""
        positions = self._positions(number)
        return np.asarray((positions >= 0) & (positions < self.lengths[number]))

    def _places(self, moves: Moves, number: int) -> Addresses:
        """Of an axis the move for each offset and place; of padding any."""
        axis = len(self.records) + 1 + number
        positions = np.clip(self._positions(number), 0, self.lengths[number] - 1)
        return moves.numbers(moves.source.along(axis)[positions], moves.target.along(axis))

    @property
    def _inside(self) -> NDArray[np.bool_]:
        """Which taps, records and places make a term."""
        _, _, *offsets = np.nonzero(self.kernels)
        taps, first = int(np.count_nonzero(self.kernels)), len(self.records)
        inside = np.ones((taps, *self.records, *[1] * len(self.counts)), np.bool_)
        for number, offset in enumerate(offsets):
            shape: list[int] = [taps, *[1] * (first + len(self.counts))]
            shape[first + 1 + number] = self.counts[number]
            inside = inside & self._valid(number)[offset].reshape(shape)
        return inside


def _counted(numbers: Addresses, counts: Addresses | int) -> Counted:
    """Different numbers, and the sums of their counts."""
    numbers = numbers.reshape(-1)
    if isinstance(counts, int):
        found, sums = np.unique(numbers, return_counts=True)
        return found, sums * counts
    found, which = np.unique(numbers, return_inverse=True)
    return found, np.bincount(which, counts, found.size).astype(np.int64)


def _combined(a: Counted, b: Counted, moves: Moves) -> Counted:
    """Every move of one list together with every one of another."""
    numbers = moves.both(a[0][:, None], b[0])
    return _counted(numbers, (a[1][:, None] * b[1]).reshape(-1))
