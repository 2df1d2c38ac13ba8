"""What an RPAU is told about its prime: the modulus words and the two twiddle tables.

``docs/architecture.md``, "Memory", says what they are: psi^e for 0 <= e < N is the product of an
entry of the high table and one of the low table, and ``mu`` is the constant of the Barrett
reduction (``docs/arithmetic.md``). All is derived from the pair (prime, root) and the design.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.errors import ParameterError

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class PrimeTables:
    """The host-written tables of one RPAU.

    Attributes:
        modulus: The three words q, mu, k.
        twiddle_lo: The 2^lo words psi^e.
        twiddle_hi: The N / 2^lo words psi^(e * 2^lo).
    """

    modulus: Words
    twiddle_lo: Words
    twiddle_hi: Words


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
    return PrimeTables(modulus, *twiddle_tables(prime, root, design))


def modulus_words(prime: int, design: RpauDesign) -> Words:
    """The words q, mu = floor(2^(W+k) / q) - 2^W and k: W the width of a word, k the bits of q.

    Raises:
        ParameterError: If the prime is wider than a word, narrower than half a word (the Barrett
            multiplier's normalizing shift ends there), or is not 1 modulo 2N.
    """
    bits, width = prime.bit_length(), design.word_bits
    lowest = (width + 1) // 2
    if prime < 2 or not lowest <= bits <= width:
        raise ParameterError(
            f"prime {prime} has {bits} bits and design {design.name} takes primes of {lowest} to "
            f"{width} bits: choose another prime or a design with another word_bits"
        )
    if prime % (2 * design.n) != 1:
        raise ParameterError(
            f"prime {prime} is {prime % (2 * design.n)} modulo 2N = {2 * design.n}, and design "
            f"{design.name} needs 1: choose a prime for ring degree {design.n}"
        )
    mu = (1 << (width + bits)) // prime - (1 << width)
    return np.array([prime, mu, bits], dtype=np.uint64)


def twiddle_tables(prime: int, root: int, design: RpauDesign) -> tuple[Words, Words]:
    """The low table psi^e and the high table psi^(e * 2^lo) for psi = ``root``.

    Raises:
        ParameterError: If the root is not a primitive 2N-th root of unity modulo the prime.
    """
    if not 0 < root < prime or pow(root, design.n, prime) != prime - 1:
        raise ParameterError(
            f"root {root} is no primitive root of unity of order 2N = {2 * design.n} modulo "
            f"{prime}: root^N must be -1"
        )
    lo_bits = design.twiddle_lo_bits
    low = _powers(root, 1 << lo_bits, prime)
    high = _powers(pow(root, 1 << lo_bits, prime), design.n >> lo_bits, prime)
    return low, high


def _powers(base: int, count: int, prime: int) -> Words:
    powers = [1]
    for _ in range(count - 1):
        powers.append(powers[-1] * base % prime)
    return np.array(powers, dtype=np.uint64)
