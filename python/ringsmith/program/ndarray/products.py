"""Products of matrices, encrypted or plain, and convolutions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ringsmith.program.arrays import Array
from ringsmith.program.ndarray.array import EncryptedArray, broadcast_shape
from ringsmith.program.ndarray.layout import COPY, GAP, Bit, Layout, bits_for
from ringsmith.program.ndarray.placing import (
    Placed,
    Way,
    candidates,
    copies_cost,
    merged,
    moved_entries,
    note_choice,
    on_the_way,
    placing_cost,
    repeating,
    ways,
)
from ringsmith.program.ndarray.terms import Correlations
from ringsmith.program.plain import PlainValues
from ringsmith.program.source import SourceLine, caller

Padding = Sequence[tuple[int, int]]
"""Zeros before and after each axis."""

_MOST_TERMS = 1 << 24
"""Products of entries and plain numbers that are looked at one by one."""

_RESULT = 4.0
"""What operations on each ciphertext of a result cost later, as of ``Costs``."""


def matmul(a: object, b: object) -> EncryptedArray:
    """Returns the product of matrices, as ``numpy.matmul``; one of them may be plain.

    Args:
        a: An array of one axis or more, encrypted or plain.
        b: Another. At least one is encrypted.

    Raises:
        ProgramError: When shapes do not fit.
    """
    source = caller()
    if isinstance(a, EncryptedArray) and isinstance(b, EncryptedArray):
        return _encrypted(a, b, source)
    if isinstance(a, EncryptedArray):
        return _times_plain(a, a.trace.space.array(b, source), source)
    assert isinstance(b, EncryptedArray), "one of them is encrypted"
    left = b.trace.space.array(a, source)
    _check_shapes(left.shape, b.shape, source)
    if b.ndim == 1 or left.ndim == 1:
        swapped = b if b.ndim == 1 else b.rearranged(lambda x: np.swapaxes(x, -1, -2))
        turned = left if left.ndim == 1 else np.swapaxes(left, -1, -2)
        return _times_plain(swapped, turned, source)
    product = _times_plain(
        b.rearranged(lambda x: np.swapaxes(x, -1, -2)), np.swapaxes(left, -1, -2), source
    )
    return product.rearranged(lambda x: np.swapaxes(x, -1, -2))


def _check_shapes(left: tuple[int, ...], right: tuple[int, ...], source: SourceLine) -> None:
    if not left or not right:
        raise source.error(f"shapes {left} and {right}: @ takes no single numbers: write *")
    inner = right[0] if len(right) == 1 else right[-2]
    if left[-1] != inner:
        raise source.error(
            f"shapes {left} and {right} do not fit, as in NumPy: {left[-1]} columns meet {inner} "
            "rows"
        )
    if len(left) > 2 and len(right) > 2:
        broadcast_shape(left[:-2], right[:-2], source)


def _encrypted(a: EncryptedArray, b: EncryptedArray, source: SourceLine) -> EncryptedArray:
    """Every entry of a row times every entry of a column, and sums of them."""
    _check_shapes(a.shape, b.shape, source)
    if a.ndim == 1 and b.ndim == 1:
        return (a * b).sum()
    if b.ndim == 1:
        return (a * b).sum(axis=-1)
    if a.ndim == 1:
        return (a[:, None] * b).sum(axis=-2)
    return (a[..., :, :, None] * b[..., None, :, :]).sum(axis=-2)


def _times_plain(x: EncryptedArray, w: PlainValues, source: SourceLine) -> EncryptedArray:
    """The product with a plain matrix on the right."""
    _check_shapes(x.shape, w.shape, source)
    if w.ndim == 1:
        return (x * w).sum(axis=-1)
    if w.ndim > 2:
        return (x[..., :, :, None] * w[..., None, :, :]).sum(axis=-2)
    if not w.any():
        raise source.error("the matrix is zero, and the product depends on nothing: leave it out")
    found = _products(x, w, source)
    flat = _before_reshape(x)
    if flat is not None:
        before, rows = flat
        padded = np.zeros((before.shape[-1], w.shape[1]), w.dtype)
        padded[rows] = w
        spared = x.trace.space.costs.level  # of the move
        found = [
            *(
                _Product(each.cost - spared, f"{each.text} from where entries lay", each.make)
                for each in _products(before, padded, source)
            ),
            *found,
        ]
    what = f"the product with a matrix of {w.shape[0]} x {w.shape[1]}"
    note_choice(what, [(each.text, each.cost) for each in found], x.trace, source)
    best = min(found, key=lambda each: each.cost)
    return x.made(best.make().content, lambda a: a @ w)


@dataclass(frozen=True, eq=False)
class _Product:
    """A way to compute a product with a matrix on the right.

    Attributes:
        cost: About what it costs, as of ``Costs``.
        text: What it is, for people.
        make: Computes it.
    """

    cost: float
    text: str
    make: Callable[[], EncryptedArray]


def _products(x: EncryptedArray, w: PlainValues, source: SourceLine) -> list[_Product]:
    """The ways to compute a product."""
    spread = _Product(
        _spread_cost(x, w.shape[1]),
        "by copies along the columns",
        lambda: (x[..., None] * w).sum(axis=-2),
    )
    if np.count_nonzero(w) * math.prod(x.shape[:-1]) > _MOST_TERMS:
        return [spread]
    return [*_by_diagonals(x, w, source), spread]


def _before_reshape(x: EncryptedArray) -> tuple[EncryptedArray, NDArray[np.int64]] | None:
    """Axes that a reshape made one as an axis of a power of two, and where their entries lie on it.

    A network flattens maps before a dense layer. The matrix can take the entries from where they
    lay: its rows are ordered so, with zeros for slots in between.
    """
    unshaped, first = x.content.unshaped, x.ndim - 1
    if unshaped is None or unshaped.layout.shape[:first] != x.shape[:-1]:
        return None
    layout, lengths = unshaped.layout, unshaped.layout.shape[first:]
    rows, total = np.zeros(lengths, np.int64), 0
    offsets = {}
    for axis in reversed(range(len(lengths))):
        offsets[first + axis] = total
        others = tuple(i for i in range(len(lengths)) if i != axis)
        rows += np.expand_dims(np.arange(lengths[axis]) << total, others)
        total += bits_for(lengths[axis])
    bits = tuple(
        Bit(first, offsets[bit.axis] + bit.bit) if bit.axis >= first else bit for bit in layout.bits
    )
    view = Layout((*x.shape[:-1], 1 << total), bits, layout.slot_bits)
    return EncryptedArray(x.trace, Placed(unshaped.parts, view), x.node), rows.reshape(-1)


def _spread_cost(x: EncryptedArray, columns: int) -> float:
    """What the product costs with copies of x along the columns, one product and sums."""
    spread = x[..., None].content
    shape = (*x.shape, columns)
    target = merged(spread.layout, Layout.dense(shape, spread.layout.slot_bits), shape)
    summed = sum(i < target.slot_bits for i in target.of_axis(x.ndim - 1).values())
    space = x.trace.space
    total = (
        placing_cost(spread.layout, target, space)
        + space.costs.level
        + copies_cost(spread, target, x.trace)
    )
    each = summed * space.costs.rotation + space.costs.plain_product + _RESULT
    return total + target.ciphertexts * each


def _by_diagonals(x: EncryptedArray, w: PlainValues, source: SourceLine) -> list[_Product]:
    """The ways to compute a product as a linear map of the entries of the last axis."""
    layout, axis = x.content.layout, x.ndim - 1
    shape = (*x.shape[:-1], w.shape[1])
    terms = Correlations(w.T, x.shape[:-1])
    targets = (_along(layout, axis, shape), _between_copies(layout, axis, shape))
    found = [
        way
        for target in dict.fromkeys(repeating(each, [layout]) for each in targets)
        for way in ways([layout], target, [terms], x.trace.space)
    ]
    if x.content.origin is not None:
        needs = _copies_inside(layout, axis, bits_for(w.shape[1]))
        if needs != layout.bits:
            x.content.origin.wish(layout, needs)

    def product(way: Way) -> Callable[[], EncryptedArray]:
        return lambda: x.made(on_the_way(way, [x.content], x.trace, source), lambda a: a)

    return [
        _Product(way.cost + way.sums.target.ciphertexts * _RESULT, way.text, product(way))
        for way in found
    ]


def _copies_inside(layout: Layout, axis: int, needed: int) -> tuple[Bit, ...]:
    """The bits of a layout with its copies where a product by diagonals gains the most.

    With c bits of copies above the lowest n - c bits of an axis, 2^(n-c) distances and sums of
    parts reach all entries of the axis from each of 2^n columns; without them 2^n distances.
    """
    inside = layout.bits[: layout.slot_bits]
    kept = [bit for bit in inside if bit != COPY]
    copies = layout.slot_bits - len(kept)
    own = [i for i, bit in enumerate(kept) if bit.axis == axis]
    below = max(0, needed - copies)
    if not own or below >= len(own):
        return layout.bits
    start = own[below]
    bits = (*kept[:start], *[COPY] * copies, *kept[start:])
    return (*bits, *layout.bits[layout.slot_bits :])


def _between_copies(layout: Layout, axis: int, shape: tuple[int, ...]) -> Layout:
    """As ``_along``, with the axis in the lowest bits that it or copies have now."""
    bits = [GAP if bit.axis == axis else bit for bit in layout.bits[: layout.slot_bits]]
    free = [i for i, bit in enumerate(bits) if bit.axis < 0]
    needed = bits_for(shape[axis])
    if needed > len(free):
        return _along(layout, axis, shape)
    for number, place in enumerate(free[:needed]):
        bits[place] = Bit(axis, number)
    above = [
        bit
        for bit in layout.bits[layout.slot_bits :]
        if bit.axis not in (axis, COPY.axis, GAP.axis)
    ]
    return Layout(shape, (*bits, *above), layout.slot_bits)


def _along(layout: Layout, axis: int, shape: tuple[int, ...]) -> Layout:
    """A layout for a result in which an axis has another length, along the same bits."""
    places = layout.of_axis(axis)
    needed = bits_for(shape[axis])
    bits = [GAP if bit.axis == axis else bit for bit in layout.bits]
    free = [places[bit] for bit in sorted(places) if places[bit] < layout.slot_bits]
    free += [i for i in range(layout.slot_bits) if bits[i].axis < 0 and i not in free]
    for bit in range(needed):
        if free:
            bits[free.pop(0)] = Bit(axis, bit)
        else:
            bits.append(Bit(axis, bit))
    kept = bits[: layout.slot_bits] + [bit for bit in bits[layout.slot_bits :] if bit.axis >= 0]
    return Layout(shape, tuple(kept), layout.slot_bits)


def convolution(
    x: EncryptedArray,
    kernels: PlainValues,
    strides: tuple[int, ...],
    padding: Padding,
    source: SourceLine,
) -> EncryptedArray:
    """Returns the correlation of an array with plain kernels, as networks define a convolution.

    Args:
        x: Shape (…, channels, *lengths).
        kernels: Shape (maps, channels, *sizes).
        strides: For each axis of the lengths.
        padding: Zeros before and after each of them.
        source: The user's line.

    Returns:
        Shape (…, maps, *counts).
    """
    axes = len(strides)
    lengths, sizes = x.shape[-axes:], kernels.shape[2:]
    if x.ndim <= axes or x.shape[-axes - 1] != kernels.shape[1]:
        raise source.error(
            f"shapes {x.shape} and {kernels.shape} do not fit: kernels of shape (maps, channels, "
            "…) take arrays of shape (…, channels, …) with as many channels"
        )
    counts = tuple(
        (length + before + after - size) // stride + 1
        for length, size, stride, (before, after) in zip(
            lengths, sizes, strides, padding, strict=True
        )
    )
    if min(counts) < 1:
        raise source.error(
            f"kernels of {sizes} entries are larger than the array of {lengths}, padded by "
            f"{padding}: pad it more"
        )
    records = math.prod(x.shape[: -axes - 1])
    products = np.count_nonzero(kernels) * math.prod(counts) * records
    if products > _MOST_TERMS:
        raise source.error(f"a convolution of {products} products: {_MOST_TERMS} are the most")
    before = tuple(each for each, _ in padding)
    terms = Correlations(kernels, x.shape[: -axes - 1], lengths, counts, strides, before)
    shape = (*x.shape[: -axes - 1], kernels.shape[0], *counts)
    targets = [*candidates(shape, [x.content.layout]), *_strided(x.content.layout, shape, strides)]
    what = f"the convolution with kernels of {' x '.join(map(str, kernels.shape))}"
    content = moved_entries([x.content], [terms], shape, x.trace, source, targets, what)
    return x.made(content, lambda a: correlation(a, kernels, strides, padding))


def correlation(
    a: Array, kernels: PlainValues, strides: tuple[int, ...], padding: Padding
) -> Array:
    """Returns what ``convolution`` computes, of an array of NumPy."""
    axes, sizes = len(strides), kernels.shape[2:]
    around = [(0, 0)] * (a.ndim - axes) + [*padding]
    windows = sliding_window_view(np.pad(a, around), sizes, tuple(range(-axes, 0)))
    steps = tuple(slice(None, None, stride) for stride in strides)
    index: Any = (..., *steps, *[slice(None)] * axes)
    windows = np.moveaxis(
        windows[index], -2 * axes - 1, -axes - 1
    )  # (…, *counts, channels, *sizes)
    inner = tuple(range(-axes - 1, 0))
    found = np.tensordot(windows, kernels, (inner, tuple(range(1, axes + 2))))
    return np.moveaxis(found, -1, -axes - 1)


def _strided(layout: Layout, shape: tuple[int, ...], strides: tuple[int, ...]) -> list[Layout]:
    """A layout for a result whose places stay where they are, if strides are powers of two."""
    axes = len(strides)
    if any(stride & (stride - 1) for stride in strides):
        return []
    first = len(shape) - axes
    bits: list[Bit] = []
    for bit in layout.bits:
        if bit.axis < 0 or bit.axis == first - 1:
            bits.append(GAP)
        elif bit.axis < first:
            bits.append(bit)
        else:
            down = strides[bit.axis - first].bit_length() - 1
            kept = down <= bit.bit < down + bits_for(shape[bit.axis])
            bits.append(Bit(bit.axis, bit.bit - down) if kept else GAP)
    named = {bit for bit in bits if bit.axis >= 0}
    for axis, length in enumerate(shape):
        for number in range(bits_for(length)):
            if Bit(axis, number) in named:
                continue
            free = [i for i in range(layout.slot_bits) if bits[i] == GAP]
            free.sort(key=lambda i: (layout.bits[i].axis != axis, i))
            if free:
                bits[free[0]] = Bit(axis, number)
            else:
                bits.append(Bit(axis, number))
    kept_bits = bits[: layout.slot_bits] + [b for b in bits[layout.slot_bits :] if b.axis >= 0]
    return [repeating(Layout(shape, tuple(kept_bits), layout.slot_bits), [layout])]
