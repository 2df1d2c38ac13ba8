"""The sign as a composition of minimax polynomials, of the least depth.

Lee, Lee, No, Kim 2021, "Minimax approximation of sign function by composite polynomial for
homomorphic comparison" (eprint 2020/834). The first polynomial is the best odd approximation of 1
on [margin, 1]. Its values there lie in an interval around 1, on which the next one is the best, and
so on. Only the ratio of the interval's ends counts, since a polynomial's coefficients also scale
its result: every component but the last maps [-1, 1] to [-1, 1].
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.caching import cached
from ringsmith.program.bases import CHEBYSHEV
from ringsmith.program.minimax import Reals, Terms, evaluated, minimax
from ringsmith.program.splits import Cost, best_split, products

_DEGREES = range(3, 32, 2)
"""Higher degrees take more products than compositions of as many levels."""
MARGINS = (2.0**-20, 0.9)
"""The least and the greatest margin."""
_CLOSE = 1e-3
"""Relative accuracy of the least value on an interval."""
_SAMPLES = 1 << 13


@dataclass(frozen=True, eq=False)
class Composite:
    """Odd polynomials whose composition is about the sign.

    Attributes:
        components: Their Chebyshev coefficients, the first one applied first, shape (degree + 1,).
        cost: What they take together.
        error: The largest distance from 1 of the results for numbers in [margin, 1].
    """

    components: tuple[Reals, ...]
    cost: Cost
    error: float

    @property
    def degrees(self) -> tuple[int, ...]:
        """The degrees, the first one applied first."""
        return tuple(c.size - 1 for c in self.components)

    def values(self, points: Reals) -> Reals:
        """Returns the composition at points in [-1, 1]."""
        for coefficients in self.components:
            points = evaluated(coefficients, points)
        return points


@cached
def composite(
    margin: float, error: float, first: int = _DEGREES[-1], most: int | None = None
) -> Composite | None:
    """Returns the composition with the fewest levels, and of those with the fewest products.

    Args:
        margin: Least magnitude of numbers whose sign counts, 2^-20 … 0.9.
        error: The largest distance from 1 of the results, from 2^-30.
        first: The highest degree of the first component; at least 7.
        most: Levels that it may take; then None is returned where it takes more.
    """
    enough = (1 - error) / (1 + error)
    start = _Path((), 0, margin)
    best = [start]  # by levels: that of the largest ratio
    while not best[-1].degrees or best[-1].ratio < enough:
        if len(best) - 1 == most:
            return None
        before = {levels: [path] for levels, path in enumerate(best)}
        longest = _paths(before, len(best), first, best[-1].ratio, only_highest=True)
        best.append(max([*longest, best[-1]], key=lambda path: path.ratio))
    reached = {0: [start]}
    for levels in range(1, len(best)):
        # What does not exceed the best of a level less is a level short in the end, too.
        least = best[levels - 1].ratio if levels < len(best) - 1 else enough
        reached[levels] = _fewest(list(_paths(reached, levels, first, least)))
    return _composed(reached[len(best) - 1][0], margin, len(best) - 1)


@dataclass(frozen=True)
class _Path:
    """The first components of a composition.

    Attributes:
        degrees: Their degrees.
        products: Their products.
        ratio: Least value on [margin, 1] divided by the largest.
    """

    degrees: tuple[int, ...]
    products: int
    ratio: float

    def longer(self, degree: int, products: int) -> "_Path":
        """Returns it with one component more."""
        ratio = _component(degree, self.ratio)[1]
        return _Path((*self.degrees, degree), self.products + products, ratio)


def _paths(
    reached: dict[int, list[_Path]],
    levels: int,
    first: int,
    least: float,
    *,
    only_highest: bool = False,
) -> Iterator[_Path]:
    """Yields compositions with at least a ratio, made of those of fewer levels.

    A higher degree has a greater ratio, and takes no fewer products.
    """
    for last, degrees in _costs().items():
        for path in reached.get(levels - last, ()):
            for degree, cost in degrees:
                if not path.degrees and degree > first:
                    continue
                longer = path.longer(degree, cost)
                if longer.ratio < least:
                    break
                yield longer
                if only_highest:
                    break


def _fewest(paths: list[_Path]) -> list[_Path]:
    """Returns those that no other one with as few products exceeds, by products."""
    kept: list[_Path] = []
    for path in sorted(paths, key=lambda path: (path.products, -path.ratio)):
        if not kept or path.ratio > kept[-1].ratio:
            kept.append(path)
    return kept


@cached
def _costs() -> dict[int, list[tuple[int, int]]]:
    """Degrees of odd polynomials, from the highest, and their products, by levels.

    Of the degrees with as many levels and products, only the highest is worth it.
    """
    found: dict[int, list[tuple[int, int]]] = {}
    for degree in reversed(_DEGREES):
        c = np.zeros(degree + 1)
        c[1::2] = np.linspace(0.3, 0.7, degree // 2 + 1)  # no products with 1
        count = products(best_split(c, CHEBYSHEV), CHEBYSHEV)
        known = found.setdefault(degree.bit_length(), [])
        if not known or count < known[-1][1]:
            known.append((degree, count))
    return found


@cached
def _component(degree: int, ratio: float) -> tuple[Reals, float]:
    """Returns the best approximation of 1 on [ratio, 1], with values up to 1, and its ratio."""
    c, error = minimax(np.ones_like, Terms(degree, 1, 2, ratio), close=_CLOSE * min(ratio, 0.1))
    return c / (1 + error), (1 - error) / (1 + error)


def _composed(path: _Path, margin: float, levels: int) -> Composite:
    components = []
    ratio = margin
    for degree in path.degrees:
        c, ratio = _component(degree, ratio)
        components.append(c)
    components[-1] = components[-1] * (2 / (1 + ratio))  # its values lie around 1, not below it
    for c in components:
        c.setflags(write=False)
    made = Composite(tuple(components), Cost(levels, path.products), 0.0)
    points: NDArray[np.float64] = np.geomspace(margin, 1.0, _SAMPLES)
    error = float(np.abs(made.values(points) - 1).max())
    return Composite(made.components, made.cost, error)
