"""Automatic CKKS parameters: the requirements, and candidate sets."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ringsmith.errors import ParameterError
from ringsmith.params.bootstrapping import SPARSE_SECURITY
from ringsmith.params.ckks import CkksParameters
from ringsmith.params.design_primes import DesignPrimes
from ringsmith.params.flooding import STATISTICAL_SECURITY, Flooding
from ringsmith.params.limits import ParameterLimits
from ringsmith.params.primes import MAX_DEGREE, MIN_DEGREE, MIN_PRIME_BITS
from ringsmith.params.ring import RlweParameters
from ringsmith.params.security import CURRENT, check_level, check_security, security_standard
from ringsmith.python_numbers import make_python_numbers
from ringsmith.short_repr import short_repr

MIN_SCALE_BITS = MIN_PRIME_BITS
"""Smallest scale that is tried: the primes that rescaling drops have its size."""
WIDEST_PRIME_BITS = 60
"""Widest prime that is ever chosen: what hardware designs take at most."""
MAX_HEADROOM_BITS = 30
DRIFT_BITS = 1.0
"""How far the scale of the last level may be from that of the first; q_0 has a bit for it."""
SPECIAL_MARGIN_BITS = 5
"""How much wider than q_0 the special prime is, if ``max_prime_bits`` allows.

Key switching's noise is divided by it; otherwise it would dominate all other errors in slot 0.
"""


@dataclass(frozen=True, kw_only=True)
class AutoRlweParameters(ABC):
    """Requirements for automatically chosen parameters of either scheme.

    Attributes:
        security: Level of security in bits: 128, 192 or 256.
        standard: The standard whose bounds the modulus holds: ``2024``, ``2018`` or
            ``2018-post-quantum`` (``ringsmith.params.security``).
        max_n: Largest allowed ring degree.
        max_prime_bits: Widest allowed prime; at most 60.
        design: A design that must support the parameters: its name, the path of its TOML file, or
            a design. ``ringsmith.trace`` finds its limits.
        limits: That design's limits; None: there is no design, or it was not looked up.
        costs: Returns what operations cost on that design, as ``ringsmith.program.costs.Costs``;
            None: as on the ``cpu`` device.
        keys: Most bytes that all evaluation keys may have together, without seeds; None: any.
    """

    security: int = 128
    standard: str = CURRENT
    max_n: int = MAX_DEGREE
    max_prime_bits: int = WIDEST_PRIME_BITS
    design: Any = None
    limits: ParameterLimits | None = None
    costs: Callable[[], Any] | None = field(default=None, compare=False, repr=False)
    keys: int | None = None

    def __post_init__(self) -> None:
        make_python_numbers(self)
        check_level(self.security, "; parameters below are made by hand")
        security_standard(self.standard)
        if self.limits is not None and not isinstance(self.limits, ParameterLimits):
            raise ParameterError(
                f"limits = {self.limits!r:.60} are no ParameterLimits: name a design instead: "
                'design="nano"'
            )
        for name, value in (("max_n", self.max_n), ("max_prime_bits", self.max_prime_bits)):
            check_number(name, value, int)
        if not MIN_DEGREE <= self.max_n <= MAX_DEGREE:
            raise ParameterError(f"max_n = {self.max_n!r} is outside {MIN_DEGREE} … {MAX_DEGREE}")
        if self.keys is not None:
            check_number("keys", self.keys, int)
            if self.keys < 0:
                raise ParameterError(f"keys = {self.keys!r} is no number of bytes from 0")

    def degrees(self) -> Iterator[tuple[int, int]]:
        """Yields each ring degree up to ``max_n`` with the bits of modulus that it carries."""
        limits = self.limits
        for n, bits in self.bounds.items():
            if n <= self.max_n and (limits is None or limits.min_n <= n <= limits.max_n):
                yield n, bits

    @property
    def least_bits(self) -> int:
        """Bits of modulus below which no program is looked at."""
        return 0

    @property
    def bounds(self) -> Mapping[int, int]:
        """Most bits of modulus by ring degree, at the level and by the standard."""
        return security_standard(self.standard).bounds[self.security]

    @property
    def security_text(self) -> str:
        """The level and its standard in words."""
        return f"{self.security}-bit security by the {security_standard(self.standard).name}"

    def require_security(self, n: int, log_qp: int) -> None:
        """Refuses a modulus of ``log_qp`` bits at N that passes the bound.

        Raises:
            ParameterError: Names the bound.
        """
        check_security(n, log_qp, self.security, self.standard)

    @property
    def default_bound(self) -> float | None:
        """The magnitude that inputs are declared with by default; None: none is asked for."""
        return None

    @property
    def resolved(self) -> bool:
        """Whether the limits of the design are there, if one is named."""
        return self.design is None or self.limits is not None

    @property
    def widest_prime(self) -> int:
        """Bits of the widest prime to take."""
        if self.limits is None:
            return self.max_prime_bits
        return min(self.max_prime_bits, self.limits.max_prime_bits)

    @property
    def narrowest_prime(self) -> int:
        """Bits of the narrowest prime to take."""
        return max(MIN_PRIME_BITS, self.limits.min_prime_bits if self.limits else 0)

    @property
    def larger(self) -> str:
        """What to ask for where a larger ring, or more primes, would do."""
        return f"take a larger design than {self.limits.design}" if self.limits else "raise max_n"

    @property
    @abstractmethod
    def hint(self) -> str:
        """What to ask for instead, when no parameters fit."""

    @abstractmethod
    def sample(self, n: int, levels: int, bits: int) -> RlweParameters:
        """Returns a set of that ring degree for measurements.

        Args:
            n: Ring degree.
            levels: Primes besides q_0 and the special prime.
            bits: Bits of each of them.

        Raises:
            ParameterError: When there is no such set.
        """


def check_number(name: str, value: object, kind: type[int] | type[float]) -> None:
    """Refuses what is no number of its kind; a whole number is a float, too."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole and (kind is int or not isinstance(value, float)):
        raise ParameterError(f"{name} = {value!r} is no number of its kind: write one")


@short_repr
@dataclass(frozen=True, kw_only=True)
class AutoParameters(AutoRlweParameters):
    """Requirements for automatically chosen CKKS parameters.

    Attributes:
        precision_bits: Bits after the point that must be correct in every output by the forecast,
            from 1. With ``share``, those that survive noise flooding, for all inputs in their
            ranges.
        headroom_bits: Space for messages up to ±2^headroom_bits at least; ranges that are greater
            get more.
        input_bound: Upper bound of the magnitudes of inputs without a declared range.
        samples: For each input a vector of typical numbers, or an array (samples, numbers): the
            precision is forecast for inputs like these, and not for the worst; None: for the worst.
        share: Decryptions under one key that others may see: parameters leave ``precision_bits``
            to ``decrypt(share=…)``. None: none are shared.
        statistical_security: As for ``decrypt``.
        bootstrapping: Whether a program that no parameters have enough levels for gets parameters
            that bootstrap, and its bootstrappings (``ringsmith.schemes.ckks.placing``). These have
            N = 2^16 and 128 bits of security, and run on the ``cpu`` device only.
    """

    precision_bits: float = 20
    headroom_bits: int = 3
    input_bound: float = 1.0
    samples: Any = field(default=None, compare=False, repr=False)
    share: int | None = None
    statistical_security: int = STATISTICAL_SECURITY
    bootstrapping: bool = False

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
        whole = isinstance(headroom, int) and not isinstance(headroom, bool)
        if not whole or not 0 <= headroom <= MAX_HEADROOM_BITS:
            raise ParameterError(
                f"headroom_bits = {headroom!r} is not a whole number in 0 … {MAX_HEADROOM_BITS}: "
                "scale the inputs so that messages stay small"
            )
        if self.flooding is not None and self.samples is not None:
            raise ParameterError(
                f"share = {self.share!r}: noise is hidden only by a bound for all inputs, and "
                "samples are typical ones: leave samples out, and declare ranges of the inputs"
            )
        self._check_bootstrapping()
        if not 0 < self.input_bound < float("inf"):
            raise ParameterError(f"input_bound = {self.input_bound!r} must be positive and finite")
        narrowest = MIN_SCALE_BITS + headroom + 2
        if not narrowest <= self.widest_prime <= WIDEST_PRIME_BITS:
            raise ParameterError(
                f"max_prime_bits = {self.widest_prime!r} is outside {narrowest} … "
                f"{WIDEST_PRIME_BITS}: q_0 holds a scale of at least {MIN_SCALE_BITS} bits, "
                f"headroom_bits = {headroom} and 2 more"
            )

    def _check_bootstrapping(self) -> None:
        """Refuses what parameters that bootstrap do not have."""
        if not isinstance(self.bootstrapping, bool):
            raise ParameterError(f"bootstrapping = {self.bootstrapping!r:.40} is not True or False")
        if not self.bootstrapping:
            return
        if self.design is not None:
            raise ParameterError(
                "bootstrapping=True: no design bootstraps, only the cpu device: leave design out"
            )
        if self.share is not None:
            raise ParameterError(
                f"bootstrapping=True: results cannot be shared with share = {self.share!r}, since "
                "no bound of the noise of a bootstrapping is known: leave one of both out"
            )
        if self.security != SPARSE_SECURITY:
            raise ParameterError(
                f"bootstrapping=True: security = {self.security} is not the level of the sparse "
                f"secret of bootstrapping: take {SPARSE_SECURITY}"
            )

    @property
    def hint(self) -> str:
        """What to ask for instead, when no parameters fit."""
        return (
            f"ask for fewer than precision_bits = {self.precision_bits:g} or less headroom, "
            f"{self.larger}, multiply less deeply, or split the program"
        )

    @property
    def flooding(self) -> Flooding | None:
        """The noise that hides that of results; None: results are not shared."""
        if self.share is None:
            return None
        return Flooding(self.share, self.statistical_security)

    @property
    def default_bound(self) -> float | None:
        """``input_bound``, where it is another one than 1."""
        return self.input_bound if self.input_bound != 1 else None

    @property
    def max_scale_bits(self) -> int:
        """Largest scale for which q_0, of scale, headroom and 2 bits, is not too wide."""
        return self.widest_prime - self.headroom_bits - 2

    @property
    def max_levels(self) -> int | None:
        """Most levels that the design holds primes for; None: no design says."""
        most = self.limits.max_primes if self.limits else None
        return None if most is None else most - 2

    @property
    def least_bits(self) -> int:
        """Bits of the modulus without levels, at the smallest scale."""
        return sum(self.prime_bits(0, MIN_SCALE_BITS))

    def prime_bits(self, levels: int, scale_bits: int, digit_size: int = 1) -> tuple[int, ...]:
        """Returns the sizes of q_0, of a prime for each level, and of the special primes.

        q_0 is wider than the scale by the headroom, a sign and a bit for what the scale drifts. The
        special primes are as few as are wider together than a digit, by ``SPECIAL_MARGIN_BITS``.
        """
        first = scale_bits + self.headroom_bits + 2
        if digit_size == 1:
            special: tuple[int, ...] = (min(first + SPECIAL_MARGIN_BITS, self.widest_prime),)
        else:
            wanted = first + (digit_size - 1) * scale_bits + SPECIAL_MARGIN_BITS
            count = -(-wanted // self.widest_prime)
            special = (-(-wanted // count),) * count
        return first, *(scale_bits,) * levels, *special

    def sample(self, n: int, levels: int, bits: int) -> CkksParameters:
        """Returns the set of that ring degree, number of levels and scale."""
        return self.candidate(n, levels, bits)

    def candidate(
        self, n: int, levels: int, scale_bits: int, digit_size: int = 1
    ) -> CkksParameters:
        """Returns the set of that ring degree, number of levels and scale.

        Its primes are those of SEAL's search, or the next ones that the design takes. Digits of key
        switching have ``digit_size`` primes; without a design there may be more than one.

        Raises:
            ParameterError: When the security level is missed, there are too few such primes, or
                the design does not take them.
        """
        sizes = self.prime_bits(levels, scale_bits, digit_size)
        data, special = sizes[: levels + 1], sizes[levels + 1 :]
        digits = f"-{digit_size}" if digit_size > 1 else ""
        name = f"auto-{n}-{levels}-{scale_bits}{digits}"
        if scale_bits < self.narrowest_prime:
            raise ParameterError(
                f"the scale 2^{scale_bits} takes primes narrower than {self.narrowest_prime} bits"
            )
        self.require_security(n, sum(sizes))
        if self.limits is None:
            made = CkksParameters.create(
                n=n,
                prime_bits=data,
                special_bits=special,
                scale_bits=scale_bits,
                security=None,
                name=name,
                dnum=-(-len(data) // digit_size),
            )
            return _with_lasting_scale(made)
        assert digit_size == 1, "designs switch keys in digits of one prime"
        if self.limits.primes:
            chosen, last = self.limits.ckks_primes(n, levels, scale_bits, data[0])
        else:
            chosen, last = self._design_primes(self.limits, n, levels, scale_bits)
        parameters = CkksParameters.from_primes(
            n=n,
            data_primes=chosen,
            special_prime=last,
            scale=math.ldexp(1.0, scale_bits),
            security=None,
            name=name,
        )
        self.require_security(n, parameters.log_qp)
        if not self.limits.primes:
            self.limits.require(parameters)
        return _with_lasting_scale(parameters)

    def _design_primes(
        self, limits: ParameterLimits, n: int, levels: int, scale_bits: int
    ) -> tuple[tuple[int, ...], int]:
        """Returns data primes and a special prime that a design takes, alone and together."""
        limits.require_size(n, levels + 1, 1)
        primes = DesignPrimes(limits, n)
        near = primes.near(scale_bits, levels)
        reason = ""
        for first, special in self._outer_bits(n, levels, scale_bits):
            try:
                q_0, last = primes.of_sizes((first, special))
            except ParameterError as error:
                reason = reason or str(error)
                continue
            problem = limits.together((q_0, *near, last), 1) if limits.together else ""
            if not problem:
                return (q_0, *near), last
            reason = reason or problem
        raise ParameterError(reason)

    def _outer_bits(self, n: int, levels: int, scale_bits: int) -> Iterator[tuple[int, int]]:
        """Yields sizes of q_0 and the special prime: those of ``prime_bits``, then other ones.

        q_0 becomes wider bit by bit. The special prime becomes as wide as can be, then narrower,
        down to the size of q_0.
        """
        first, *rest, special = self.prime_bits(levels, scale_bits)
        left = self.bounds[n] - sum(rest)
        widest = self.widest_prime
        for wider in range(first, widest + 1):
            for last in (special, *range(widest, special, -1), *range(special - 1, wider - 1, -1)):
                if wider <= last and wider + last <= left:
                    yield wider, last


def _with_lasting_scale(parameters: CkksParameters) -> CkksParameters:
    """Returns a set whose scale stays near its primes for as many products as it has levels.

    A product of two values of scale S is rescaled to S^2 / q, so that each level doubles how far S
    is from q, in bits. Below the scale 2^b primes next to 2^b are near enough for about 20 levels.
    For more the scale is the one from which the last level's ends at its own prime: the mean of the
    primes in which each level weighs half of the one before.
    """
    bits = [math.log2(prime) for prime in parameters.data_primes[1:]]
    last = math.log2(parameters.scale)
    for prime in reversed(bits):
        last = 2 * last - prime
    if not bits or abs(last - math.log2(parameters.scale)) <= DRIFT_BITS:
        return parameters
    scale = bits[0]
    for prime in bits:
        scale = (scale + prime) / 2
    return replace(parameters, scale=2.0**scale)
