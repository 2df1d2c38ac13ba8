"""BFV parameters: checked when they are made, and immutable."""

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import accumulate

from ringsmith import _core
from ringsmith.errors import ParameterError
from ringsmith.params.extension import (
    BEHZ_PRIME_BITS,
    behz_count,
    behz_primes,
    hps_bound,
    hps_count,
    hps_primes,
)
from ringsmith.params.primes import (
    check_degree,
    check_primes,
    checked_base,
    checked_integers,
    listed,
    primes_of_sizes,
)
from ringsmith.params.ring import BINOMIAL_DEVIATION, RlweParameters
from ringsmith.python_numbers import with_python_numbers
from ringsmith.short_repr import short_repr

MAX_PLAIN_BITS = 60
"""Widest plain modulus: SEAL_PLAIN_MOD_BIT_COUNT_MAX."""
MAX_DEVIATION = 1024.0
"""Widest error distribution; HEAWS, the widest of the papers, has 102."""
TAIL = 9.081
"""Gaussian errors of another deviation end at this many deviations, where the probability of larger
ones falls below 2^-63 (``ErrorDistribution`` in ``core``)."""
CENTRING = 2.0**-20
"""By how much of its half a lifted digit may exceed it (``docs/reference/arithmetic.md``)."""
MULTIPLICATIONS = ("behz", "hps")
RELINEARIZATIONS = ("special_prime", "word", "residue")


@short_repr
@dataclass(frozen=True)
class BfvParameters(RlweParameters):
    """A BFV parameter set: exact arithmetic modulo ``plain_modulus``.

    Make one with ``create`` (sizes of primes) or ``from_primes`` (the primes themselves). A set
    below every level of the security standards is refused, unless it declares its level or is made
    with ``security=None``; then it warns with ``SecurityWarning``.

    Attributes:
        plain_modulus: t, in 2 … 2^60 - 1, below q and coprime to it: messages are polynomials
            modulo t.
        multiplication: ``behz``, Microsoft SEAL's bits, or ``hps``, as HEAWS multiplies.
        relinearization: How keys are switched, Galois keys', too: ``special_prime``, SEAL's;
            ``word``, HEAWS's, which slices coefficients into words; or ``residue``, coefficients
            modulo the primes of each of ``dnum`` digits. The latter two have no special primes.
        word_bits: Bits of a word, for ``word``; else 0.
        extension_primes: Primes of products, in addition to q. ``behz``: m_sk, then the base B;
            they follow from the rest. ``hps``: given, or searched for when empty.
        error_deviation: Standard deviation of the errors of keys and encryptions.
    """

    plain_modulus: int
    _: KW_ONLY
    multiplication: str = "behz"
    relinearization: str = "special_prime"
    word_bits: int = 0
    extension_primes: tuple[int, ...] = ()
    error_deviation: float = BINOMIAL_DEVIATION

    @classmethod
    @with_python_numbers
    def create(
        cls,
        *,
        n: int,
        prime_bits: Sequence[int],
        special_bits: int | Sequence[int] = (),
        plain_bits: int | None = None,
        plain_modulus: int | None = None,
        multiplication: str = "behz",
        relinearization: str = "special_prime",
        word_bits: int = 0,
        extension_primes: Iterable[int] = (),
        error_deviation: float = BINOMIAL_DEVIATION,
        security: int | None = 128,
        name: str = "custom",
        dnum: int = 0,
        digit_sizes: Iterable[int] = (),
        declared_security: int | None = None,
    ) -> "BfvParameters":
        """Finds primes of the given sizes: those of SEAL's ``CoeffModulus::Create``.

        Args:
            n: Ring degree N, a power of two in 2^10 … 2^16.
            prime_bits: Bits of each data prime, q_0 first.
            special_bits: Bits of the special prime, or of each where there are several; none for
                relinearization ``word`` or ``residue``.
            plain_bits: Bits of t, which is then the largest such prime that batches, as of SEAL's
                ``PlainModulus::Batching``.
            plain_modulus: t itself, in place of ``plain_bits``.
            multiplication: ``behz`` or ``hps``.
            relinearization: ``special_prime``, ``word`` or ``residue``.
            word_bits: Bits of a word of relinearization ``word``.
            extension_primes: Of ``hps``; searched for when empty.
            error_deviation: Standard deviation of errors.
            security: Level to hold by the 2018 standard or the 2024 guidelines, 128, 192 or 256;
                None: any, with a warning when below 128.
            name: What reports and files call the set.
            dnum: Digits of key switching; 0: one prime a digit.
            digit_sizes: Data primes in each digit, where these differ; in place of ``dnum``.
            declared_security: The level that the set's authors state; takes the place of
                ``security``.

        Raises:
            ParameterError: When a value is illegal or the level is missed; says what to change.
        """
        wanted = security if declared_security is None else None
        data, special = primes_of_sizes(n, prime_bits, special_bits, wanted)
        if (plain_bits is None) == (plain_modulus is None):
            raise ParameterError("name either plain_bits, for a t that batches, or plain_modulus")
        if plain_modulus is None:
            plain_modulus = batching_prime(n, plain_bits or 0, data + special)
        return cls(
            n,
            data,
            special,
            plain_modulus,
            name=name,
            dnum=dnum,
            digit_sizes=tuple(listed("digit_sizes", digit_sizes)),
            declared_security=declared_security,
            multiplication=multiplication,
            relinearization=relinearization,
            word_bits=word_bits,
            extension_primes=tuple(listed("extension_primes", extension_primes)),
            error_deviation=error_deviation,
        )

    @classmethod
    @with_python_numbers
    def from_primes(
        cls,
        *,
        n: int,
        data_primes: Iterable[int],
        special_prime: int | Iterable[int] = (),
        plain_modulus: int,
        multiplication: str = "behz",
        relinearization: str = "special_prime",
        word_bits: int = 0,
        extension_primes: Iterable[int] = (),
        error_deviation: float = BINOMIAL_DEVIATION,
        security: int | None = 128,
        name: str = "custom",
        dnum: int = 0,
        digit_sizes: Iterable[int] = (),
        declared_security: int | None = None,
    ) -> "BfvParameters":
        """Takes given primes, such as those of a SEAL file.

        Args are those of ``create``, with ``data_primes`` (q_0 first) and ``special_prime`` (one,
        several or none) in place of sizes.

        Raises:
            ParameterError: When a prime or another value is illegal, or the level is missed; says
                what to change.
        """
        wanted = security if declared_security is None else None
        data, special = checked_base(n, data_primes, special_prime, wanted)
        return cls(
            n,
            data,
            special,
            plain_modulus,
            name=name,
            dnum=dnum,
            digit_sizes=tuple(listed("digit_sizes", digit_sizes)),
            declared_security=declared_security,
            multiplication=multiplication,
            relinearization=relinearization,
            word_bits=word_bits,
            extension_primes=tuple(listed("extension_primes", extension_primes)),
            error_deviation=error_deviation,
        )

    @property
    def scheme(self) -> str:
        """``bfv``."""
        return "bfv"

    @property
    def exact(self) -> bool:
        """Always."""
        return True

    @property
    def message_modulus(self) -> int:
        """The plain modulus t."""
        return self.plain_modulus

    def seal_obstacle(self) -> str | None:
        """As of ``RlweParameters``; SEAL's files have neither errors nor a multiplication."""
        obstacle = super().seal_obstacle()
        seals = {"error_deviation": BINOMIAL_DEVIATION, "multiplication": "behz"}
        for field, value in seals.items():
            own = getattr(self, field)
            if obstacle is None and own != value:
                return (
                    f"have {field} = {own!r}, which SEAL's files cannot say: their readers would "
                    f"take it for SEAL's, {value!r}: leave {field} out of the parameters"
                )
        return obstacle

    def beyond_seal(self) -> dict[str, object]:
        """As of ``RlweParameters``; the deviation in hexadecimal, as ``float.hex``."""
        hps = self.multiplication == "hps"  # those of behz follow from the rest
        return super().beyond_seal() | {
            "relinearization": self.relinearization,
            "word_bits": self.word_bits,
            "multiplication": self.multiplication,
            "extension_primes": list(self.extension_primes) if hps else [],
            "error_deviation": self.error_deviation.hex(),
        }

    @property
    def batching(self) -> bool:
        """Whether N numbers fit into a ciphertext's slots: t is a prime that is 1 mod 2N."""
        return self.plain_modulus % (2 * self.n) == 1 and _core.is_prime(self.plain_modulus)

    @property
    def residue_digits(self) -> bool:
        """As of ``RlweParameters``."""
        return self.relinearization == "residue"

    @property
    def min_limbs(self) -> int:
        """Limbs of the lowest level: with fewer primes q would not exceed t."""
        products = accumulate(self.data_primes, operator.mul)
        return next(i for i, q in enumerate(products, start=1) if q > self.plain_modulus)

    @property
    def levels(self) -> int:
        """How many primes a fresh ciphertext can lose."""
        return self.limbs - self.min_limbs

    @property
    def slots(self) -> int:
        """Numbers modulo t that one ciphertext holds: N, batched as two rows or as coefficients."""
        return self.n

    def require_batching(self) -> None:
        """Refuses a plain modulus without slots.

        Raises:
            ParameterError: When t does not batch; says which do.
        """
        if not self.batching:
            raise ParameterError(
                f"plain modulus t = {self.plain_modulus} does not batch: slots need a prime that "
                f"is 1 mod 2N = {2 * self.n}: let BfvParameters.create(plain_bits=...) find one, "
                "or encode into coefficients"
            )

    def multiplied_by(self, variants: tuple[str, ...]) -> "BfvParameters":
        """As of ``RlweParameters``: by the first variant, with extension primes of its own."""
        if not variants or self.multiplication in variants:
            return self
        return replace(self, multiplication=variants[0], extension_primes=())

    def extension(self, limbs: int) -> tuple[int, ...]:
        """Returns the extension primes for products of ``limbs`` limbs.

        As indices into ``extended_primes``: of ``behz`` as many, from m_sk on, as SEAL takes at
        that level; of ``hps`` the fewest, from the first on, that the bound allows.
        """
        data, t = self.data_primes[:limbs], self.plain_modulus
        if self.multiplication == "behz":
            count = behz_count(data, t)
        else:
            count = hps_count(self.extension_primes, hps_bound(self.n, data, t))
        first = len(self.primes)
        return tuple(range(first, first + count))

    def words(self, limbs: int) -> int:
        """Returns how many words of ``word_bits`` bits a residue modulo q_0 … q_{limbs-1} has.

        Raises:
            ParameterError: When relinearization is not ``word``: then there are no words.
        """
        if self.relinearization != "word":
            raise ParameterError(
                f"parameters {self.name!r} have relinearization {self.relinearization!r}, which "
                "has no words: ask for key_digits, or take relinearization 'word'"
            )
        return -(-math.prod(self.data_primes[:limbs]).bit_length() // self.word_bits)

    @property
    def key_digits(self) -> int:
        """Digits of a full key-switching key: dnum, or the words of q."""
        return self.words(self.limbs) if self.relinearization == "word" else self.dnum

    def digit_count(self, limbs: int) -> int:
        """As of ``RlweParameters``; by words how many a residue has."""
        if self.relinearization == "word":
            return self.words(limbs)
        return super().digit_count(limbs)

    @property
    def max_error(self) -> int:
        """Largest magnitude of errors: 21 of the centred binomial, else 9.08 deviations."""
        if self.error_deviation == BINOMIAL_DEVIATION:
            return super().max_error
        return math.floor(TAIL * self.error_deviation + 0.5)

    def key_switch_error_bound(self, limbs: int, *, fused: bool = False) -> float:
        """As of ``RlweParameters``, where a special prime divides.

        Of ``word`` and ``residue``: N * max_error * the sum of the largest digits. Those of
        ``residue`` are centred: D/2 * (1 + 2^-20) for primes with the product D.
        """
        if self.relinearization == "special_prime":
            return super().key_switch_error_bound(limbs, fused=fused)
        if self.relinearization == "residue":
            sizes = (math.prod(self.primes[i] for i in d) for d in self.digits(limbs))
            return self.max_error * self.n * (sum(sizes) / 2 * (1 + CENTRING))
        modulus, bits = math.prod(self.data_primes[:limbs]), self.word_bits
        words = (min((1 << bits) - 1, modulus >> bits * j) for j in range(self.words(limbs)))
        return float(self.max_error * self.n * sum(words))

    def _check_special(self) -> None:
        _check_choice("multiplication", self.multiplication, MULTIPLICATIONS)
        _check_choice("relinearization", self.relinearization, RELINEARIZATIONS)
        if self.relinearization == "special_prime":
            super()._check_special()
        elif self.special_primes:
            raise ParameterError(
                f"{len(self.special_primes)} special primes: relinearization "
                f"{self.relinearization!r} has none: leave them out, or take relinearization "
                "'special_prime'"
            )

    def _check_scheme(self) -> None:
        _check_plain_modulus(self.plain_modulus, self.data_primes, self.special_primes)
        self._check_widths()
        self._check_words()
        deviation = self.error_deviation
        real = isinstance(deviation, float) and math.isfinite(deviation)
        if not real or not BINOMIAL_DEVIATION <= deviation <= MAX_DEVIATION:
            raise ParameterError(
                f"error_deviation = {deviation!r} is not a float in {BINOMIAL_DEVIATION:.4f} … "
                f"{MAX_DEVIATION:.0f}: smaller errors than the standard's are not secure"
            )
        object.__setattr__(self, "extension_primes", self._checked_extension())

    def _check_widths(self) -> None:
        """Refuses data primes, and of ``behz`` special primes, as wide as its extension primes."""
        checked = self.primes if self.multiplication == "behz" else self.data_primes
        wide = next((q for q in checked if q.bit_length() >= BEHZ_PRIME_BITS), None)
        if wide is not None:
            raise ParameterError(
                f"prime {wide} has {wide.bit_length()} bits: BFV takes data primes, and with "
                f"multiplication 'behz' special primes, of at most {BEHZ_PRIME_BITS - 1} bits, "
                f"since it computes in others of {BEHZ_PRIME_BITS}: take narrower ones"
            )

    def _check_words(self) -> None:
        bits, log_q = self.word_bits, math.prod(self.data_primes).bit_length()
        if self.relinearization != "word":
            if bits != 0:
                raise ParameterError(
                    f"word_bits = {bits!r}: relinearization {self.relinearization!r} has no words: "
                    "leave it out, or take relinearization 'word'"
                )
            return
        if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= log_q:
            raise ParameterError(
                f"word_bits = {bits!r} is not a number of bits in 1 … {log_q}: "
                f"{-(-log_q // 2)} makes two words, as HEAWS has"
            )
        if self.dnum != self.limbs:
            raise ParameterError(
                f"dnum = {self.dnum}: relinearization 'word' has words for digits: leave it out"
            )

    def _checked_extension(self) -> tuple[int, ...]:
        """The extension primes, searched for where they follow from the rest or are not given."""
        given = tuple(checked_integers("the list of extension primes", self.extension_primes))
        t = self.plain_modulus
        if self.multiplication == "behz":
            derived = behz_primes(self.n, self.data_primes, t)
            if given not in ((), derived):
                raise ParameterError(
                    f"{len(given)} extension primes: those of multiplication 'behz' follow from N, "
                    "t and q: leave them out, or take multiplication 'hps'"
                )
            return derived
        extension = given or hps_primes(self.n, self.data_primes, self.special_primes, t)
        check_primes(self.n, self.primes + extension)
        hps_count(extension, hps_bound(self.n, self.data_primes, t))
        return extension


def batching_prime(n: int, bits: int, taken: Iterable[int] = ()) -> int:
    """Returns the largest prime of ``bits`` bits that is 1 mod 2N, and none of ``taken``.

    Raises:
        ParameterError: When there is no such prime.
    """
    check_degree(n)
    least = (2 * n).bit_length()
    if isinstance(bits, bool) or not isinstance(bits, int) or not least <= bits <= MAX_PLAIN_BITS:
        raise ParameterError(
            f"plain_bits = {bits!r} is not a number of bits in {least} … {MAX_PLAIN_BITS}: a "
            f"t that batches is 1 mod 2N = {2 * n}; without batching, name plain_modulus"
        )
    used = set(taken)
    candidates = range((1 << bits) - 2 * n + 1, 1 << (bits - 1), -2 * n)
    for candidate in candidates:
        if candidate not in used and _core.is_prime(candidate):
            return candidate
    raise ParameterError(
        f"plain_bits = {bits}: no such prime is 1 mod 2N = {2 * n} and none of the ciphertext's: "
        "take another size"
    )


def _check_choice(what: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ParameterError(f"{what} = {value!r} is not one of {', '.join(choices)}")


def _check_plain_modulus(t: object, data: Sequence[int], special: Sequence[int]) -> None:
    whole = isinstance(t, int) and not isinstance(t, bool)
    if not isinstance(t, int) or not whole or not 2 <= t < 1 << MAX_PLAIN_BITS:
        raise ParameterError(
            f"plain_modulus = {t!r} is not a whole number in 2 … 2^{MAX_PLAIN_BITS} - 1"
        )
    shared = [q for q in (*data, *special) if math.gcd(q, t) > 1]
    if shared:
        raise ParameterError(
            f"plain_modulus = {t} is not coprime to the prime {shared[0]}: take another"
        )
    q = math.prod(data)
    if t >= q:
        raise ParameterError(
            f"plain_modulus = {t} is not below q, which has {q.bit_length()} bits: add a data "
            "prime, or lower it"
        )
