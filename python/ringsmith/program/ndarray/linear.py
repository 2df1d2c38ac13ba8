"""Linear maps of entries: a sum of plain numbers times entries, for every entry of a result.

Moving entries, products with a plain matrix, and convolutions are such maps. Terms whose entry
moves by the same number of slots are one rotation and one plain product (Halevi and Shoup 2014,
eprint 2014/106, section 4.3), and rotations are shared by baby and giant steps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ringsmith.graph.operations import Op
from ringsmith.program import clearing
from ringsmith.program.matrices import rotation_count, weighted_rotations
from ringsmith.program.ndarray.layout import Addresses, Bit, Layout
from ringsmith.program.ndarray.parts import NOTHING, Part, Parts, combined, turned
from ringsmith.program.ndarray.terms import Moves, Terms, distance, shifted
from ringsmith.program.plain import PlainValues, Space
from ringsmith.program.recorder import Trace
from ringsmith.program.source import SourceLine
from ringsmith.program.vector import EncryptedVector

_MOST_CANDIDATES = 1 << 22
"""Copies times moves from which only the first copy of each entry is looked at."""
_MOST_LOOKED_UP = 1 << 22
"""Numbers of moves below which they are looked up in a table."""


@dataclass(frozen=True, eq=False)
class _Group:
    """Terms that move by the same distance from one ciphertext to another.

    Attributes:
        source: The source and its ciphertext.
        steps: The distance, as of ``Moves``.
        weights: Their numbers in the slots that they arrive in, shape (period,); 1 without.
        weighted: Whether they have numbers.
    """

    source: tuple[int, int]
    steps: int
    weights: PlainValues
    weighted: bool


def period_bits(sources: Sequence[Layout], target: Layout) -> int:
    """Returns the bits of the slot after which sources repeat and the target has no entries."""
    return max(target.used_bits, *(each.period_bits for each in sources))


def _origin(to: Addresses, steps: int, period: int, row: int) -> Addresses:
    """The slots from which a distance leads to some slots."""
    found = (to + steps) & (min(period, row) - 1)
    return found if period <= row else found + ((to ^ steps) & row)


@dataclass(frozen=True, eq=False)
class _Steps:
    """The rotations of a source's terms.

    Attributes:
        moves: The different moves of the terms, ascending.
        part: The part of its sum that a term of this move is added to.
        group: The number of its group in the others.
        to: The result's ciphertext of each group.
        origin: The source's.
        steps: The distance, as of ``Moves``.
    """

    moves: Addresses
    part: Addresses
    group: Addresses
    to: list[int]
    origin: list[int]
    steps: list[int]


@dataclass(frozen=True, eq=False)
class Map:
    """A linear map of the entries of arrays.

    Attributes:
        sources: Where the entries lie.
        target: The layout of the result; COPY bits only above all of its axes, where all sources
            repeat.
        terms: For each source what is taken from it.
        row: Slots of a row.
        in_parts: Whether sums are computed in parts, in the free slots above the result: a term
            then moves less than the result is long.
    """

    sources: Sequence[Layout]
    target: Layout
    terms: Sequence[Terms]
    row: int
    in_parts: bool = False

    @cached_property
    def period(self) -> int:
        """Slots after which everything repeats."""
        return 1 << period_bits(self.sources, self.target)

    @property
    def _length(self) -> int:
        """Slots that the result takes."""
        return 1 << self.target.used_bits

    @property
    def more_bits(self) -> int:
        """Bits of the number of a part."""
        return period_bits(self.sources, self.target) - self.target.used_bits

    @cached_property
    def made(self) -> Layout:
        """The layout of what is computed: if in parts, these are the first axis."""
        target, used = self.target, self.target.used_bits
        if not self.in_parts:
            return target
        shape = (1 << self.more_bits, *target.shape)
        bits = list(target.renamed(shape, range(1, len(shape))).bits)
        bits[used : used + self.more_bits] = [Bit(0, i) for i in range(self.more_bits)]
        return Layout(shape, tuple(bits), target.slot_bits)

    def groups(self) -> dict[int, list[_Group]]:
        """Returns the terms by the ciphertext of the result, in groups."""
        found: dict[int, list[_Group]] = {}
        for number, each in enumerate(self.terms):
            steps = self._steps[number]
            which = _positions(steps.moves, each.moves(self._moves(number)))
            slots = each.targets(self.target) + steps.part[which] * self._length
            slots &= self.period - 1
            weight = 1 if each.weight is None else each.weight
            kind = np.int64 if each.weight is None else each.weight.dtype
            values = np.zeros((len(steps.to), self.period), kind)
            np.add.at(values.reshape(-1), steps.group[which] * self.period + slots, weight)
            for to, origin, step, row in zip(
                steps.to, steps.origin, steps.steps, values, strict=True
            ):
                group = _Group((number, origin), step, row, each.weighted)
                found.setdefault(to, []).append(group)
        return found

    def _moves(self, number: int) -> Moves:
        return Moves(self.sources[number], self.target, self.period, self.row)

    @cached_property
    def _steps(self) -> list[_Steps]:
        """The rotations of each source."""
        found = []
        for number, each in enumerate(self.terms):
            moves = self._moves(number)
            numbers, counts = each.counted(moves)
            to, origin, distances = moves.split(numbers)
            copies = self.sources[number].copies
            copies = copies[copies < self.period]
            if copies.size * numbers.size > _MOST_CANDIDATES:
                copies = copies[:1]
            candidates = shifted(distances, copies[:, None], self.period, self.row)
            part = np.zeros_like(distances)
            if self.in_parts:
                part = self._nearest_part(candidates)
                back = distance(np.zeros_like(part), part * self._length, self.period, self.row)
                candidates = shifted(candidates, back, self.period, self.row)
            steps = self._most_shared(candidates, counts)
            keys = (to * self.sources[number].ciphertexts + origin) * self.period + steps
            distinct, group = np.unique(keys, return_inverse=True)
            columns = [each.tolist() for each in moves.split(distinct)]
            found.append(_Steps(numbers, part, group, *columns))
        return found

    def _nearest_part(self, candidates: Addresses) -> Addresses:
        """The part that each move leads to, of that copy of an entry that it leads to best.

        Args:
            candidates: The distances from each copy, shape (copies, moves).
        """
        first = np.argmin(candidates & (self._length - 1), axis=0)
        best = np.take_along_axis(candidates, first[None], 0)[0]
        return np.asarray(best // self._length)

    def _most_shared(self, candidates: Addresses, counts: Addresses) -> Addresses:
        """Of the distances from several copies of an entry one that many terms share.

        Of equally many the nearest is taken.
        """
        if len(candidates) == 1:
            return np.asarray(candidates[0])
        often = np.broadcast_to(counts, candidates.shape).reshape(-1)
        total = np.bincount(candidates.reshape(-1), often, self.period).astype(np.int64)
        shared = total * self.period - np.arange(self.period)  # all differ
        best = np.argmax(shared[candidates], axis=0)
        return np.asarray(np.take_along_axis(candidates, best[None], 0)[0])

    def cost(self, space: Space) -> float:
        """Returns about what the map costs; of two targets the cheaper one is taken."""
        rows = [
            np.stack([each.to, np.full(len(each.to), number), each.origin, each.steps])
            for number, each in enumerate(self._steps)
        ]
        to, number, origin, steps = np.concatenate(rows, axis=1)
        if not to.size:
            return 0.0
        swaps = (steps & self.row) > 0
        sources = (number * (origin.max() + 1) + origin) * 2 + swaps
        total = np.unique(sources[swaps]).size * space.costs.rotation
        weighted = np.array([each.weighted for each in self.terms])[number]
        for ciphertext in np.unique(to).tolist():
            here = to == ciphertext
            rotations = rotation_count(
                sources[here], steps[here] % self.row, self.row, shared=space.shared_rotations
            )
            total += rotations * space.rotation_cost
            groups = int(np.count_nonzero(here))
            if groups > 1 or weighted[here].any():
                total += space.costs.level + space.costs.plain_product * groups
        if self.in_parts:
            total += self.more_bits * self.target.ciphertexts * space.costs.rotation
        return float(total)

    def computed(self, sources: Sequence[Parts], trace: Trace, source: SourceLine) -> list[Part]:
        """Returns the ciphertexts of the result, as of ``made``.

        Slots without entries hold zeros, or what moved along.

        Args:
            sources: The ciphertexts of each source.
            trace: Where operations are recorded.
            source: The user's line.
        """
        parts: list[Part] = [NOTHING] * self.made.ciphertexts
        for ciphertext, groups in self.groups().items():
            parts[ciphertext] = _sum_of_groups(sources, groups, self.period, trace, source)
        return parts


def _positions(numbers: Addresses, found: Addresses) -> Addresses:
    """The position of each number that is found among ascending ones."""
    if not numbers.size or numbers[-1] >= _MOST_LOOKED_UP:
        return np.searchsorted(numbers, found)
    table = np.zeros(int(numbers[-1]) + 1, np.int64)
    table[numbers] = np.arange(numbers.size)
    return np.asarray(table[found])


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
        if not group.weighted and alone[group.source] == 1:
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
    return np.tile(group.weights, slots // period)


def _others(group: _Group, period: int, space: Space) -> NDArray[np.bool_]:
    """The slots of the source that a group does not take."""
    others = np.ones(period, np.bool_)
    others[_origin(np.flatnonzero(group.weights), group.steps, period, space.row)] = False
    return np.tile(others, space.slots // period)
