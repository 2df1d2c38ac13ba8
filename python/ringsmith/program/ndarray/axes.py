"""Functions along an axis that need comparisons, exponentials or roots: approximations, in CKKS."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.program.approximations import exp, inverse, relu, sqrt
from ringsmith.program.arrays import Array
from ringsmith.program.comparisons import checked_error, compare, maximum, minimum
from ringsmith.program.elementwise import value_range
from ringsmith.program.ndarray.array import Axis, EncryptedArray, checked_axes
from ringsmith.program.ndarray.functions import concatenate
from ringsmith.program.ndarray.placing import moved_entries
from ringsmith.program.ndarray.terms import Listed
from ringsmith.program.ranges import Interval, bounded
from ringsmith.program.source import SourceLine, caller

_ERROR = 2.0**-10


def amax(
    x: EncryptedArray,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    error: float | None = None,
    margin: float | None = None,
    precision: float = 8,
) -> EncryptedArray:
    """Returns about the largest entries along axes: log2(length) rounds of ``maximum``.

    Args:
        x: An array of real numbers.
        axis: The axis, or several; None: all.
        keepdims: Whether the axes are kept, of length 1.
        error: The largest distance that is allowed. None: 2^-7 of the range for each round.
        margin: As of ``maximum``: entries that differ by less count as equal, and the result is
            wrong by half of it in each round at most. None: ``error`` counts.
        precision: Bits of precision of each comparison with a margin.

    Raises:
        ProgramError: When there is no such axis, or x has no range of real numbers; in BFV.
    """
    return _extreme(x, axis, keepdims, error, margin, precision, maximum, caller())


def amin(
    x: EncryptedArray,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    error: float | None = None,
    margin: float | None = None,
    precision: float = 8,
) -> EncryptedArray:
    """Returns about the smallest entries along axes; arguments as of ``amax``."""
    return _extreme(x, axis, keepdims, error, margin, precision, minimum, caller())


def _extreme(
    x: EncryptedArray,
    axis: Axis,
    keepdims: bool,
    error: float | None,
    margin: float | None,
    precision: float,
    extreme: Callable[..., EncryptedArray],
    source: SourceLine,
) -> EncryptedArray:
    """Returns what ``maximum`` or ``minimum`` leaves of the entries along axes."""
    axes = checked_axes(axis, x.shape, source)
    rounds = sum((x.shape[each] - 1).bit_length() for each in axes)
    low, high = _real_range(x, source)
    if margin is not None:
        x = _rounds(x, axes, lambda a, b: _with_margin(a, b, extreme, margin, precision, source))
    elif rounds:
        width = max(high - low, 1e-9)
        allowed = checked_error(None if error is None else error / rounds, width, source)
        largest = width + 2 * rounds * allowed
        factor = 1.0 if 0.5 <= largest <= 1 else 1 / largest  # polynomials on [-1, 1] cost least
        scaled = x if factor == 1 else bounded(x * factor, (low * factor, high * factor))
        ends = Ends(low * factor, high * factor, allowed * factor)
        scaled = _rounds(scaled, axes, lambda a, b: ends.after(extreme, a, b))
        x = scaled if factor == 1 else scaled * (1 / factor)
    return x if keepdims or not axes else x.squeeze(axes)


def _rounds(
    x: EncryptedArray,
    axes: tuple[int, ...],
    of_two: Callable[[EncryptedArray, EncryptedArray], EncryptedArray],
) -> EncryptedArray:
    """Returns an array with axes of length 1, each reduced in rounds of two entries at once.

    Every entry meets one half an axis further on, and all stay: where the axis is a power of two
    long, no slot is ever without an entry, and nothing has to be cleared.
    """
    for each in axes:
        at = (slice(None),) * each
        length = x.shape[each]
        steps = 1 << (length - 1).bit_length()
        if length < steps:  # some entries meet themselves
            steps //= 2
            x = of_two(x[(*at, slice(steps))], x[(*at, slice(length - steps, None))])
        while steps > 1:
            steps //= 2
            x = of_two(x, _turned(x, -steps, each))
        x = x[(*at, slice(1))]
    return x


def _turned(x: EncryptedArray, shift: int, axis: int) -> EncryptedArray:
    return x.rearranged(lambda a: np.roll(a, shift, axis))


@dataclass
class Ends:
    """The range of numbers through rounds of comparisons.

    Attributes:
        low: Its low end.
        high: Its high end.
        error: The error of each round, by which it grows; the span stays within 1.
    """

    low: float
    high: float
    error: float

    def after(
        self, extreme: Callable[..., EncryptedArray], a: EncryptedArray, b: EncryptedArray
    ) -> EncryptedArray:
        """Returns the maximum or minimum of two arrays in the range, which grows."""
        found = extreme(a, b, span=1.0, error=self.error)
        self.low, self.high = self.low - self.error, self.high + self.error
        return bounded(found, (self.low, self.high))


def _with_margin(
    a: EncryptedArray,
    b: EncryptedArray,
    extreme: Callable[..., EncryptedArray],
    margin: float,
    precision: float,
    source: SourceLine,
) -> EncryptedArray:
    """Returns the maximum or minimum of two arrays of one range by ``compare``."""
    low, high = _real_range(a, source)
    width = max(high - low, 1e-9)
    found = extreme(a, b, span=width, margin=margin, precision=precision)
    slack = max(margin / 2, width * 2.0**-precision)
    return bounded(found, (low - slack, high + slack))


def _halves(x: EncryptedArray, axis: int) -> tuple[EncryptedArray, EncryptedArray]:
    """Returns the first entries along an axis, and as many last ones; some may be in both."""
    length = x.shape[axis]
    half = 1 << ((length - 1).bit_length() - 1)
    before = (slice(None),) * axis
    return x[(*before, slice(half))], x[(*before, slice(length - half, None))]


def _axis(x: EncryptedArray, axis: int, call: str, source: SourceLine) -> int:
    """Returns an axis from 0, after a check of the array."""
    if not isinstance(x, EncryptedArray):
        raise source.error(f"{call} takes an encrypted array, and {x!r:.40} is none")
    axes = checked_axes(axis, x.shape, source)
    if axis is None or len(axes) != 1:
        raise source.error(
            f"{call}: axis = {axis!r:.40}: name one axis of the array of shape {x.shape}"
        )
    return axes[0]


def _real_range(x: EncryptedArray, source: SourceLine) -> tuple[float, float]:
    if x.trace.space.exact:
        raise source.error("BFV computes modulo t, where no number is less than another: take CKKS")
    found: Interval | None = value_range(x)
    if found is None:
        raise source.error(
            "the numbers have no range of real numbers: promise one, bounded(x, (low, high))"
        )
    return float(found.low), float(found.high)


def argmax(
    x: EncryptedArray, axis: int = -1, *, margin: float | None = None, precision: float = 8
) -> EncryptedArray:
    """Returns about 1 where the largest entry along an axis is, and about 0 elsewhere.

    It is no index, as NumPy's: an encrypted one selects by a product and a sum. All pairs along the
    axis are compared at once, so that it takes length times as many slots as x, the levels of one
    ``compare`` and about log2(length) more.

    Args:
        x: An array of real numbers.
        axis: The axis.
        margin: Entries that differ by less count as equal: where the two largest do, the result
            lies between. None: a sixteenth of the range.
        precision: Bits of precision of the comparisons.

    Returns:
        An array of the shape of x.

    Raises:
        ProgramError: When there is no such axis, or x has no range of real numbers; in BFV.
    """
    source = caller()
    chosen = _axis(x, axis, "argmax(x, axis)", source)
    length = x.shape[chosen]
    if length == 1:
        raise source.error(
            f"axis = {axis} of an array of shape {x.shape} has one entry, which is the largest: "
            "leave it out"
        )
    low, high = _real_range(x, source)
    at = (slice(None),) * chosen
    own, others = x[(*at, slice(None), None)], x[(*at, None)]
    shape = [1] * (x.ndim + 1)
    shape[chosen] = shape[chosen + 1] = length
    wins = compare(own, others, span=max(high - low, 1e-9), margin=margin, precision=precision)
    wins = wins + np.eye(length).reshape(shape) / 2  # an entry is equal to itself
    while wins.shape[chosen + 1] > 1:
        first, second = _halves(wins, chosen + 1)
        wins = first * second  # about 0 or 1: a factor that is in both changes little
    return wins.squeeze(chosen + 1)


def softmax(
    x: EncryptedArray,
    axis: int = -1,
    *,
    error: float = _ERROR,
    sums: tuple[float, float] | None = None,
) -> EncryptedArray:
    """Returns about exp(x) / sum(exp(x)) along an axis, with polynomials for exp and 1 / x.

    Args:
        x: An array of real numbers. It costs more levels the wider their range is.
        axis: The axis.
        error: The largest distance from softmax that is allowed.
        sums: The range that sum(exp(x)) is promised to lie in, if narrower than that of x says: it
            costs fewer levels then, and errors of x count for less.

    Raises:
        ProgramError: When there is no such axis, or x has no range of real numbers, or the error
            is not reached; in BFV.
    """
    source = caller()
    chosen = _axis(x, axis, "softmax(x, axis)", source)
    if not 0 < error < 1:
        raise source.error(f"error = {error!r:.40} is not between 0 and 1")
    low, high = _real_range(x, source)
    least, count = math.exp(low - high), x.shape[chosen]
    off = error * least / 4
    powers = bounded(exp(x - high, error=off), (least - off, 1 + off))
    total = powers.sum(axis=chosen, keepdims=True)
    lowest, highest = count * (least - off), count * (1 + off)
    if sums is not None:
        if not 0 < sums[0] < sums[1] < math.inf:
            raise source.error(f"sums = {sums!r:.60} is no range of sums of powers: (low, high)")
        least_sum, largest_sum = (each * math.exp(-high) for each in sums)
        lowest = max(lowest, least_sum - count * off)
        highest = min(highest, largest_sum + count * off)
    return powers * inverse(bounded(total, (lowest, highest)), error=error / 2)


def std(
    x: EncryptedArray, axis: Axis = None, *, keepdims: bool = False, error: float | None = None
) -> EncryptedArray:
    """Returns about the standard deviations over axes, as ``numpy.std``.

    Args:
        x: An array of real numbers.
        axis: The axis, or several; None: all.
        keepdims: Whether the axes are kept, of length 1.
        error: As of ``sqrt``.

    Raises:
        ProgramError: When there is no such axis, or x has no range of real numbers; in BFV.
    """
    source = caller()
    low, high = _real_range(x, source)
    variance = x.var(axis, keepdims=keepdims)
    return sqrt(bounded(variance, (0, (high - low) ** 2 / 4)), error=error)


def sort(x: EncryptedArray, axis: int = -1, *, error: float | None = None) -> EncryptedArray:
    """Returns about the entries in ascending order along an axis, as ``numpy.sort``.

    Batcher's bitonic network: k(k + 1)/2 rounds of comparisons follow one another for a length of
    2^k, so that automatic parameters hold a length of about 8.

    Args:
        x: An array of real numbers.
        axis: The axis.
        error: The largest distance that is allowed. None: 2^-7 of the range for each round.

    Raises:
        ProgramError: When there is no such axis, or x has no range of real numbers; in BFV.
    """
    source = caller()
    chosen = _axis(x, axis, "sort(x, axis)", source)
    length, bits = x.shape[chosen], (x.shape[chosen] - 1).bit_length()
    low, high = _real_range(x, source)
    width, rounds = max(high - low, 1e-9), bits * (bits + 1) // 2
    allowed = checked_error(None if error is None else error / max(rounds, 1), width, source)
    unit = width + 2 * rounds * allowed
    x = x.rearranged(lambda a: np.moveaxis(a, chosen, -1))
    if length < 1 << bits:
        x = concatenate([x, np.full((*x.shape[:-1], (1 << bits) - length), high)], x.ndim - 1)
    index = np.arange(1 << bits)
    parts, factors = [x], [np.eye(index.size)]  # x is the sum of these products
    for block in range(1, bits + 1):
        for step in reversed(range(block)):
            low, high = low - allowed, high + allowed
            # The smaller one of two numbers goes to the smaller index or, in some blocks, to the
            # greater: it is the one that is there less relu of its difference to the other.
            sign = np.where(index >> block & 1 == index >> step & 1, 1.0, -1.0)
            apart = (np.eye(index.size) - np.eye(index.size)[index ^ 1 << step]) * (sign / unit)
            difference = bounded(_mixed(parts, [each @ apart for each in factors], source), 1.0)
            positive = relu(difference, error=allowed / unit, interval=1.0)
            # The next differences are taken of x and this result: they do not wait for the new x.
            parts, factors = [x, positive], [np.eye(index.size), np.diag(-sign * unit)]
            x = bounded(x - positive * (sign * unit), (low, high))
    return x[..., :length].rearranged(lambda a: np.moveaxis(a, -1, chosen))


def _mixed(
    arrays: Sequence[EncryptedArray], matrices: Sequence[NDArray[np.float64]], source: SourceLine
) -> EncryptedArray:
    """Returns the sum of products of arrays of one shape with plain matrices, in one level."""
    x = arrays[0]
    record = np.arange(x.size // x.shape[-1], dtype=np.int64)[:, None] * x.shape[-1]
    terms = []
    for matrix in matrices:
        rows, columns = np.nonzero(matrix)
        weights = np.broadcast_to(matrix[rows, columns], (record.size, rows.size))
        to, entry = ((record + each).reshape(-1) for each in (columns, rows))
        terms.append(Listed(to, entry, weights.reshape(-1)))
    content = moved_entries([each.content for each in arrays], terms, x.shape, x.trace, source)

    def compute(*each: Array) -> Array:
        return np.asarray(sum(a @ matrix for a, matrix in zip(each, matrices, strict=True)))

    return x.made(content, compute, *arrays)
