"""Plain matrices times encrypted vectors, by diagonals.

Arrays have a planner of their own (``ringsmith.program.ndarray.linear``), which computes sums of
rotations by ``weighted_rotations``, too. ``matvec`` does not use it: where the entries of a vector
lie, one after another or at a stride, its caller chose, and an array's planner chooses itself.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ringsmith.program import clearing
from ringsmith.program.arrays import Array, ArrayNode
from ringsmith.program.plain import PlainValues, checked_power_of_two
from ringsmith.program.recorded import Vector, check_encrypted
from ringsmith.program.source import SourceLine, caller

T = TypeVar("T")

_MOST_TRIED = 1 << 11
"""Numbers of baby steps that are all tried; of more, the powers of two."""
_AT_ONCE = 1 << 18
"""Numbers that are looked at in one array."""
_OUTER_COST = 2
"""Of a rotation that cuts digits of its own, in rotations that share the digits of one value."""


def matvec(weights: object, x: Vector, *, stride: int = 1) -> Vector:
    """Returns the product of a plain matrix and encrypted vectors, through one level.

    Diagonals (Halevi and Shoup 2014, eprint 2014/106, section 4.3) in baby and giant steps (Halevi
    and Shoup 2018, eprint 2018/244, section 3): with d diagonals that are not zero, d plain
    products and about 2 sqrt(d) rotations. A matrix of fewer rows than columns is folded, as in
    GAZELLE (Juvekar, Vaikuntanathan, Chandrakasan 2018, section 4): as many diagonals as rows, and
    then log2(columns / rows) rotations. Rows and columns are padded with zeros to powers of two.

    With a ``stride``, as many vectors lie interleaved, each multiplied by the matrix at no further
    cost: entry j of vector v lies in slot j*stride + v, and so do the product's entries.

    Args:
        weights: Matrix of shape (rows, columns); neither may exceed N/2 / stride; not all zero.
        x: columns*stride numbers. Of all slots (``EncryptedVector``) these are the first ones; in
            BFV, of each of the two rows.
        stride: Distance in slots of the entries of one vector, a power of two; 1: one vector.

    Returns:
        The product: rows*stride numbers.

    Raises:
        ProgramError: When the matrix is no matrix, is zero or too large, has other columns than x
            numbers, or the stride is illegal.
    """
    check_encrypted(x, "matvec(matrix, x)", caller(), "matrix @ x")
    space, source = x.trace.space, caller()
    capacity = space.row // checked_power_of_two("stride", stride, space.row, source)
    given = space.matrix(weights, source)
    start, columns = _entries(x, given, stride, capacity, source)
    a = _padded(given, columns, capacity, stride, source)
    rows, columns = a.shape
    length, count = max(a.shape), min(a.shape)
    entries = np.arange(length)
    diagonals: dict[tuple[int, int], PlainValues] = {}
    for k in range(count):
        diagonal = a[entries % rows, (entries + k) % columns]
        if diagonal.any():
            values = np.zeros(capacity * stride, a.dtype)
            values[: length * stride].reshape(length, stride)[:] = diagonal[:, None]
            diagonals[0, k * stride] = values
    repeated = _repeated(start, columns * stride, (length + count) * stride)
    total = weighted_rotations([repeated], diagonals)
    for k in range((length // rows).bit_length() - 1):
        total = total + total.rotate((rows << k) * stride)
    numbers = given.shape[0] * stride

    def product(a: Array) -> Array:
        vectors = a[: given.shape[1] * stride].reshape(-1, stride)
        return np.asarray(given @ vectors).reshape(-1)

    again = space.row if columns * stride == space.row and rows <= columns else 0
    node = ArrayNode(numbers, product, (x.array,), filled=again, period=rows * stride)
    return x.made(total.index, node)


def _entries(
    x: Vector, given: PlainValues, stride: int, capacity: int, source: SourceLine
) -> tuple[Vector, int]:
    """Returns the slots of x, and the columns that the matrix must have to read nothing else of it.

    Slots after x's numbers are zero, or meet columns of zeros: that takes more rotations, and no
    level.
    """
    node, numbers, trace = x.array, given.shape[1] * stride, x.trace
    if not node.all_slots and node.numbers != numbers:
        what = f" at a stride of {stride}" if stride > 1 else ""
        raise source.error(
            f"a matrix of {given.shape[0]} x {given.shape[1]} takes {numbers} numbers{what}, and "
            f"the vector holds {node.numbers}: give one of as many"
        )
    if numbers > trace.space.row or clearing.depends(trace, x.index, numbers):
        return x.slots_of(), capacity
    return x.slots_of(clearing.cleared(trace, x.index, numbers, source)), given.shape[1]


def _padded(
    a: PlainValues, columns: int, capacity: int, stride: int, source: SourceLine
) -> PlainValues:
    """Returns the matrix with zeros up to powers of two, and to at least ``columns``."""
    if max(a.shape) > capacity:
        limit = f"{capacity} slots of a ciphertext"
        if stride > 1:
            limit = f"{capacity} entries that a ciphertext has at a stride of {stride}"
        raise source.error(
            f"a matrix of {a.shape[0]} x {a.shape[1]} exceeds the {limit}: split it, or raise N"
        )
    if not a.any():
        raise source.error(
            "the matrix is zero, and the product does not depend on the encrypted vector: leave it "
            "out"
        )
    shape = (a.shape[0], max(a.shape[1], columns))
    padded = np.zeros([1 << (size - 1).bit_length() for size in shape], a.dtype)
    padded[: a.shape[0], : a.shape[1]] = a
    return padded


def _repeated(x: Vector, period: int, length: int) -> Vector:
    """Returns x repeated with its period over at least ``length`` slots, or over all."""
    filled = period
    while filled < min(length, x.trace.space.row):
        x = x + x.rotate(-filled)
        filled *= 2
    return x


def weighted_rotations(
    values: Sequence[Vector], weights: Mapping[tuple[int, int], PlainValues]
) -> Vector:
    """Returns the sum of rotated values times plain numbers, in baby and giant steps.

    With k = g + b, where g is a multiple of the number of baby steps, weights times a value rotated
    by k is the rotation by g of (the weights rotated back by g) times (the value rotated by b): the
    inner rotations are shared by all g, the outer ones by all b.

    Args:
        values: Slots.
        weights: The plain numbers of a row, or of all slots, for (number of a value, slots to
            rotate it by).
    """
    space = values[0].trace.space

    def rotated_back(values: PlainValues, steps: int) -> PlainValues:
        if values.size == space.row:
            return space.in_every_row(np.roll(values, steps))
        return np.roll(values.reshape(-1, space.row), steps, axis=1).reshape(-1)

    unit = math.gcd(space.row, *(k for _, k in weights))
    units = tuple((i, k // unit) for i, k in weights)
    baby = unit * _baby_steps(units, shared=space.shared_rotations)
    giant_steps: dict[int, list[tuple[int, int]]] = {}
    for i, k in weights:
        giant_steps.setdefault(k - k % baby, []).append((i, k))

    def giant_step(start: int) -> Vector:
        inner = _sum(
            giant_steps[start],
            lambda step: (
                values[step[0]].rotate(step[1] - start) * rotated_back(weights[step], start)
            ),
        )
        return inner.rotate(start)

    return _sum(sorted(giant_steps), giant_step)


def rotation_count(
    values: NDArray[np.int64], steps: NDArray[np.int64], row: int, *, shared: bool
) -> int:
    """Returns what ``weighted_rotations`` costs, in rotations.

    Args:
        values: The number of the value of each product.
        steps: The slots that it is rotated by.
        row: Slots of a row.
        shared: Whether rotations of one value share their digits.
    """
    unit = math.gcd(row, int(np.gcd.reduce(steps)))
    return _fewest_rotations(values, steps // unit, shared=shared)[1]


@lru_cache(maxsize=64)
def _baby_steps(steps: tuple[tuple[int, int], ...], *, shared: bool) -> int:
    """Returns the number of baby steps with the fewest rotations; of several the largest."""
    values, k = np.array(steps, np.int64).T
    return _fewest_rotations(values, k, shared=shared)[0]


def _fewest_rotations(
    values: NDArray[np.int64], k: NDArray[np.int64], *, shared: bool
) -> tuple[int, int]:
    """Returns the best number of baby steps, and the cost of its rotations in those of inner ones.

    Inner rotations are (a value, k modulo the number), outer ones k divided by it, without zeros.
    """
    most = int(k.max()) + 1
    sizes = np.arange(most, 0, -1)
    if most > _MOST_TRIED:
        sizes = 1 << np.arange(most.bit_length(), -1, -1)
    costs = []
    for chunk in np.array_split(sizes, 1 + sizes.size * k.size // _AT_ONCE):
        outer, inner = np.divmod(k, chunk[:, None])
        inner = np.where(inner > 0, values * int(sizes[0]) + inner, 0)
        weight = _OUTER_COST if shared else 1
        costs.append(_distinct(inner) + weight * _distinct(outer))
    cost = np.concatenate(costs)
    best = int(np.argmin(cost))
    return int(sizes[best]), int(cost[best])


def _distinct(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of distinct positive numbers in each row."""
    ordered = np.sort(rows, axis=1)
    changes = np.diff(ordered, axis=1, prepend=0) > 0
    return np.asarray(changes.sum(axis=1))


def _sum(indices: Iterable[T], term: Callable[[T], Vector]) -> Vector:
    first, *rest = [term(index) for index in indices]
    return sum(rest, first)
