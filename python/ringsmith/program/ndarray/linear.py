"""Linear maps of entries: a sum of plain numbers times entries, for every entry of a result.

Moving entries, products with a plain matrix, and convolutions are such maps. Terms whose entry
moves by the same number of slots are one rotation and one plain product (Halevi and Shoup 2014,
eprint 2014/106, section 4.3), and rotations are shared by baby and giant steps.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.graph.operations import Op
from ringsmith.program import clearing
from ringsmith.program.matrices import rotation_count, weighted_rotations
from ringsmith.program.ndarray.layout import Addresses, Layout
from ringsmith.program.ndarray.parts import NOTHING, Part, Parts, combined, turned
from ringsmith.program.plain import PlainValues, Space
from ringsmith.program.recorder import Trace
from ringsmith.program.source import SourceLine
from ringsmith.program.vector import EncryptedVector

MOST_CANDIDATES = 1 << 22
"""Copies times terms from which only the first copy of each entry is looked at."""
_MOST_KEPT = 1 << 20
"""Terms up to which their distances are kept between the cost of a map and its computation."""


@dataclass(frozen=True, eq=False)
class Terms:
    """What is added up.

    Attributes:
        to: The entry of the result of each term, in the order of the flat array.
        entry: The entry of the source.
        weight: The number that it is multiplied by; None: all are 1.
    """

    to: Addresses
    entry: Addresses
    weight: PlainValues | None = None


@dataclass(frozen=True, eq=False)
class _Group:
    """Terms that move by the same distance from one ciphertext to another.

    Attributes:
        source: The source and its ciphertext.
        steps: The distance, as of ``distance``.
        slots: Slots of the result's ciphertext that they arrive in.
        weights: Their numbers; None: all are 1.
    """

    source: tuple[int, int]
    steps: int
    slots: Addresses
    weights: PlainValues | None


def period_bits(sources: Sequence[Layout], target: Layout) -> int:
    """Returns the bits of the slot after which sources repeat and the target has no entries."""
    least = max(each.period_bits for each in sources)
    used = [i + 1 for i, bit in enumerate(target.bits[: target.slot_bits]) if bit.axis >= 0]
    return max(least, *used, 0)


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


def _origin(to: Addresses, steps: int, period: int, row: int) -> Addresses:
    """The slots from which a distance leads to some slots."""
    found = (to + steps) & (min(period, row) - 1)
    return found if period <= row else found + ((to ^ steps) & row)


@dataclass(frozen=True, eq=False)
class Map:
    """A linear map of the entries of arrays.

    Attributes:
        sources: Where the entries lie.
        target: The layout of the result; COPY bits only above all of its axes, where all sources
            repeat.
        terms: For each source what is taken from it.
        row: Slots of a row.
    """

    sources: Sequence[Layout]
    target: Layout
    terms: Sequence[Terms]
    row: int
    _kept: dict[int, tuple[Addresses, NDArray[Any], int]] = field(default_factory=dict, repr=False)

    @cached_property
    def period(self) -> int:
        """Slots after which everything repeats."""
        return 1 << period_bits(self.sources, self.target)

    def groups(self) -> dict[int, list[_Group]]:
        """Returns the terms by the ciphertext of the result, in groups."""
        period = self.period
        found: dict[int, list[_Group]] = {}
        for number, each in enumerate(self.terms):
            to, keys, origins = self._keys(number)
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
            starts = np.flatnonzero(np.diff(keys.astype(np.int64), prepend=-1)).tolist()
            slots = to[order] & (period - 1)
            ordered = None if each.weight is None else each.weight[order]
            ends = [*starts[1:], order.size]
            for start, stop, key in zip(starts, ends, keys[starts].tolist(), strict=True):
                weights = None if ordered is None else ordered[start:stop]
                ciphertext, origin, steps = _split(key, origins, period)
                group = _Group((number, origin), steps, slots[start:stop], weights)
                found.setdefault(ciphertext, []).append(group)
        return found

    def _distances(self) -> Iterator[tuple[int, tuple[int, int], int, bool]]:
        """The groups: the result's ciphertext, the source's, the distance, whether of weights."""
        for number, each in enumerate(self.terms):
            _, keys, origins = self._keys(number)
            for key in _distinct(keys):
                ciphertext, origin, steps = _split(key, origins, self.period)
                yield ciphertext, (number, origin), steps, each.weight is not None

    def _keys(self, number: int) -> tuple[Addresses, NDArray[Any], int]:
        """Returns each term's address in the result, a number of its group, and the ciphertexts.

        The number combines the result's ciphertext, the source's, of as many, and the distance.
        """
        if number in self._kept:
            return self._kept[number]
        layout, terms, target = self.sources[number], self.terms[number], self.target
        to = target.addresses.reshape(-1)[terms.to]
        entry = layout.addresses.reshape(-1)[terms.entry]
        origin = entry >> target.slot_bits
        origins = int(origin.max(initial=0)) + 1
        steps = self._steps(layout, to, entry)
        keys: NDArray[Any] = ((to >> target.slot_bits) * origins + origin) * self.period + steps
        if keys.max(initial=0) < 1 << 16:
            keys = keys.astype(np.uint16)  # these are sorted much faster
        found = to, keys, origins
        if keys.size <= _MOST_KEPT:
            self._kept[number] = found
        return found

    def _steps(self, layout: Layout, to: Addresses, entry: Addresses) -> Addresses:
        """The distance of each term; of several copies of an entry one whose distance many share.

        Of equally many the nearest is taken.
        """
        period = self.period
        inside = layout.copies[layout.copies < period]
        if inside.size == 1 or inside.size * to.size > MOST_CANDIDATES:
            return distance(entry, to, period, self.row)
        steps = distance(entry + inside[:, None], to, period, self.row)
        counts = np.bincount(steps.reshape(-1), minlength=period)
        best = steps[0]
        shared = counts * period - np.arange(period)  # all differ
        most = shared[best]
        for other in steps[1:]:
            found = shared[other]
            better = found > most
            best, most = np.where(better, other, best), np.where(better, found, most)
        return np.asarray(best)

    def cost(self, space: Space) -> float:
        """Returns about what the map costs; of two targets the cheaper one is taken."""
        found: dict[int, list[tuple[tuple[int, int, bool], int]]] = {}
        weighted: set[int] = set()
        swapped: set[tuple[int, int]] = set()
        for ciphertext, origin, far, has_weights in self._distances():
            swaps = bool(far & self.row)
            found.setdefault(ciphertext, []).append(((*origin, swaps), far % self.row))
            if has_weights:
                weighted.add(ciphertext)
            if swaps:
                swapped.add(origin)
        total = len(swapped) * space.costs.rotation
        for ciphertext, groups in found.items():
            values: dict[tuple[int, int, bool], int] = {}
            steps = [(values.setdefault(value, len(values)), k) for value, k in groups]
            rotations = rotation_count(steps, self.row, shared=space.shared_rotations)
            total += rotations * space.rotation_cost
            if len(groups) > 1 or ciphertext in weighted:
                total += space.costs.level + space.costs.plain_product * len(groups)
        return total

    def computed(self, sources: Sequence[Parts], trace: Trace, source: SourceLine) -> list[Part]:
        """Returns the ciphertexts of the result.

        Slots without entries hold zeros, or what moved along.

        Args:
            sources: The ciphertexts of each source.
            trace: Where operations are recorded.
            source: The user's line.
        """
        parts: list[Part] = [NOTHING] * self.target.ciphertexts
        for ciphertext, groups in self.groups().items():
            parts[ciphertext] = _sum_of_groups(sources, groups, self.period, trace, source)
        return parts


def _distinct(keys: NDArray[Any]) -> list[int]:
    """The distinct numbers, ascending."""
    few = keys.dtype == np.uint16
    found: list[int] = (np.flatnonzero(np.bincount(keys)) if few else np.unique(keys)).tolist()
    return found


def _split(key: int, origins: int, period: int) -> tuple[int, int, int]:
    """Returns the result's ciphertext, the source's and the distance of a group."""
    ciphertexts, steps = divmod(key, period)
    return *divmod(ciphertexts, origins), steps


def _sum_of_groups(
    sources: Sequence[Parts],
    groups: Sequence[_Group],
    period: int,
    trace: Trace,
    source: SourceLine,
) -> Part:
    """One ciphertext of a result."""
    total: Part = NOTHING
    alone = _counts(groups)
    space = trace.space
    encrypted: list[EncryptedVector] = []
    numbers: dict[int, int] = {}
    weights: dict[tuple[int, int], PlainValues] = {}
    for group in groups:
        part = sources[group.source[0]][group.source[1]]
        if isinstance(part, np.ndarray):
            moved = turned(part, group.steps, trace)
            weighted = np.asarray(moved * _laid_out(group, period, space.slots))
            total = combined(Op.ADD, total, weighted, trace)
            continue
        if group.weights is None and alone[group.source] == 1:
            if len(groups) == 1:
                return turned(part, group.steps, trace)
            others = _others(group, period, space)
            if clearing.clears_freely(trace, part.index, others):
                index = clearing.zeroed(trace, part.index, others, source)
                moved = turned(part.made(index), group.steps, trace)
                total = combined(Op.ADD, total, moved, trace)
                continue
        if group.steps & space.row:
            part = part.swap_columns()
        number = numbers.setdefault(part.index, len(encrypted))
        if number == len(encrypted):
            encrypted.append(part)
        key = (number, group.steps % space.row)
        values = _laid_out(group, period, space.slots)
        weights[key] = weights[key] + values if key in weights else values
    weights = {key: values for key, values in weights.items() if values.any()}
    if weights:
        total = combined(Op.ADD, total, weighted_rotations(encrypted, weights), trace)
    return total


def _counts(groups: Sequence[_Group]) -> Mapping[tuple[int, int], int]:
    counts: dict[tuple[int, int], int] = {}
    for group in groups:
        counts[group.source] = counts.get(group.source, 0) + 1
    return counts


def _laid_out(group: _Group, period: int, slots: int) -> PlainValues:
    """The numbers of a group in the slots of the result, again after each period."""
    values = np.zeros(period, np.int64 if group.weights is None else group.weights.dtype)
    np.add.at(values, group.slots, 1 if group.weights is None else group.weights)
    return np.tile(values, slots // period)


def _others(group: _Group, period: int, space: Space) -> NDArray[np.bool_]:
    """The slots of the source that a group does not take."""
    others = np.ones(period, np.bool_)
    others[_origin(group.slots, group.steps, period, space.row)] = False
    return np.tile(others, space.slots // period)
