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
from ringsmith.params.security import SecurityWarning, check_security, security_level

MIN_DEGREE = 1 << 10
MAX_DEGREE = 1 << 16
MAX_PRIME_BITS = 61
"""Widest prime that the core computes with; hardware designs state their own, narrower limit."""
MIN_PRIME_BITS = 20
"""Narrower primes exist, but rescaling by one would leave a message next to no precision."""
MAX_ERROR = 21
"""Largest magnitude of the centred binomial errors of keys and encryptions (variance 10.5)."""


@dataclass(frozen=True)
class CkksParameters:
    """A CKKS parameter set with hybrid key switching.

    Make one with ``create`` (sizes of primes) or ``from_primes`` (the primes themselves). A set
    below every level of the HE standard is refused, unless it declares its level or is made with
    ``security=None``; then it warns with ``SecurityWarning``.

    Key switching cuts the data primes into ``dnum`` digits of consecutive primes and has k special
    primes (Han, Ki 2020, section 3). One prime a digit and k = 1 is Microsoft SEAL's and Medha's
    case, with their bits.

    Attributes:
        n: Ring degree N, a power of two in 2^10 … 2^16.
        data_primes: q_0 … q_{L-1}, distinct, each 1 mod 2N. q_0 is never rescaled away.
        special_primes: p_0 … p_{k-1}, k >= 1, of key switching. Their product should reach that of
            the largest digit, or key switching's error grows by the ratio.
        scale: Default encoding scale Delta: inputs are encrypted at this scale.
        name: What reports and files call the set.
        dnum: Number of digits; 0 stands for one prime a digit and becomes L.
        declared_security: The level in bits that the set's authors state, where it is below 128 or
            they estimated it otherwise than the standard's table; None: they state none.
    """

    n: int
    data_primes: tuple[int, ...]
    special_primes: tuple[int, ...]
    scale: float
    name: str = "custom"
    dnum: int = 0
    declared_security: int | None = None

    def __post_init__(self) -> None:
        _check_degree(self.n)
        if not self.special_primes:
            raise ParameterError(
                "0 special primes: key switching needs at least 1: name one, as large as the "
                "largest data prime, or several for larger digits"
            )
        if not self.data_primes:
            raise ParameterError("0 data primes: name at least 1, and one more for each level")
        object.__setattr__(self, "dnum", _checked_dnum(self.dnum, self.limbs))
        _check_primes(self.n, self.primes)
        _check_scale(self.scale, self.data_primes)
        if self.security is None or (self.declared_security or 128) < 128:
            stated = self.declared_security
            declared = "" if stated is None else f", and its authors state {stated} bits"
            level = f"of {self.security}" if self.security else "below 128"
            warnings.warn(
                f"{self.name}: logQP = {self.log_qp} bits at N = {self.n} is {level}-bit security "
                f"by the HE standard{declared}: for experiments and tests only",
                SecurityWarning,
                stacklevel=4,
            )

    @classmethod
    def create(
        cls,
        *,
        n: int,
        prime_bits: Sequence[int],
        special_bits: int | Sequence[int],
        scale_bits: int,
        security: int | None = 128,
        name: str = "custom",
        dnum: int = 0,
        declared_security: int | None = None,
    ) -> "CkksParameters":
        """Finds primes of the given sizes: those of SEAL's ``CoeffModulus::Create``.

        Args:
            n: Ring degree N, a power of two in 2^10 … 2^16.
            prime_bits: Bits of each data prime, q_0 first.
            special_bits: Bits of the special prime, or of each where there are several.
            scale_bits: log2 of the default scale.
            security: Level of the 2018 HE standard to hold, 128, 192 or 256; None: any, with a
                warning when below 128.
            name: What reports and files call the set.
            dnum: Digits of key switching; 0: one prime a digit.
            declared_security: The level that the set's authors state; takes the place of
                ``security``.

        Raises:
            ParameterError: When a value is illegal or the level is missed; says what to change.
        """
        _check_degree(n)
        special = [special_bits] if isinstance(special_bits, int) else list(special_bits)
        sizes = [
            *_checked_sizes("prime_bits", prime_bits),
            *_checked_sizes("special_bits", special),
        ]
        if security is not None and declared_security is None:
            check_security(n, sum(sizes), security)
        if isinstance(scale_bits, bool) or not isinstance(scale_bits, int) or scale_bits < 1:
            raise ParameterError(
                f"scale_bits = {scale_bits!r} must be a whole number of bits from 1: "
                "take the size of the primes that rescaling drops"
            )
        primes = tuple(_find_primes(n, sizes))
        count = len(sizes) - len(special)
        scale = math.ldexp(1.0, scale_bits)
        return cls(n, primes[:count], primes[count:], scale, name, dnum, declared_security)

    @classmethod
    def from_primes(
        cls,
        *,
        n: int,
        data_primes: Iterable[int],
        special_prime: int | Iterable[int],
        scale: float,
        security: int | None = 128,
        name: str = "custom",
        dnum: int = 0,
        declared_security: int | None = None,
    ) -> "CkksParameters":
        """Takes given primes, such as those of a SEAL file.

        Args:
            n: Ring degree N, a power of two in 2^10 … 2^16.
            data_primes: q_0 first.
            special_prime: The special prime, or several.
            scale: Default scale.
            security: As for ``create``.
            name: What reports and files call the set.
            dnum: Digits of key switching; 0: one prime a digit.
            declared_security: As for ``create``.

        Raises:
            ParameterError: When a prime or another value is illegal, or the level is missed; says
                what to change.
        """
        data = tuple(data_primes)
        special = (special_prime,) if isinstance(special_prime, int) else tuple(special_prime)
        checked_ring(n, data + special)
        if security is not None and declared_security is None:
            check_security(n, math.prod(data + special).bit_length(), security)
        return cls(n, data, special, float(scale), name, dnum, declared_security)

    @cached_property
    def primes(self) -> tuple[int, ...]:
        """All primes: data primes, then special primes. Bases index into this tuple."""
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
    def digit_size(self) -> int:
        """Data primes in a digit, ceil(L / dnum); the last digit may have fewer."""
        return -(-self.limbs // self.dnum)

    def digits(self, limbs: int) -> list[tuple[int, ...]]:
        """Returns the digits of a polynomial of ``limbs`` limbs, as indices into ``primes``."""
        size = self.digit_size
        return [tuple(range(i, min(i + size, limbs))) for i in range(0, limbs, size)]

    def key_switch_error_bound(self, limbs: int, *, fused: bool = False) -> float:
        """Returns the largest error that key switching can add to a coefficient of a decryption.

        Digits reach a * D, a their number of primes and D the product of those (``mod_up``); errors
        of keys are at most 21; the secret is ternary; the division errs by at most k/2 in both
        halves (``mod_down``). Hence, over the digits, N * 21 * sum(a * D) / P + (N + 1) * k / 2.
        Never passed; typical errors are smaller by a factor near sqrt(N).

        Args:
            limbs: Limbs of what is switched.
            fused: Whether the division is by the last data prime, too: ``relinearize_rescale``.
        """
        sizes = [len(d) * math.prod(self.primes[i] for i in d) for d in self.digits(limbs)]
        divisor = math.prod(self.special_primes) * (self.primes[limbs - 1] if fused else 1)
        half_dropped = (len(self.special_primes) + fused) / 2
        return MAX_ERROR * self.n * (sum(sizes) / divisor) + (self.n + 1) * half_dropped

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


def checked_ring(n: int, primes: tuple[int, ...]) -> None:
    """Refuses a ring degree, or primes that do not belong to it.

    Raises:
        ParameterError: Names the value, what is allowed, and the way out.
    """
    _check_degree(n)
    _check_primes(n, primes)


def _checked_integers(what: str, values: Iterable[Any]) -> list[int]:
    """Returns the values as a list of ints, or says which one is not an int."""
    checked = list(values)
    for value in checked:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ParameterError(
                f"{what} holds {value!r}, which is not an int: write whole numbers"
            )
    return checked


def _checked_sizes(what: str, values: Iterable[Any]) -> list[int]:
    """Returns sizes of primes in bits, or says which one is illegal."""
    sizes = _checked_integers(what, values)
    for index, bits in enumerate(sizes):
        if not MIN_PRIME_BITS <= bits <= MAX_PRIME_BITS:
            label = what if what == "special_bits" and len(sizes) == 1 else f"{what}[{index}]"
            raise ParameterError(
                f"{label} = {bits} is outside {MIN_PRIME_BITS} … {MAX_PRIME_BITS}: "
                "choose a size in that range"
            )
    return sizes


def _checked_dnum(dnum: int, limbs: int) -> int:
    """Returns the number of digits; 0 stands for one prime a digit."""
    if isinstance(dnum, bool) or not isinstance(dnum, int) or not 0 <= dnum <= limbs:
        raise ParameterError(
            f"dnum = {dnum!r} is not a number of digits in 1 … {limbs}, the data primes: choose "
            "one, or 0 for one prime a digit"
        )
    size = -(-limbs // (dnum or limbs))
    digits = -(-limbs // size)
    if dnum not in (0, digits):
        raise ParameterError(
            f"dnum = {dnum} does not cut {limbs} data primes: digits of {size} primes make "
            f"{digits} digits: take dnum = {digits}, or another number of primes"
        )
    return digits


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


def _find_primes(n: int, sizes: Sequence[int]) -> list[int]:
    """Returns distinct primes of the given bit sizes; of one size, the smallest comes first."""
    found = {bits: _core.prime_search(bits, n, count) for bits, count in Counter(sizes).items()}
    ascending = {bits: iter(sorted(primes)) for bits, primes in found.items()}
    return [next(ascending[bits]) for bits in sizes]
