"""Values as functions of earlier ones: on a grid, slot by slot.

A value that is computed slot by slot from one to three others is a polynomial of them, in every
slot. Its *curve* is that polynomial's values on a grid of Chebyshev points of the others' ranges.
Errors have curves, too: the derivatives by which they grow. The largest value of a polynomial of
degree d on M intervals of such a grid exceeds the largest one on its points by a factor of
1 / cos(pi * d / 2M) at most in each variable (Ehlich, Zeller 1964); ``MOST_DEGREE`` keeps all of
them together below 1.25.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ringsmith.schemes.ckks.noise import Reals

Curve = NDArray[np.inexact]
"""Shape () for a constant, else an axis for each variable, of its points or of 1."""

_INTERVALS = (0, 2048, 32, 16)
"""Intervals of the grid in each variable, by the number of variables; each divides the last."""
MOST_DEGREE = (0, 512, 8, 4)
"""Largest degree in one variable of a curve, by the number of variables."""
MOST_VARIABLES = len(_INTERVALS) - 1
_MOST_CLASSES = 8
"""Different ranges among a variable's slots; of more, similar ones are joined."""
_MOST_WINDOWS = 16
"""Different parts of a grid among all slots."""


def rolled(numbers: Reals, steps: int) -> Reals:
    """Returns numbers of slots rotated to the left; one number for all slots as it is."""
    if not numbers.ndim:
        return numbers
    steps %= numbers.size
    return np.concatenate([numbers[steps:], numbers[:steps]])


@dataclass(frozen=True, eq=False)
class Variable:
    """A real value that others are functions of.

    Attributes:
        node: The node that computes it.
        steps: Slots that it was rotated by since.
        low: Its least number: one for all slots, or shape (slots,).
        high: Its greatest number, in the same way.
    """

    node: int
    steps: int
    low: Reals
    high: Reals

    @property
    def key(self) -> tuple[int, int]:
        """What distinguishes variables."""
        return self.node, self.steps

    def rotated(self, steps: int, slots: int) -> "Variable":
        """Returns the variable after a rotation to the left."""
        low, high = (rolled(end, steps) for end in (self.low, self.high))
        return Variable(self.node, (self.steps + steps) % slots, low, high)

    def points(self, intervals: int) -> Reals:
        """Returns the Chebyshev points of the whole range, ascending."""
        low, high = float(self.low.min()), float(self.high.max())
        unit = -np.cos(np.pi * np.arange(intervals + 1) / intervals)
        unit[intervals // 2] = 0
        points: Reals = (low + high) / 2 + (high - low) / 2 * unit
        return points

    @cached_property
    def classes(self) -> tuple[NDArray[np.intp] | None, list[tuple[float, float]]]:
        """The range of each slot: an index into a few ranges; None: all have the one range."""
        if not self.low.ndim and not self.high.ndim:
            return None, [(float(self.low), float(self.high))]
        low, high = np.broadcast_arrays(self.low, self.high)
        found, labels = np.unique(low + 1j * high, return_inverse=True)
        if found.size == 1:
            return None, [(float(low[0]), float(high[0]))]
        if found.size > _MOST_CLASSES:
            order = np.argsort(np.maximum(np.abs(low), np.abs(high)), kind="stable")
            labels = np.empty(low.size, np.intp)
            labels[order] = np.arange(low.size) * _MOST_CLASSES // low.size
        count = int(labels.max()) + 1
        parts = [labels == i for i in range(count)]
        return labels, [(float(low[part].min()), float(high[part].max())) for part in parts]


@dataclass(frozen=True, eq=False)
class Axes:
    """The variables of a grid, sorted by their keys."""

    variables: tuple[Variable, ...] = ()

    @cached_property
    def keys(self) -> tuple[tuple[int, int], ...]:
        """The variables' keys."""
        return tuple(variable.key for variable in self.variables)

    @property
    def intervals(self) -> int:
        """Intervals of the grid in each variable."""
        return _INTERVALS[len(self.variables)]

    def joined(self, other: "Axes") -> "Axes | None":
        """Returns the axes of both; None: they are too many."""
        if self.keys == other.keys:
            return self
        every = {v.key: v for v in (*self.variables, *other.variables)}
        if len(every) > MOST_VARIABLES:
            return None
        if len(every) == len(self.variables):
            return self
        if len(every) == len(other.variables):
            return other
        return Axes(tuple(every[key] for key in sorted(every)))

    def coordinate(self, variable: Variable) -> Reals:
        """Returns the curve of a variable itself."""
        axis = self.keys.index(variable.key)
        shape = [1] * len(self.variables)
        shape[axis] = self.intervals + 1
        return self.variables[axis].points(self.intervals).reshape(shape)

    def expanded(self, curve: Curve, own: "Axes") -> Curve:
        """Returns a curve on fewer axes as one on these."""
        if not curve.ndim or own.keys == self.keys:
            return curve
        stride = own.intervals // self.intervals
        kept: Curve = curve[tuple(slice(None, None, stride if n > 1 else 1) for n in curve.shape)]
        shape = [1] * len(self.variables)
        for key, size in zip(own.keys, kept.shape, strict=True):
            shape[self.keys.index(key)] = size
        # Both are sorted by their keys, so that the order of the axes is the same.
        return kept.reshape(shape)

    @cached_property
    def _windows(self) -> tuple[NDArray[np.intp] | None, list[tuple[slice, ...]]]:
        """The part of the grid that each slot's ranges take: an index for each slot, and parts."""
        classes = [variable.classes for variable in self.variables]
        varied = [labels for labels, _ in classes if labels is not None]
        everything = (slice(None),) * len(self.variables)
        if not varied:
            return None, [everything]
        rows, index = np.unique(np.stack(varied), axis=1, return_inverse=True)
        if rows.shape[1] > _MOST_WINDOWS:
            return None, [everything]
        windows = []
        for row in rows.T:
            picks = iter(row)
            windows.append(
                tuple(
                    slice(None) if labels is None else self._slice(variable, *ends[next(picks)])
                    for variable, (labels, ends) in zip(self.variables, classes, strict=True)
                )
            )
        return index.reshape(-1), windows

    def _slice(self, variable: Variable, low: float, high: float) -> slice:
        """The points of a range and one before and after it."""
        points = variable.points(self.intervals)
        first = int(np.searchsorted(points, low, "right")) - 1
        last = int(np.searchsorted(points, high, "left"))
        return slice(max(first, 0), last + 1)

    def largest(self, curve: Curve) -> Reals:
        """Returns the largest number of a real curve, for all slots or for each of them."""
        if not curve.ndim:
            return np.asarray(curve, np.float64)
        labels, windows = self._windows
        shape = (self.intervals + 1,) * len(self.variables)
        whole = curve if curve.shape == shape else np.broadcast_to(curve, shape)
        found = np.array([whole[window].max() for window in windows], np.float64)
        return np.asarray(found[0]) if labels is None else found.take(labels)

    def excess(self, degree: int) -> float:
        """Returns by how much a polynomial may exceed the largest of its points on the grid.

        In units of its largest magnitude on all points. Between two points that are h apart on the
        circle it exceeds them by h^2 / 8 of its second derivative there at most, which is degree^2
        times its largest magnitude at most (Bernstein).

        Args:
            degree: Its degree in one variable. One of degree 1 is largest on a point.
        """
        if degree <= 1:
            return 0.0
        count, half = len(self.variables), math.pi * degree / (2 * self.intervals)
        return count * half**2 / 2 / math.cos(half) ** count

    def carried(self, to: Variable, numbers: Curve, curves: Sequence[Curve]) -> list[Curve]:
        """Returns magnitudes of curves of the one variable here as curves of another one.

        Where several numbers of this variable make the same number of the other, the largest
        counts. Between two points of this grid, each magnitude is taken to be the larger one's.

        Args:
            to: The other variable.
            numbers: The curve of the other variable's numbers.
            curves: Curves with an axis.
        """
        points = to.points(_INTERVALS[1])
        if points[0] == points[-1]:
            return [np.abs(curve).max() for curve in curves]
        within = np.clip(numbers, points[0], points[-1])
        ends = np.sort(np.stack([within[:-1], within[1:]]), axis=0)
        first = np.maximum(np.searchsorted(points, ends[0], "right") - 2, 0)
        last = np.minimum(np.searchsorted(points, ends[1], "left") + 1, points.size - 1)
        level = np.log2(last - first + 1).astype(np.intp)  # two blocks of 2^level points cover all
        result = []
        for curve in curves:
            sizes = np.abs(curve)
            sizes = np.maximum(sizes[:-1], sizes[1:])
            blocks = np.zeros((int(level.max()) + 1, points.size))
            np.maximum.at(blocks, (level, first), sizes)
            np.maximum.at(blocks, (level, last + 1 - (1 << level)), sizes)
            for above in range(blocks.shape[0] - 1, 0, -1):
                half = 1 << (above - 1)
                blocks[above - 1] = np.maximum(blocks[above - 1], blocks[above])
                shifted = blocks[above - 1, half:]
                np.maximum(shifted, blocks[above, :-half], out=shifted)
            result.append(blocks[0])
        return result
