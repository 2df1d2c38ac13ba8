"""The sparse primes that RTL is elaborated for: ``rtl/arith/rs_sparse_pkg.sv`` in Python's numbers.

A design with reduction ``sparse`` names one family. Every prime is 2^k plus at most three signed
powers of two plus 1, and 1 modulo 2^17, so that it serves rings up to N = 2^16; the order within a
family is the RTL's index, which the host writes to an RPAU with its modulus.
"""

from collections.abc import Mapping
from types import MappingProxyType


def _prime(exponent: int, *powers: int) -> int:
    """2^exponent + 1 and +-2^|p| for each p of ``powers``."""
    terms = ((1 << p) if p > 0 else -(1 << -p) for p in powers)
    return (1 << exponent) + sum(terms) + 1


FAMILIES: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "medha": (
            _prime(59, 25, 22, -20),
            _prime(53, 21, -20, -17),
            _prime(53, 21, -19, -18),
            _prime(53, 22, -20, -19),
            _prime(53, 23, -21, 18),
            _prime(53, 24, -23, -18),
            _prime(53, 23, 18, -17),
            _prime(53, 24, 20, -18),
            _prime(53, 24, 21, -19),
            _prime(53, 25, -22, -21),
        ),
        "word48": (
            _prime(47, 17),
            _prime(47, 21, 19),
            _prime(47, 22, 20, 17),
            _prime(47, 24, -19),
            _prime(47, 24, 21, -19),
            _prime(47, 24, 22, 17),
            _prime(47, 24, 22, 19),
            _prime(47, 25, -23, -18),
            _prime(47, 25, -23, 18),
            _prime(47, 25, -22, 20),
        ),
    }
)
"""Primes by family. ``medha``: one of 60 bits (Mert et al. 2022) and nine of 54; ``word48``: ten of
48 bits."""


def fits(prime: int, width: int) -> bool:
    """Whether the sparse multiplier of a word width can reduce modulo a prime of a family.

    The condition of ``rs_arith_pkg::sparse_fits``, proved in ``docs/reference/arithmetic.md``.
    """
    k = prime.bit_length() - 1
    tail = (prime - (1 << k)).bit_length()
    cut = width + 1 + tail - k
    total = max(k, cut + tail) + 2
    return not prime >> width and cut < k and total + tail <= 2 * k + 1 and total <= 63
