"""Terms of correlations: what follows from the axes is what a list of all terms says."""

import numpy as np
import pytest

from ringsmith.program.ndarray.layout import COPY, GAP, Layout
from ringsmith.program.ndarray.linear import Map
from ringsmith.program.ndarray.terms import Correlations, Listed, Moves
from ringsmith.program.plain import Space

SLOT_BITS = 9


def _layout(rng: np.random.Generator, shape: tuple[int, ...], *, repeated: bool) -> Layout:
    """A layout with axes in any order, with gaps and copies between their bits."""
    dense = Layout.dense(shape, 0, rng.permutation(len(shape)).tolist())
    bits = list(dense.bits)
    while len(bits) < SLOT_BITS:
        bits.insert(int(rng.integers(len(bits) + 1)), COPY if repeated else GAP)
    return Layout(shape, tuple(bits), SLOT_BITS)


def _case(rng: np.random.Generator) -> tuple[Correlations, tuple[int, ...], tuple[int, ...]]:
    """A correlation, and the shapes of its source and its result."""
    axes = int(rng.integers(3))
    records = tuple(rng.integers(1, 3, int(rng.integers(2))).tolist())
    maps, channels = rng.integers(1, 5, 2).tolist()
    lengths = tuple(rng.integers(1, 7, axes).tolist())
    sizes = tuple(int(rng.integers(1, n + 1)) for n in lengths)
    strides = tuple(rng.integers(1, 3, axes).tolist())
    before = tuple(rng.integers(0, 2, axes).tolist())
    counts = tuple(
        (n + 2 * pad - size) // stride + 1
        for n, pad, size, stride in zip(lengths, before, sizes, strides, strict=True)
    )
    kernels = rng.normal(size=(maps, channels, *sizes))
    if rng.random() < 0.5:
        kernels *= rng.random(kernels.shape) < 0.5
    kernels.flat[-1] = 1.0
    found = Correlations(kernels, records, lengths, counts, strides, before)
    return found, (*records, channels, *lengths), (*records, maps, *counts)


def _listed(given: Correlations, source: tuple[int, ...], target: tuple[int, ...]) -> Listed:
    """The same terms, found one by one."""
    to, entry, weight = [], [], []
    first = len(given.records)
    for result in np.ndindex(target):
        for channel, *offsets in np.ndindex(given.kernels.shape[1:]):
            place = [
                at * stride + offset - pad
                for at, stride, offset, pad in zip(
                    result[first + 1 :], given.strides, offsets, given.before, strict=True
                )
            ]
            number = given.kernels[(result[first], channel, *offsets)]
            if number and all(0 <= at < n for at, n in zip(place, given.lengths, strict=True)):
                to.append(np.ravel_multi_index(result, target))
                entry.append(np.ravel_multi_index((*result[:first], channel, *place), source))
                weight.append(number)
    return Listed(np.array(to, int), np.array(entry, int), np.array(weight))


@pytest.mark.parametrize("row", [1 << SLOT_BITS, 1 << (SLOT_BITS - 1)])
def test_moves_follow_from_the_axes(rng: np.random.Generator, row: int) -> None:
    for _ in range(60):
        terms, source, target = _case(rng)
        listed = _listed(terms, source, target)
        moves = Moves(
            _layout(rng, source, repeated=True),
            _layout(rng, target, repeated=False),
            1 << SLOT_BITS,
            row,
        )
        numbers, counts = terms.counted(moves)
        wanted, often = listed.counted(moves)
        assert np.array_equal(numbers, wanted)
        assert np.array_equal(counts, often)
        each, others = (
            np.stack([t.moves(moves), t.targets(moves.target)]) for t in (terms, listed)
        )
        order, other = np.lexsort((terms.weight, *each)), np.lexsort((listed.weight, *others))
        assert np.array_equal(each[:, order], others[:, other])
        assert listed.weight is not None
        assert np.array_equal(terms.weight[order], listed.weight[other])


def test_costs_and_products_are_those_of_a_list(rng: np.random.Generator) -> None:
    space = Space(1 << SLOT_BITS, 1 << SLOT_BITS, exact=False)
    for _ in range(30):
        terms, source, target = _case(rng)
        layouts = [_layout(rng, source, repeated=True)]
        result = Layout.dense(target, SLOT_BITS, rest=GAP)
        for in_parts in (False, True):
            both = [
                Map(layouts, result, [each], space.row, in_parts)
                for each in (terms, _listed(terms, source, target))
            ]
            assert both[0].cost(space) == both[1].cost(space)
            first, second = (
                {
                    (to, group.source, group.steps): group.weights
                    for to, groups in each.groups().items()
                    for group in groups
                }
                for each in both
            )
            assert first.keys() == second.keys()
            assert all(np.array_equal(first[key], second[key]) for key in first)
