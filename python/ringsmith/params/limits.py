"""What parameters a design takes: made by the architectures, kept by the search for parameters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ringsmith.errors import ParameterError
from ringsmith.params.bfv import MULTIPLICATIONS, RELINEARIZATIONS
from ringsmith.params.ring import RlweParameters
from ringsmith.short_repr import short_repr

_KEYS = {
    "special_prime": "with a special prime",
    "word": "in words",
    "residue": "in residue digits",
}
"""How keys are switched, in words."""


def _key_kind(parameters: RlweParameters) -> str:
    """How keys of a set are switched: one of BFV's ``RELINEARIZATIONS``."""
    if parameters.word_bits:
        return "word"
    return "residue" if parameters.residue_digits else "special_prime"


@short_repr
@dataclass(frozen=True, kw_only=True)
class ParameterLimits:
    """Parameters that a design takes, and what it does with BFV's ciphertexts.

    Attributes:
        design: Name of the design.
        min_n: Smallest ring degree.
        max_n: Largest ring degree.
        min_prime_bits: Narrowest prime.
        max_prime_bits: Widest prime.
        max_primes: Most data and special primes together; None: any number.
        primes: The only primes that it takes; empty: any of those sizes.
        reduction_error: Says of a prime of those sizes why the design's multipliers cannot reduce
            modulo it, nothing where they can; None: they can for any.
        together: Says of all primes of a set, data primes first, and of the number of special ones
            why there are not enough units that hold them, nothing where there are; None: any unit
            holds any prime.
        one_prime_digits: Whether digits of key switching are one prime each.
        relinearizations: How it switches BFV's keys.
        bfv_multiplications: The multiplications of BFV that it does.
        bfv_rotations: Whether it rotates BFV's ciphertexts.
        bootstraps: Whether it raises the modulus of CKKS's ciphertexts.
    """

    design: str
    min_n: int
    max_n: int
    min_prime_bits: int
    max_prime_bits: int
    max_primes: int | None = None
    primes: tuple[int, ...] = ()
    reduction_error: Callable[[int], str] | None = None
    together: Callable[[Sequence[int], int], str] | None = None
    one_prime_digits: bool = False
    relinearizations: tuple[str, ...] = RELINEARIZATIONS
    bfv_multiplications: tuple[str, ...] = MULTIPLICATIONS
    bfv_rotations: bool = True
    bootstraps: bool = False

    def error(self, parameters: RlweParameters, *, products: bool = False) -> str:
        """Returns why the design does not take a parameter set, in words; nothing where it does.

        Args:
            parameters: The parameter set.
            products: Whether BFV ciphertexts are multiplied, in extension primes.
        """
        reason = self.size_error(parameters.n, parameters.limbs, len(parameters.special_primes))
        if reason:
            return reason
        if self.one_prime_digits and parameters.digit_size > 1:
            return (
                f"digits of {parameters.digit_size} primes (dnum = {parameters.dnum}), and design "
                f"{self.design} switches keys in digits of one prime"
            )
        kind = _key_kind(parameters)
        if kind not in self.relinearizations:
            taken = " or ".join(_KEYS[each] for each in self.relinearizations)
            return (
                f"keys {_KEYS[kind]} (relinearization = {kind!r}), and design {self.design} takes "
                f"keys {taken}"
            )
        primes = parameters.primes + (parameters.extension_primes if products else ())
        alone = next((text for text in map(self.prime_error, primes) if text), "")
        if alone or self.together is None:
            return alone
        return self.together(parameters.primes, len(parameters.special_primes))

    def size_error(self, n: int, data: int, special: int) -> str:
        """Returns why a design does not take a ring degree and numbers of data and special primes.

        In words; nothing where it does.
        """
        if not self.min_n <= n <= self.max_n:
            rings = f"N = {self.min_n}"
            if self.min_n < self.max_n:
                rings += f" to {self.max_n}"
            return f"N = {n}, and design {self.design} is built for {rings}"
        count = data + special
        if self.max_primes is not None and count > self.max_primes:
            return (
                f"{count} primes, {data} data and {special} special, and design {self.design} "
                f"holds {self.max_primes}"
            )
        return ""

    def require(self, parameters: RlweParameters) -> None:
        """Refuses a parameter set that the design does not take.

        Raises:
            ParameterError: Says why.
        """
        reason = self.error(parameters)
        if reason:
            raise ParameterError(f"parameters {parameters.name!r} have {reason}")

    def require_size(self, n: int, data: int, special: int) -> None:
        """Refuses a ring degree or a number of primes that the design does not take.

        Raises:
            ParameterError: Says why.
        """
        reason = self.size_error(n, data, special)
        if reason:
            raise ParameterError(f"parameters have {reason}")

    def family(self, n: int, bits: int) -> tuple[int, ...]:
        """Returns those of the only primes that are near 2^bits and fit the ring, ascending."""
        near = (q for q in self.primes if q % (2 * n) == 1 and abs(q / 2.0**bits - 1) < 0.25)
        return tuple(sorted(near))

    def ckks_primes(
        self, n: int, levels: int, scale_bits: int, first_bits: int
    ) -> tuple[tuple[int, ...], int]:
        """Returns data primes and a special prime out of the only primes.

        Those that rescaling drops are near the scale; q_0 is the widest of the others, and the
        special prime the widest that is then left.

        Args:
            n: Ring degree.
            levels: How many primes rescaling drops.
            scale_bits: log2 of the scale.
            first_bits: log2 of what q_0 must reach.

        Raises:
            ParameterError: When there are too few.
        """
        near = self.family(n, scale_bits)[:levels]
        fitting = (q for q in self.primes if q not in near and q % (2 * n) == 1)
        others = sorted(fitting, reverse=True)
        if len(near) < levels or len(others) < 2 or others[0] < 2.0**first_bits:
            raise ParameterError(
                f"design {self.design} lacks primes for {levels} levels at the scale 2^{scale_bits}"
            )
        return (others[0], *near), others[1]

    def bfv_primes(self, n: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Returns a prime of at least each size out of the only primes, the narrowest that do.

        Raises:
            ParameterError: When there are too few.
        """
        left = sorted(q for q in self.primes if q % (2 * n) == 1)
        found = []
        for bits in sizes:
            prime = next((q for q in left if q.bit_length() >= bits), None)
            if prime is None:
                raise ParameterError(
                    f"design {self.design} has no {len(sizes)} primes of up to {max(sizes)} bits"
                )
            left.remove(prime)
            found.append(prime)
        return tuple(found)

    def prime_error(self, prime: int) -> str:
        """Returns why the design does not take a prime, in words; nothing where it does."""
        bits = prime.bit_length()
        if self.primes and prime not in self.primes:
            return (
                f"the prime {prime}, and design {self.design} takes only the {len(self.primes)} "
                "primes that its multipliers are made for"
            )
        if not self.min_prime_bits <= bits <= self.max_prime_bits:
            return (
                f"the prime {prime} of {bits} bits, and design {self.design} takes primes of "
                f"{self.min_prime_bits} to {self.max_prime_bits}"
            )
        reason = self.reduction_error(prime) if self.reduction_error else ""
        return reason and f"{reason}, in design {self.design}"
