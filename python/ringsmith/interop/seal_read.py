"""Microsoft SEAL 4.x objects of CKKS and BFV, read to Ringsmith's objects.

Everything in a file is checked before it is used: its size and every count against the
parameters before memory is taken for them, shapes and levels against the parameters, residues
against their primes. Seed-compressed objects are expanded.
"""

import hashlib
import math
import struct
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.errors import InteropError
from ringsmith.interop.seal_parameters import SealParameters
from ringsmith.interop.seal_stream import Limit, Reader, Source, open_object
from ringsmith.objects import (
    Ciphertext,
    KeySwitchKey,
    PlainPolynomial,
    Plaintext,
    PublicKey,
    Residues,
)

MAX_SIZE = 16
"""SEAL_CIPHERTEXT_SIZE_MAX."""
PARMS_ID_BYTES = 32
_MEMBERS = 512
"""More bytes than headers, counts, seed and parms_id of one object take."""
_KEY_EXPANSION = 8
"""Bytes that a compressed byte of a set of keys can make: residues are random, and NTT primes have
more than 8 of their words' 64 bits."""


def read_plaintext(source: Source, parameters: SealParameters) -> Plaintext | PlainPolynomial:
    """Reads a plaintext: of CKKS, in NTT form; of BFV, a polynomial modulo t.

    Raises:
        InteropError: When the bytes are malformed or belong to other parameters.
    """
    if parameters.exact:
        return _plain_polynomial(source, parameters)
    limit = Limit(_polynomials(parameters, parameters.max_limbs) + _MEMBERS)
    reader = open_object(source, "SEAL plaintext", limit)
    limbs = _data_level(reader, parameters)
    data, scale = _plaintext_members(reader, parameters, limbs)
    return Plaintext(data, scale, parameters_id=parameters.parameters_id)


def read_secret_key(source: Source, parameters: SealParameters) -> Residues:
    """Reads a secret key: (K, N), NTT form, over all K primes.

    Raises:
        InteropError: When the bytes are malformed or belong to other parameters.
    """
    return read_tagged_secret_key(source, parameters)[0]


def read_tagged_secret_key(
    source: Source, parameters: SealParameters
) -> tuple[Residues, bytes | None]:
    """Reads a secret key, as ``read_secret_key``, and the tag of its key pair, if it is there."""
    limit = Limit(_polynomials(parameters, len(parameters.primes)) + _MEMBERS)
    reader = open_object(source, "SEAL secret key", limit)
    _key_level(reader, parameters)
    return _plaintext_members(reader, parameters, len(parameters.primes))[0], reader.key_tag


def read_ciphertext(source: Source, parameters: SealParameters) -> Ciphertext:
    """Reads a full or seed-compressed ciphertext: CKKS in NTT form, BFV in coefficient form.

    Raises:
        InteropError: When the bytes are malformed or belong to other parameters.
    """
    limit = Limit(MAX_SIZE * _polynomials(parameters, parameters.max_limbs) + _MEMBERS)
    reader = open_object(source, "SEAL ciphertext", limit)
    limbs = _data_level(reader, parameters)
    data, scale = _ciphertext_members(reader, parameters, limbs, MAX_SIZE, ntt=not parameters.exact)
    identity = parameters.parameters_id
    return Ciphertext(data, scale, parameters_id=identity, key_tag=reader.key_tag)


def read_public_key(source: Source, parameters: SealParameters) -> PublicKey:
    """Reads a public key, full or seed-compressed.

    Raises:
        InteropError: When the bytes are malformed or belong to other parameters.
    """
    limit = Limit(2 * _polynomials(parameters, len(parameters.primes)) + _MEMBERS)
    reader = open_object(source, "SEAL public key", limit)
    data, identity = _public_key(reader, parameters), parameters.parameters_id
    return PublicKey(data, parameters_id=identity, key_tag=reader.key_tag)


def read_relin_keys(source: Source, parameters: SealParameters) -> KeySwitchKey:
    """Reads relinearization keys, full or seed-compressed: the key for s^2.

    Raises:
        InteropError: When the bytes are malformed, belong to other parameters, or hold keys for
            higher powers of the secret.
    """
    limit = _keys_limit(parameters, MAX_SIZE - 2)
    reader = open_object(source, "SEAL relinearization keys", limit)
    keys = _switching_keys(reader, parameters, MAX_SIZE - 2)
    if list(keys) != [0]:
        powers = ", ".join(str(index + 2) for index in keys) or "none"
        raise reader.error(f"keys for the secret's powers {powers}; expected is 2 alone")
    return keys[0]


def read_galois_keys(source: Source, parameters: SealParameters) -> dict[int, KeySwitchKey]:
    """Reads Galois keys, full or seed-compressed, by Galois element.

    Raises:
        InteropError: When the bytes are malformed or belong to other parameters.
    """
    limit = _keys_limit(parameters, parameters.n)
    reader = open_object(source, "SEAL Galois keys", limit)
    keys = _switching_keys(reader, parameters, parameters.n)
    return {2 * index + 1: key for index, key in keys.items()}


def _polynomials(parameters: SealParameters, limbs: int) -> int:
    """Bytes of a polynomial over this number of primes."""
    return 8 * limbs * parameters.n


def _keys_limit(parameters: SealParameters, entries: int) -> Limit:
    """The limit of KSwitchKeys with up to ``entries`` keys, most of them absent."""
    primes = len(parameters.primes)
    key = 8 + (primes - 1) * (2 * _polynomials(parameters, primes) + _MEMBERS)
    return Limit(_MEMBERS + entries * key, _KEY_EXPANSION, _MEMBERS + 8 * entries)


def _plain_polynomial(source: Source, parameters: SealParameters) -> PlainPolynomial:
    """A BFV plaintext, of at most N coefficients; those that the file leaves out are zero."""
    n, t = parameters.n, parameters.plain_modulus
    limit = Limit(_polynomials(parameters, parameters.max_limbs) + _MEMBERS)  # in NTT form
    reader = open_object(source, "SEAL plaintext", limit)
    if any(reader.take(PARMS_ID_BYTES)):
        raise reader.error(
            "in NTT form, as CKKS plaintexts are and BFV ones to multiply by; the parameters are "
            "BFV: save the plaintext as it was encoded"
        )
    count = reader.u64()
    if count > n:
        raise reader.error(f"{count} coefficients are more than N = {n}")
    _scale(reader, parameters)
    data = reader.array("data", count)
    reader.finish()
    if (data >= np.uint64(t)).any():
        raise reader.error(
            f"a coefficient is {data.max()} and the plain modulus t = {t}: the plaintext is "
            "damaged, or of other parameters"
        )
    return PlainPolynomial(np.pad(data, (0, n - count)), parameters_id=parameters.parameters_id)


def _level(reader: Reader, parameters: SealParameters) -> int:
    """Number of limbs of the level whose parms_id comes next."""
    identifier = bytes(reader.take(PARMS_ID_BYTES))
    if not any(identifier):
        raise reader.error(
            "not in NTT form, as keys and CKKS objects are: it is a BFV plaintext, or its "
            "parms_id is damaged"
        )
    limbs = parameters.limbs(identifier)
    if limbs is not None:
        return limbs
    if parameters.exact and parameters.as_ckks().limbs(identifier) is not None:
        raise reader.error(
            "belongs to CKKS parameters of the same primes, and the parameters given are BFV: name "
            "the parameters that it was made with"
        )
    raise reader.error(
        f"belongs to other encryption parameters (its parms_id is not in theirs, which are "
        f"{parameters.scheme.upper()}): N, the primes, the scheme or the plain modulus differ"
    )


def _data_level(reader: Reader, parameters: SealParameters) -> int:
    limbs = _level(reader, parameters)
    if limbs > parameters.max_limbs:
        raise reader.error("is at the key level, where only keys are")
    return limbs


def _key_level(reader: Reader, parameters: SealParameters) -> None:
    reader.expect("the number of primes", _level(reader, parameters), len(parameters.primes))


def _scale(reader: Reader, parameters: SealParameters) -> float:
    scale = reader.f64()
    if not (math.isfinite(scale) and scale > 0):
        raise reader.error(f"scale {scale} is not a positive finite number")
    if parameters.exact and scale != 1:
        raise reader.error(f"scale {scale} is not 1, as of all BFV objects")
    return scale


def check_canonical(data: Residues, parameters: SealParameters, what: str) -> None:
    """Refuses residues (..., L, N) that are not below the primes of their limbs."""
    primes = np.array(parameters.primes[: data.shape[-2]], dtype=np.uint64)
    if (data >= primes[:, np.newaxis]).any():
        raise InteropError(f"{what}: a residue is not below its prime: the data is damaged")


def _shaped(
    reader: Reader, words: Residues, shape: tuple[int, ...], parameters: SealParameters
) -> Residues:
    data = words.reshape(shape)
    check_canonical(data, parameters, reader.what)
    return data


def _plaintext_members(
    reader: Reader, parameters: SealParameters, limbs: int
) -> tuple[Residues, float]:
    """What follows the parms_id of a plaintext: (limbs, N) residues and the scale."""
    words = limbs * parameters.n
    reader.expect("the number of coefficients", reader.u64(), words)
    scale = _scale(reader, parameters)
    data = reader.array("data", words)
    reader.finish()
    return _shaped(reader, data, (limbs, parameters.n), parameters), scale


def _ciphertext_members(
    reader: Reader, parameters: SealParameters, limbs: int, max_size: int, *, ntt: bool = True
) -> tuple[Residues, float]:
    """What follows the parms_id of a ciphertext: (size, limbs, N) residues and the scale."""
    reader.expect("the NTT-form flag", reader.u8(), int(ntt))
    size = reader.u64()
    if not 2 <= size <= max_size:
        allowed = f"outside 2 … {max_size}" if max_size > 2 else "not 2, as a key's is"
        raise reader.error(f"size {size} is {allowed}")
    reader.expect("N", reader.u64(), parameters.n)
    reader.expect("the number of limbs", reader.u64(), limbs)
    scale = _scale(reader, parameters)
    reader.expect("the correction factor", reader.u64(), 1)
    polynomial = limbs * parameters.n
    seeded = (polynomial,) if size == 2 else ()
    words = reader.array("data", size * polynomial, *seeded)
    if words.size == polynomial:
        second = _expanded_seed(reader, parameters, limbs)
        words = np.concatenate([words, second.reshape(-1)])
    reader.finish()
    return _shaped(reader, words, (size, limbs, parameters.n), parameters), scale


def _expanded_seed(reader: Reader, parameters: SealParameters, limbs: int) -> Residues:
    """The uniform polynomial (limbs, N) of the UniformRandomGeneratorInfo that comes next."""
    info = reader.nested("seed")
    kind = info.u8()
    if kind not in EXPANDERS:
        known = ", ".join(f"{name} ({number})" for number, (name, _) in EXPANDERS.items())
        raise info.error(f"random generator {kind} is not one of SEAL's: {known}")
    seed = bytes(info.take(SEED_BYTES))
    info.finish()
    _, expand = EXPANDERS[kind]
    return expand(seed, parameters.n, parameters.primes[:limbs])


def _public_key(reader: Reader, parameters: SealParameters) -> Residues:
    """The members of a ciphertext of size 2 at the key level: (2, K, N) residues."""
    _key_level(reader, parameters)
    return _ciphertext_members(reader, parameters, len(parameters.primes), 2)[0]


def _switching_keys(
    reader: Reader, parameters: SealParameters, most: int
) -> dict[int, KeySwitchKey]:
    """The members of KSwitchKeys: the keys that are there, by index; at most ``most`` entries."""
    _key_level(reader, parameters)
    entries = reader.u64()
    if entries > most:
        raise reader.error(f"{entries} entries; SEAL has at most {most}")
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
        keys[index] = KeySwitchKey(
            np.stack(halves), parameters_id=parameters.parameters_id, key_tag=reader.key_tag
        )
    reader.finish()
    return keys


# ---- Uniform polynomials from the seeds that SEAL puts in place of them --------------------------

# SEAL has two generators (``randomgen.cpp``). BLAKE2Xb is the core's; SHAKE256 is here: block i of
# 4096 bytes is SHAKE256 of the 64-byte seed and the word i.


SEED_BYTES = 64
_BLOCK = 4096

Expander = Callable[[bytes, int, Sequence[int]], Residues]


def expand_shake256(seed: bytes, n: int, primes: Sequence[int]) -> Residues:
    """The uniform polynomial (limbs, N) that SEAL expands from a 64-byte SHAKE256 seed.

    As ``sample_poly_uniform`` of ``util/rlwe.cpp``: the words of all limbs first; then, limb after
    limb, a word that would favour small residues gives way to the next word of the stream.
    """
    bulk = len(primes) * n
    stream = _Stream(seed)
    words = stream.words(bulk).reshape(len(primes), n)
    for limb, q in zip(words, primes, strict=True):
        maximum = 0xFFFF_FFFF_FFFF_FFFF - 0xFFFF_FFFF_FFFF_FFFF % q - 1
        for position in np.flatnonzero(limb >= np.uint64(maximum)):
            word = maximum
            while word >= maximum:
                word = int(stream.words(1)[0])
            limb[position] = word
        limb %= np.uint64(q)
    return words


class _Stream:
    """The generator's words, one after another."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._counter = 0
        self._rest = np.empty(0, dtype=np.uint64)

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next ``count`` words."""
        parts = [self._rest]
        have = self._rest.size
        while have < count:
            data = hashlib.shake_256(self._seed + struct.pack("<Q", self._counter)).digest(_BLOCK)
            parts.append(np.frombuffer(data, dtype="<u8").astype(np.uint64))
            have += parts[-1].size
            self._counter += 1
        joined = np.concatenate(parts)
        self._rest = joined[count:]
        return joined[:count].copy()


EXPANDERS: dict[int, tuple[str, Expander]] = {
    1: ("BLAKE2Xb", _core.expand_seed),
    2: ("SHAKE256", expand_shake256),
}
"""SEAL's ``prng_type`` -> the generator's name, and its uniform polynomial."""
