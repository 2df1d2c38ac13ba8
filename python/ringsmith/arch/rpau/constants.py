"""What an RPAU is told about each of its primes: the modulus words and the twiddle tables.

``docs/architecture.md``, "Memory", says what they are. All is derived from the pair (prime, root)
and the design.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.arch.rpau.cost import first_twiddle_steps
from ringsmith.arch.rpau.design import RpauDesign, load_design, named_designs
from ringsmith.errors import ParameterError

Words = NDArray[np.uint64]

MODULUS_WORDS = 4
"""Words that describe a modulus: q, mu, k, index."""


SEED_WORDS = 5
"""Words of an entry of the seed store: four of the seed, and the limb."""

SEED_WORD_BITS = 20
"""Bits of a word of the seed store: four make the seed's 80."""


def seed_words(seed: bytes, limb: int) -> Words:
    """An entry of the seed store: a seed's 80 bits, lowest first, then the limb's number.

    Args:
        seed: Ten bytes, as :func:`ringsmith._core.expand_key_half` takes them.
        limb: Limb that the RPAU expands, counting the key's K primes.

    Raises:
        ParameterError: If the seed has another length or the limb does not fit 16 bits.
    """
    if len(seed) * 8 != 4 * SEED_WORD_BITS or not 0 <= limb < 1 << 16:
        raise ParameterError(
            f"a seed of {len(seed)} bytes for limb {limb}: it must have 10, and the limb must be "
            "in 0 … 65535"
        )
    number = int.from_bytes(seed, "little")
    mask = (1 << SEED_WORD_BITS) - 1
    return np.array(
        [*(number >> SEED_WORD_BITS * i & mask for i in range(4)), limb], dtype=np.uint64
    )


@dataclass(frozen=True)
class PrimeTables:
    """The host-written tables of one prime set of one RPAU, constants apart.

    Attributes:
        modulus: The words q, mu, k, index.
        twiddles: Twiddle tables by the name of their zone.
    """

    modulus: Words
    twiddles: Mapping[str, Words]

    def loads(self) -> Iterator[tuple[str, Words]]:
        """Every table with the name of the zone that it is written to; the index is the set."""
        yield "MODULUS", self.modulus
        yield from self.twiddles.items()


def prime_tables(prime: int, root: int, design: RpauDesign) -> PrimeTables:
    """All tables for one prime and its root.

    Args:
        prime: An NTT prime, q = 1 mod 2N.
        root: A primitive 2N-th root of unity modulo ``prime``.
        design: The accelerator.

    Raises:
        ParameterError: As :func:`modulus_words` and :func:`twiddle_tables` do.
    """
    modulus = modulus_words(prime, design)
    if design.twiddles == "stored":
        return PrimeTables(modulus, {"TWIDDLE": stored_twiddles(prime, root, design)})
    low, high = twiddle_tables(prime, root, design)
    first = first_twiddles(prime, root, design)
    return PrimeTables(modulus, {"TWIDDLE_LO": low, "TWIDDLE_HI": high, "TWIDDLE": first})


def modulus_words(prime: int, design: RpauDesign) -> Words:
    """The words q, mu, k, index of a modulus.

    k is the bits of q. With Barrett reduction mu = floor(2^(W+k) / q) - 2^W, W the width of a word,
    and the index is 0; with sparse reduction mu is 0 and the index that of q in the family.

    Raises:
        ParameterError: If the design does not take the prime: it is wider than a word, narrower
            than half a word (the Barrett multiplier's normalizing shift ends there), not of the
            design's family, or not 1 modulo 2N.
    """
    refusal = prime_refusal(prime, design)
    if refusal:
        raise ParameterError(refusal)
    bits, width = prime.bit_length(), design.word_bits
    if design.reduction == "sparse":
        return np.array([prime, 0, bits, design.sparse_primes[prime]], dtype=np.uint64)
    mu = (1 << (width + bits)) // prime - (1 << width)
    return np.array([prime, mu, bits, 0], dtype=np.uint64)


def prime_refusal(prime: int, design: RpauDesign) -> str:
    """Returns why the design does not take the prime; nothing where it does."""
    bits, width = prime.bit_length(), design.word_bits
    lowest = (width + 1) // 2
    if design.reduction == "sparse" and prime not in design.sparse_primes:
        return (
            f"prime {prime} is none of the {len(design.sparse_primes)} primes of family "
            f"{design.family} that design {design.name} is elaborated for: choose one of them, or "
            f"{_way_out(prime, design)}"
        )
    if prime < 2 or not lowest <= bits <= width:
        return (
            f"prime {prime} has {bits} bits and design {design.name} takes primes of {lowest} to "
            f"{width} bits: choose another prime or a design with another word_bits"
        )
    if prime % (2 * design.n) != 1:
        return (
            f"prime {prime} is {prime % (2 * design.n)} modulo 2N = {2 * design.n}, and design "
            f"{design.name} needs 1: choose a prime for ring degree {design.n}"
        )
    return ""


def _way_out(prime: int, design: RpauDesign) -> str:
    """A design of the same ring degree that takes the prime, in words."""
    for name in named_designs():
        other = load_design(name)
        if other.log_n == design.log_n and not prime_refusal(prime, other):
            return f"design {name}, which takes it"
    return (
        f"a design with reduction = 'barrett', log_n = {design.log_n} and word_bits of at least "
        f"{prime.bit_length()}"
    )


def twiddle_tables(prime: int, root: int, design: RpauDesign) -> tuple[Words, Words]:
    """The low table psi^e and the high table psi^(e * 2^lo) for psi = ``root``.

    Their products are psi^e for all 0 <= e < N: a design with ``twiddles = "generated"``.

    Raises:
        ParameterError: If the root is not a primitive 2N-th root of unity modulo the prime.
    """
    _check_root(prime, root, design)
    lo_bits = design.twiddle_lo_bits
    low = _powers(root, 1 << lo_bits, prime)
    high = _powers(pow(root, 1 << lo_bits, prime), design.n >> lo_bits, prime)
    return low, high


def whole_twiddle_words(design: RpauDesign) -> int:
    """Length of :func:`stored_twiddles` or of :func:`first_twiddles`, whichever the design has."""
    if design.twiddles == "stored":
        return design.n
    return design.cores * (1 + first_twiddle_steps(design))


def first_twiddles(prime: int, root: int, design: RpauDesign) -> Words:
    """The factors of an NTT's first steps for psi = ``root``, with ``twiddles = "generated"``.

    First psi^(N/2), once for each core: the one factor of the forward transform's first stage.
    Then, for the first blocks b of the inverse one's, ``cores`` of them in each step,
    psi^(N - brev(N/2 + b)).

    Raises:
        ParameterError: If the root is not a primitive 2N-th root of unity modulo the prime.
    """
    _check_root(prime, root, design)
    half = design.n // 2
    exponents = [half] * design.cores
    for block in range(design.cores * first_twiddle_steps(design)):
        exponents.append(design.n - int(f"{half + block:0{design.log_n}b}"[::-1], 2))
    return np.array([pow(root, e, prime) for e in exponents], dtype=np.uint64)


def stored_twiddles(prime: int, root: int, design: RpauDesign) -> Words:
    """The N words psi^brev(j) for psi = ``root``: a design with ``twiddles = "stored"``.

    Word m + b is the factor of block b in the stage of m blocks.

    Raises:
        ParameterError: If the root is not a primitive 2N-th root of unity modulo the prime.
    """
    _check_root(prime, root, design)
    order = np.zeros(1, dtype=np.int64)
    for bit in reversed(range(design.log_n)):  # brev of 0 … 2^k - 1, for k = 1, 2, …
        order = np.concatenate([order, order + (1 << bit)])
    return _powers(root, design.n, prime)[order]


def _check_root(prime: int, root: int, design: RpauDesign) -> None:
    if not 0 < root < prime or pow(root, design.n, prime) != prime - 1:
        raise ParameterError(
            f"root {root} is no primitive root of unity of order 2N = {2 * design.n} modulo "
            f"{prime}: root^N must be -1"
        )


def _powers(base: int, count: int, prime: int) -> Words:
    powers = [1]
    for _ in range(count - 1):
        powers.append(powers[-1] * base % prime)
    return np.array(powers, dtype=np.uint64)
