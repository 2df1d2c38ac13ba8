"""The identity of a parameter set: 32 bytes that keys, plaintexts and ciphertexts carry.

Two sets have one identity exactly when objects of one can be used with the other. A set's name,
CKKS's default scale and a declared security level are not in it.

- Microsoft SEAL can hold the set: SEAL's key-level ``parms_id``, which is BLAKE2b-256 over the
  scheme's number, N, all primes and the plain modulus.
- Otherwise: BLAKE2b-256, personalised ``ringsmith-params``, over that ``parms_id`` and a JSON
  object of what SEAL cannot hold, keys sorted, no spaces (``RlweParameters.beyond_seal``).
"""

import hashlib
import json
from collections.abc import Mapping

from ringsmith import _core

SEAL_SCHEMES = {1: "bfv", 2: "ckks"}
"""SEAL's ``scheme_type`` -> the scheme's name here; BGV, 3, is not computed with."""
SEAL_MAX_PRIMES = 64
"""SEAL_COEFF_MOD_COUNT_MAX."""
ID_BYTES = 32
"""Of a set's identity, as of SEAL's ``parms_id``."""


def parms_id(scheme: str, n: int, primes: tuple[int, ...], plain_modulus: int = 0) -> bytes:
    """Returns SEAL's 32-byte name of a level: of the keys' level, when ``primes`` are all.

    Args:
        scheme: ``ckks`` or ``bfv``.
        n: Ring degree N.
        primes: The primes of the level.
        plain_modulus: BFV's t; 0 for CKKS.
    """
    number = next(number for number, name in SEAL_SCHEMES.items() if name == scheme)
    return _core.parms_id(number, n, primes, plain_modulus)


def identity(name: bytes, beyond_seal: Mapping[str, object]) -> bytes:
    """Returns the identity of a set that SEAL cannot hold.

    Args:
        name: SEAL's ``parms_id`` of ring, primes and plain modulus.
        beyond_seal: What that does not say.
    """
    text = json.dumps(beyond_seal, sort_keys=True, separators=(",", ":"))
    digest = hashlib.blake2b(name, digest_size=ID_BYTES, person=b"ringsmith-params")
    digest.update(text.encode("ascii"))
    return digest.digest()
