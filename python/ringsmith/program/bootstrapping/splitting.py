"""How stages of a transform are multiplied to matrices, and these applied, at the least cost.

A matrix of d diagonals takes about 2 sqrt(d) rotations in baby and giant steps, and d products with
plaintexts. Costs are in rotations that share the digits of one value, at one limb.
"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ringsmith.caching import cached

_OUTER_COST = 2.0
"""Of a rotation that cuts digits of its own, in rotations that share the digits of one value."""
_PRODUCT_COST = 0.2
"""Of a product with a plaintext: two products a word, and a rotation has two for each digit."""
_MOST_TRIED = 1 << 10
"""Numbers of baby steps that are all tried; of more, the powers of two."""


def signed_steps(steps: Iterable[int], slots: int) -> tuple[int, dict[int, int]]:
    """Returns the unit of rotations, and each rotation by its signed number of units."""
    found = [*steps]
    unit = math.gcd(slots, *found)
    return unit, {(k if k <= slots // 2 else k - slots) // unit: k for k in found}


def baby_steps(steps: Sequence[int]) -> tuple[int, float]:
    """Returns the number of baby steps with the cheapest rotations, and what all of it costs.

    Args:
        steps: Signed rotations in units.
    """
    most = max(steps) - min(steps) + 1
    tried = range(most, 0, -1)
    if most > _MOST_TRIED:
        tried = range(0)
    sizes = [*tried] or [1 << k for k in range(most.bit_length(), -1, -1)]

    def cost(baby: int) -> float:
        inner = {k % baby for k in steps} - {0}
        outer = {k - k % baby for k in steps} - {0}
        return len(inner) + _OUTER_COST * len(outer)

    best = min(sizes, key=cost)
    return best, cost(best) + _PRODUCT_COST * len(steps)


@lru_cache(maxsize=64)
def best_sizes(n: int, weights: tuple[int, ...], *, inverse: bool) -> tuple[int, ...]:
    """Returns how many stages each matrix has, in the order in which they are applied.

    Args:
        n: Ring degree N.
        weights: Limbs at which each matrix is applied.
        inverse: Whether stages go from slots to coefficients: the longest comes first.
    """
    slots = n // 2
    count = slots.bit_length() - 1
    halves = [1 << i for i in range(count)]
    halves = halves[::-1] if inverse else halves

    @cached
    def cost(start: int, end: int) -> float:
        found = {0}
        for half in halves[start:end]:
            found = {(i + j) % slots for i in found for j in (0, half, -half)}
        return baby_steps([*signed_steps(found, slots)[1]])[1]

    @cached
    def best(start: int, matrix: int) -> tuple[float, tuple[int, ...]]:
        left = len(weights) - matrix
        if left == 1:
            return weights[matrix] * cost(start, count), (count - start,)
        ways = []
        for end in range(start + 1, count - left + 2):
            rest, sizes = best(end, matrix + 1)
            ways.append((weights[matrix] * cost(start, end) + rest, (end - start, *sizes)))
        return min(ways)

    return best(0, 0)[1]
