"""The tables that the host writes for each prime of an RPAU: modulus words and twiddle tables.

``docs/reference/rpau.md``, "Memory", describes them. They are derived from the pair (prime, root)
and the design.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.backends.rpau.design import folded
from ringsmith.backends.rpau.design.design import RpauDesign, load_design, named_designs
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
    """The host-written tables of one modulus bank of one RPAU, without constants.

    Attributes:
        modulus: The words q, mu, k, index.
        twiddles: Twiddle tables by the name of their address space.
    """

    modulus: Words
    twiddles: Mapping[str, Words]

    def loads(self) -> Iterator[tuple[str, Words]]:
        """Every table with the name of its address space; the index is the modulus bank."""
        yield "MODULUS", self.modulus
        yield from self.twiddles.items()


def prime_tables(
    prime: int, root: int, design: RpauDesign, log_degree: int | None = None, rpau: int = 0
) -> PrimeTables:
    """All tables for one prime and its root.

    Args:
        prime: An NTT prime, 1 modulo twice the ring's degree.
        root: A primitive root of unity modulo ``prime`` of twice the ring's degree as order.
        design: The accelerator.
        log_degree: log2 of the ring's degree; None for the design's N, as in all functions below.
        rpau: The RPAU, as in :func:`modulus_words`: its words may be narrow ones.

    Raises:
        ParameterError: As :func:`modulus_words` and :func:`twiddle_tables` do.
    """
    modulus = modulus_words(prime, design, log_degree, rpau)
    if design.twiddles == "stored":
        return PrimeTables(modulus, {"TWIDDLE": stored_twiddles(prime, root, design, log_degree)})
    low, high = twiddle_tables(prime, root, design, log_degree)
    return PrimeTables(modulus, {"TWIDDLE_LO": low, "TWIDDLE_HI": high})


def modulus_words(
    prime: int, design: RpauDesign, log_degree: int | None = None, rpau: int = 0
) -> Words:
    """The words q, mu, k, index of a modulus, as an RPAU takes them.

    k is the bits of q. With Barrett reduction mu = floor(2^(W+k) / q) - 2^W, W the width of a word,
    and the index is 0; with sparse reduction mu is 0 and the index that of q in the family; with
    folded reduction mu is what :func:`ringsmith.backends.rpau.design.folded.words` makes, and the
    index 0.

    Raises:
        ParameterError: If the design does not take the prime: it is wider than a word, narrower
            than half a word (the Barrett multiplier's normalizing shift ends there), not of the
            design's family, or not 1 modulo twice the ring's degree.
    """
    bits, width = prime.bit_length(), design.bits_of(rpau)
    if problem := prime_error(prime, design, log_degree, width):
        raise ParameterError(problem)
    if design.reduction == "sparse":
        return np.array([prime, 0, bits, design.sparse_primes[prime]], dtype=np.uint64)
    if design.reduction == "folded":
        return np.array([prime, *folded.words(prime, width), 0], dtype=np.uint64)
    mu = (1 << (width + bits)) // prime - (1 << width)
    return np.array([prime, mu, bits, 0], dtype=np.uint64)


def prime_error(
    prime: int, design: RpauDesign, log_degree: int | None = None, width: int | None = None
) -> str:
    """Returns why the design does not support the prime in a ring; empty if it does.

    Args:
        prime: The prime.
        design: The accelerator.
        log_degree: log2 of the ring's degree.
        width: Bits of a word in the RPAU that is to hold it; None: in any RPAU.
    """
    if width is None:
        problems = [prime_error(prime, design, log_degree, each) for each in design.widths]
        return "" if "" in problems else problems[0]
    degree, bits = _degree(design, log_degree), prime.bit_length()
    lowest = (width + 1) // 2
    if design.reduction == "sparse" and prime not in design.sparse_primes:
        return (
            f"prime {prime} is not among the {len(design.sparse_primes)} primes of family "
            f"{design.family} that design {design.name} is elaborated for: choose one of them, or "
            f"{_hint(prime, design)}"
        )
    if prime < 2 or not lowest <= bits <= width:
        return (
            f"prime {prime} has {bits} bits and design {design.name} takes primes of {lowest} to "
            f"{width} bits: choose another prime or a design with another word_bits"
        )
    if design.reduction == "folded" and not folded.fits(prime, width):
        return (
            f"{folded.fold_error(prime, width)}, and design {design.name} reduces in folds: choose "
            f"a prime nearer to a power of two, or {_hint(prime, design)}"
        )
    if prime % (2 * degree) != 1:
        return (
            f"prime {prime} is {prime % (2 * degree)} modulo 2N = {2 * degree}, and design "
            f"{design.name} needs 1: choose a prime for ring degree {degree}"
        )
    return ""


def _hint(prime: int, design: RpauDesign) -> str:
    """A design of the same ring degree that takes the prime, in words."""
    for name in named_designs():
        other = load_design(name)
        if other.reduction == "sparse" and prime not in other.sparse_primes:
            continue  # its validation error would need another hint
        if other.reduction == "folded" and not folded.fits(prime, other.word_bits):
            continue
        if other.log_n == design.log_n and not prime_error(prime, other):
            return f"design {name}, which takes it"
    return (
        f"a design with reduction = 'barrett', log_n = {design.log_n} and word_bits of at least "
        f"{prime.bit_length()}"
    )


def twiddle_tables(
    prime: int, root: int, design: RpauDesign, log_degree: int | None = None
) -> tuple[Words, Words]:
    """The low table psi^e and the high table psi^(e * 2^lo) for psi = ``root``.

    Their products are psi^e for all 0 <= e < N: a design with ``twiddles = "generated"``. Exponents
    have as many bits as those of the largest ring; a smaller one's stand at their upper end, where
    the bit-reversed numbers of its blocks do: then word i of a table is that of i >> missing bits.

    Raises:
        ParameterError: If the root is no primitive root of unity of the ring modulo the prime.
    """
    degree = _degree(design, log_degree)
    _check_root(prime, root, degree)
    lo_bits, missing = design.twiddle_lo_bits, design.max_log_n - degree.bit_length() + 1
    powers = _powers(root, degree, prime)
    low = np.arange(1 << lo_bits) >> missing
    high = np.arange(design.twiddle_hi_words) << lo_bits >> missing
    return powers[low], powers[high]


def stored_twiddles(
    prime: int, root: int, design: RpauDesign, log_degree: int | None = None
) -> Words:
    """The N words psi^brev(j) for psi = ``root``: a design with ``twiddles = "stored"``.

    Word m + b is the factor of block b in the stage of m blocks.

    Raises:
        ParameterError: If the root is not a primitive 2N-th root of unity modulo the prime.
    """
    degree = _degree(design, log_degree)
    _check_root(prime, root, degree)
    bits = degree.bit_length() - 1
    order = [_bits_reversed(word, bits) for word in range(degree)]
    return _powers(root, degree, prime)[order]


@dataclass(frozen=True)
class SubPolyFactors:
    """Constants of one pair of sub-polynomials in ``split`` and in ``join``, for a prime.

    Attributes:
        first: The pair's first sub-polynomial, operand ``dst``.
        second: Its second sub-polynomial, operand ``b``.
        split: The factor that ``split`` takes.
        join: The one that ``join`` takes: minus the inverse of ``split``'s.
    """

    first: int
    second: int
    split: int
    join: int


def sub_poly_stages(
    prime: int, root: int, design: RpauDesign, log_degree: int
) -> list[list[SubPolyFactors]]:
    """Stages of a larger ring's transform that work between sub-polynomials, for psi = ``root``.

    A forward transform splits every pair of the first stage, then every pair of the next, and then
    transforms each sub-polynomial. The inverse transforms each sub-polynomial back, and then joins
    the pairs of the last stage, and so on to the first. Block b of the stage of m blocks has the
    factor psi^brev(m + b), as in every stage of the transform.

    Raises:
        ParameterError: If the root is no primitive root of unity of the ring modulo the prime, or
            the design does not run the ring.
    """
    sub_polys = design.sub_polys(log_degree)
    _check_root(prime, root, 1 << log_degree)
    stages = []
    blocks = 1
    while blocks < sub_polys:
        distance = sub_polys // (2 * blocks)
        stage = []
        for block in range(blocks):
            exponent = _bits_reversed(blocks + block, log_degree)
            factors = pow(root, exponent, prime), -pow(root, -exponent, prime) % prime
            for first in range(2 * block * distance, (2 * block + 1) * distance):
                stage.append(SubPolyFactors(first, first + distance, *factors))
        stages.append(stage)
        blocks *= 2
    return stages


def source_sub_poly(design: RpauDesign, log_degree: int, element: int, sub_poly: int) -> int:
    """The sub-polynomial that ``automorph`` must read for one of its result, in NTT form.

    Raises:
        ParameterError: If the design does not run the ring.
    """
    sub_polys = design.sub_polys(log_degree)
    bits = sub_polys.bit_length() - 1
    ordinal = (element * _bits_reversed(sub_poly, bits) + element // 2) % sub_polys
    return _bits_reversed(ordinal, bits)


def _bits_reversed(number: int, bits: int) -> int:
    return int(f"{number:0{bits}b}"[::-1], 2)


def _degree(design: RpauDesign, log_degree: int | None) -> int:
    return design.n if log_degree is None else 1 << log_degree


def _check_root(prime: int, root: int, degree: int) -> None:
    if not 0 < root < prime or pow(root, degree, prime) != prime - 1:
        raise ParameterError(
            f"root {root} is no primitive root of unity of order 2N = {2 * degree} modulo "
            f"{prime}: root^N must be -1"
        )


def _powers(base: int, count: int, prime: int) -> Words:
    powers = [1]
    for _ in range(count - 1):
        powers.append(powers[-1] * base % prime)
    return np.array(powers, dtype=np.uint64)
