"""Linear maps of entries: a sum of plain numbers times entries, for every entry of a result.

Moving entries, products with a plain matrix, and convolutions are such maps. Terms whose entry
moves by the same number of slots are one rotation and one plain product (Halevi and Shoup 2014,
eprint 2014/106, section 4.3), and rotations are shared by baby and giant steps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
        steps: Slots to the left, from 0.
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


def grouped(
    sources: Sequence[Layout], target: Layout, terms: Sequence[Terms]
) -> dict[int, list[_Group]]:
    """Returns the terms by the ciphertext of the result, in groups."""
    period = 1 << period_bits(sources, target)
    found: dict[int, list[_Group]] = {}
    for number, (layout, each) in enumerate(zip(sources, terms, strict=True)):
        to, keys, origins = _keys(layout, target, each, period)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.diff(keys.astype(np.int64), prepend=-1)).tolist()
        slots = to[order] % period
        ordered = None if each.weight is None else each.weight[order]
        ends = [*starts[1:], order.size]
        for start, stop, key in zip(starts, ends, keys[starts].tolist(), strict=True):
            weights = None if ordered is None else ordered[start:stop]
            ciphertext, origin, distance = _split(key, origins, period)
            group = _Group((number, origin), distance, slots[start:stop], weights)
            found.setdefault(ciphertext, []).append(group)
    return found


def _keys(
    layout: Layout, target: Layout, terms: Terms, period: int
) -> tuple[Addresses, Addresses, int]:
    """Returns each term's address in the result, a number of its group, and the ciphertexts.

    The number combines the result's ciphertext, the source's, of as many, and the distance.
    """
    to = target.addresses.reshape(-1)[terms.to]
    entry = layout.addresses.reshape(-1)[terms.entry]
    bits = target.slot_bits
    origin = entry >> bits
    origins = int(origin.max(initial=0)) + 1
    keys = ((to >> bits) * origins + origin) * period + _steps(layout, to, entry, period)
    few = keys.max(initial=0) < 1 << 16  # these are sorted much faster
    return to, keys.astype(np.uint16 if few else np.int64), origins


def _split(key: int, origins: int, period: int) -> tuple[int, int, int]:
    """Returns the result's ciphertext, the source's and the distance of a group."""
    ciphertexts, distance = divmod(key, period)
    return *divmod(ciphertexts, origins), distance


def _steps(layout: Layout, to: Addresses, entry: Addresses, period: int) -> Addresses:
    """The distance of each term; of several copies of an entry one whose distance many share."""
    inside = layout.copies[layout.copies < period]
    if inside.size * to.size > MOST_CANDIDATES:
        inside = inside[:1]
    steps = (entry + inside[:, None] - to) % period
    if inside.size == 1:
        return np.asarray(steps[0])
    counts = np.bincount(steps.reshape(-1), minlength=period)
    shared = counts * period - np.arange(period)  # of equal counts the nearest is the largest
    best = np.argmax(shared[steps], axis=0)
    return np.asarray(np.take_along_axis(steps, best[None], axis=0)[0])


def cost(sources: Sequence[Layout], target: Layout, terms: Sequence[Terms], space: Space) -> float:
    """Returns about what a map costs; of two targets the cheaper one is taken."""
    period = 1 << period_bits(sources, target)
    found: dict[int, list[tuple[tuple[int, int], int]]] = {}
    weighted: set[int] = set()
    for number, (layout, each) in enumerate(zip(sources, terms, strict=True)):
        _, keys, origins = _keys(layout, target, each, period)
        for key in np.unique(keys).tolist():
            ciphertext, origin, distance = _split(key, origins, period)
            found.setdefault(ciphertext, []).append(((number, origin), distance))
            if each.weight is not None:
                weighted.add(ciphertext)
    total = 0.0
    for ciphertext, groups in found.items():
        by_source: dict[tuple[int, int], int] = {}
        steps = [(by_source.setdefault(origin, len(by_source)), k) for origin, k in groups]
        rotations = rotation_count(steps, target.slots, shared=space.shared_rotations)
        total += rotations * space.rotation_cost
        if len(groups) > 1 or ciphertext in weighted:
            total += space.costs.level + space.costs.plain_product * len(groups)
    return total


def transformed(
    sources: Sequence[tuple[Parts, Layout]],
    target: Layout,
    terms: Sequence[Terms],
    trace: Trace,
    source: SourceLine,
) -> list[Part]:
    """Returns the ciphertexts of a result, of sums of entries times plain numbers.

    Slots without entries hold zeros, or what moved along.

    Args:
        sources: Ciphertexts and layouts of what entries are taken from.
        target: The layout of the result; COPY bits only above all of its axes, where all sources
            repeat.
        terms: For each source what is taken from it.
        trace: Where operations are recorded.
        source: The user's line.
    """
    layouts = [layout for _, layout in sources]
    period = 1 << period_bits(layouts, target)
    parts: list[Part] = [NOTHING] * target.ciphertexts
    for ciphertext, groups in grouped(layouts, target, terms).items():
        parts[ciphertext] = _sum_of_groups(
            [parts_of for parts_of, _ in sources], groups, period, trace, source
        )
    return parts


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
    encrypted: list[EncryptedVector] = []
    numbers: dict[int, int] = {}
    weights: dict[tuple[int, int], PlainValues] = {}
    for group in groups:
        part = sources[group.source[0]][group.source[1]]
        if isinstance(part, np.ndarray):
            moved = turned(part, group.steps, trace)
            weighted = np.asarray(moved * _laid_out(group, period, trace.space.row))
            total = combined(Op.ADD, total, weighted, trace)
            continue
        if group.weights is None and alone[group.source] == 1:
            if len(groups) == 1:
                return part.rotate(group.steps)
            others = trace.space.in_every_row(_others(group, period, trace.space.row))
            if clearing.clears_freely(trace, part.index, others):
                index = clearing.zeroed(trace, part.index, others, source)
                total = combined(Op.ADD, total, part.made(index).rotate(group.steps), trace)
                continue
        number = numbers.setdefault(part.index, len(encrypted))
        if number == len(encrypted):
            encrypted.append(part)
        key = (number, group.steps)
        values = _laid_out(group, period, trace.space.row)
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


def _laid_out(group: _Group, period: int, row: int) -> PlainValues:
    """The numbers of a group in the slots of a row, again after each period."""
    values = np.zeros(period, np.int64 if group.weights is None else group.weights.dtype)
    np.add.at(values, group.slots, 1 if group.weights is None else group.weights)
    return np.tile(values, row // period)


def _others(group: _Group, period: int, row: int) -> NDArray[np.bool_]:
    """The slots of the source that a group does not take."""
    others = np.ones(period, np.bool_)
    others[(group.slots + group.steps) % period] = False
    return np.tile(others, row // period)
