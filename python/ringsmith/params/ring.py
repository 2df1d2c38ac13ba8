"""What the parameters of both schemes have: a ring, primes, key switching, a security level."""

import math
import warnings
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from ringsmith import _core
from ringsmith.errors import ParameterError
from ringsmith.params.digits import equal_digits
from ringsmith.params.identity import SEAL_MAX_PRIMES, identity, parms_id
from ringsmith.params.keys import KeyShape
from ringsmith.params.primes import check_degree, check_primes, listed
from ringsmith.params.security import (
    LOWEST,
    SecurityWarning,
    bounds_text,
    security_level,
    security_text,
)
from ringsmith.python_numbers import make_python_numbers, python_number

BINOMIAL_DEVIATION = math.sqrt(10.5)
"""Standard deviation of the centred binomial errors that Microsoft SEAL draws: 3.24."""
MAX_ERROR = 21
"""Largest magnitude of the centred binomial errors of keys and encryptions (variance 10.5)."""


@dataclass(frozen=True)
class RlweParameters(ABC):
    """Ring and primes of a parameter set with hybrid key switching; CKKS and BFV add their own.

    A set below every level of the security standards warns with ``SecurityWarning``.

    Key switching cuts the data primes into ``dnum`` digits of consecutive primes and has k special
    primes (Han, Ki 2020, section 3). One prime a digit and k = 1 is Microsoft SEAL's and Medha's
    case, with their bits. Digits have equally many primes, or those that ``digit_sizes`` names:
    where primes are of several sizes, a digit has as many as its special primes outweigh.

    Attributes:
        n: Ring degree N, a power of two in 2^10 … 2^16.
        data_primes: q_0 … q_{L-1}, distinct, each 1 mod 2N; their product is q. q_0 is never
            dropped.
        special_primes: p_0 … p_{k-1}, k >= 1, of key switching. Their product should reach that of
            the largest digit, or key switching's error grows by the ratio.
        name: What reports and files call the set.
        dnum: Number of digits; 0 stands for one prime a digit and becomes L.
        digit_sizes: Data primes in each digit, from q_0; given none, or equal ones of which the
            last may have fewer, it is empty, and ``dnum`` says them.
        declared_security: The level in bits that the set's authors state, where it is below 128 or
            they estimated it otherwise than the standards; None: they state none.
    """

    n: int
    data_primes: tuple[int, ...]
    special_primes: tuple[int, ...]
    _: KW_ONLY
    name: str = "custom"
    dnum: int = 0
    digit_sizes: tuple[int, ...] = ()
    declared_security: int | None = None

    def __post_init__(self) -> None:
        make_python_numbers(self)
        for name in ("data_primes", "special_primes", "digit_sizes"):
            object.__setattr__(self, name, tuple(listed(name, getattr(self, name))))
        check_degree(self.n)
        _check_stated(self.name, self.declared_security)
        self._check_special()
        if not self.data_primes:
            raise ParameterError("0 data primes: name at least 1, and one more for each level")
        self._check_digits()
        check_primes(self.n, self.primes)
        self._check_scheme()
        if self.security is None or (self.declared_security or LOWEST) < LOWEST:
            stated = self.declared_security
            declared = "" if stated is None else f", and its authors state {stated} bits"
            level = f"of {self.security}" if self.security else f"below {LOWEST}"
            warnings.warn(
                f"{self.name}: logQP = {self.log_qp} bits at N = {self.n} is {level}-bit security"
                f"{declared}: for experiments and tests only. For {LOWEST}-bit security N carries "
                f"at most {bounds_text(self.n, LOWEST)}",
                SecurityWarning,
                stacklevel=5,
            )

    @property
    @abstractmethod
    def scheme(self) -> str:
        """``ckks`` or ``bfv``."""

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether messages are whole numbers modulo ``message_modulus``, without scales.

        A ciphertext of an exact scheme is in coefficient form and has the scale 1; of the other, in
        NTT form with a scale of its own.
        """

    @property
    @abstractmethod
    def slots(self) -> int:
        """Numbers that one ciphertext holds."""

    @property
    def message_modulus(self) -> int:
        """What messages are computed modulo; 0 where they are not exact."""
        return 0

    @property
    def word_bits(self) -> int:
        """Bits of a digit of keys that are cut into words; 0 where digits are primes."""
        return 0

    @property
    def residue_digits(self) -> bool:
        """Whether keys have digits of primes, and no special prime that they are divided by."""
        return False

    @property
    def error_deviation(self) -> float:
        """Standard deviation of the errors of keys and encryptions."""
        return BINOMIAL_DEVIATION

    @property
    def extension_primes(self) -> tuple[int, ...]:
        """Additional primes for products of ciphertexts; most sets have none."""
        return ()

    def multiplied_by(self, variants: tuple[str, ...]) -> "RlweParameters":
        """Returns the set for a device that multiplies only by these variants.

        Args:
            variants: Of ``multiplication``, the preferred first; empty: the device takes any.
        """
        del variants
        return self

    def require_batching(self) -> None:
        """Refuses a set whose ciphertexts hold no slots.

        Raises:
            ParameterError: When they hold none; says what to change.
        """
        return

    @abstractmethod
    def _check_scheme(self) -> None:
        """Refuses what the scheme adds, when ring and primes were checked."""

    def _check_digits(self) -> None:
        """Refuses digits that do not make up the data primes, and completes ``dnum``."""
        sizes = self.digit_sizes
        if not sizes:
            object.__setattr__(self, "dnum", _checked_dnum(self.dnum, self.limbs))
            return
        if not all(_is_whole(size) and size > 0 for size in sizes) or sum(sizes) != self.limbs:
            raise ParameterError(
                f"digit_sizes = {list(sizes)!r:.80} does not cut {self.limbs} data primes: name "
                "how many primes each digit has, from q_0; together they are all data primes"
            )
        if self.dnum not in (0, len(sizes)):
            raise ParameterError(
                f"dnum = {self.dnum!r:.40}, and digit_sizes has {len(sizes)} digits: leave dnum out"
            )
        object.__setattr__(self, "dnum", len(sizes))
        if sizes == equal_digits(self.limbs, len(sizes)):
            object.__setattr__(self, "digit_sizes", ())

    def _check_special(self) -> None:
        if not self.special_primes:
            raise ParameterError(
                "0 special primes: key switching needs at least 1: name one, as large as the "
                "largest data prime, or several for larger digits"
            )

    @cached_property
    def primes(self) -> tuple[int, ...]:
        """All primes: data primes, then special primes. Bases and keys index into this tuple."""
        return self.data_primes + self.special_primes

    @cached_property
    def parameters_id(self) -> bytes:
        """The set's identity, 32 bytes, which keys, plaintexts and ciphertexts carry.

        SEAL's key-level ``parms_id`` where SEAL can hold the set (``ringsmith.params.identity``).
        """
        name = parms_id(self.scheme, self.n, self.primes, self.message_modulus)
        return name if self.seal_obstacle() is None else identity(name, self.beyond_seal())

    def seal_obstacle(self) -> str | None:
        """Returns why Microsoft SEAL cannot hold the set, as half a sentence; None: it can."""
        if len(self.special_primes) != 1 or self.digit_size != 1:
            return (
                f"have {len(self.special_primes)} special primes and {self.key_digits} digits of "
                f"{self.limbs} data primes, and SEAL has exactly 1 special prime and one prime a "
                "digit: use such a set"
            )
        if len(self.primes) > SEAL_MAX_PRIMES:
            return (
                f"have {len(self.primes)} primes, and SEAL has at most {SEAL_MAX_PRIMES}: use "
                "fewer and wider ones"
            )
        return None

    def beyond_seal(self) -> dict[str, object]:
        """Returns what SEAL's ``parms_id`` does not say of the set; it is part of its identity."""
        found: dict[str, object] = {"special_primes": len(self.special_primes), "dnum": self.dnum}
        return found | ({"digit_sizes": list(self.digit_sizes)} if self.digit_sizes else {})

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """The smallest primitive 2N-th root of unity modulo each of ``primes``."""
        return tuple(_core.smallest_root(q, self.n) for q in self.primes)

    @cached_property
    def extended_primes(self) -> tuple[int, ...]:
        """The primes of a graph with products: data, special, then extension primes."""
        return self.primes + self.extension_primes

    @cached_property
    def extended_roots(self) -> tuple[int, ...]:
        """The smallest primitive 2N-th root of unity modulo each of ``extended_primes``."""
        more = (_core.smallest_root(q, self.n) for q in self.extension_primes)
        return (*self.roots, *more)

    @property
    def limbs(self) -> int:
        """Number of data primes L: the limbs of a fresh ciphertext."""
        return len(self.data_primes)

    @property
    def levels(self) -> int:
        """How many primes a fresh ciphertext can lose: L - 1."""
        return self.limbs - 1

    @property
    def lowest_limbs(self) -> int:
        """Limbs of the lowest level."""
        return self.limbs - self.levels

    def is_level(self, limbs: int) -> bool:
        """Whether ciphertexts of that many limbs are on a level."""
        return self.lowest_limbs <= limbs <= self.limbs

    def below(self, limbs: int) -> int:
        """Returns the limbs of the next lower level."""
        return limbs - 1

    def dropped(self, limbs: int) -> tuple[int, ...]:
        """Returns the primes that the next lower level lacks, as indices into ``primes``."""
        return tuple(range(self.below(limbs), limbs))

    def divisor(self, limbs: int) -> float:
        """Returns what rescaling to the next lower level divides by."""
        return float(math.prod(self.primes[i] for i in self.dropped(limbs)))

    @property
    def special(self) -> tuple[int, ...]:
        """Indices of the special primes in ``primes``."""
        return tuple(range(self.limbs, len(self.primes)))

    @cached_property
    def _digit_starts(self) -> tuple[int, ...]:
        """The first data prime of each digit, and L."""
        sizes = self.digit_sizes or equal_digits(self.limbs, self.dnum)
        return (0, *accumulate(sizes))

    @property
    def digit_size(self) -> int:
        """Data primes in the largest digit."""
        return max(b - a for a, b in pairwise(self._digit_starts))

    def digits(self, limbs: int) -> list[tuple[int, ...]]:
        """Returns the digits of a polynomial of ``limbs`` limbs, as indices into ``primes``."""
        bounds = pairwise(self._digit_starts)
        return [tuple(range(a, min(b, limbs))) for a, b in bounds if a < limbs]

    @property
    def key_digits(self) -> int:
        """Digits of a full key-switching key, an array (key_digits, 2, K, N)."""
        return self.dnum

    def digit_count(self, limbs: int) -> int:
        """Returns how many digits of a key a polynomial of ``limbs`` limbs is switched with."""
        return len(self.digits(limbs))

    def key_shape(self, limbs: int) -> KeyShape:
        """Returns the shape of a key for ciphertexts of up to ``limbs`` limbs.

        Args:
            limbs: 1 … L; of L the full key.

        Raises:
            ParameterError: When ``limbs`` is not such a number.
        """
        limbs = python_number(limbs)
        if isinstance(limbs, bool) or not isinstance(limbs, int) or not 0 < limbs <= self.limbs:
            raise ParameterError(
                f"a key for {limbs!r:.40} limbs: parameters {self.name!r} have 1 … {self.limbs}, "
                "the data primes: name the most limbs that the key is used at"
            )
        return KeyShape(self.digit_count(limbs), (*range(limbs), *self.special))

    @property
    def sparse_key_shape(self) -> KeyShape:
        """The shape of the key that switches to the sparse secret of bootstrapping.

        Raises:
            ParameterError: When the parameters do not bootstrap.
        """
        raise ParameterError(
            f"parameters {self.name!r} do not bootstrap, and have no key to a sparse secret"
        )

    def has_key_shape(self, shape: KeyShape) -> bool:
        """Whether a key of a shape can be one of these parameters, full or truncated."""
        if not shape.base or shape.base[-1] >= len(self.primes):
            return False
        limbs = sum(prime < self.limbs for prime in shape.base)
        if limbs and shape.base == self.key_shape(limbs).base:
            return shape.digits == self.digit_count(limbs)
        return 1 <= shape.digits <= self.key_digits

    @property
    def key_bytes(self) -> int:
        """Bytes of a full key-switching key; with a seed in place of its a part, half of them."""
        return self.key_shape(self.limbs).bytes(self.n)

    @property
    def max_error(self) -> int:
        """Largest magnitude of the errors of keys and encryptions."""
        return MAX_ERROR

    def key_switch_error_bound(self, limbs: int, *, fused: bool = False) -> float:
        """Returns the largest error that key switching can add to a coefficient of a decryption.

        Digits reach a * D, a their number of primes and D the product of those (``mod_up``); errors
        of keys reach ``max_error``; the secret is ternary; the division errs by at most k/2 in both
        halves (``mod_down``). Hence, over the digits, N * max_error * sum(a * D) / P +
        (N + 1) * k / 2. Never passed; typical errors are smaller by a factor near sqrt(N).

        Args:
            limbs: Limbs of what is switched.
            fused: Whether the division is by the last data prime, too: ``relinearize_rescale``.
        """
        sizes = [len(d) * math.prod(self.primes[i] for i in d) for d in self.digits(limbs)]
        divisor = math.prod(self.special_primes) * (self.primes[limbs - 1] if fused else 1)
        half_dropped = (len(self.special_primes) + fused) / 2
        return self.max_error * self.n * (sum(sizes) / divisor) + (self.n + 1) * half_dropped

    @property
    def row_size(self) -> int:
        """Slots of a row, in which rotations are cyclic: N/2. CKKS has one row, BFV two."""
        return self.n // 2

    @cached_property
    def log_qp(self) -> int:
        """Bit length of the product of all primes: what the security bound speaks about."""
        return math.prod(self.primes).bit_length()

    @property
    def security(self) -> int | None:
        """Security in bits, 256, 192 or 128, by the 2018 standard or the 2024 guidelines.

        The higher of the two; None: below 128 by both.
        """
        return security_level(self.n, self.log_qp)

    @property
    def security_text(self) -> str:
        """The level by each standard in words, such as ``128 bits (2018 standard)``."""
        return security_text(self.n, self.log_qp)

    def galois_element(self, steps: int) -> int:
        """Returns the Galois element of a rotation of the slots.

        Args:
            steps: Slots to the left, or negative to the right; of magnitude 1 … N/2 - 1.

        Raises:
            ParameterError: When ``steps`` is not such a number.
        """
        if not 0 < abs(steps) < self.row_size:
            raise ParameterError(
                f"rotation by {steps} steps: take 1 … {self.row_size - 1}, or as many to the right"
            )
        return _core.galois_element(self.n, steps)

    @property
    def conjugation_element(self) -> int:
        """The Galois element 2N - 1: complex conjugation in CKKS, a swap of the rows in BFV."""
        return 2 * self.n - 1


def _check_stated(name: object, declared: Any) -> None:  # noqa: ANN401 - what was given
    """Refuses a name that is no text, and a declared level that is no number of bits."""
    if not isinstance(name, str):
        raise ParameterError(f"name = {name!r:.60} is no text: write one, such as 'mine'")
    whole = isinstance(declared, int) and not isinstance(declared, bool)
    if declared is not None and not (whole and declared >= 0):
        raise ParameterError(
            f"declared_security = {declared!r:.60} is no number of bits: write one, such as 100"
        )


def _is_whole(value: object) -> bool:
    """Whether a value is an integer, and no bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def _checked_dnum(dnum: int, limbs: int) -> int:
    """Returns the number of digits; 0 stands for one prime a digit."""
    if not _is_whole(dnum) or not 0 <= dnum <= limbs:
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
