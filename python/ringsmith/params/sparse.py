"""Sparse primes: q = 2^k + (a few signed powers of two) + 1, whose reduction is shifts and adds.

The family that hardware elaborates (``rtl/arith/rs_sparse_pkg.sv``, reduction ``sparse``):
20 <= k <= 60, at most three terms +-2^s with low <= s <= high < k - 1, so that q = 1 mod 2^low and
2^k = -(q - 2^k) mod q folds a product with few additions (``docs/reference/arithmetic.md``).
Medha's 60-bit prime is 2^59 + 2^25 + 2^22 - 2^20 + 1 (Mert et al. 2022, section 4 and appendix A).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product

from ringsmith import _core
from ringsmith.errors import ParameterError

MAX_TERMS = 3
"""Signed powers between 2^k and 1 that the hardware's reduction has adders for."""
MAX_SHIFT = 27
"""Largest exponent of such a power in hardware (``rs_arith_pkg::SparseShifts`` - 1)."""
MIN_EXPONENT, MAX_EXPONENT = 20, 60


@dataclass(frozen=True)
class SparsePrime:
    """One prime of the family.

    Attributes:
        exponent: k; the prime has k + 1 bits when it is above 2^k.
        terms: (sign, shift) pairs, sign 1 or -1, largest shift first.
    """

    exponent: int
    terms: tuple[tuple[int, int], ...]

    @property
    def value(self) -> int:
        """The prime itself."""
        return (1 << self.exponent) + sum(sign << shift for sign, shift in self.terms) + 1

    def __str__(self) -> str:
        middle = "".join(f" {'+' if sign > 0 else '-'} 2^{shift}" for sign, shift in self.terms)
        return f"2^{self.exponent}{middle} + 1"


def sparse_primes(
    bits: int, count: int, *, low: int = 17, high: int = 25, terms: int = MAX_TERMS
) -> tuple[SparsePrime, ...]:
    """Returns the ``count`` smallest sparse primes of ``bits`` bits, ascending.

    All lie above 2^(bits - 1) and are 1 mod 2^low. For a ring of degree N, low >= log2(2N); Medha
    splits its ring, and so wants 4N = 2^16 at N = 2^14; 17 serves all rings up to N = 2^16.

    Args:
        bits: Bits of each prime, 21 … 61.
        count: How many, from 1.
        low: Smallest exponent of a term, from 1.
        high: Largest exponent of a term, below ``bits`` - 2 and at most 27.
        terms: Most terms, 1 … 3; a prime is written with as few as it takes.

    Raises:
        ParameterError: When an argument is outside its range, or there are fewer primes.
    """
    if not MIN_EXPONENT < bits <= MAX_EXPONENT + 1:
        raise ParameterError(
            f"sparse primes of {bits} bits: choose {MIN_EXPONENT + 1} … {MAX_EXPONENT + 1} bits"
        )
    if not 1 <= terms <= MAX_TERMS:
        raise ParameterError(f"{terms} terms: the family has 1 … {MAX_TERMS}")
    if not 1 <= low <= high <= min(MAX_SHIFT, bits - 3):
        raise ParameterError(
            f"terms from 2^{low} to 2^{high}: choose 1 <= low <= high <= {min(MAX_SHIFT, bits - 3)}"
        )
    if count < 1:
        raise ParameterError(f"{count} primes: ask for at least 1")
    found = _family(bits - 1, low, high, terms)
    if len(found) < count:
        raise ParameterError(
            f"only {len(found)} sparse primes of {bits} bits have at most {terms} terms from "
            f"2^{low} to 2^{high}, {count} were asked for: lower low, raise high or take more terms"
        )
    return found[:count]


@lru_cache(maxsize=16)
def _family(exponent: int, low: int, high: int, terms: int) -> tuple[SparsePrime, ...]:
    """All primes of a family above 2^exponent, ascending, each in its shortest form."""
    by_value: dict[int, SparsePrime] = {}
    for candidate in _candidates(exponent, low, high, terms):
        by_value.setdefault(candidate.value, candidate)
    above = sorted(value for value in by_value if value > 1 << exponent)
    return tuple(by_value[value] for value in above if _core.is_prime(value))


def _candidates(exponent: int, low: int, high: int, terms: int) -> Iterator[SparsePrime]:
    """Every form of the family, those of few terms first."""
    for count in range(1, terms + 1):
        for shifts in combinations(range(high, low - 1, -1), count):
            for signs in product((1, -1), repeat=count):
                yield SparsePrime(exponent, tuple(zip(signs, shifts, strict=True)))
