"""Automatic BFV parameters: the requirements, and candidate sets."""

from collections.abc import Iterator
from dataclasses import dataclass

from ringsmith import _core
from ringsmith.errors import ParameterError
from ringsmith.params.automatic import AutoRlweParameters, check_number
from ringsmith.params.bfv import MAX_PLAIN_BITS, MULTIPLICATIONS, BfvParameters, batching_prime
from ringsmith.params.design_primes import DesignPrimes
from ringsmith.params.limits import ParameterLimits
from ringsmith.params.primes import MIN_DEGREE, MIN_PRIME_BITS
from ringsmith.short_repr import short_repr

NARROW_PRIME_BITS = 30
"""Narrowest prime that is chosen where the modulus is wide enough for two: of narrower ones a large
ring has few, and each costs a limb."""

_PLAIN_BITS = 20
"""Bits of t where none are asked for."""


@short_repr
@dataclass(frozen=True, kw_only=True)
class AutoBfvParameters(AutoRlweParameters):
    """Requirements for automatically chosen BFV parameters.

    Attributes:
        plain_bits: Bits of t, which is then the largest prime of that size that batches; more
            where the ranges of results need them. 20 without it and ``plain_modulus``.
        plain_modulus: t itself, in place of ``plain_bits``: a prime below 2^60 that batches for
            some ring degree; only degrees that it batches for are taken.
        margin_bits: Bits of noise budget that every output must have left by the forecast, from 1.
        multiplication: ``behz``, Microsoft SEAL's bits, or ``hps``; a design that does only the
            other one gets that.
    """

    plain_bits: int | None = None
    plain_modulus: int | None = None
    margin_bits: int = 1
    multiplication: str = "behz"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.plain_modulus is None and self.plain_bits is None:
            object.__setattr__(self, "plain_bits", _PLAIN_BITS)
        if self.plain_modulus is not None and self.plain_bits is not None:
            raise ParameterError(
                f"plain_bits = {self.plain_bits} and plain_modulus = {self.plain_modulus}: name "
                "one of them"
            )
        check_number("margin_bits", self.margin_bits, int)
        for name, value in (
            ("plain_bits", self.plain_bits),
            ("plain_modulus", self.plain_modulus),
        ):
            if value is not None:
                check_number(name, value, int)
        if not 1 <= self.margin_bits <= max(self.bounds.values()):
            raise ParameterError(
                f"margin_bits = {self.margin_bits} is not a number of bits from 1 that a modulus "
                "has: 1 is enough to decrypt, more lets others compute on"
            )
        if self.plain_bits is not None and not 12 <= self.plain_bits <= MAX_PLAIN_BITS:
            raise ParameterError(
                f"plain_bits = {self.plain_bits} is outside 12 … {MAX_PLAIN_BITS}: a t that "
                "batches is 1 mod 2N, and N is at least 1024"
            )
        self._check_plain_modulus()
        if self.multiplication not in MULTIPLICATIONS:
            raise ParameterError(
                f"multiplication = {self.multiplication!r} is not one of "
                f"{', '.join(MULTIPLICATIONS)}"
            )
        if not MIN_PRIME_BITS <= self.max_prime_bits <= 60:
            raise ParameterError(
                f"max_prime_bits = {self.max_prime_bits} is outside {MIN_PRIME_BITS} … 60"
            )

    @property
    def fitting_multiplication(self) -> str:
        """The multiplication that was asked for, or the one that the design does."""
        done = self.limits.bfv_multiplications if self.limits else ()
        return self.multiplication if self.multiplication in done or not done else done[0]

    def degrees(self) -> Iterator[tuple[int, int]]:
        """Yields each ring degree up to ``max_n`` that t may batch for, and the bits it carries."""
        for n, bits in super().degrees():
            if self.plain_modulus is None or self.plain_modulus % (2 * n) == 1:
                yield n, bits

    @property
    def hint(self) -> str:
        """What to ask for instead, when no parameters fit."""
        larger = self.larger
        t = self.plain_modulus
        if t is not None and t % (4 * max(n for n, _ in self.degrees())) != 1:
            larger = f"take plain_bits for a t that batches for larger N, as {t} does not"
        return (
            f"lower t (two runs with smaller t give the result modulo their product), {larger}, "
            "multiply less deeply, or split the program"
        )

    def _check_plain_modulus(self) -> None:
        t = self.plain_modulus
        if t is None:
            return
        if not 2 <= t < 1 << MAX_PLAIN_BITS:
            raise ParameterError(
                f"plain_modulus = {t} is not a whole number in 2 … 2^{MAX_PLAIN_BITS} - 1"
            )
        if t % (2 * MIN_DEGREE) != 1 or not _core.is_prime(t):
            raise ParameterError(
                f"plain_modulus = {t} batches for no ring degree: slots need a prime that is 1 mod "
                f"2N, and so 1 mod {2 * MIN_DEGREE}: name plain_bits, and one is found"
            )

    def sizes(self, bits: int, carried: int) -> tuple[tuple[int, ...], int] | None:
        """Returns the sizes of data primes of ``bits`` bits in all, and of the special prime.

        As few data primes as can be, of nearly equal sizes, the special prime as wide as the
        widest; more where all together would exceed ``carried`` bits. None: there is no way.
        """
        return next(self._splits(bits, carried), None)

    def _splits(self, bits: int, carried: int) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yields sizes as of ``sizes``, for the fewest data primes first."""
        narrowest = max(self.narrowest_prime, min(NARROW_PRIME_BITS, carried // 2))
        most = bits // narrowest
        if self.limits is not None and self.limits.max_primes is not None:
            most = min(most, self.limits.max_primes - 1)
        for limbs in range(1, most + 1):
            widest = -(-bits // limbs)
            if widest <= self.widest_prime and bits + widest <= carried:
                wide = bits - (widest - 1) * limbs
                yield (widest,) * wide + (widest - 1,) * (limbs - wide), widest

    def widest(self, carried: int) -> int:
        """Returns the most bits of q that still allow a special prime; 0: none do."""
        return next((bits for bits in range(carried, 0, -1) if self.sizes(bits, carried)), 0)

    def sample(self, n: int, levels: int, bits: int) -> BfvParameters:
        """Returns the set of that ring degree, with as many primes more than q_0."""
        return self.candidate(n, bits * (levels + 1), self.bounds[n])

    def candidate(self, n: int, bits: int, carried: int, digit_size: int = 1) -> BfvParameters:
        """Returns the set of that ring degree and bits of q.

        Its primes are those of SEAL's search, or the next ones that the design takes. Where it
        takes none of those sizes, the primes are more, or wider: q has then more bits. Digits of
        key switching have ``digit_size`` primes, and as many special ones as that; without a design
        there may be more than one.

        Raises:
            ParameterError: When there is no such set.
        """
        sizes = self.sizes(bits, carried)
        if sizes is None:
            raise ParameterError(f"q of {bits} bits and a special prime exceed {carried} bits")
        self.require_security(n, sum(sizes[0]) + sizes[1] * digit_size)
        name = f"auto-bfv-{n}-{bits}" + (f"-{digit_size}" if digit_size > 1 else "")
        if self.limits is None:
            return BfvParameters.create(
                n=n,
                prime_bits=sizes[0],
                special_bits=[sizes[1]] * digit_size,
                plain_bits=self.plain_bits,
                plain_modulus=self.plain_modulus,
                multiplication=self.fitting_multiplication,
                security=None,
                name=name,
                dnum=-(-len(sizes[0]) // digit_size),
            )
        assert digit_size == 1, "designs switch keys in digits of one prime"
        if self.limits.primes:
            *data, special = self.limits.bfv_primes(n, (*sizes[0], sizes[1]))
        else:
            *data, special = self._design_primes(self.limits, n, bits, carried)
        t = self.plain_modulus or batching_prime(n, self.plain_bits or 0, (*data, special))
        parameters = BfvParameters.from_primes(
            n=n,
            data_primes=data,
            special_prime=special,
            plain_modulus=t,
            multiplication=self.fitting_multiplication,
            security=None,
            name=name,
        )
        self.require_security(n, parameters.log_qp)
        if not self.limits.primes:
            self.limits.require(parameters)
        return parameters

    def _design_primes(
        self, limits: ParameterLimits, n: int, bits: int, carried: int
    ) -> tuple[int, ...]:
        """Returns data primes and a special prime that a design takes, alone and together."""
        primes = DesignPrimes(limits, n)
        reason = ""
        for sizes in self._design_sizes(bits, carried):
            limits.require_size(n, len(sizes) - 1, 1)
            try:
                found = primes.of_sizes(sizes)
            except ParameterError as error:
                reason = reason or str(error)
                continue
            problem = limits.together(found, 1) if limits.together else ""
            if not problem:
                return found
            reason = reason or problem
        raise ParameterError(reason)

    def _design_sizes(self, bits: int, carried: int) -> Iterator[tuple[int, ...]]:
        """Yields sizes of data primes and a special prime: those of ``sizes``, then other ones."""
        for data, special in self._splits(bits, carried):
            sizes = (*data, special)
            most = min(self.widest_prime - special, (carried - sum(sizes)) // len(sizes))
            for more in range(most + 1):
                yield tuple(size + more for size in sizes)
