"""Encrypted objects that clients, files and the runtime hand to one another.

Residue arrays are NumPy ``uint64``, C-contiguous and canonical: in [0, q) of their limb's prime.
Keys of both schemes and all of CKKS are in NTT form: bit-reversed order,
``out[i] = a(psi^(2*brev(i)+1))``; BFV's ciphertexts are in coefficient form. The secret key is not
here: it lives in ``ringsmith.client`` alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import ParameterError

Residues = NDArray[np.uint64]

SEED_BYTES = 10
"""Of a key-switching key's seed: a Trivium key."""


@dataclass(frozen=True, eq=False)
class Plaintext:
    """An encoded message of CKKS: ``data`` has shape (limbs, N)."""

    data: Residues
    scale: float

    @property
    def limbs(self) -> int:
        """Number of data primes that the plaintext lives over."""
        return int(self.data.shape[0])


@dataclass(frozen=True, eq=False)
class PlainPolynomial:
    """An encoded message of BFV: ``data`` is the N coefficients, in [0, t), of a polynomial."""

    data: Residues


@dataclass(frozen=True, eq=False)
class Ciphertext:
    """An encrypted message: ``data`` has shape (size, limbs, N), size 2 or (unrelinearized) 3.

    The scale is CKKS's; BFV's is 1, as Microsoft SEAL has it.
    """

    data: Residues
    scale: float = 1.0

    @property
    def size(self) -> int:
        """Number of polynomials: 2, or 3 before relinearization."""
        return int(self.data.shape[0])

    @property
    def limbs(self) -> int:
        """Number of data primes that the ciphertext lives over."""
        return int(self.data.shape[1])


@dataclass(frozen=True, eq=False)
class PublicKey:
    """A public encryption key: ``data`` has shape (2, K, N), over all K primes."""

    data: Residues


@dataclass(frozen=True, eq=False)
class KeySwitchKey:
    """A key-switching key as SEAL lays it out: (digits, 2, K, N), over all K primes.

    K counts data and special primes; BFV's extension primes are not in it.

    Attributes:
        data: The whole key.
        seed: The ten bytes, public, from which half 1 (``data[:, 1]``) is expanded as
            ``ringsmith._core.expand_key_half`` does it; None where half 1 is uniform of itself.
            Then half 0 and the seed are all that need be kept or sent
            (``ringsmith.interop.seeded_keys``).
    """

    data: Residues
    seed: bytes | None = None

    def __post_init__(self) -> None:
        """Keeps the key from being written to: devices hold copies of it."""
        if self.seed is not None and len(self.seed) != SEED_BYTES:
            raise ParameterError(
                f"the seed of a key-switching key has {SEED_BYTES} bytes, this one has "
                f"{len(self.seed)}"
            )
        self.data.setflags(write=False)

    @property
    def digits(self) -> int:
        """Number of digits: the parameters' ``key_digits``; K - 1 where each is one data prime."""
        return int(self.data.shape[0])

    @property
    def nbytes(self) -> int:
        """Memory that the key takes."""
        return self.data.nbytes + len(self.seed or b"")


@dataclass(frozen=True, eq=False)
class CompactKey:
    """A seeded key-switching key as half of its words: the ``cpu`` device expands the others.

    It does so limb by limb while it computes, and computes what it would with the whole key.
    ``ringsmith.interop.seeded_keys.compact_keys`` makes such keys.

    Attributes:
        half: Half 0 of the whole key, (digits, K, N).
        seed: The ten bytes, public, that half 1 is expanded from.
    """

    half: Residues
    seed: bytes

    @property
    def digits(self) -> int:
        """Number of digits, as ``KeySwitchKey.digits``."""
        return int(self.half.shape[0])

    @property
    def nbytes(self) -> int:
        """Memory that the key takes."""
        return self.half.nbytes + len(self.seed)


@dataclass(frozen=True, eq=False)
class EvaluationKeys:
    """What a server needs to compute: relinearization keys and Galois keys by Galois element."""

    relin: KeySwitchKey | None = None
    galois: Mapping[int, KeySwitchKey] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def nbytes(self) -> int:
        """Memory that all keys take."""
        return _bytes_of(self.relin, self.galois)


@dataclass(frozen=True, eq=False)
class CompactKeys:
    """Evaluation keys of which only half is in memory, for the ``cpu`` device."""

    relin: CompactKey | None = None
    galois: Mapping[int, CompactKey] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def nbytes(self) -> int:
        """Memory that all keys take."""
        return _bytes_of(self.relin, self.galois)


def _bytes_of(
    relin: KeySwitchKey | CompactKey | None, galois: Mapping[int, KeySwitchKey | CompactKey]
) -> int:
    keys = [*galois.values()] if relin is None else [relin, *galois.values()]
    return sum(key.nbytes for key in keys)
