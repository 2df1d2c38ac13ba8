"""Parameters chosen for a program: what is asked, and the sets that could answer."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from ringsmith.errors import ParameterError
from ringsmith.params.ckks import CkksParameters
from ringsmith.params.primes import MAX_DEGREE, MIN_DEGREE, MIN_PRIME_BITS
from ringsmith.params.security import MAX_LOG_QP

MIN_SCALE_BITS = MIN_PRIME_BITS
"""Smallest scale that is tried: the primes that rescaling drops have its size."""
WIDEST_PRIME_BITS = 60
"""Widest prime that is ever chosen: what hardware designs take at most."""
SPECIAL_MARGIN_BITS = 5
"""How much wider than q_0 the special prime is, where ``max_prime_bits`` allows.

Key switching's noise is divided by it; in slot 0 it would otherwise outweigh all other errors.
"""


@dataclass(frozen=True, kw_only=True)
class AutoRlweParameters(ABC):
    """What automatically chosen parameters of either scheme must hold.

    Attributes:
        security: Level of the 2018 HE standard: 128, 192 or 256.
        max_n: Largest ring degree to take.
        max_prime_bits: Widest prime to take, such as a design's ``word_bits``; at most 60.
    """

    security: int = 128
    max_n: int = MAX_DEGREE
    max_prime_bits: int = WIDEST_PRIME_BITS

    def __post_init__(self) -> None:
        if self.security not in MAX_LOG_QP:
            raise ParameterError(
                f"security = {self.security!r} is not a level of the HE standard: choose "
                f"{', '.join(map(str, MAX_LOG_QP))}; parameters below are made by hand"
            )
        for name, value in (("max_n", self.max_n), ("max_prime_bits", self.max_prime_bits)):
            check_number(name, value, int)
        if not MIN_DEGREE <= self.max_n <= MAX_DEGREE:
            raise ParameterError(f"max_n = {self.max_n!r} is outside {MIN_DEGREE} … {MAX_DEGREE}")

    def degrees(self) -> Iterator[tuple[int, int]]:
        """Yields each ring degree up to ``max_n`` with the bits of modulus that it carries."""
        for n, bits in MAX_LOG_QP[self.security].items():
            if n <= self.max_n:
                yield n, bits

    @property
    @abstractmethod
    def way_out(self) -> str:
        """What to ask for instead, when no parameters fit."""


def check_number(name: str, value: object, kind: type[int] | type[float]) -> None:
    """Refuses what is no number of its kind; a whole number is a float, too."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole and (kind is int or not isinstance(value, float)):
        raise ParameterError(f"{name} = {value!r} is no number of its kind: write one")


@dataclass(frozen=True, kw_only=True)
class AutoParameters(AutoRlweParameters):
    """What automatically chosen CKKS parameters must hold, beside what both schemes' must.

    Attributes:
        precision_bits: Bits after the point that every output must have right by the forecast,
            from 1.
        headroom_bits: Messages stay within ±2^headroom_bits throughout.
        input_bound: What the magnitudes of all encrypted inputs stay within.
    """

    precision_bits: float = 20
    headroom_bits: int = 3
    input_bound: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("precision_bits", self.precision_bits, float)
        check_number("input_bound", self.input_bound, float)
        if not 1 <= self.precision_bits <= WIDEST_PRIME_BITS:
            raise ParameterError(
                f"precision_bits = {self.precision_bits!r} is outside 1 … {WIDEST_PRIME_BITS}: "
                "20 bits are 6 decimal digits"
            )
        headroom = self.headroom_bits
        if isinstance(headroom, bool) or not isinstance(headroom, int) or not 0 <= headroom <= 30:
            raise ParameterError(
                f"headroom_bits = {headroom!r} is not a whole number in 0 … 30: scale the inputs "
                "so that messages stay small"
            )
        if not 0 < self.input_bound < float("inf"):
            raise ParameterError(f"input_bound = {self.input_bound!r} must be positive and finite")
        narrowest = MIN_SCALE_BITS + headroom + 2
        if not narrowest <= self.max_prime_bits <= WIDEST_PRIME_BITS:
            raise ParameterError(
                f"max_prime_bits = {self.max_prime_bits!r} is outside {narrowest} … "
                f"{WIDEST_PRIME_BITS}: q_0 holds a scale of at least {MIN_SCALE_BITS} bits, "
                f"headroom_bits = {headroom} and 2 more"
            )

    @property
    def way_out(self) -> str:
        """What to ask for instead, when no parameters fit."""
        return (
            f"ask for fewer than precision_bits = {self.precision_bits:g} or less headroom, raise "
            "max_n, multiply less deeply, or split the program"
        )

    @property
    def max_scale_bits(self) -> int:
        """Largest scale for which q_0, of scale, headroom and 2 bits, is not too wide."""
        return self.max_prime_bits - self.headroom_bits - 2

    def prime_bits(self, levels: int, scale_bits: int) -> tuple[int, ...]:
        """Returns the sizes of q_0, of a prime for each level, and of the special prime.

        q_0 is wider than the scale by the headroom, a sign and a bit for what the scale drifts.
        """
        first = scale_bits + self.headroom_bits + 2
        special = min(first + SPECIAL_MARGIN_BITS, self.max_prime_bits)
        return first, *(scale_bits,) * levels, special

    def candidate(self, n: int, levels: int, scale_bits: int) -> CkksParameters:
        """Returns the set of that ring degree, number of levels and scale.

        Raises:
            ParameterError: When the security level is missed, or there are too few such primes.
        """
        *data, special = self.prime_bits(levels, scale_bits)
        return CkksParameters.create(
            n=n,
            prime_bits=data,
            special_bits=special,
            scale_bits=scale_bits,
            security=self.security,
            name=f"auto-{n}-{levels}-{scale_bits}",
        )
