"""Functions along an axis that need comparisons, exponentials or roots: approximations, in CKKS."""

import math
from collections.abc import Callable

import numpy as np

from ringsmith.program.approximations import exp, inverse, sqrt
from ringsmith.program.comparisons import compare, maximum, minimum
from ringsmith.program.elementwise import value_range
from ringsmith.program.ndarray.array import Axis, EncryptedArray, checked_axes
from ringsmith.program.ndarray.functions import concatenate
from ringsmith.program.ranges import Interval, bounded
from ringsmith.program.source import SourceLine, caller

_SHARE = 2.0**-4
"""The default margin, as a part of the width of the range; as of ``compare``."""
_ERROR = 2.0**-10


def amax(
    x: EncryptedArray,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    margin: float | None = None,
    precision: float = 8,
) -> EncryptedArray:
    """Returns about the largest entries along axes: log2(length) rounds of ``maximum``.

    Args:
        x: An array of real numbers.
        axis: The axis, or several; None: all.
        keepdims: Whether the axes are kept, of length 1.
        margin: As of ``maximum``: entries that differ by less count as equal, and the result is
            wrong by half of it in each round at most. None: a sixteenth of the range.
        precision: Bits of precision of each comparison.

    Raises:
        ProgramError: When there is no such axis, or x has no range of real numbers; in BFV.
    """
    return _rounds(x, axis, keepdims, margin, precision, maximum, caller())


def amin(
    x: EncryptedArray,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    margin: float | None = None,
    precision: float = 8,
) -> EncryptedArray:
    """Returns about the smallest entries along axes; arguments as of ``amax``."""
    return _rounds(x, axis, keepdims, margin, precision, minimum, caller())


def _rounds(
    x: EncryptedArray,
    axis: Axis,
    keepdims: bool,
    margin: float | None,
    precision: float,
    extreme: Callable[..., EncryptedArray],
    source: SourceLine,
) -> EncryptedArray:
    """Returns what ``maximum`` or ``minimum`` leaves of the entries along axes."""
    for each in checked_axes(axis, x.shape, source):
        while x.shape[each] > 1:
            first, second = _halves(x, each)
            low, high = _real_range(x, source)
            width = max(high - low, 1e-9)
            least = width * _SHARE if margin is None else margin
            x = extreme(first, second, span=width, margin=least, precision=precision)
            slack = max(least / 2, width * 2.0**-precision)
            x = bounded(x, (low - slack, high + slack))
    axes = checked_axes(axis, x.shape, source)
    return x if keepdims or not axes else x.squeeze(axes)


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


def softmax(x: EncryptedArray, axis: int = -1, *, error: float = _ERROR) -> EncryptedArray:
    """Returns about exp(x) / sum(exp(x)) along an axis, with polynomials for exp and 1 / x.

    Args:
        x: An array of real numbers. It costs more levels the wider their range is.
        axis: The axis.
        error: The largest distance from softmax that is allowed.

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
    return powers * inverse(
        bounded(total, (count * (least - off), count * (1 + off))), error=error / 2
    )


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


def sort(
    x: EncryptedArray, axis: int = -1, *, margin: float | None = None, precision: float = 8
) -> EncryptedArray:
    """Returns about the entries in ascending order along an axis, as ``numpy.sort``.

    Batcher's bitonic network: k(k + 1)/2 comparisons follow one another for a length of 2^k, so
    that automatic parameters hold a length of about 4.

    Args:
        x: An array of real numbers.
        axis: The axis.
        margin: As of ``amax``, for each comparison.
        precision: Bits of precision of each comparison.

    Raises:
        ProgramError: When there is no such axis, or x has no range of real numbers; in BFV.
    """
    source = caller()
    chosen = _axis(x, axis, "sort(x, axis)", source)
    length, bits = x.shape[chosen], (x.shape[chosen] - 1).bit_length()
    low, high = _real_range(x, source)
    width = max(high - low, 1e-9)
    least = width * _SHARE if margin is None else margin
    slack = max(least / 2, width * 2.0**-precision)
    if length < 1 << bits:
        above = (*x.shape[:chosen], (1 << bits) - length, *x.shape[chosen + 1 :])
        x = concatenate([x, np.full(above, high)], chosen)
    index = np.arange(1 << bits)
    at = (slice(None),) * chosen
    for block in range(1, bits + 1):
        for step in reversed(range(block)):
            low, high = low - slack, high + slack
            partner = x[(*at, index ^ 1 << step)]
            upward = index >> block & 1 == index >> step & 1  # this one takes the smaller entry
            shape = [1] * x.ndim
            shape[chosen] = index.size
            direction = np.where(upward, -1, 1).reshape(shape)
            wins = compare(x, partner, span=high - low, margin=least, precision=precision)
            x = (x + partner) / 2 + (x - partner) * direction * (wins - 0.5)
            x = bounded(x, (low, high))
    return x[(*at, slice(length))]
