"""Microsoft SEAL's encryption parameters and the chain of levels that follows from them."""

import struct
from dataclasses import dataclass
from functools import cached_property

from ringsmith import _core
from ringsmith.errors import InteropError
from ringsmith.interop.seal_compression import Compression
from ringsmith.interop.seal_stream import (
    DEFAULT_VERSION,
    Limit,
    Source,
    check_version,
    open_object,
    wrap,
    wrap_whole,
)
from ringsmith.params import CkksParameters

CKKS_SCHEME = 2
_MAX_PRIMES = 64
_MIN_DEGREE, _MAX_DEGREE = 1 << 10, 1 << 16
PARAMETERS_LIMIT = Limit(size=17 + (_MAX_PRIMES + 1) * 24)
"""Of the parameters' payload: scheme, N, number of primes, and each modulus with its header."""


@dataclass(frozen=True)
class SealParameters:
    """CKKS parameters as SEAL stores them: a ring and primes, without a scale.

    Attributes:
        n: Ring degree N, a power of two in 2^10 … 2^16.
        primes: Data primes, then the special prime (which a set of one prime does not have).
    """

    n: int
    primes: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.n & (self.n - 1) or not _MIN_DEGREE <= self.n <= _MAX_DEGREE:
            raise InteropError(
                f"N = {self.n} is not a power of two between {_MIN_DEGREE} and {_MAX_DEGREE}"
            )
        if not 1 <= len(self.primes) <= _MAX_PRIMES:
            raise InteropError(f"{len(self.primes)} primes: SEAL has 1 … {_MAX_PRIMES}")
        if len(set(self.primes)) != len(self.primes):
            raise InteropError("a prime occurs twice: the primes must be distinct")
        for prime in self.primes:
            wide = prime.bit_length() > _core.MAX_MODULUS_BITS
            if wide or prime % (2 * self.n) != 1 or not _core.is_prime(prime):
                raise InteropError(
                    f"modulus {prime} is not a prime of at most {_core.MAX_MODULUS_BITS} bits "
                    f"that is 1 mod 2N = {2 * self.n}, as CKKS needs it"
                )

    @classmethod
    def from_ckks(cls, parameters: CkksParameters) -> "SealParameters":
        """The same ring and primes.

        Raises:
            InteropError: When the parameters have several special primes, or several data primes a
                digit, which SEAL has not.
        """
        if len(parameters.special_primes) != 1 or parameters.digit_size != 1:
            raise InteropError(
                f"parameters {parameters.name!r} have {len(parameters.special_primes)} special "
                f"primes and {parameters.dnum} digits of {parameters.limbs} data primes, and SEAL "
                "has exactly 1 special prime and one prime a digit: use such a set"
            )
        return cls(parameters.n, parameters.primes)

    def to_ckks(self, scale: float, name: str = "seal") -> CkksParameters:
        """The same ring and primes with a default scale; warns where they are not secure.

        Raises:
            InteropError: For a single prime, which leaves none to be special.
            ParameterError: For an illegal scale.
        """
        if len(self.primes) < 2:
            raise InteropError("one prime allows no key switching: use parameters with a second")
        return CkksParameters.from_primes(
            n=self.n,
            data_primes=self.primes[:-1],
            special_prime=self.primes[-1],
            scale=scale,
            security=None,
            name=name,
        )

    @property
    def max_limbs(self) -> int:
        """Number of data primes: limbs of a fresh ciphertext."""
        return max(1, len(self.primes) - 1)

    @cached_property
    def _limbs_by_id(self) -> dict[bytes, int]:
        counts = range(1, len(self.primes) + 1)
        return {_core.parms_id(CKKS_SCHEME, self.n, self.primes[:count]): count for count in counts}

    def parms_id(self, limbs: int) -> bytes:
        """SEAL's 32-byte name of the level with this many limbs; all primes: the key level."""
        return _core.parms_id(CKKS_SCHEME, self.n, self.primes[:limbs])

    def limbs(self, parms_id: bytes) -> int | None:
        """Number of limbs of the level that SEAL names so; None if it is another set's."""
        return self._limbs_by_id.get(parms_id)


def read_parameters(source: Source) -> SealParameters:
    """Reads SEAL's ``EncryptionParameters``.

    Raises:
        InteropError: When the bytes are malformed, or the scheme is not CKKS.
    """
    reader = open_object(source, "SEAL encryption parameters", PARAMETERS_LIMIT)
    scheme = reader.u8()
    if scheme != CKKS_SCHEME:
        raise reader.error(f"scheme {scheme} is not CKKS ({CKKS_SCHEME})")
    n = reader.u64()
    count = reader.u64()
    if not 1 <= count <= _MAX_PRIMES:
        raise reader.error(f"{count} primes: SEAL has 1 … {_MAX_PRIMES}")
    values = []
    for index in range(count + 1):
        modulus = reader.nested(f"modulus {index}")
        values.append(modulus.u64())
        modulus.finish()
    reader.finish()
    *primes, plain_modulus = values
    reader.expect("the plain modulus", plain_modulus, 0)
    return SealParameters(n, tuple(primes))


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
    payload = struct.pack("<BQQ", CKKS_SCHEME, parameters.n, len(parameters.primes))
    for modulus in (*parameters.primes, 0):
        payload += wrap(struct.pack("<Q", modulus), version)
    return wrap_whole(payload, version, compression)
