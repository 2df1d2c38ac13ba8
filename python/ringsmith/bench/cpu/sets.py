"""The parameter sets that are measured."""

from dataclasses import dataclass
from types import MappingProxyType

from ringsmith import _core


@dataclass(frozen=True)
class BenchSet:
    """One ring and its primes.

    Attributes:
        name: How records and options call it.
        n: Ring degree.
        data_bits: Bits of the data primes.
        special_bits: Bits of the special primes.
        dnum: Digits of a key; 0: one data prime a digit.
        plain_modulus: t of BFV; 0: CKKS.
        text: What it is, for people.
    """

    name: str
    n: int
    data_bits: tuple[int, ...]
    special_bits: tuple[int, ...]
    dnum: int
    plain_modulus: int
    text: str

    @property
    def special(self) -> int:
        """Number of special primes."""
        return len(self.special_bits)

    @property
    def primes(self) -> list[int]:
        """Data primes, then special primes: the largest of each width, all distinct."""
        bits = self.data_bits + self.special_bits
        found = {b: _core.prime_search(b, self.n, bits.count(b)) for b in set(bits)}
        return [found[b].pop(0) for b in bits]


SETS = MappingProxyType(
    {
        item.name: item
        for item in (
            BenchSet("A", 1 << 14, (60, *(54,) * 6), (60,), 0, 0, "Medha Set-1"),
            BenchSet("B", 1 << 15, (60, *(54,) * 8), (60,), 0, 0, "Medha Set-2"),
            BenchSet("A50", 1 << 14, (50,) * 7, (50,), 0, 0, "A with 50-bit primes"),
            BenchSet("D", 1 << 12, (30,) * 6, (30,), 0, 65537, "HEAWS, BFV, key switching as SEAL"),
            BenchSet("E", 1 << 16, (32,) * 24, (32,) * 8, 3, 0, "Framework Set-2"),
            BenchSet("F", 1 << 16, (45,) * 44, (45,), 0, 0, "Framework Set-1 of 45-bit primes"),
            BenchSet("quick", 1 << 12, (36, 30), (37,), 0, 0, "the smallest, of --quick"),
        )
    }
)
"""By name."""

COMPACT = "multiply_relinearize_compact"
"""The operation by a key expanded on the fly, compared with the precomputed key."""

WORDS = "multiply_relinearize_words"
"""The operation by a full key, compared with the precomputed key."""

PRODUCT = "multiply_relinearize_then_rescale"
"""The operation that a program plans for a product of CKKS."""

HOISTED = "rotate_8_hoisted"
"""The operation that rotates one ciphertext several times, beside as many single rotations."""

HOISTED_COUNT = 8
"""How many times."""

NTT_BITS = (30, 45, 50, 60)
"""Widths of the primes of bare transforms: one in each modulus-size kernel."""

NTT_DEGREES = tuple(1 << k for k in range(12, 17))
"""Ring degrees of bare transforms."""


@dataclass(frozen=True)
class Extent:
    """How much is measured of what is no set.

    Attributes:
        ntt_degrees: Ring degrees of bare transforms.
        kernel_works: Parameters and operations under every kernel set; empty: all there are.
        thread_sets: Sets whose operations are measured on several threads.
        thread_sizes: Sizes of the logistic regression that are.
    """

    ntt_degrees: tuple[int, ...] = NTT_DEGREES
    kernel_works: tuple[tuple[str, str], ...] = ()
    thread_sets: tuple[str, ...] = ("A", "B")
    thread_sizes: tuple[str, ...] = ("demo", "paper")


WHOLE = Extent()
QUICK = Extent(NTT_DEGREES[:1], (("D", "multiply_relinearize"),), ("quick",), ("demo",))
"""What --quick measures: each kind of work at its smallest."""
