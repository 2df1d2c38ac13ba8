"""Microsoft SEAL 4.x objects of CKKS, uncompressed: read to Ringsmith's objects, and written.

SEAL is asked for such files with ``save(stream, compr_mode_type::none)``. Whatever a file says is
checked before it is believed: sizes against the bytes that are there, shapes and levels against
the parameters, residues against their primes. Seeded objects are expanded.
"""

import math
import struct

import numpy as np

from ringsmith import _core
from ringsmith.errors import InteropError
from ringsmith.interop.seal_parameters import SealParameters, read_parameters, write_parameters
from ringsmith.interop.seal_stream import (
    DEFAULT_VERSION,
    Reader,
    Source,
    open_object,
    wrap,
    wrap_array,
)
from ringsmith.objects import Ciphertext, KeySwitchKey, Plaintext, PublicKey, Residues

__all__ = [
    "SealParameters",
    "read_ciphertext",
    "read_galois_keys",
    "read_parameters",
    "read_plaintext",
    "read_public_key",
    "read_relin_keys",
    "read_secret_key",
    "write_ciphertext",
    "write_parameters",
    "write_plaintext",
]

_MAX_SIZE = 16
"""SEAL_CIPHERTEXT_SIZE_MAX."""
_PARMS_ID_BYTES = 32
_SEED_BYTES = 64
_BLAKE2XB = 1


def read_plaintext(source: Source, parameters: SealParameters) -> Plaintext:
    """Reads a CKKS plaintext, which is in NTT form.

    Raises:
        InteropError: When the bytes are malformed or belong to other parameters.
    """
    reader = open_object(source, "SEAL plaintext")
    limbs = _data_level(reader, parameters)
    data, scale = _plaintext_members(reader, parameters, limbs)
    return Plaintext(data, scale)


def read_secret_key(source: Source, parameters: SealParameters) -> Residues:
    """Reads a secret key: (K, N), NTT form, over all K primes.

    Raises:
        InteropError: When the bytes are malformed or belong to other parameters.
    """
    reader = open_object(source, "SEAL secret key")
    _key_level(reader, parameters)
    return _plaintext_members(reader, parameters, len(parameters.primes))[0]


def read_ciphertext(source: Source, parameters: SealParameters) -> Ciphertext:
    """Reads a CKKS ciphertext, whole or seeded.

    Raises:
        InteropError: When the bytes are malformed or belong to other parameters.
    """
    reader = open_object(source, "SEAL ciphertext")
    limbs = _data_level(reader, parameters)
    data, scale = _ciphertext_members(reader, parameters, limbs)
    return Ciphertext(data, scale)


def read_public_key(source: Source, parameters: SealParameters) -> PublicKey:
    """Reads a public key, whole or seeded.

    Raises:
        InteropError: When the bytes are malformed or belong to other parameters.
    """
    return PublicKey(_public_key(open_object(source, "SEAL public key"), parameters))


def read_relin_keys(source: Source, parameters: SealParameters) -> KeySwitchKey:
    """Reads relinearization keys, whole or seeded: the key for s^2.

    Raises:
        InteropError: When the bytes are malformed, belong to other parameters, or hold keys for
            higher powers of the secret.
    """
    reader = open_object(source, "SEAL relinearization keys")
    keys = _switching_keys(reader, parameters)
    if list(keys) != [0]:
        powers = ", ".join(str(index + 2) for index in keys) or "none"
        raise reader.error(f"keys for the secret's powers {powers}; expected is 2 alone")
    return keys[0]


def read_galois_keys(source: Source, parameters: SealParameters) -> dict[int, KeySwitchKey]:
    """Reads Galois keys, whole or seeded, by Galois element.

    Raises:
        InteropError: When the bytes are malformed or belong to other parameters.
    """
    reader = open_object(source, "SEAL Galois keys")
    return {2 * index + 1: key for index, key in _switching_keys(reader, parameters).items()}


def write_plaintext(
    plaintext: Plaintext,
    parameters: SealParameters,
    *,
    version: tuple[int, int] = DEFAULT_VERSION,
) -> bytes:
    """The bytes of a plaintext as SEAL saves it uncompressed.

    Args:
        plaintext: Over data primes of ``parameters``.
        parameters: The set that the reader will use.
        version: SEAL version to name in the headers. 4.0 … 4.3 read only their own minor version.

    Raises:
        InteropError: When shape, scale or residues do not fit the parameters.
    """
    data = _checked_data(plaintext.data, plaintext.scale, parameters, dimensions=2)
    payload = parameters.parms_id(plaintext.limbs)
    payload += struct.pack("<Qd", data.size, plaintext.scale)
    return wrap(payload + wrap_array(data, version), version)


def write_ciphertext(
    ciphertext: Ciphertext,
    parameters: SealParameters,
    *,
    version: tuple[int, int] = DEFAULT_VERSION,
) -> bytes:
    """The bytes of a ciphertext as SEAL saves it uncompressed.

    Args:
        ciphertext: Over data primes of ``parameters``; size 2 … 16.
        parameters: The set that the reader will use.
        version: SEAL version to name in the headers. 4.0 … 4.3 read only their own minor version.

    Raises:
        InteropError: When shape, scale or residues do not fit the parameters.
    """
    data = _checked_data(ciphertext.data, ciphertext.scale, parameters, dimensions=3)
    if not 2 <= ciphertext.size <= _MAX_SIZE:
        raise InteropError(f"a ciphertext of size {ciphertext.size}: SEAL has 2 … {_MAX_SIZE}")
    payload = parameters.parms_id(ciphertext.limbs)
    payload += struct.pack(
        "<BQQQdQ", 1, ciphertext.size, parameters.n, ciphertext.limbs, ciphertext.scale, 1
    )
    return wrap(payload + wrap_array(data, version), version)


def _level(reader: Reader, parameters: SealParameters) -> int:
    """Number of limbs of the level whose parms_id comes next."""
    identifier = bytes(reader.take(_PARMS_ID_BYTES))
    if not any(identifier):
        raise reader.error("not in NTT form, as CKKS objects are")
    limbs = parameters.limbs(identifier)
    if limbs is None:
        raise reader.error("belongs to other encryption parameters (its parms_id is not in theirs)")
    return limbs


def _data_level(reader: Reader, parameters: SealParameters) -> int:
    limbs = _level(reader, parameters)
    if limbs > parameters.max_limbs:
        raise reader.error("is at the key level, where only keys are")
    return limbs


def _key_level(reader: Reader, parameters: SealParameters) -> None:
    reader.expect("the number of primes", _level(reader, parameters), len(parameters.primes))


def _scale(reader: Reader) -> float:
    scale = reader.f64()
    if not (math.isfinite(scale) and scale > 0):
        raise reader.error(f"scale {scale} is not a positive finite number")
    return scale


def _check_canonical(data: Residues, parameters: SealParameters, what: str) -> None:
    """Refuses residues (..., L, N) that are not below the primes of their limbs."""
    primes = np.array(parameters.primes[: data.shape[-2]], dtype=np.uint64)
    if (data >= primes[:, np.newaxis]).any():
        raise InteropError(f"{what}: a residue is not below its prime: the data is damaged")


def _shaped(words: Residues, shape: tuple[int, ...], parameters: SealParameters) -> Residues:
    data = words.reshape(shape)
    _check_canonical(data, parameters, "SEAL object")
    return data


def _plaintext_members(
    reader: Reader, parameters: SealParameters, limbs: int
) -> tuple[Residues, float]:
    """What follows the parms_id of a plaintext: (limbs, N) residues and the scale."""
    words = limbs * parameters.n
    reader.expect("the number of coefficients", reader.u64(), words)
    scale = _scale(reader)
    data = reader.array()
    reader.expect("the number of words", data.size, words)
    reader.finish()
    return _shaped(data, (limbs, parameters.n), parameters), scale


def _ciphertext_members(
    reader: Reader, parameters: SealParameters, limbs: int
) -> tuple[Residues, float]:
    """What follows the parms_id of a ciphertext: (size, limbs, N) residues and the scale."""
    reader.expect("the NTT-form flag", reader.u8(), 1)
    size = reader.u64()
    if not 2 <= size <= _MAX_SIZE:
        raise reader.error(f"size {size} is outside 2 … {_MAX_SIZE}")
    reader.expect("N", reader.u64(), parameters.n)
    reader.expect("the number of limbs", reader.u64(), limbs)
    scale = _scale(reader)
    reader.expect("the correction factor", reader.u64(), 1)
    words = reader.array()
    polynomial = limbs * parameters.n
    if size == 2 and words.size == polynomial:
        second = _expanded_seed(reader, parameters, limbs)
        words = np.concatenate([words, second.reshape(-1)])
    reader.expect("the number of words", words.size, size * polynomial)
    reader.finish()
    return _shaped(words, (size, limbs, parameters.n), parameters), scale


def _expanded_seed(reader: Reader, parameters: SealParameters, limbs: int) -> Residues:
    """The uniform polynomial (limbs, N) of the UniformRandomGeneratorInfo that comes next."""
    info = reader.nested("seed")
    kind = info.u8()
    if kind != _BLAKE2XB:
        raise info.error(f"random generator {kind}: only BLAKE2Xb ({_BLAKE2XB}) is read")
    seed = bytes(info.take(_SEED_BYTES))
    info.finish()
    return _core.expand_seed(seed, parameters.n, parameters.primes[:limbs])


def _public_key(reader: Reader, parameters: SealParameters) -> Residues:
    """The members of a ciphertext of size 2 at the key level: (2, K, N) residues."""
    _key_level(reader, parameters)
    data, _ = _ciphertext_members(reader, parameters, len(parameters.primes))
    reader.expect("the key's size", data.shape[0], 2)
    return data


def _switching_keys(reader: Reader, parameters: SealParameters) -> dict[int, KeySwitchKey]:
    """The members of KSwitchKeys: the keys that are there, by index."""
    _key_level(reader, parameters)
    entries = reader.u64()
    if entries > parameters.n:
        raise reader.error(f"{entries} entries; SEAL has at most N = {parameters.n}")
    digits = len(parameters.primes) - 1
    keys = {}
    for index in range(entries):
        count = reader.u64()
        if count == 0:
            continue
        reader.expect("the number of digits", count, digits)
        halves = [
            _public_key(reader.nested(f"entry {index}, digit {digit}"), parameters)
            for digit in range(digits)
        ]
        keys[index] = KeySwitchKey(np.stack(halves))
    reader.finish()
    return keys


def _checked_data(
    data: Residues, scale: float, parameters: SealParameters, *, dimensions: int
) -> Residues:
    """The residues of an object to write, after its shape, scale and residues were checked."""
    if data.dtype != np.uint64 or data.ndim != dimensions or data.shape[-1] != parameters.n:
        raise InteropError(
            f"data of shape {data.shape} and type {data.dtype}; expected are {dimensions} "
            f"dimensions of uint64, the last of N = {parameters.n}"
        )
    if not 1 <= data.shape[-2] <= parameters.max_limbs:
        raise InteropError(f"{data.shape[-2]} limbs are outside 1 … {parameters.max_limbs}")
    if not (math.isfinite(scale) and scale > 0):
        raise InteropError(f"scale {scale} is not a positive finite number")
    _check_canonical(data, parameters, "the object to write")
    return data
