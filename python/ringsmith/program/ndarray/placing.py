"""Brings the entries of an array to where an operation needs them, the cheapest way."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ringsmith.graph.operations import Op
from ringsmith.program import clearing
from ringsmith.program.ndarray.layout import COPY, GAP, Addresses, Bit, Layout, bits_for
from ringsmith.program.ndarray.linear import Map, period_bits
from ringsmith.program.ndarray.parts import NOTHING, Part, Parts, combined, turned
from ringsmith.program.ndarray.terms import Listed, Terms
from ringsmith.program.nodes import Note
from ringsmith.program.plain import Space
from ringsmith.program.recorder import Trace
from ringsmith.program.source import SourceLine
from ringsmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True, eq=False)
class Origin:
    """The input whose slots the entries of an array still lie in: a client can pack it otherwise.

    Attributes:
        layout: Its layout.
        wishes: Layouts of it that operations would have preferred.
    """

    layout: Layout
    wishes: list[Layout] = field(default_factory=list)

    def wish(self, seen: Layout, needs: Sequence[Bit]) -> None:
        """Notes a layout that an operation needs.

        Args:
            seen: How the operation sees the input: the same slots, with other names of axes.
            needs: What the bits of the address must be, by these names.
        """
        own, slot_bits = self.layout.bits, seen.slot_bits
        names = dict(zip(seen.bits[:slot_bits], own, strict=False))
        if len(seen.bits) == len(own):
            names = dict(zip(seen.bits, own, strict=True))
        bits = [names.get(bit, COPY) if bit.axis >= 0 else COPY for bit in needs]
        above = [bit for bit in bits[slot_bits:] if bit.axis >= 0]
        above += [bit for bit in own[slot_bits:] if bit not in names.values()]
        layout = Layout(self.layout.shape, (*bits[:slot_bits], *above), slot_bits)
        complete = {bit for bit in layout.bits if bit.axis >= 0}
        if complete == {bit for bit in self.layout.bits if bit.axis >= 0}:
            self.wishes.append(layout)


@short_repr
@dataclass(frozen=True, eq=False)
class Placed:
    """Ciphertexts and how entries lie in them.

    Attributes:
        parts: The ciphertexts.
        layout: Where entries lie.
        origin: The input whose slots entries lie in, bit for bit; None: entries were moved.
        unshaped: The same entries before a reshape that had to move them; None: there was none.
    """

    parts: Parts
    layout: Layout
    origin: Origin | None = None
    unshaped: "Placed | None" = None

    def broadcast(self, rank: int) -> "Placed":
        """The same with more axes of length 1 in front."""
        return Placed(self.parts, self.layout.broadcast(rank), self.origin)


def _needs(layout: Layout, target: Layout) -> tuple[Bit, ...]:
    """What the bits of a target must be for an array that is broadcast to its shape."""
    return tuple(
        COPY if bit.axis >= 0 and layout.shape[bit.axis] == 1 else bit for bit in target.bits
    )


def _missing_copies(layout: Layout, target: Layout) -> list[int] | None:
    """Bits of the slot along which copies must be made; None: entries lie elsewhere."""
    missing, slot_bits = [], layout.slot_bits
    needs = _needs(layout, target)
    for i, (have, need) in enumerate(zip(layout.bits[:slot_bits], needs, strict=False)):
        if have == need or (need == GAP and have == COPY):
            continue
        if need != COPY or have != GAP:
            return None
        missing.append(i)
    wanted = {bit for bit in needs[slot_bits:] if bit.axis >= 0}
    return missing if wanted == set(layout.bits[slot_bits:]) else None


def keeps_slots(layout: Layout, target: Layout) -> bool:
    """Whether ``placed`` leaves all entries of an array in their slots."""
    return _missing_copies(layout, target) is not None


def placing_cost(layout: Layout, target: Layout, space: Space) -> float:
    """Returns about what ``placed`` costs."""
    missing = _missing_copies(layout, target)
    if missing is not None:
        return len(missing) * layout.ciphertexts * space.costs.rotation
    moved, more = _moved_layout(layout, target)
    found = Map([layout], moved, [_all_entries(layout)], space.row).cost(space)
    return found + len(more) * moved.ciphertexts * space.costs.rotation


def copies_cost(x: Placed, target: Layout, trace: Trace) -> float:
    """Returns a level's cost if copies that a target needs are made where leftovers must go."""
    missing = _missing_copies(x.layout, target)
    if not missing:
        return 0.0
    unwanted = _along(missing, x.layout.slots)
    parts = (part for part in x.parts if not isinstance(part, np.ndarray))
    free = all(clearing.clears_freely(trace, part.index, unwanted) for part in parts)
    return 0.0 if free else trace.space.costs.level


def placed(x: Placed, target: Layout, trace: Trace, source: SourceLine) -> Parts:
    """Returns the ciphertexts of an array that is broadcast to the shape of a target.

    Args:
        x: The array; of as many axes as the target, of which those of length 1 may be longer there.
        target: Where entries must lie. At GAP bits copies may remain.
        trace: Where operations are recorded.
        source: The user's line.
    """
    missing = _missing_copies(x.layout, target)
    if missing is None:
        if x.origin is not None:
            x.origin.wish(x.layout, _needs(x.layout, target))
        moved, missing = _moved_layout(x.layout, target)
        move = Map([x.layout], moved, [_all_entries(x.layout)], trace.space.row)
        x = Placed(move.computed([x.parts], trace, source), moved)
    parts = with_copies(x, missing, trace, source)
    inside = {bit: 1 << i for i, bit in enumerate(x.layout.bits[x.layout.slot_bits :])}
    chosen = np.zeros(1, np.int64)  # the ciphertext that each of the target's is
    for need in _needs(x.layout, target)[x.layout.slot_bits :]:
        chosen = np.concatenate([chosen, chosen + inside.get(need, 0)])
    return [parts[i] for i in chosen.tolist()]


def _moved_layout(layout: Layout, target: Layout) -> tuple[Layout, list[int]]:
    """A layout to move entries to, of the array's own shape, and the copies that are made then."""
    needs = list(_needs(layout, target))
    period = max(
        layout.period_bits,
        *(i + 1 for i, bit in enumerate(needs[: layout.slot_bits]) if bit.axis >= 0),
        0,
    )
    missing = [i for i, bit in enumerate(needs[:period]) if bit == COPY]
    for i in range(layout.slot_bits):
        if needs[i].axis < 0:
            needs[i] = COPY if i >= period else GAP
    ciphertexts = [bit for bit in needs[layout.slot_bits :] if bit.axis >= 0]
    bits = (*needs[: layout.slot_bits], *ciphertexts)
    return Layout(layout.shape, bits, layout.slot_bits), missing


def _all_entries(layout: Layout) -> Listed:
    entries = np.arange(math.prod(layout.shape), dtype=np.int64)
    return Listed(entries, entries)


def with_copies(x: Placed, bits: Sequence[int], trace: Trace, source: SourceLine) -> Parts:
    """Returns ciphertexts with copies of their entries along bits of the slot that are gaps."""
    if not bits:
        return x.parts
    unwanted = _along(bits, x.layout.slots)
    found: list[Part] = []
    for part in x.parts:
        part = without(part, unwanted, trace, source)
        for bit in bits:
            part = combined(Op.ADD, part, turned(part, -(1 << bit), trace), trace)
        found.append(part)
    return found


def _along(bits: Sequence[int], slots: int) -> NDArray[np.bool_]:
    """The slots in whose number one of the bits is 1."""
    mask = sum(1 << bit for bit in bits)
    return np.asarray((np.arange(slots) & mask) > 0)


def without(part: Part, unwanted: NDArray[np.bool_], trace: Trace, source: SourceLine) -> Part:
    """Returns a part with zeros in some slots."""
    if unwanted.all():
        return NOTHING
    if isinstance(part, np.ndarray):
        return np.asarray(np.where(unwanted, 0, part))
    what = "slots without entries"
    return part.made(clearing.zeroed(trace, part.index, unwanted, source, what))


def merged(x: Layout, y: Layout, shape: tuple[int, ...]) -> Layout:
    """Returns a layout for a broadcast result in which the entries of x stay where they are.

    Axes that only y has lie where they lie in y, if those bits are free in x, else in free ones.

    Args:
        x: The layout to keep, of as many axes as ``shape``.
        y: The other one.
        shape: The shape of the result.
    """
    bits = list(x.bits)
    taken = [bit.axis >= 0 for bit in bits]
    waiting: list[Bit] = []
    for axis, length in enumerate(shape):
        if x.shape[axis] == length:
            continue
        places = y.of_axis(axis)
        for bit in range(bits_for(length)):
            place = places[bit]
            if place >= x.slot_bits:
                bits.append(Bit(axis, bit))
            elif not taken[place]:
                bits[place], taken[place] = Bit(axis, bit), True
            else:
                waiting.append(Bit(axis, bit))
    free = [i for i in range(x.slot_bits) if not taken[i]]
    free.sort(key=lambda i: (bits[i] != COPY, i))
    for each in waiting:
        if free:
            bits[free.pop(0)] = each
        else:
            bits.append(each)
    for i in range(x.slot_bits):
        if bits[i] == COPY and y.bits[i] != COPY:
            bits[i] = GAP  # copies of y are not needed there
    return Layout(shape, tuple(bits), x.slot_bits)


def seen_as(x: Placed, taken: NDArray[np.int64], trace: Trace) -> Placed | None:
    """Returns entries of an array as another one by at most one rotation; None: they lie otherwise.

    Args:
        x: The array.
        taken: The entry of x, in the order of its flat array, for each entry of the result.
        trace: Where the rotation is recorded.
    """
    addresses = x.layout.addresses.reshape(-1)[taken]
    first, slot_bits, row = int(addresses.flat[0]), x.layout.slot_bits, trace.space.row
    bits: dict[int, Bit] = {}
    total = np.full(taken.shape, first, np.int64)
    for axis, length in enumerate(taken.shape):
        for bit in range(bits_for(length)):
            index = tuple(1 << bit if i == axis else 0 for i in range(taken.ndim))
            offset = int(addresses[index]) - first
            if offset <= 0 or offset & (offset - 1) or offset.bit_length() - 1 in bits:
                return None
            bits[offset.bit_length() - 1] = Bit(axis, bit)
            steps = (np.arange(length) >> bit & 1) * offset
            total += np.expand_dims(steps, tuple(i for i in range(taken.ndim) if i != axis))
    if not np.array_equal(total, addresses):
        return None
    slots = 1 << slot_bits
    inside = sum(1 << i for i in bits if i < slot_bits)
    start = first % slots
    if start % row + inside % row >= row:
        return None
    named = []
    for i in range(slot_bits):  # addresses of entries have zeros there, so that nothing carries
        named.append(bits.get(i, COPY if x.layout.bits[i] == COPY else GAP))
    above = sorted(i for i in bits if i >= slot_bits)
    chosen: Addresses = np.full(1, first >> slot_bits)
    for i in above:
        named.append(bits[i])
        chosen = np.concatenate([chosen, chosen + (1 << (i - slot_bits))])
    parts = [x.parts[i] if i < len(x.parts) else NOTHING for i in chosen.tolist()]
    if start:
        parts = [turned(part, start, trace) for part in parts]
    layout = Layout(taken.shape, tuple(named), slot_bits)
    return Placed(parts, layout, None if start else x.origin)


def summed(x: Placed, axis: int, trace: Trace, source: SourceLine) -> Placed:
    """Returns the sums over an axis, which then has length 1."""
    layout, slot_bits = x.layout, x.layout.slot_bits
    padding = layout.over(axis, 1 << bits_for(layout.shape[axis])) & ~layout.entries
    parts = [
        without(part, unwanted, trace, source)
        for part, unwanted in zip(x.parts, padding, strict=True)
    ]
    above = (i for i in range(slot_bits, len(layout.bits)) if layout.bits[i].axis == axis)
    parts = _added(parts, sum(1 << (i - slot_bits) for i in above), trace)
    bits = list(layout.bits[:slot_bits])
    along = [i for i in range(slot_bits) if bits[i].axis == axis]
    for i in along:
        parts = [combined(Op.ADD, part, turned(part, 1 << i, trace), trace) for part in parts]
    row_bits = trace.space.row.bit_length() - 1  # sums along a bit below wrap around in a row
    for i in reversed(along):
        bits[i] = COPY if all(bit == COPY for bit in bits[i + 1 : row_bits]) else GAP
    bits += [bit for bit in layout.bits[slot_bits:] if bit.axis != axis]
    shape = (*layout.shape[:axis], 1, *layout.shape[axis + 1 :])
    return Placed(parts, Layout(shape, tuple(bits), slot_bits), x.origin)


def _added(parts: Parts, mask: int, trace: Trace) -> list[Part]:
    """Sums of ciphertexts along some bits of their numbers, one after the other."""
    found: dict[int, Part] = {}
    for number, part in enumerate(parts):
        to = number & ~mask
        found[to] = combined(Op.ADD, found[to], part, trace) if to in found else part
    return [found[number] for number in sorted(found)]


@dataclass(frozen=True, eq=False)
class Way:
    """A way to compute sums of entries of arrays.

    Attributes:
        cost: About what it costs, as of ``Costs``.
        sums: What is added up; if in parts, rotations add these up at the end.
    """

    cost: float
    sums: Map

    @property
    def text(self) -> str:
        """What it is, for people."""
        return "by diagonals, of sums in parts" if self.sums.in_parts else "by diagonals"


def ways(
    sources: Sequence[Layout], target: Layout, terms: Sequence[Terms], space: Space
) -> list[Way]:
    """Returns the ways to a layout.

    A result with fewer entries than slots can be computed in parts, which fill the slots above it:
    all distances are then shorter than the result, and rotations and sums add up the parts (Halevi
    and Shoup 2018, "Faster homomorphic linear transformations in HElib", section 4; Juvekar,
    Vaikuntanathan, Chandrakasan 2018, "GAZELLE", section 5.2).
    """
    found = [Map(sources, target, terms, space.row)]
    if found[0].more_bits and all(each.weighted for each in terms):
        found.append(Map(sources, target, terms, space.row, in_parts=True))
    return [Way(each.cost(space), each) for each in found]


def moved_entries(
    sources: Sequence[Placed],
    terms: Sequence[Terms],
    shape: tuple[int, ...],
    trace: Trace,
    source: SourceLine,
    targets: Sequence[Layout] = (),
    what: str = "",
) -> Placed:
    """Returns a new array of sums of entries of others, in the cheapest of some layouts.

    Args:
        sources: The arrays.
        terms: For each of them which entries go where.
        shape: Shape of the result.
        trace: Where operations are recorded.
        source: The user's line.
        targets: The layouts; without any ``candidates``.
        what: Names it in a note on the choice; "": without a note.
    """
    layouts = [each.layout for each in sources]
    found = [
        (way, f"{way.text}, to {target.words}")
        for target in targets or candidates(shape, layouts)
        for way in ways(layouts, target, terms, trace.space)
    ]
    if what:
        note_choice(what, [(text, way.cost) for way, text in found], trace, source)
    best = min((way for way, _ in found), key=lambda way: way.cost)
    return on_the_way(best, sources, trace, source)


def note_choice(
    what: str, ways: Sequence[tuple[str, float]], trace: Trace, source: SourceLine
) -> None:
    """Notes which of several ways is taken, and the second best.

    Args:
        what: What is computed.
        ways: Texts and costs of the ways; of equal texts the cheapest counts.
        trace: The record.
        source: The user's line.
    """
    costs: dict[str, float] = {}
    for text, found in sorted(ways, key=lambda way: way[1]):
        costs.setdefault(text, found)
    if len(costs) > 1:
        (best, first), (other, second) = list(costs.items())[:2]
        text = (
            f"{what} is computed {best}: that costs {first:.0f} rotations on "
            f"{trace.space.costs.device}, and {other} {second:.0f}"
        )
        trace.notes[Note(source, text)] = None


def on_the_way(way: Way, sources: Sequence[Placed], trace: Trace, source: SourceLine) -> Placed:
    """Returns the array that a way leads to; arguments as for ``moved_entries``."""
    made = way.sums.made
    result = Placed(way.sums.computed([each.parts for each in sources], trace, source), made)
    if not way.sums.in_parts:
        return result
    total = summed(result, 0, trace, source)
    shape = made.shape[1:]
    return Placed(total.parts, total.layout.renamed(shape, range(-1, len(shape))))


def candidates(shape: tuple[int, ...], sources: Sequence[Layout]) -> list[Layout]:
    """Returns layouts for a result: with the last axis, or with the first axis, in the low bits."""
    slot_bits = sources[0].slot_bits
    orders = {tuple(reversed(range(len(shape)))), tuple(range(len(shape)))}
    found = []
    for order in sorted(orders):
        dense = Layout.dense(shape, slot_bits, order, GAP)
        found.append(repeating(dense, sources))
    return found


def repeating(target: Layout, sources: Sequence[Layout]) -> Layout:
    """Returns a target with copies above all of its axes, where the sources repeat."""
    period = period_bits(sources, target)
    bits = [
        COPY if period <= i < target.slot_bits else GAP if bit == COPY else bit
        for i, bit in enumerate(target.bits)
    ]
    return Layout(target.shape, tuple(bits), target.slot_bits)
