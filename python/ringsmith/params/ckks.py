"""CKKS parameters: checked once, when they are made, and frozen from then on."""

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ringsmith import _core
from ringsmith.errors import ParameterError
from ringsmith.params.security import (
    MAX_LOG_QP,
    SecurityWarning,
    security_level,
    smallest_secure_degree,
)

MIN_DEGREE = 1 << 10
MAX_DEGREE = 1 << 16
MAX_PRIME_BITS = 61
"""Widest prime that the core computes with; hardware designs state their own, narrower limit."""
MIN_PRIME_BITS = 20
"""Narrower primes exist, but rescaling by one would leave a message next to no precision."""


@dataclass(frozen=True)
class CkksParameters:
    """A CKKS parameter set with one special prime, as Microsoft SEAL and Medha have it.

    Make one with ``create`` (sizes of primes) or ``from_primes`` (the primes themselves). A set
    below every level of the HE standard can be made with ``from_primes`` or ``security=None``,
    and warns with ``SecurityWarning``.

    Attributes:
        n: Ring degree N, a power of two in 2^10 … 2^16.
        data_primes: q_0 … q_{L-1}, distinct, each 1 mod 2N. q_0 is never rescaled away.
        special_primes: The one special prime p of key switching.
        scale: Default encoding scale Delta: inputs are encrypted at this scale.
        name: What reports and files call the set.
    """

    n: int
    data_primes: tuple[int, ...]
    special_primes: tuple[int, ...]
    scale: float
    name: str = "custom"

    def __post_init__(self) -> None:
        _check_degree(self.n)
        if len(self.special_primes) != 1:
            raise ParameterError(
                f"{len(self.special_primes)} special primes: key switching has one prime a digit "
                "and exactly 1 special prime: name one, as large as the largest data prime"
            )
        if not self.data_primes:
            raise ParameterError("0 data primes: name at least 1, and one more for each level")
        _check_primes(self.n, self.primes)
        _check_scale(self.scale, self.data_primes)
        if self.security is None:
            warnings.warn(
                f"{self.name}: logQP = {self.log_qp} bits at N = {self.n} is below 128-bit "
                "security: for experiments and tests only",
                SecurityWarning,
                stacklevel=4,
            )

    @classmethod
    def create(
        cls,
        *,
        n: int,
        prime_bits: Sequence[int],
        special_bits: int,
        scale_bits: int,
        security: int | None = 128,
        name: str = "custom",
    ) -> "CkksParameters":
        """Finds primes of the given sizes: those of SEAL's ``CoeffModulus::Create``.

        Args:
            n: Ring degree N, a power of two in 2^10 … 2^16.
            prime_bits: Bits of each data prime, q_0 first.
            special_bits: Bits of the special prime.
            scale_bits: log2 of the default scale.
            security: Level of the 2018 HE standard to hold, 128, 192 or 256; None: any, with a
                warning when below 128.
            name: What reports and files call the set.

        Raises:
            ParameterError: When a value is illegal or the level is missed; says what to change.
        """
        _check_degree(n)
        sizes = [*_checked_integers("prime_bits", prime_bits), special_bits]
        for index, bits in enumerate(_checked_integers("prime_bits", sizes)):
            if not MIN_PRIME_BITS <= bits <= MAX_PRIME_BITS:
                label = "special_bits" if index == len(sizes) - 1 else f"prime_bits[{index}]"
                raise ParameterError(
                    f"{label} = {bits} is outside {MIN_PRIME_BITS} … {MAX_PRIME_BITS}: "
                    "choose a size in that range"
                )
        if security is not None:
            _check_security(n, sum(sizes), security)
        if isinstance(scale_bits, bool) or not isinstance(scale_bits, int) or scale_bits < 1:
            raise ParameterError(
                f"scale_bits = {scale_bits!r} must be a whole number of bits from 1: "
                "take the size of the primes that rescaling drops"
            )
        *data, special = _find_primes(n, sizes)
        return cls(n, tuple(data), (special,), math.ldexp(1.0, scale_bits), name)

    @classmethod
    def from_primes(
        cls,
        *,
        n: int,
        data_primes: Iterable[int],
        special_prime: int,
        scale: float,
        name: str = "custom",
    ) -> "CkksParameters":
        """Takes given primes, such as those of a SEAL file.

        Raises:
            ParameterError: When a prime or another value is illegal; says what to change.
        """
        return cls(n, tuple(data_primes), (special_prime,), float(scale), name)

    @cached_property
    def primes(self) -> tuple[int, ...]:
        """All primes: data primes, then the special prime. Bases index into this tuple."""
        return self.data_primes + self.special_primes

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """The smallest primitive 2N-th root of unity modulo each of ``primes``."""
        return tuple(_core.smallest_root(q, self.n) for q in self.primes)

    @property
    def limbs(self) -> int:
        """Number of data primes L: the limbs of a fresh ciphertext."""
        return len(self.data_primes)

    @property
    def levels(self) -> int:
        """How often a fresh ciphertext can be rescaled: L - 1."""
        return self.limbs - 1

    @property
    def special(self) -> tuple[int, ...]:
        """Indices of the special primes in ``primes``."""
        return tuple(range(self.limbs, len(self.primes)))

    @property
    def slots(self) -> int:
        """Complex numbers that one ciphertext holds: N/2."""
        return self.n // 2

    @cached_property
    def log_qp(self) -> int:
        """Bit length of the product of all primes: what the security bound speaks about."""
        return math.prod(self.primes).bit_length()

    @property
    def security(self) -> int | None:
        """Security in bits by the 2018 HE standard: 256, 192 or 128; None: below 128."""
        return security_level(self.n, self.log_qp)

    def galois_element(self, steps: int) -> int:
        """Returns the Galois element of a rotation of the slots.

        Args:
            steps: Slots to the left, or negative to the right; of magnitude 1 … N/2 - 1.

        Raises:
            ParameterError: When ``steps`` is not such a number.
        """
        if not 0 < abs(steps) < self.slots:
            raise ParameterError(
                f"rotation by {steps} steps: take 1 … {self.slots - 1}, or as many to the right"
            )
        return _core.galois_element(self.n, steps)

    @property
    def conjugation_element(self) -> int:
        """The Galois element of complex conjugation, 2N - 1."""
        return 2 * self.n - 1


def _checked_integers(what: str, values: Iterable[Any]) -> list[int]:
    """Returns the values as a list of ints, or says which one is not an int."""
    checked = list(values)
    for value in checked:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ParameterError(
                f"{what} holds {value!r}, which is not an int: write whole numbers"
            )
    return checked


def _check_degree(n: int) -> None:
    whole = isinstance(n, int) and not isinstance(n, bool)
    if not whole or not MIN_DEGREE <= n <= MAX_DEGREE or n & (n - 1):
        raise ParameterError(
            f"N = {n!r} is not a power of two in {MIN_DEGREE} … {MAX_DEGREE}: choose one of "
            + ", ".join(str(1 << k) for k in range(10, 17))
        )


def _check_primes(n: int, primes: tuple[int, ...]) -> None:
    for q in _checked_integers("the list of primes", primes):
        if not 2 < q < 1 << MAX_PRIME_BITS:
            raise ParameterError(
                f"prime {q} is outside 3 … 2^{MAX_PRIME_BITS}: choose primes of at most "
                f"{MAX_PRIME_BITS} bits"
            )
        if not _core.is_prime(q):
            raise ParameterError(f"{q} is not prime: CkksParameters.create(...) finds primes")
        if q % (2 * n) != 1:
            raise ParameterError(
                f"prime {q} is {q % (2 * n)} mod 2N = {2 * n}, and the NTT needs 1: "
                "CkksParameters.create(...) finds such primes"
            )
    twice = [q for q, count in Counter(primes).items() if count > 1]
    if twice:
        raise ParameterError(f"prime {twice[0]} stands twice in the base: all must be distinct")


def _check_scale(scale: float, data_primes: tuple[int, ...]) -> None:
    log_q = math.log2(math.prod(data_primes))
    if not isinstance(scale, float) or not math.isfinite(scale) or scale < 1:
        raise ParameterError(
            f"scale = {scale!r} must be a finite float of at least 1.0: "
            "take a power of two near the primes that rescaling drops"
        )
    if math.log2(scale) >= log_q:
        raise ParameterError(
            f"scale = 2^{math.log2(scale):.1f} reaches the data modulus of {log_q:.1f} bits, and "
            "nothing is left for the message: lower the scale or add a data prime"
        )


def _check_security(n: int, log_qp: int, level: int) -> None:
    """Refuses sizes of primes whose product passes the bound of the level."""
    if level not in MAX_LOG_QP:
        raise ParameterError(
            f"security = {level!r} is not a level of the HE standard: choose "
            f"{', '.join(map(str, MAX_LOG_QP))}, or None to go without"
        )
    bound = MAX_LOG_QP[level].get(n, 0)
    if log_qp <= bound:
        return
    needed = smallest_secure_degree(log_qp, level)
    largest = max(MAX_LOG_QP[level].values())
    demand = f"needs N >= {needed}" if needed else f"is more than any N carries ({largest} bits)"
    way_out = "lower a prime or raise N" if needed else "lower a prime or take fewer"
    raise ParameterError(
        f"logQP = {log_qp} {demand} for {level}-bit security; N is {n}"
        + (f" and carries {bound} bits" if bound else "")
        + f": {way_out}"
    )


def _find_primes(n: int, sizes: Sequence[int]) -> list[int]:
    """Returns distinct primes of the given bit sizes; of one size, the smallest comes first."""
    found = {bits: _core.prime_search(bits, n, count) for bits, count in Counter(sizes).items()}
    ascending = {bits: iter(sorted(primes)) for bits, primes in found.items()}
    return [next(ascending[bits]) for bits in sizes]
