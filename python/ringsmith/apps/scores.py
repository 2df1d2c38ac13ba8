"""Scores of networks, whose weights alone allow more than the last modulus holds.

Images like those of training make small scores, and so are the sums that scores are made of. That
is promised of every part.
"""

from collections.abc import Iterable
from functools import reduce

from ringsmith.program import EncryptedVector, bounded


def sum_parts(parts: Iterable[EncryptedVector], limit: float) -> EncryptedVector:
    """Returns the sum of parts of scores, in their order; none exceeds a magnitude."""
    within = (bounded(part, limit) for part in parts)
    return reduce(lambda total, part: bounded(total + part, limit), within)


def sum_slots_of_parts(
    x: EncryptedVector, count: int, limit: float, step: int = 1
) -> EncryptedVector:
    """Returns the sums of ``count`` slots at a distance of ``step``, of which none exceeds a limit.

    Args:
        x: Parts of scores in all slots.
        count: A power of two.
        limit: The magnitude of parts and sums.
        step: Slots from one part to the next.
    """
    while count > 1:
        x = bounded(x + x.rotate(step), limit)
        count, step = count // 2, 2 * step
    return x
