"""Microsoft SEAL's encryption parameters and the chain of levels that follows from them."""

import math
import struct
from dataclasses import dataclass
from functools import cached_property

from ringsmith import _core
from ringsmith.errors import InteropError
from ringsmith.files.compression import Compression
from ringsmith.interop.seal_stream import (
    DEFAULT_VERSION,
    Limit,
    Source,
    check_version,
    open_object,
    wrap,
    wrap_whole,
)
from ringsmith.params import BfvParameters, CkksParameters, RlweParameters
from ringsmith.params.identity import SEAL_MAX_PRIMES, SEAL_SCHEMES, parms_id

_MIN_DEGREE, _MAX_DEGREE = 1 << 10, 1 << 16
_MAX_PLAIN_BITS = 60
PARAMETERS_LIMIT = Limit(size=17 + (SEAL_MAX_PRIMES + 1) * 24)
"""Of the parameters' payload: scheme, N, number of primes, and each modulus with its header."""


@dataclass(frozen=True)
class SealParameters:
    """CKKS or BFV parameters as SEAL stores them: a ring and primes, without a scale.

    Attributes:
        n: Ring degree N, a power of two in 2^10 … 2^16.
        primes: Data primes, then the special prime (which a set of one prime does not have).
        plain_modulus: BFV's t, in 2 … 2^60 - 1; 0 for CKKS, which has none.
    """

    n: int
    primes: tuple[int, ...]
    plain_modulus: int = 0

    def __post_init__(self) -> None:
        if self.n & (self.n - 1) or not _MIN_DEGREE <= self.n <= _MAX_DEGREE:
            raise InteropError(
                f"N = {self.n} is not a power of two between {_MIN_DEGREE} and {_MAX_DEGREE}"
            )
        if not 1 <= len(self.primes) <= SEAL_MAX_PRIMES:
            raise InteropError(f"{len(self.primes)} primes: SEAL has 1 … {SEAL_MAX_PRIMES}")
        if len(set(self.primes)) != len(self.primes):
            raise InteropError("a prime occurs twice: the primes must be distinct")
        for prime in self.primes:
            wide = prime.bit_length() > _core.MAX_MODULUS_BITS
            if wide or prime % (2 * self.n) != 1 or not _core.is_prime(prime):
                raise InteropError(
                    f"modulus {prime} is not a prime of at most {_core.MAX_MODULUS_BITS} bits "
                    f"that is 1 mod 2N = {2 * self.n}, as CKKS and BFV need it"
                )
        t = self.plain_modulus
        if t and (not 2 <= t < 1 << _MAX_PLAIN_BITS or math.gcd(t, math.prod(self.primes)) > 1):
            raise InteropError(
                f"plain modulus {t} is not a number in 2 … 2^{_MAX_PLAIN_BITS} - 1 that is coprime "
                "to the primes, as BFV needs it"
            )

    @classmethod
    def from_parameters(cls, parameters: RlweParameters) -> "SealParameters":
        """The same ring and primes, and BFV's plain modulus.

        Raises:
            InteropError: When keys are switched otherwise than SEAL does it: with several special
                primes or none, several data primes a digit, or words; when BFV's errors are wider
                than SEAL's or its products are not ``behz``: who reads SEAL's file takes it for
                SEAL's, and would forecast more noise budget than there is.
        """
        obstacle = parameters.seal_obstacle()
        if obstacle is not None:
            raise InteropError(f"parameters {parameters.name!r} {obstacle}")
        return cls(parameters.n, parameters.primes, parameters.message_modulus)

    def to_parameters(self, name: str = "seal") -> CkksParameters | BfvParameters:
        """The parameters of SEAL's scheme; CKKS's default scale, which SEAL has not, is 2.

        As ``to_ckks`` or ``to_bfv``.
        """
        return self.to_bfv(name) if self.plain_modulus else self.to_ckks(2.0, name)

    def to_ckks(self, scale: float, name: str = "seal") -> CkksParameters:
        """The same ring and primes with a default scale; warns where they are not secure.

        Raises:
            InteropError: For BFV; for a single prime, which leaves none to be special.
            ParameterError: For an illegal scale.
        """
        if self.plain_modulus:
            raise InteropError(
                f"these are BFV parameters, with plain modulus {self.plain_modulus}, and CKKS's "
                "are needed: name CKKS parameters"
            )
        data, special = self._data_and_special()
        return CkksParameters.from_primes(
            n=self.n,
            data_primes=data,
            special_prime=special,
            scale=scale,
            security=None,
            name=name,
        )

    def to_bfv(self, name: str = "seal") -> BfvParameters:
        """The same ring, primes and plain modulus, multiplied as SEAL does it: ``behz``.

        Warns where they are not secure.

        Raises:
            InteropError: For CKKS; for a single prime, which leaves none to be special.
            ParameterError: For primes of more than 60 bits.
        """
        if not self.plain_modulus:
            raise InteropError(
                "these are CKKS parameters, without a plain modulus, and BFV's are needed: name "
                "BFV parameters"
            )
        data, special = self._data_and_special()
        return BfvParameters.from_primes(
            n=self.n,
            data_primes=data,
            special_prime=special,
            plain_modulus=self.plain_modulus,
            security=None,
            name=name,
        )

    @property
    def scheme(self) -> str:
        """``ckks`` or ``bfv``."""
        return "bfv" if self.plain_modulus else "ckks"

    @property
    def exact(self) -> bool:
        """Whether messages are whole numbers modulo ``plain_modulus``, as BFV's are."""
        return self.plain_modulus != 0

    @property
    def scheme_number(self) -> int:
        """SEAL's ``scheme_type``."""
        return next(number for number, name in SEAL_SCHEMES.items() if name == self.scheme)

    @property
    def max_limbs(self) -> int:
        """Number of data primes: limbs of a fresh ciphertext."""
        return max(1, len(self.primes) - 1)

    @cached_property
    def _limbs_by_id(self) -> dict[bytes, int]:
        return {self.parms_id(count): count for count in range(1, len(self.primes) + 1)}

    def parms_id(self, limbs: int) -> bytes:
        """SEAL's 32-byte name of the level with this many limbs; all primes: the key level."""
        return parms_id(self.scheme, self.n, self.primes[:limbs], self.plain_modulus)

    @cached_property
    def parameters_id(self) -> bytes:
        """The identity that objects carry: the name of the key level."""
        return self.parms_id(len(self.primes))

    def limbs(self, parms_id: bytes) -> int | None:
        """Number of limbs of the level that SEAL names so; None if it is another set's."""
        return self._limbs_by_id.get(parms_id)

    def as_ckks(self) -> "SealParameters":
        """CKKS's parameters over the same ring and primes."""
        return SealParameters(self.n, self.primes)

    def _data_and_special(self) -> tuple[tuple[int, ...], int]:
        if len(self.primes) < 2:
            raise InteropError("one prime allows no key switching: use parameters with a second")
        return self.primes[:-1], self.primes[-1]


def read_parameters(source: Source) -> SealParameters:
    """Reads SEAL's ``EncryptionParameters``.

    Raises:
        InteropError: When the bytes are malformed, or the scheme is neither CKKS nor BFV.
    """
    reader = open_object(source, "SEAL encryption parameters", PARAMETERS_LIMIT)
    scheme = reader.u8()
    if scheme not in SEAL_SCHEMES:
        raise reader.error(f"scheme {scheme} is neither BFV (1) nor CKKS (2)")
    n = reader.u64()
    count = reader.u64()
    if not 1 <= count <= SEAL_MAX_PRIMES:
        raise reader.error(f"{count} primes: SEAL has 1 … {SEAL_MAX_PRIMES}")
    values = []
    for index in range(count + 1):
        modulus = reader.nested(f"modulus {index}")
        values.append(modulus.u64())
        modulus.finish()
    reader.finish()
    *primes, plain_modulus = values
    if SEAL_SCHEMES[scheme] == "ckks":
        reader.expect("the plain modulus", plain_modulus, 0)
    elif not plain_modulus:
        raise reader.error("the plain modulus is 0, and BFV needs one")
    return SealParameters(n, tuple(primes), plain_modulus)


def write_parameters(
    parameters: SealParameters,
    *,
    version: tuple[int, int] = DEFAULT_VERSION,
    compression: Compression = Compression.NONE,
) -> bytes:
    """The bytes of SEAL's ``EncryptionParameters``.

    Args:
        parameters: The ring and primes.
        version: SEAL version to name in every header. 4.0 … 4.3 read only their own minor version.
        compression: Of the payload; SEAL reads zlib and zstd only where it was built with them.

    Raises:
        InteropError: For an unknown version.
    """
    check_version(version)
    payload = struct.pack("<BQQ", parameters.scheme_number, parameters.n, len(parameters.primes))
    for modulus in (*parameters.primes, parameters.plain_modulus):
        payload += wrap(struct.pack("<Q", modulus), version)
    return wrap_whole(payload, version, compression)
