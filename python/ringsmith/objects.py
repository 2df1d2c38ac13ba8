"""Encrypted objects that clients, files and the runtime exchange.

Residue arrays are NumPy ``uint64``, C-contiguous and canonical: in [0, q) of their limb's prime.
Keys of both schemes and all CKKS objects are in NTT form, in bit-reversed order:
``out[i] = a(psi^(2*brev(i)+1))``. BFV ciphertexts are in coefficient form. The secret key is
defined in ``ringsmith.client`` only.

Every object carries ``parameters_id``, the identity of its parameters
(``RlweParameters.parameters_id``). Keys and ciphertexts also carry ``key_tag``, 16 random bytes
that ``generate_keys`` draws once for a key pair. Results inherit both, and every entry point
compares them. None means unknown, as for objects that Microsoft SEAL saved: it fits everything.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import ParameterError, ProgramError, RingsmithError
from ringsmith.params.identity import ID_BYTES
from ringsmith.params.keys import (
    FROM_SPARSE_KEY,
    RELIN_KEY,
    SINGLE_KEYS,
    TO_SPARSE_KEY,
    KeyShape,
    galois_element_of,
    galois_key_name,
)
from ringsmith.short_repr import short_repr

Residues = NDArray[np.uint64]
T = TypeVar("T")
K_co = TypeVar("K_co", covariant=True)
"""A key-switching key in one of its forms."""

SEED_BYTES = 10
"""Bytes of a key-switching key's seed: a Trivium key."""
KEY_TAG_BYTES = 16
"""Bytes of the random tag of a key pair."""


@dataclass(frozen=True, eq=False)
class OfParameters:
    """The base class of all objects.

    Attributes:
        parameters_id: The identity of the object's parameters, 32 bytes; None: unknown.
    """

    _: KW_ONLY
    parameters_id: bytes | None = None

    def __post_init__(self) -> None:
        check_length("parameters_id", self.parameters_id, ID_BYTES)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies by the constructor, which checks."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return _made, (type(self), values)


@dataclass(frozen=True, eq=False)
class OfKeyPair(OfParameters):
    """The base class of keys and ciphertexts.

    Attributes:
        key_tag: The random tag of the key pair, 16 bytes; None: unknown.
    """

    _: KW_ONLY
    key_tag: bytes | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_length("key_tag", self.key_tag, KEY_TAG_BYTES)


@short_repr
@dataclass(frozen=True, eq=False)
class Plaintext(OfParameters):
    """An encoded message of CKKS: ``data`` has shape (limbs, N)."""

    data: Residues
    scale: float

    @property
    def limbs(self) -> int:
        """Number of data primes that the plaintext lives over."""
        return int(self.data.shape[0])


@short_repr
@dataclass(frozen=True, eq=False)
class PlainPolynomial(OfParameters):
    """An encoded message of BFV: ``data`` is the N coefficients, in [0, t), of a polynomial."""

    data: Residues


@dataclass(frozen=True)
class History:
    """What this process knows of the error of a BFV ciphertext that it made. No file holds it.

    Attributes:
        fresh: Whether it is an encryption on which nothing was computed.
        error: log2 of bounds of its error's norms, in the order of
            ``ringsmith.schemes.bfv.norms.Norms``; None: unknown, or to be derived if ``fresh``.
    """

    fresh: bool
    error: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class Contents:
    """What the slots of a ciphertext hold, as far as a program knows. No file of one holds it.

    Attributes:
        numbers: Of a vector: its numbers, in the first slots. Of an array: its entries.
        packing: Of an array: a name of the places of its entries; equal for equal places.
        zeros: Whether all other slots hold zeros.
    """

    numbers: int
    packing: str = ""
    zeros: bool = True

    def serves(self, wanted: "Contents") -> bool:
        """Whether it can be an input of such contents."""
        if not self.zeros or self.packing != wanted.packing:
            return False
        return self.numbers == wanted.numbers or (
            not self.packing and self.numbers < wanted.numbers
        )

    def __str__(self) -> str:
        what = f"an array of {self.numbers} entries" if self.packing else f"{self.numbers} numbers"
        rest = "and zeros" if self.zeros else "and leftovers"
        return f"{what} {rest}{self.packing and f' in packing {self.packing}'}"


class _NoOperators:
    """What has no operators, and says where they are."""

    __array_ufunc__ = None
    """So that NumPy leaves an operator to this class."""

    def _refuse(self, _: object = None) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} has no operators: write the computation as a function, "
            "trace it, and run it on ciphertexts: trace(lambda x, y: x + y, parameters)"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __pow__ = __matmul__ = __rmatmul__ = __neg__ = _refuse


@short_repr
@dataclass(frozen=True, eq=False)
class Ciphertext(_NoOperators, OfKeyPair):
    """An encrypted message: ``data`` has shape (size, limbs, N), size 2 or (unrelinearized) 3.

    The scale is CKKS's; BFV's is 1, as Microsoft SEAL has it. A ciphertext has no operators:
    ``trace`` makes a program of a function, which runs on ciphertexts.

    Attributes:
        history: BFV: what is known of its error; None: nothing, as for a ciphertext from a file.
        contents: Of a run's output: what its slots hold; None: unknown, as for an encryption.
    """

    data: Residues
    scale: float = 1.0
    _: KW_ONLY
    history: History | None = None
    contents: Contents | None = None

    @property
    def size(self) -> int:
        """Number of polynomials: 2, or 3 before relinearization."""
        return int(self.data.shape[0])

    @property
    def limbs(self) -> int:
        """Number of data primes that the ciphertext lives over."""
        return int(self.data.shape[1])


@short_repr
@dataclass(frozen=True, eq=False)
class PublicKey(OfKeyPair):
    """A public encryption key: ``data`` has shape (2, K, N), over all K primes."""

    data: Residues


@short_repr
@dataclass(frozen=True, eq=False)
class KeySwitchKey(OfKeyPair):
    """A key-switching key as SEAL lays it out: (digits, 2, limbs, N).

    A full key has limbs for all K data and special primes. A truncated key has those of fewer
    primes, and may have fewer digits: for ciphertexts of fewer limbs.

    Attributes:
        data: Both parts: ``data[:, 0]`` is the b part, ``data[:, 1]`` the uniform a part.
        seed: Ten public bytes from which ``ringsmith._core.expand_key_half`` expands the a part.
            Such a key can be stored and sent seed-compressed, as its b part and its seed
            (``ringsmith.interop.seeded_keys``). None: the a part has no seed.
        base: Ascending indices of its limbs' primes; not given: 0, 1, …, as of a full key.
    """

    data: Residues
    seed: bytes | None = None
    base: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Makes the key read-only, because devices hold copies of it."""
        super().__post_init__()
        if self.seed is not None and len(self.seed) != SEED_BYTES:
            raise ParameterError(
                f"the seed of a key-switching key has {SEED_BYTES} bytes, this one has "
                f"{len(self.seed)}"
            )
        object.__setattr__(self, "base", _checked_base(self.base, self.data))
        self.data.setflags(write=False)

    @property
    def digits(self) -> int:
        """Number of digits: of a full key the parameters' ``key_digits``."""
        return int(self.data.shape[0])

    @property
    def shape(self) -> KeyShape:
        """Its digits and primes."""
        return KeyShape(self.digits, self.base)

    def limb(self, digit: int, half: int, prime: int) -> Residues:
        """Returns the N residues of one digit's part modulo a prime of ``base``.

        Args:
            digit: The digit.
            half: 0: of the b part, 1: of the a part.
            prime: Index of the prime.
        """
        found: Residues = self.data[digit, half, self.base.index(prime)]
        return found

    def over(self, base: Sequence[int]) -> Residues:
        """Returns its limbs of some primes: (digits, 2, primes, N); of its base without a copy."""
        if tuple(base) == self.base:
            return self.data
        return self.data[:, :, [self.base.index(prime) for prime in base]]

    def truncated(self, shape: KeyShape) -> "KeySwitchKey":
        """Returns a copy of the first digits and of some limbs of this key.

        Args:
            shape: As of ``RlweParameters.key_shape``.

        Raises:
            ParameterError: When the key has not all of them.
        """
        if shape.digits > self.digits or not set(shape.base) <= set(self.base):
            raise ParameterError(
                f"a key of {self.digits} digits and the primes {list(self.base)} cannot be cut to "
                f"{shape.digits} digits and the primes {list(shape.base)}: name fewer"
            )
        data = np.ascontiguousarray(self.over(shape.base)[: shape.digits])
        return replace(self, data=data, base=shape.base)

    @property
    def nbytes(self) -> int:
        """Memory that the key takes."""
        return self.data.nbytes + len(self.seed or b"")


@short_repr
@dataclass(frozen=True, eq=False)
class OnTheFlyKey(OfKeyPair):
    """A key-switching key that the ``cpu`` device expands on the fly: b part and seed only.

    The device expands the a part limb by limb while it computes. Results equal those of the full
    key. ``ringsmith.interop.seeded_keys.on_the_fly_keys`` makes such keys.

    Attributes:
        half: The b part, (digits, limbs, N).
        seed: Ten public bytes from which the a part is expanded.
        base: The primes of its limbs, as of ``KeySwitchKey``.
    """

    half: Residues
    seed: bytes
    base: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "base", _checked_base(self.base, self.half))

    @property
    def digits(self) -> int:
        """Number of digits, as ``KeySwitchKey.digits``."""
        return int(self.half.shape[0])

    @property
    def shape(self) -> KeyShape:
        """Its digits and primes."""
        return KeyShape(self.digits, self.base)

    @property
    def nbytes(self) -> int:
        """Memory that the key takes."""
        return self.half.nbytes + len(self.seed)


class _KeySet:
    relin: "KeySwitchKey | OnTheFlyKey | None"
    galois: "Mapping[int, KeySwitchKey | OnTheFlyKey]"
    to_sparse: "KeySwitchKey | OnTheFlyKey | None"
    from_sparse: "KeySwitchKey | OnTheFlyKey | None"

    def __post_init__(self) -> None:
        """Refuses keys of different parameters or key pairs."""
        object.__setattr__(self, "galois", MappingProxyType(dict(self.galois)))
        _ = self.parameters_id, self.key_tag

    def __reduce__(self) -> tuple[Any, ...]:
        single = {name: getattr(self, name) for name in SINGLE_KEYS}
        return _made, (type(self), single | {"galois": dict(self.galois)})

    @cached_property
    def parameters_id(self) -> bytes | None:
        """The identity of the keys' parameters; None: unknown."""
        return common("parameters", (key.parameters_id for key in keys_by_name(self).values()))

    @cached_property
    def key_tag(self) -> bytes | None:
        """The random tag of the keys' key pair; None: unknown."""
        return common("key pairs", (key.key_tag for key in keys_by_name(self).values()))

    @property
    def nbytes(self) -> int:
        """Memory that all keys take."""
        return sum(key.nbytes for key in keys_by_name(self).values())


@short_repr
@dataclass(frozen=True, eq=False)
class EvaluationKeys(_KeySet):
    """The keys with which a server computes.

    Attributes:
        relin: The relinearization key.
        galois: Galois keys by element.
        to_sparse: Of bootstrapping: the key that switches to a sparse secret, which exists modulo
            few primes only.
        from_sparse: Of bootstrapping: the key that switches back.
    """

    relin: KeySwitchKey | None = None
    galois: Mapping[int, KeySwitchKey] = field(default_factory=lambda: MappingProxyType({}))
    to_sparse: KeySwitchKey | None = None
    from_sparse: KeySwitchKey | None = None


@short_repr
@dataclass(frozen=True, eq=False)
class OnTheFlyKeys(_KeySet):
    """Evaluation keys expanded on the fly: only their b parts are in memory. For ``cpu`` only."""

    relin: OnTheFlyKey | None = None
    galois: Mapping[int, OnTheFlyKey] = field(default_factory=lambda: MappingProxyType({}))
    to_sparse: OnTheFlyKey | None = None
    from_sparse: OnTheFlyKey | None = None


class KeysByField(Protocol[K_co]):
    """A set of evaluation keys in one form, as ``EvaluationKeys`` has them."""

    @property
    def relin(self) -> K_co | None: ...  # noqa: D102
    @property
    def galois(self) -> Mapping[int, K_co]: ...  # noqa: D102
    @property
    def to_sparse(self) -> K_co | None: ...  # noqa: D102
    @property
    def from_sparse(self) -> K_co | None: ...  # noqa: D102


def keys_by_name(keys: KeysByField[K_co]) -> dict[str, K_co]:
    """Returns a set's keys by the names that graphs use."""
    single = {RELIN_KEY: keys.relin, TO_SPARSE_KEY: keys.to_sparse}
    single[FROM_SPARSE_KEY] = keys.from_sparse
    found = {name: key for name, key in single.items() if key is not None}
    return found | {galois_key_name(element): key for element, key in keys.galois.items()}


def keys_by_field(named: Mapping[str, T]) -> dict[str, Any]:
    """Returns keys by the names that graphs use as the arguments of a set of keys."""
    single: dict[str, Any] = {name: named[name] for name in SINGLE_KEYS if name in named}
    galois = {galois_element_of(name): named[name] for name in named if name not in single}
    return single | {"galois": MappingProxyType(galois)}


def check_parameters_id(
    what: str,
    found: bytes | None,
    whose: str,
    expected: bytes | None,
    hint: str,
    error: type[RingsmithError] = ParameterError,
) -> None:
    """Refuses an object of other parameters, where both identities are known.

    Args:
        what: Names the object.
        found: Its ``parameters_id``.
        whose: Names what has the expected identity.
        expected: The identity that the object must have.
        hint: What to do.
        error: The class of the error.
    """
    if found is not None and expected is not None and found != expected:
        raise error(
            f"{what}: made with other parameters (identity {found.hex()[:8]}) than {whose} "
            f"({expected.hex()[:8]}): {hint}"
        )


def check_key_tag(
    what: str,
    found: bytes | None,
    whose: str,
    expected: bytes | None,
    hint: str,
    error: type[RingsmithError] = ParameterError,
) -> None:
    """Refuses an object of another key pair, where both tags are known.

    Arguments are those of ``check_parameters_id``, with tags for identities.
    """
    if found is not None and expected is not None and found != expected:
        raise error(
            f"{what}: of another key pair (tag {found.hex()[:8]}) than {whose} "
            f"({expected.hex()[:8]}): {hint}"
        )


def check_opaque(ciphertext: Residues, what: str) -> None:
    """Refuses a ciphertext that decrypts without a key, as Microsoft SEAL does.

    Args:
        ciphertext: Its polynomials.
        what: Names it in the error.

    Raises:
        ProgramError: When all polynomials but the first are zero.
    """
    if not ciphertext[1:].any():
        raise ProgramError(
            f"{what} is transparent (anybody can read it): an operand is zero, or the operands "
            "cancel; SEAL refuses it, too"
        )


def common(what: str, values: Iterable[bytes | None]) -> bytes | None:
    """Returns the common value of all known identities or tags; None: none is known.

    Raises:
        ParameterError: When two differ; the message calls them ``what``.
    """
    known = {value for value in values if value is not None}
    if len(known) > 1:
        raise ParameterError(
            f"these evaluation keys are of {len(known)} different {what}: take all of them from "
            "one call of generate_keys"
        )
    return next(iter(known), None)


def _checked_base(base: Sequence[int], data: Residues) -> tuple[int, ...]:
    """Returns the primes of a key's limbs, in the order of the last axis but one."""
    limbs = data.shape[-2] if data.ndim > 1 else 0
    if not base:
        return tuple(range(limbs))
    if len(base) != limbs or base[0] < 0 or any(low >= high for low, high in pairwise(base)):
        raise ParameterError(
            f"base {list(base)!r:.200} is not ascending primes of a key's {limbs} limbs: name one "
            "for each"
        )
    return tuple(base)


def check_length(what: str, value: bytes | None, length: int) -> None:
    """Refuses an identity or a tag that is neither None nor of the right number of bytes."""
    if value is not None and not (isinstance(value, bytes) and len(value) == length):
        raise ParameterError(f"{what} = {value!r:.80} is not {length} bytes, nor None for unknown")


def _made(kind: type[T], values: dict[str, Any]) -> T:
    """Makes an object from its fields, for ``pickle`` and ``copy``."""
    return kind(**values)
