"""Primes of given sizes that a design takes: SEAL's where it takes them, else the next in order."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from ringsmith.errors import ParameterError
from ringsmith.params.limits import ParameterLimits
from ringsmith.params.primes import primes_above, primes_below


@dataclass
class _Primes:
    """Primes below or above a power of two, searched as needed."""

    left: Iterator[int]
    found: list[int] = field(default_factory=list)

    def first(self, count: int) -> list[int]:
        """Returns the first ``count`` of them, or all where there are fewer."""
        self.found += islice(self.left, max(0, count - len(self.found)))
        return self.found[:count]


class DesignPrimes:
    """The primes of a ring degree that a design takes, each by itself.

    The search looks at a bounded number of candidates: ``primes.MOST_CANDIDATES`` below and above
    a power of two.

    Args:
        limits: The design's limits.
        n: Ring degree N.
    """

    def __init__(self, limits: ParameterLimits, n: int) -> None:
        self.limits = limits
        self.n = n
        self._near: dict[tuple[int, bool], _Primes] = {}

    def of_sizes(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Returns a prime of each size in bits; of one size, the smallest comes first.

        They are those of SEAL's ``CoeffModulus::Create`` if the design takes all of them.

        Raises:
            ParameterError: When the design takes too few of a size.
        """
        found = {
            bits: iter(self._sorted(self._primes(bits).first(count), count, f"of {bits} bits"))
            for bits, count in Counter(sizes).items()
        }
        return tuple(next(found[bits]) for bits in sizes)

    def near(self, bits: int, count: int) -> tuple[int, ...]:
        """Returns ``count`` primes next to 2^bits, ascending, for CKKS to rescale by.

        They are the largest of that size in bits. Where the design takes too few of those, the
        smallest above 2^bits are added.

        Raises:
            ParameterError: When the design takes too few.
        """
        below = self._primes(bits).first(count)
        above = self._primes(bits, above=True).first(count - len(below))
        return tuple(self._sorted([*below, *above], count, f"near 2^{bits}"))

    def _primes(self, bits: int, *, above: bool = False) -> _Primes:
        key = bits, above
        if key not in self._near:
            primes = (primes_above if above else primes_below)(self.n, bits)
            self._near[key] = _Primes(q for q in primes if not self.limits.prime_error(q))
        return self._near[key]

    def _sorted(self, primes: list[int], count: int, which: str) -> list[int]:
        if len(primes) < count:
            raise ParameterError(
                f"design {self.limits.design} takes too few primes {which} at N = {self.n}, "
                f"{len(primes)} of the {count} needed: another size or a smaller ring may have more"
            )
        return sorted(primes)
