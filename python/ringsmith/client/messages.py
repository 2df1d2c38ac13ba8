"""Vectors to ciphertexts and back.

A decrypted CKKS result carries noise that depends on the secret key: hand a decryption to nobody
who also sees the ciphertext (Li and Micciancio 2021, eprint 2020/1533), or round it first.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith import _core
from ringsmith._core import secret
from ringsmith.client.keys import SecretKey, check_parameters
from ringsmith.errors import ParameterError, check_type
from ringsmith.objects import Ciphertext, Plaintext, PublicKey
from ringsmith.params import CkksParameters, ckks_encoder, core_context


def encode(
    parameters: CkksParameters,
    values: ArrayLike,
    *,
    scale: float | None = None,
    limbs: int | None = None,
) -> Plaintext:
    """Encodes a vector.

    Args:
        parameters: The parameter set.
        values: Real or complex numbers, at most N/2; zeros follow in the slots after them.
        scale: Encoding scale; None: the parameters' default.
        limbs: Data primes to encode over; None: all.

    Raises:
        ParameterError: When the vector is too long, not numeric or not finite, or a number at this
            scale exceeds the modulus.
        TypeError: When ``parameters`` are none.
    """
    check_parameters(parameters)
    scale = parameters.scale if scale is None else scale
    limbs = parameters.limbs if limbs is None else limbs
    if not 1 <= limbs <= parameters.limbs:
        raise ParameterError(f"limbs = {limbs} is outside 1 … {parameters.limbs}")
    if not (math.isfinite(scale) and scale >= 1):
        raise ParameterError(f"scale = {scale!r} must be finite and at least 1")
    slots = _checked_slots(parameters, values)
    largest = float(np.abs(slots).max())
    log_q = math.log2(math.prod(parameters.data_primes[:limbs]))
    if largest > 0 and math.log2(largest) + math.log2(scale) + 1 >= log_q:
        raise ParameterError(
            f"the number {largest:.3g} at scale 2^{math.log2(scale):.1f} exceeds the "
            f"modulus of {log_q:.1f} bits of {limbs} limbs: divide the vector by a constant, or "
            "lower the scale"
        )
    return Plaintext(ckks_encoder(parameters).encode(slots, scale, limbs), scale)


def decode(parameters: CkksParameters, plaintext: Plaintext) -> NDArray[np.complex128]:
    """Returns the N/2 complex numbers of a plaintext; take ``.real`` of what is real.

    Raises:
        ParameterError: When the plaintext does not have the parameters' shape.
        TypeError: When an argument is of another kind.
    """
    check_parameters(parameters)
    check_type("plaintext", plaintext, Plaintext, "give what encode or decrypt returned")
    _check_shape(parameters, "plaintext", plaintext.data.shape)
    return ckks_encoder(parameters).decode(plaintext.data, plaintext.scale)


def encrypt(parameters: CkksParameters, public_key: PublicKey, plaintext: Plaintext) -> Ciphertext:
    """Encrypts a plaintext under a public key, with the operating system's randomness.

    Raises:
        ParameterError: When plaintext or key do not have the parameters' shape.
        TypeError: When an argument is of another kind.
    """
    check_parameters(parameters)
    check_type("plaintext", plaintext, Plaintext, "give what encode returned")
    _check_shape(parameters, "plaintext", plaintext.data.shape)
    _check_key(parameters, public_key)
    context = core_context(parameters)
    return Ciphertext(_core.encrypt(context, public_key.data, plaintext.data), plaintext.scale)


def decrypt(parameters: CkksParameters, secret_key: SecretKey, ciphertext: Ciphertext) -> Plaintext:
    """Decrypts a ciphertext of two or three polynomials.

    Raises:
        ParameterError: When the ciphertext does not have the parameters' shape.
        TypeError: When an argument is of another kind.
    """
    check_parameters(parameters)
    check_type("secret key", secret_key, SecretKey, "give the first key of generate_keys")
    check_type("ciphertext", ciphertext, Ciphertext, "give one of a result's outputs")
    size, *shape = ciphertext.data.shape
    if size not in (2, 3):
        raise ParameterError(f"a ciphertext of {size} polynomials: they have 2, or 3")
    _check_shape(parameters, "ciphertext", tuple(shape))
    context = core_context(parameters)
    data = secret.decrypt(context, secret_key.reveal(), ciphertext.data)
    return Plaintext(data, ciphertext.scale)


def encrypt_vector(
    parameters: CkksParameters,
    public_key: PublicKey,
    values: ArrayLike,
    *,
    scale: float | None = None,
    limbs: int | None = None,
) -> Ciphertext:
    """Encodes and encrypts a vector: ``encode``, then ``encrypt``."""
    plaintext = encode(parameters, values, scale=scale, limbs=limbs)
    return encrypt(parameters, public_key, plaintext)


def decrypt_vector(
    parameters: CkksParameters, secret_key: SecretKey, ciphertext: Ciphertext
) -> NDArray[np.complex128]:
    """Decrypts and decodes all N/2 slots: ``decrypt``, then ``decode``."""
    return decode(parameters, decrypt(parameters, secret_key, ciphertext))


def _checked_slots(parameters: CkksParameters, values: ArrayLike) -> NDArray[np.complex128]:
    array = np.atleast_1d(np.asarray(values))
    numeric = array.dtype.kind in "iufc" and np.isfinite(array).all()
    if not numeric or array.ndim != 1 or array.size == 0:
        raise ParameterError(
            f"an array of {array.dtype} and shape {array.shape} is no vector of finite numbers"
        )
    if array.size > parameters.slots:
        raise ParameterError(
            f"a vector of {array.size} numbers exceeds the {parameters.slots} slots of a "
            "ciphertext: split it, or raise N"
        )
    padded = np.zeros(parameters.slots, np.complex128)
    padded[: array.size] = array
    return padded


def _check_shape(parameters: CkksParameters, what: str, shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or not 1 <= shape[0] <= parameters.limbs or shape[1] != parameters.n:
        raise ParameterError(
            f"{what} limbs have the shape {shape}: parameters {parameters.name!r} make "
            f"(1 … {parameters.limbs}, {parameters.n})"
        )


def _check_key(parameters: CkksParameters, key: PublicKey) -> None:
    check_type("public key", key, PublicKey, "give the second key of generate_keys")
    expected = (2, len(parameters.primes), parameters.n)
    if key.data.shape != expected:
        raise ParameterError(
            f"the public key has the shape {key.data.shape}: parameters {parameters.name!r} make "
            f"{expected}"
        )
