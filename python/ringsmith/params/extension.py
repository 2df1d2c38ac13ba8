"""The extension primes in which, besides q, BFV products are computed before they are scaled back.

``behz`` (Bajard, Eynard, Hasan, Zucca 2016, as Microsoft SEAL has it): 61-bit primes that follow
from N, t and q. ``hps`` (Halevi, Polyakov, Shoup 2019, as HEAWS has it): any primes whose product
holds a scaled product.

The core decides both by itself as well, at every level, and refuses what does not do;
``tests/schemes/test_operations_bfv.py`` holds these functions to its answers.
"""

import math
from collections.abc import Sequence

from ringsmith import _core
from ringsmith.errors import ParameterError

BEHZ_PRIME_BITS = 61
"""Bits of BEHZ's primes: SEAL_INTERNAL_MOD_BIT_COUNT."""
_REDUCTION_BITS = 32
"""log2 of the modulus m~ that BEHZ corrects its base conversion with."""


def behz_count(primes: Sequence[int], plain_modulus: int) -> int:
    """Returns how many primes BEHZ needs in addition to ``primes``: m_sk and the base B.

    B has as many primes as q, and one more where 32 + bits(t) + bits(q) reaches 61 * (L + 1):
    SEAL's ``RNSTool::initialize``.
    """
    limbs = len(primes)
    bits = _REDUCTION_BITS + plain_modulus.bit_length() + math.prod(primes).bit_length()
    return limbs + 1 + (bits >= BEHZ_PRIME_BITS * (limbs + 1))


def behz_primes(n: int, primes: Sequence[int], plain_modulus: int) -> tuple[int, ...]:
    """Returns m_sk, then the base B, for the data primes ``primes``.

    The largest 61-bit primes that are 1 mod 2N, descending: m_sk is the first; the second is gamma,
    which decryption uses, and is not among those returned; the rest are B.
    """
    m_sk, _, *base = _core.prime_search(BEHZ_PRIME_BITS, n, behz_count(primes, plain_modulus) + 1)
    return m_sk, *base


def hps_bound(n: int, primes: Sequence[int], plain_modulus: int) -> int:
    """Returns what the product of HPS's primes must at least be: 2 * t * N * q.

    Lifted residues are at most q/2 in magnitude (and a little more by the fixed-point reciprocals),
    so that a coefficient of a tensor product, of at most two products of polynomials, stays within
    N * q^2 / 2 and scaled by t/q within t * N * q / 2. Its sign can be determined if the product
    of the primes exceeds twice that; the other half is a margin for rounding.
    """
    return 2 * plain_modulus * n * math.prod(primes)


def hps_primes(
    n: int, primes: Sequence[int], special: Sequence[int], plain_modulus: int
) -> tuple[int, ...]:
    """Returns the fewest primes, as wide as the widest of ``primes``, that reach the bound.

    The largest of that width, descending, that are neither data nor special primes.

    Raises:
        ParameterError: When there are too few of that width; says that wider ones can be given.
    """
    bound = hps_bound(n, primes, plain_modulus)
    bits = max(q.bit_length() for q in primes)
    taken = {q for q in (*primes, *special) if q.bit_length() == bits}
    fewest, most = (-(-(bound.bit_length() - 1) // width) for width in (bits, bits - 1))
    for count in range(fewest, most + 2):
        try:
            searched = _core.prime_search(bits, n, count + len(taken))
        except ParameterError as error:
            raise ParameterError(
                f"extension primes, {count} or more, and q's, for multiplication 'hps': {error}; "
                "give extension_primes, which may be wider than q's"
            ) from None
        found = tuple(q for q in searched if q not in taken)[:count]
        if math.prod(found) >= bound:
            return found
    raise AssertionError("most + 1 primes of more than bits - 1 bits reach the bound")


def hps_count(extension: Sequence[int], bound: int) -> int:
    """Returns how many of the primes, from the first, have a product of at least ``bound``.

    Raises:
        ParameterError: When all of them together have not.
    """
    product = 1
    for count, prime in enumerate(extension, start=1):
        product *= prime
        if product >= bound:
            return count
    raise ParameterError(
        f"the {len(extension)} extension primes have a product of {product.bit_length()} bits, and "
        f"hps products need one of {bound.bit_length()} bits, 2 * t * N * q: add primes, or name "
        "none and they are searched for"
    )
