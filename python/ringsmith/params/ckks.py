"""CKKS parameters: checked when they are made, and immutable."""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import pairwise

from ringsmith.errors import ParameterError
from ringsmith.params.bootstrapping import (
    MAX_SPARSE_BITS,
    MIN_SPARSE_DEGREE,
    SPARSE_SECURITY,
    Bootstrapping,
)
from ringsmith.params.keys import KeyShape
from ringsmith.params.primes import checked_base, checked_integers, listed, primes_of_sizes
from ringsmith.params.ring import RlweParameters
from ringsmith.python_numbers import with_python_numbers
from ringsmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class CkksParameters(RlweParameters):
    """A CKKS parameter set with hybrid key switching.

    Make one with ``create`` (sizes of primes) or ``from_primes`` (the primes themselves). A set
    below every level of the security standards is refused, unless it declares its level or is made
    with ``security=None``; then it warns with ``SecurityWarning``.

    Attributes:
        scale: Default encoding scale Delta: inputs are encrypted at this scale.
        level_limbs: Limbs of each level, ascending, the last one all; given none, each level has
            one more than the one below. Primes of fewer bits than the scale serve two a level.
        bootstrapping: How ciphertexts are bootstrapped; None: they are not. Then inputs have the
            limbs of bootstrapped ciphertexts (``working_limbs``).
    """

    scale: float
    _: KW_ONLY
    level_limbs: tuple[int, ...] = ()
    bootstrapping: Bootstrapping | None = None

    @classmethod
    @with_python_numbers
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
        digit_sizes: Iterable[int] = (),
        declared_security: int | None = None,
        level_limbs: Iterable[int] = (),
        bootstrapping: Bootstrapping | None = None,
    ) -> "CkksParameters":
        """Finds primes of the given sizes: those of SEAL's ``CoeffModulus::Create``.

        Args:
            n: Ring degree N, a power of two in 2^10 … 2^16.
            prime_bits: Bits of each data prime, q_0 first.
            special_bits: Bits of the special prime, or of each where there are several.
            scale_bits: log2 of the default scale.
            security: Level to hold by the 2018 standard or the 2024 guidelines, 128, 192 or 256;
                None: any, with a warning when below 128.
            name: What reports and files call the set.
            dnum: Digits of key switching; 0: one prime a digit.
            digit_sizes: Data primes in each digit, where these differ; in place of ``dnum``.
            declared_security: The level that the set's authors state; takes the place of
                ``security``.
            level_limbs: Limbs of each level, ascending, where a level has several primes more than
                the one below.
            bootstrapping: How ciphertexts are bootstrapped; None: they are not.

        Raises:
            ParameterError: When a value is illegal or the level is missed; says what to change.
        """
        wanted = security if declared_security is None else None
        _check_sparse_level(n, bootstrapping, wanted)
        data, special = primes_of_sizes(n, prime_bits, special_bits, wanted)
        whole = isinstance(scale_bits, int) and not isinstance(scale_bits, bool)
        if not whole or not 1 <= scale_bits < sys.float_info.max_exp:
            raise ParameterError(
                f"scale_bits = {scale_bits!r:.60} must be a whole number of bits from 1: "
                "take the size of the primes that rescaling drops"
            )
        scale = math.ldexp(1.0, scale_bits)
        return cls(
            n,
            data,
            special,
            scale,
            name=name,
            dnum=dnum,
            digit_sizes=tuple(listed("digit_sizes", digit_sizes)),
            declared_security=declared_security,
            level_limbs=tuple(level_limbs),
            bootstrapping=bootstrapping,
        )

    @classmethod
    @with_python_numbers
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
        digit_sizes: Iterable[int] = (),
        declared_security: int | None = None,
        level_limbs: Iterable[int] = (),
        bootstrapping: Bootstrapping | None = None,
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
            digit_sizes: Data primes in each digit, where these differ; in place of ``dnum``.
            declared_security: As for ``create``.
            level_limbs: As for ``create``.
            bootstrapping: As for ``create``.

        Raises:
            ParameterError: When a prime or another value is illegal, or the level is missed; says
                what to change.
        """
        wanted = security if declared_security is None else None
        _check_sparse_level(n, bootstrapping, wanted)
        data, special = checked_base(n, data_primes, special_prime, wanted)
        return cls(
            n,
            data,
            special,
            _checked_scale(scale),
            name=name,
            dnum=dnum,
            digit_sizes=tuple(listed("digit_sizes", digit_sizes)),
            declared_security=declared_security,
            level_limbs=tuple(level_limbs),
            bootstrapping=bootstrapping,
        )

    @property
    def scheme(self) -> str:
        """``ckks``."""
        return "ckks"

    @property
    def exact(self) -> bool:
        """Never: numbers are approximate."""
        return False

    @property
    def slots(self) -> int:
        """Complex numbers that one ciphertext holds: N/2."""
        return self.row_size

    @cached_property
    def ladder(self) -> tuple[int, ...]:
        """Limbs of each level, from the lowest."""
        return self.level_limbs or tuple(range(1, self.limbs + 1))

    @property
    def levels(self) -> int:
        """How many levels a ciphertext of all limbs can lose."""
        return len(self.ladder) - 1

    @property
    def lowest_limbs(self) -> int:
        """Limbs of the lowest level."""
        return self.ladder[0]

    def is_level(self, limbs: int) -> bool:
        """Whether ciphertexts of that many limbs are on a level."""
        return limbs in self.ladder

    def below(self, limbs: int) -> int:
        """Returns the limbs of the next lower level; of the lowest level 0."""
        return max((each for each in self.ladder if each < limbs), default=0)

    def above(self, limbs: int) -> int:
        """Returns the limbs of the next higher level."""
        return min(each for each in self.ladder if each > limbs)

    @cached_property
    def lowest_modulus(self) -> int:
        """The product of the lowest level's primes, q_0."""
        return math.prod(self.data_primes[: self.lowest_limbs])

    @property
    def working_limbs(self) -> int:
        """Limbs that programs compute on: all, or those that a bootstrapping leaves."""
        given = self.bootstrapping
        return self.limbs if given is None else self.ladder[self.levels - given.levels]

    def seal_obstacle(self) -> str | None:
        """Returns why Microsoft SEAL cannot hold the set, as half a sentence; None: it can."""
        if self.level_limbs:
            return "have several primes a level, and SEAL has one: use such a set"
        return super().seal_obstacle()

    def beyond_seal(self) -> dict[str, object]:
        """Returns what SEAL's ``parms_id`` does not say of the set; it is part of its identity."""
        found = super().beyond_seal()
        return found | {"level_limbs": list(self.level_limbs)} if self.level_limbs else found

    @property
    def sparse_key_shape(self) -> KeyShape:
        """The shape of the key that switches to the sparse secret of bootstrapping.

        Raises:
            ParameterError: When the parameters do not bootstrap.
        """
        given = self.bootstrapping
        if given is None:
            raise ParameterError(
                f"parameters {self.name!r} do not bootstrap, and have no key to a sparse secret: "
                "take a named set that does, such as 'boot-test', or give bootstrapping="
            )
        return KeyShape(1, (*range(self.lowest_limbs), *self.special[: given.special]))

    def _check_scheme(self) -> None:
        self._check_levels()
        self._check_scale()
        if self.bootstrapping is not None:
            self._check_bootstrapping(self.bootstrapping)

    def _check_levels(self) -> None:
        """Refuses limbs of levels that do not ascend to all."""
        given = tuple(checked_integers("level_limbs", self.level_limbs))
        if given and not (
            given[0] >= 1
            and given[-1] == self.limbs
            and all(low < high for low, high in pairwise(given))
        ):
            raise ParameterError(
                f"level_limbs = {list(given)!r:.80} does not ascend from 1 or more to "
                f"{self.limbs}, all data primes: name the limbs of each level, or none where each "
                "has one more"
            )
        single = given == tuple(range(1, self.limbs + 1))
        object.__setattr__(self, "level_limbs", () if single else given)

    @property
    def security(self) -> int | None:
        """Security in bits; of parameters that bootstrap at most that of the sparse secret."""
        level = super().security
        if self.bootstrapping is None or level is None:
            return level
        return min(level, SPARSE_SECURITY) if self.n >= MIN_SPARSE_DEGREE else None

    @property
    def security_text(self) -> str:
        """The level by each standard in words, and that of the sparse secret."""
        text = super().security_text
        sparse = f"; {SPARSE_SECURITY} bits of the sparse secret by the limit of Lattigo v6"
        return text if self.bootstrapping is None or self.security is None else text + sparse

    def _check_bootstrapping(self, given: Bootstrapping) -> None:
        """Refuses a bootstrapping for which the parameters have too few levels."""
        if not isinstance(given, Bootstrapping):
            raise ParameterError(
                f"bootstrapping = {given!r:.60} is no Bootstrapping(...): give one, or None"
            )
        if given.levels > self.levels:
            raise ParameterError(
                f"bootstrapping takes {given.levels} levels, and there are {self.levels}: name "
                "data primes for more of them, and for each level that is to be left"
            )
        if given.special > len(self.special_primes):
            raise ParameterError(
                f"bootstrapping: special = {given.special}, and there are "
                f"{len(self.special_primes)} special primes"
            )
        bits = math.prod(self.primes[i] for i in self.sparse_key_shape.base).bit_length()
        if bits > MAX_SPARSE_BITS:
            raise ParameterError(
                f"the key to the sparse secret has a modulus of {bits} bits, and at most "
                f"{MAX_SPARSE_BITS} are secure: take a smaller q_0, or fewer special primes in it "
                "(special)"
            )
        q0, log_scale = self.lowest_modulus, math.log2(self.scale)
        if log_scale > math.log2(q0) - given.ratio_bits + 0.5:
            raise ParameterError(
                f"scale = 2^{log_scale:.1f} is not 2^{given.ratio_bits} (ratio_bits) below q_0 of "
                f"{math.log2(q0):.1f} bits: lower the scale or widen q_0"
            )
        if given.weight + 1 >= 2 * self.n or given.weight > self.n:
            raise ParameterError(f"bootstrapping: weight = {given.weight} exceeds N = {self.n}")

    def _check_scale(self) -> None:
        scale, log_q = self.scale, math.log2(math.prod(self.data_primes))
        if not isinstance(scale, float) or not math.isfinite(scale) or scale < 1:
            raise ParameterError(
                f"scale = {scale!r} must be a finite float of at least 1.0: "
                "take a power of two near the primes that rescaling drops"
            )
        if math.log2(scale) >= log_q:
            raise ParameterError(
                f"scale = 2^{math.log2(scale):.1f} reaches the data modulus of {log_q:.1f} bits, "
                "and nothing is left for the message: lower the scale or add a data prime"
            )


def _check_sparse_level(n: int, bootstrapping: Bootstrapping | None, security: int | None) -> None:
    """Refuses a level that the sparse secret of a bootstrapping does not have."""
    if bootstrapping is None or security is None:
        return
    if n < MIN_SPARSE_DEGREE:
        raise ParameterError(
            f"N = {n}: the sparse secret of a bootstrapping has {SPARSE_SECURITY} bits of security "
            f"from N = {MIN_SPARSE_DEGREE} on: take such an N, or security=None"
        )
    if security != SPARSE_SECURITY:
        raise ParameterError(
            f"security = {security!r:.40}: parameters that bootstrap have {SPARSE_SECURITY} bits, "
            f"those of the sparse secret: take security={SPARSE_SECURITY}, or None"
        )


def _checked_scale(scale: object) -> float:
    """A scale as a float; what a scale may be is checked with the other values."""
    if isinstance(scale, bool) or not isinstance(scale, int | float):
        raise ParameterError(f"scale = {scale!r:.60} is no number: write one, such as 2.0**40")
    return float(scale)
