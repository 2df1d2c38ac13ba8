"""Messages to ciphertexts and back, in the scheme of the parameters.

A decrypted CKKS result carries noise that depends on the secret key. Give a decryption to anyone
who also sees the ciphertext only with ``share`` (Li and Micciancio 2021, eprint 2020/1533).
A BFV result is exact as long as its noise has not reached the modulus. Beyond, the error of a
decryption depends on the secret key, and the noise budget does not always show it.
"""

from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith._core import secret
from ringsmith.client.checks import check_belongs, check_parameters, check_shape, checked_bfv
from ringsmith.client.keys import SecretKey
from ringsmith.client.schemes import messages_of
from ringsmith.client.sharing import Sharing, rounded
from ringsmith.errors import ParameterError, check_type
from ringsmith.objects import (
    Ciphertext,
    History,
    PlainPolynomial,
    Plaintext,
    PublicKey,
    Residues,
    check_key_tag,
    check_parameters_id,
)
from ringsmith.params import BfvParameters, CkksParameters, RlweParameters, bfv_context
from ringsmith.params.flooding import STATISTICAL_SECURITY, Flooding


@overload
def encode(
    parameters: CkksParameters,
    values: ArrayLike,
    *,
    scale: float | None = None,
    limbs: int | None = None,
) -> Plaintext: ...


@overload
def encode(parameters: BfvParameters, values: ArrayLike) -> PlainPolynomial: ...


def encode(
    parameters: RlweParameters,
    values: ArrayLike,
    *,
    scale: float | None = None,
    limbs: int | None = None,
) -> Plaintext | PlainPolynomial:
    """Encodes a vector into slots.

    Args:
        parameters: The parameter set.
        values: CKKS: at most N/2 real or complex numbers. BFV: at most N integers in
            -t/2 … t - 1, where the first N/2 are row 0; or an array of two rows. The other slots
            are zero.
        scale: CKKS's encoding scale; None: the parameters' default.
        limbs: CKKS's data primes to encode over; None: all.

    Raises:
        ParameterError: When the vector is too long, has other values, or t does not support
            batching. When a number at this scale exceeds the modulus, or an integer the plaintext
            space. When BFV is given a scale or limbs.
        TypeError: When ``parameters`` are no parameter set.
    """
    check_parameters(parameters)
    return messages_of(parameters).encode(parameters, values, scale, limbs)


@overload
def decode(parameters: CkksParameters, plaintext: Plaintext) -> NDArray[np.complex128]: ...


@overload
def decode(parameters: BfvParameters, plaintext: PlainPolynomial) -> NDArray[np.int64]: ...


def decode(
    parameters: RlweParameters, plaintext: Plaintext | PlainPolynomial
) -> NDArray[np.complex128] | NDArray[np.int64]:
    """Returns the slots of a plaintext.

    CKKS: N/2 complex numbers; use ``.real`` for real data. BFV: N integers in (-t/2, t/2], row 0
    first.

    Raises:
        ParameterError: When the plaintext does not have the parameters' shape, or t does not
            support batching.
        TypeError: When an argument is of another kind, or the plaintext of the other scheme.
    """
    check_parameters(parameters)
    return messages_of(parameters).decode(parameters, plaintext)


def encrypt(
    parameters: RlweParameters, public_key: PublicKey, plaintext: Plaintext | PlainPolynomial
) -> Ciphertext:
    """Encrypts a plaintext under a public key, with the operating system's randomness.

    Raises:
        ParameterError: When plaintext or key are of other parameters.
        TypeError: When an argument is of another kind, or the plaintext of the other scheme.
    """
    check_parameters(parameters)
    data, scale = messages_of(parameters).encrypt(parameters, public_key, plaintext)
    return _fresh(parameters, public_key, data, scale)


def encrypt_for_test(
    parameters: RlweParameters,
    public_key: PublicKey,
    plaintext: Plaintext | PlainPolynomial,
    seed: int,
) -> Ciphertext:
    """Encrypts with the errors of a fixed seed. This is insecure: anyone can make the same errors.

    Other arguments and errors are those of ``encrypt``.
    """
    check_parameters(parameters)
    data, scale = messages_of(parameters).encrypt(parameters, public_key, plaintext, seed)
    return _fresh(parameters, public_key, data, scale)


@overload
def decrypt(
    parameters: CkksParameters,
    secret_key: SecretKey,
    ciphertext: Ciphertext,
    *,
    share: int | None = None,
    noise_bound: float | None = None,
    statistical_security: int = STATISTICAL_SECURITY,
) -> Plaintext: ...


@overload
def decrypt(
    parameters: BfvParameters,
    secret_key: SecretKey,
    ciphertext: Ciphertext,
    *,
    share: int | None = None,
    noise_bound: float | None = None,
    statistical_security: int = STATISTICAL_SECURITY,
) -> PlainPolynomial: ...


def decrypt(
    parameters: RlweParameters,
    secret_key: SecretKey,
    ciphertext: Ciphertext,
    *,
    share: int | None = None,
    noise_bound: float | None = None,
    statistical_security: int = STATISTICAL_SECURITY,
) -> Plaintext | PlainPolynomial:
    """Decrypts a ciphertext of two or three polynomials.

    A BFV message is lost where ``noise_budget`` is 0; a positive budget does not prove it right. A
    CKKS plaintext that fills its modulus, as after decryption by a wrong key, causes a
    ``DecryptionWarning``.

    With ``share``, the result may be given to parties that see the ciphertext. A CKKS plaintext
    then gets Gaussian noise that hides its own (``ringsmith.params.flooding``). A BFV message is
    unchanged, and is refused where its noise may have reached the modulus. In both schemes this
    rests on the bound: it must hold for every ciphertext and key, so take it from a forecast, never
    from a measurement. ``ClientKit.decrypt`` has it from the program.

    Args:
        parameters: The parameter set.
        secret_key: The secret key.
        ciphertext: The ciphertext.
        share: Decryptions under this key that may be shared in all, from 1; None: the result is for
            the holder of the key only.
        noise_bound: With ``share``: what the noise reaches at most. CKKS: the error of every slot's
            number. BFV: the largest coefficient of the error E of the phase
            (q/t) * (m + t*k) + E; None: what ``Evaluator`` knows of the ciphertext.
        statistical_security: Bits of statistical security with ``share``, 20 to 64.

    Raises:
        ParameterError: When ciphertext or key are of other parameters or another key pair, or a
            BFV ciphertext has a scale. With ``share``, when the bound is missing, or so large that
            no bit survives, or that BFV's result may be wrong.
        TypeError: When an argument is of another kind.
    """
    _check_decryption(parameters, secret_key, ciphertext)
    messages = messages_of(parameters)
    if share is None:
        return messages.decrypt(parameters, secret_key, ciphertext)
    sharing = Sharing(Flooding(share, statistical_security), noise_bound)
    messages.shared_bits(parameters, ciphertext, sharing)
    return messages.shared(parameters, secret_key, ciphertext, sharing)


def noise_budget(parameters: RlweParameters, secret_key: SecretKey, ciphertext: Ciphertext) -> int:
    """Returns the bits by which the noise of a BFV ciphertext may still grow; 0: no budget left.

    The result is SEAL's invariant noise budget, exactly. At 0 the message is lost. Above 0 it is
    right only if the noise never reached the modulus on the way: noise is seen modulo q, and noise
    that has wrapped around q may look small. 150 doublings of a ciphertext multiply it by 2^150;
    with q just below 2^150 they yield, word for word, a ciphertext of (2^150 - q) times the
    message, with little noise. What rules this out is a forecast: a program's, or ``Evaluator``'s.

    The result depends on the secret key. Do not give it to anyone who also sees the ciphertext.

    Raises:
        ParameterError: When the parameters are CKKS's, or as ``decrypt``.
        TypeError: When an argument is of another kind.
    """
    exact = checked_bfv(parameters, "a noise budget")
    _check_decryption(exact, secret_key, ciphertext)
    context = bfv_context(exact)
    return secret.bfv_noise_budget(context, secret_key.reveal(), ciphertext.data)


def encrypt_vector(
    parameters: RlweParameters,
    public_key: PublicKey,
    values: ArrayLike,
    *,
    scale: float | None = None,
    limbs: int | None = None,
) -> Ciphertext:
    """Encodes and encrypts a vector: ``encode``, then ``encrypt``."""
    check_parameters(parameters)
    plaintext = messages_of(parameters).encode(parameters, values, scale, limbs)
    return encrypt(parameters, public_key, plaintext)


@overload
def decrypt_vector(
    parameters: CkksParameters,
    secret_key: SecretKey,
    ciphertext: Ciphertext,
    *,
    share: int | None = None,
    noise_bound: float | None = None,
    statistical_security: int = STATISTICAL_SECURITY,
) -> NDArray[np.complex128]: ...


@overload
def decrypt_vector(
    parameters: BfvParameters,
    secret_key: SecretKey,
    ciphertext: Ciphertext,
    *,
    share: int | None = None,
    noise_bound: float | None = None,
    statistical_security: int = STATISTICAL_SECURITY,
) -> NDArray[np.int64]: ...


@overload
def decrypt_vector(
    parameters: RlweParameters,
    secret_key: SecretKey,
    ciphertext: Ciphertext,
    *,
    share: int | None = None,
    noise_bound: float | None = None,
    statistical_security: int = STATISTICAL_SECURITY,
) -> NDArray[np.complex128] | NDArray[np.int64]: ...


def decrypt_vector(
    parameters: RlweParameters,
    secret_key: SecretKey,
    ciphertext: Ciphertext,
    *,
    share: int | None = None,
    noise_bound: float | None = None,
    statistical_security: int = STATISTICAL_SECURITY,
) -> NDArray[np.complex128] | NDArray[np.int64]:
    """Decrypts and decodes all slots: ``decrypt``, then ``decode``.

    With ``share``, CKKS's numbers are rounded to the bits that survive (``shared_bits``).
    """
    _check_decryption(parameters, secret_key, ciphertext)
    messages = messages_of(parameters)
    if share is None:
        return messages.decode(parameters, messages.decrypt(parameters, secret_key, ciphertext))
    sharing = Sharing(Flooding(share, statistical_security), noise_bound)
    bits = messages.shared_bits(parameters, ciphertext, sharing)
    found = messages.decode(
        parameters, messages.shared(parameters, secret_key, ciphertext, sharing)
    )
    return found if parameters.exact else rounded(np.asarray(found, np.complex128), bits)


def _fresh(
    parameters: RlweParameters, public_key: PublicKey, data: Residues, scale: float
) -> Ciphertext:
    """Returns a new encryption."""
    return Ciphertext(
        data,
        scale,
        parameters_id=parameters.parameters_id,
        key_tag=public_key.key_tag,
        history=History(fresh=True) if parameters.exact else None,
    )


def _check_decryption(parameters: object, secret_key: object, ciphertext: object) -> None:
    """Refuses a ciphertext that cannot be decrypted."""
    check_parameters(parameters)
    check_type("secret key", secret_key, SecretKey, "give the first key of generate_keys")
    check_type("ciphertext", ciphertext, Ciphertext, "give one of a result's outputs")
    assert isinstance(parameters, RlweParameters)
    assert isinstance(ciphertext, Ciphertext)
    assert isinstance(secret_key, SecretKey)
    _check_key_pair(parameters, secret_key, ciphertext)
    size, *shape = ciphertext.data.shape
    if size not in (2, 3):
        raise ParameterError(f"a ciphertext of {size} polynomials: they have 2, or 3")
    check_shape(parameters, "ciphertext", tuple(shape))
    messages_of(parameters).check_ciphertext(parameters, ciphertext)


def _check_key_pair(
    parameters: RlweParameters, secret_key: SecretKey, ciphertext: Ciphertext
) -> None:
    """Refuses a ciphertext or key of other parameters, and a ciphertext of another key pair."""
    check_belongs(parameters, "the ciphertext", ciphertext)
    check_parameters_id(
        "the secret key",
        secret_key.parameters_id,
        f"parameters {parameters.name!r}",
        parameters.parameters_id,
        "give the first key of generate_keys for these parameters",
    )
    check_key_tag(
        "the ciphertext",
        ciphertext.key_tag,
        "the secret key",
        secret_key.key_tag,
        "decrypt it with the secret key of the client that encrypted it",
    )
