"""BFV parameters as far as they are here: ring and primes. No BFV operation computes with them yet.

They let designs and schedules that only know a ring and its primes be sized for a BFV accelerator.
"""

import math
from dataclasses import dataclass

from ringsmith import _core
from ringsmith.errors import ParameterError
from ringsmith.params.ckks import checked_ring


@dataclass(frozen=True)
class BfvParameters:
    """Ring and primes of a BFV set: what HEAWS lifts to, and scales back from.

    Attributes:
        n: Ring degree N, a power of two in 2^10 … 2^16.
        primes: Primes of the ciphertext modulus q, distinct, each 1 mod 2N.
        extension_primes: Further primes that with those of q make the larger modulus Q of products.
        error_deviation: Standard deviation of the error distribution.
        declared_security: The level in bits that the set's authors state.
        name: What reports call the set.
        scheme: Always ``bfv``.
    """

    n: int
    primes: tuple[int, ...]
    extension_primes: tuple[int, ...]
    error_deviation: float
    declared_security: int
    name: str
    scheme: str = "bfv"

    def __post_init__(self) -> None:
        if self.scheme != "bfv":
            raise ParameterError(f"scheme {self.scheme!r} is not bfv: CkksParameters holds CKKS")
        if not self.primes:
            raise ParameterError("0 primes: a ciphertext modulus has at least 1")
        checked_ring(self.n, self.primes + self.extension_primes)

    @property
    def log_q(self) -> int:
        """Bit length of the ciphertext modulus q."""
        return math.prod(self.primes).bit_length()

    @property
    def log_extended(self) -> int:
        """Bit length of the larger modulus Q."""
        return math.prod(self.primes + self.extension_primes).bit_length()


def heaws() -> BfvParameters:
    """HEAWS's ring and primes: q of six 30-bit primes, Q of thirteen; at least 80-bit security.

    The paper prints no primes: these are the largest of 30 bits, descending. Turan, Roy,
    Verbauwhede 2020, "HEAWS: an accelerator for homomorphic encryption on the Amazon AWS FPGA",
    section 2.4.
    """
    found = tuple(_core.prime_search(30, 4096, 13))
    return BfvParameters(4096, found[:6], found[6:], 102.0, 80, "heaws")
