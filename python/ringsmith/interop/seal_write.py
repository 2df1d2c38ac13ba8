"""Ringsmith's objects as Microsoft SEAL 4.x saves them.

Every function takes ``version``, the SEAL version to name in every header, nested ones too (SEAL
4.0 … 4.3 read only their own minor version, 4.4 all of them), and ``compression`` of the payload
(SEAL reads zlib and zstd only where it was built with them). Every function raises ``InteropError``
when an object is of other parameters, its shape, scale or residues do not fit them, or the version
is unknown.
"""

import math
import struct
from collections.abc import Mapping

import numpy as np

from ringsmith.errors import InteropError
from ringsmith.files.compression import Compression
from ringsmith.interop.seal_parameters import SealParameters
from ringsmith.interop.seal_read import MAX_SIZE, PARMS_ID_BYTES, check_canonical
from ringsmith.interop.seal_stream import (
    DEFAULT_VERSION,
    HEADER_BYTES,
    check_version,
    with_version,
    wrap,
    wrap_array,
    wrap_whole,
)
from ringsmith.objects import (
    Ciphertext,
    KeySwitchKey,
    OfParameters,
    PlainPolynomial,
    Plaintext,
    PublicKey,
    Residues,
    check_parameters_id,
)

Version = tuple[int, int]

_CIPHERTEXT = struct.Struct("<BQQQdQ")
"""What follows a parms_id: whether in NTT form, size, N, limbs, scale, correction factor."""
_DATA_AT = HEADER_BYTES + PARMS_ID_BYTES + _CIPHERTEXT.size
CIPHERTEXT_START = _DATA_AT + HEADER_BYTES
"""This many bytes of an uncompressed ciphertext file hold all that depends on the SEAL version."""


def write_plaintext(
    plaintext: Plaintext | PlainPolynomial,
    parameters: SealParameters,
    *,
    version: Version = DEFAULT_VERSION,
    compression: Compression = Compression.NONE,
) -> bytes:
    """The bytes of a plaintext: of CKKS over data primes of ``parameters``; of BFV, modulo t."""
    check_version(version)
    _check_belongs("the plaintext", plaintext, parameters)
    if isinstance(plaintext, PlainPolynomial):
        identifier = bytes(PARMS_ID_BYTES)
        data, scale = _plain_coefficients(plaintext.data, parameters), 1.0
    elif not parameters.exact:
        data = _data_residues(plaintext.data, parameters, dimensions=2)
        identifier, scale = parameters.parms_id(data.shape[0]), plaintext.scale
    else:
        raise InteropError("a CKKS plaintext has no BFV parameters: encode it with them")
    payload = _plaintext_payload(identifier, data, _checked_scale(scale, parameters), version)
    return wrap_whole(payload, version, compression)


def write_secret_key(
    key: Residues,
    parameters: SealParameters,
    *,
    version: Version = DEFAULT_VERSION,
    compression: Compression = Compression.NONE,
) -> bytes:
    """The bytes of a secret key (K, N) over all primes; the client's to keep."""
    check_version(version)
    _key_residues(key, (len(parameters.primes), parameters.n), parameters, "the secret key")
    identifier = parameters.parms_id(len(parameters.primes))
    payload = _plaintext_payload(identifier, key, 1.0, version)
    return wrap_whole(payload, version, compression)


def write_ciphertext(
    ciphertext: Ciphertext,
    parameters: SealParameters,
    *,
    version: Version = DEFAULT_VERSION,
    compression: Compression = Compression.NONE,
) -> bytes:
    """The bytes of a ciphertext of 2 … 16 polynomials over data primes of ``parameters``."""
    check_version(version)
    _check_belongs("the ciphertext", ciphertext, parameters)
    data = _data_residues(ciphertext.data, parameters, dimensions=3)
    if not 2 <= ciphertext.size <= MAX_SIZE:
        raise InteropError(f"a ciphertext of size {ciphertext.size}: SEAL has 2 … {MAX_SIZE}")
    scale = _checked_scale(ciphertext.scale, parameters)
    ntt = not parameters.exact
    payload = _ciphertext_payload(data, scale, parameters, version, ntt=ntt)
    return wrap_whole(payload, version, compression)


def ciphertext_start(start: bytes, version: Version) -> bytes:
    """The first ``CIPHERTEXT_START`` bytes of a ciphertext's file, for another SEAL version.

    Args:
        start: These bytes of a file that ``write_ciphertext`` wrote without compression.
        version: The SEAL version to name in both headers.

    Raises:
        InteropError: When they are not the start of such a file, or the version is not known.
    """
    return with_version(start, (0, _DATA_AT), version)


def write_public_key(
    key: PublicKey,
    parameters: SealParameters,
    *,
    version: Version = DEFAULT_VERSION,
    compression: Compression = Compression.NONE,
) -> bytes:
    """The bytes of a public key (2, K, N)."""
    check_version(version)
    _check_belongs("the public key", key, parameters)
    shape = (2, len(parameters.primes), parameters.n)
    _key_residues(key.data, shape, parameters, "the public key")
    return wrap_whole(_ciphertext_payload(key.data, 1.0, parameters, version), version, compression)


def write_relin_keys(
    key: KeySwitchKey,
    parameters: SealParameters,
    *,
    version: Version = DEFAULT_VERSION,
    compression: Compression = Compression.NONE,
) -> bytes:
    """The bytes of relinearization keys: the one for s^2, (K - 1, 2, K, N)."""
    check_version(version)
    payload = _switching_payload({0: key}, 1, parameters, version)
    return wrap_whole(payload, version, compression)


def write_galois_keys(
    keys: Mapping[int, KeySwitchKey],
    parameters: SealParameters,
    *,
    version: Version = DEFAULT_VERSION,
    compression: Compression = Compression.NONE,
) -> bytes:
    """The bytes of Galois keys by Galois element, each (K - 1, 2, K, N)."""
    check_version(version)
    for element in keys:
        if not 1 <= element < 2 * parameters.n or element % 2 == 0:
            raise InteropError(f"Galois element {element} is not odd in 1 … {2 * parameters.n - 1}")
    entries = {(element - 1) // 2: key for element, key in keys.items()}
    payload = _switching_payload(entries, parameters.n, parameters, version)
    return wrap_whole(payload, version, compression)


def _plaintext_payload(identifier: bytes, data: Residues, scale: float, version: Version) -> bytes:
    return identifier + struct.pack("<Qd", data.size, scale) + wrap_array(data, version)


def _ciphertext_payload(
    data: Residues,
    scale: float,
    parameters: SealParameters,
    version: Version,
    *,
    ntt: bool = True,
) -> bytes:
    size, limbs, n = data.shape
    members = _CIPHERTEXT.pack(ntt, size, n, limbs, scale, 1)
    return parameters.parms_id(limbs) + members + wrap_array(data, version)


def _switching_payload(
    keys: Mapping[int, KeySwitchKey], entries: int, parameters: SealParameters, version: Version
) -> bytes:
    """The members of KSwitchKeys with the keys at their indices, the other entries empty."""
    primes = len(parameters.primes)
    shape = (primes - 1, 2, primes, parameters.n)
    parts = [parameters.parms_id(primes), struct.pack("<Q", entries)]
    for index in range(entries):
        if index not in keys:
            parts.append(struct.pack("<Q", 0))
            continue
        data = keys[index].data
        _check_belongs("the key-switching key", keys[index], parameters)
        _check_full(keys[index], parameters)
        _key_residues(data, shape, parameters, "the key-switching key")
        parts.append(struct.pack("<Q", shape[0]))
        parts += [
            wrap(_ciphertext_payload(digit, 1.0, parameters, version), version) for digit in data
        ]
    return b"".join(parts)


def _check_belongs(what: str, thing: OfParameters, parameters: SealParameters) -> None:
    """Refuses an object of other parameters than the file would name."""
    check_parameters_id(
        what,
        thing.parameters_id,
        "those to write for",
        parameters.parameters_id,
        "name the parameters that it was made with",
        InteropError,
    )


def _check_full(key: KeySwitchKey, parameters: SealParameters) -> None:
    """Refuses a truncated key, since SEAL's keys have all primes."""
    primes = len(parameters.primes)
    if key.base != tuple(range(primes)):
        raise InteropError(
            f"a key is truncated to {len(key.base)} of {primes} primes, and SEAL has full keys "
            "only: make full keys, with KeyNeeds of all limbs, or write it as an object of "
            "Ringsmith's"
        )


def _checked_scale(scale: float, parameters: SealParameters) -> float:
    if not (math.isfinite(scale) and scale > 0):
        raise InteropError(f"scale {scale} is not a positive finite number")
    if parameters.exact and scale != 1:
        raise InteropError(f"scale {scale} is not 1, as of all BFV objects: it is one of CKKS")
    return scale


def _plain_coefficients(data: Residues, parameters: SealParameters) -> Residues:
    """The N coefficients of a BFV plaintext, after shape and range were checked."""
    if not parameters.exact:
        raise InteropError("a BFV plaintext has no CKKS parameters: encode it with them")
    if data.dtype != np.uint64 or data.shape != (parameters.n,):
        raise InteropError(
            f"a BFV plaintext of shape {data.shape} and type {data.dtype}; expected are "
            f"N = {parameters.n} coefficients of uint64"
        )
    if (data >= np.uint64(parameters.plain_modulus)).any():
        raise InteropError(
            f"a coefficient is {data.max()} and the plain modulus t = {parameters.plain_modulus}: "
            "encode the message with these parameters"
        )
    return data


def _data_residues(data: Residues, parameters: SealParameters, dimensions: int) -> Residues:
    """The residues of a plaintext or ciphertext, after shape and residues were checked."""
    if data.dtype != np.uint64 or data.ndim != dimensions or data.shape[-1] != parameters.n:
        raise InteropError(
            f"data of shape {data.shape} and type {data.dtype}; expected are {dimensions} "
            f"dimensions of uint64, the last of N = {parameters.n}"
        )
    if not 1 <= data.shape[-2] <= parameters.max_limbs:
        raise InteropError(f"{data.shape[-2]} limbs are outside 1 … {parameters.max_limbs}")
    check_canonical(data, parameters, "the object to write")
    return data


def _key_residues(
    data: Residues, shape: tuple[int, ...], parameters: SealParameters, what: str
) -> None:
    if data.dtype != np.uint64 or data.shape != shape:
        raise InteropError(
            f"{what} has shape {data.shape} and type {data.dtype}; SEAL's has shape {shape} of "
            "uint64: use keys of the same parameters, one data prime a digit"
        )
    check_canonical(data, parameters, what)
