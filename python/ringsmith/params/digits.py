"""Digits of key switching: groups of consecutive data primes."""

import math
from collections.abc import Sequence

DIGIT_MARGIN_BITS = 6
"""Bits by which special primes outweigh a digit: its error is then below that of the division."""


def equal_digits(limbs: int, dnum: int) -> tuple[int, ...]:
    """Returns digits of ceil(limbs / dnum) primes, the last of those that are left."""
    size = -(-limbs // dnum)
    return tuple(min(size, limbs - start) for start in range(0, limbs, size))


def digits_below(primes: Sequence[int], special_primes: Sequence[int]) -> tuple[int, ...]:
    """Returns digits of as many consecutive primes as the special primes outweigh.

    They do so by ``DIGIT_MARGIN_BITS``. No other such digits are fewer, at any number of limbs.

    Args:
        primes: Data primes, from q_0.
        special_primes: Special primes. A data prime that outweighs them is a digit of its own.

    Returns:
        How many primes each digit has: ``digit_sizes``.
    """
    most = math.prod(special_primes) >> DIGIT_MARGIN_BITS
    sizes: list[int] = []
    together = 0
    for prime in primes:
        if not sizes or together * prime > most:
            sizes.append(0)
            together = 1
        sizes[-1] += 1
        together *= prime
    return tuple(sizes)


def key_switching_transforms(limbs: int, digits: int, special: int) -> int:
    """NTTs of one limb that a key switching takes.

    The operand's limbs are transformed back. Each digit is extended to the other limbs and the
    special primes, and these are transformed; both sums are divided by the special primes.
    """
    back, extended = limbs, digits * (limbs + special) - limbs
    return back + extended + 2 * (special + limbs)
