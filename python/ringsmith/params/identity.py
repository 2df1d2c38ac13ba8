"""The identity of a parameter set: 32 bytes that keys, plaintexts and ciphertexts carry.

Two sets have one identity exactly when objects of one can be used with the other. A set's name,
CKKS's default scale and a declared security level are not in it.

- Microsoft SEAL can hold the set: SEAL's key-level ``parms_id``, which is BLAKE2b-256 over the
  scheme's number, N, all primes and the plain modulus.
- Otherwise: BLAKE2b-256, personalised ``ringsmith-params``, over that ``parms_id`` and a JSON
  object of what SEAL cannot hold, keys sorted, no spaces (:func:`_beyond_seal`).
"""

import hashlib
import json

from ringsmith import _core
from ringsmith.params.bfv import BfvParameters
from ringsmith.params.ring import BINOMIAL_DEVIATION, RlweParameters

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


def seal_obstacle(parameters: RlweParameters) -> str | None:
    """Returns why Microsoft SEAL cannot hold a set, as half a sentence; None: it can."""
    if len(parameters.special_primes) != 1 or parameters.digit_size != 1:
        return (
            f"have {len(parameters.special_primes)} special primes and {parameters.key_digits} "
            f"digits of {parameters.limbs} data primes, and SEAL has exactly 1 special prime and "
            "one prime a digit: use such a set"
        )
    if len(parameters.primes) > SEAL_MAX_PRIMES:
        return (
            f"have {len(parameters.primes)} primes, and SEAL has at most {SEAL_MAX_PRIMES}: use "
            "fewer and wider ones"
        )
    if isinstance(parameters, BfvParameters):
        seals = {"error_deviation": BINOMIAL_DEVIATION, "multiplication": "behz"}
        for field, value in seals.items():
            own = getattr(parameters, field)
            if own != value:
                return (
                    f"have {field} = {own!r}, which SEAL's files cannot say: their readers would "
                    f"take it for SEAL's, {value!r}: leave {field} out of the parameters"
                )
    return None


def identity(parameters: RlweParameters) -> bytes:
    """Returns the identity of a set; ``RlweParameters.parameters_id`` keeps it."""
    name = parms_id(parameters.scheme, parameters.n, parameters.primes, parameters.message_modulus)
    if seal_obstacle(parameters) is None:
        return name
    text = json.dumps(_beyond_seal(parameters), sort_keys=True, separators=(",", ":"))
    digest = hashlib.blake2b(name, digest_size=ID_BYTES, person=b"ringsmith-params")
    digest.update(text.encode("ascii"))
    return digest.digest()


def _beyond_seal(parameters: RlweParameters) -> dict[str, object]:
    """What SEAL's ``parms_id`` does not say; the deviation in hexadecimal, as ``float.hex``."""
    fields: dict[str, object] = {
        "special_primes": len(parameters.special_primes),
        "dnum": parameters.dnum,
    }
    if isinstance(parameters, BfvParameters):
        hps = parameters.multiplication == "hps"  # those of behz follow from the rest
        fields |= {
            "relinearization": parameters.relinearization,
            "word_bits": parameters.word_bits,
            "multiplication": parameters.multiplication,
            "extension_primes": list(parameters.extension_primes) if hps else [],
            "error_deviation": parameters.error_deviation.hex(),
        }
    return fields
