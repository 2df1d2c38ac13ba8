"""The scheme-dependent operations of ``ringsmith.client`` on messages."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith import _core
from ringsmith._core import secret
from ringsmith.client.checks import (
    check_belongs,
    check_public_key,
    check_shape,
    checked_bfv,
    checked_ckks,
)
from ringsmith.client.full_modulus import warn_if_full
from ringsmith.client.integers import check_polynomial, decode_batch, encode_batch
from ringsmith.client.keys import SecretKey
from ringsmith.client.slots import decode_slots, encode_slots
from ringsmith.errors import ParameterError, check_type
from ringsmith.objects import Ciphertext, PlainPolynomial, Plaintext, PublicKey, Residues
from ringsmith.params import RlweParameters, bfv_context, core_context

T = TypeVar("T")


class Messages(ABC):
    """Encodes, encrypts, decrypts and decodes; see ``ringsmith.client.messages``."""

    @abstractmethod
    def encode(
        self,
        parameters: RlweParameters,
        values: ArrayLike,
        scale: float | None,
        limbs: int | None,
    ) -> Plaintext | PlainPolynomial:
        """See ``encode``."""

    @abstractmethod
    def decode(
        self, parameters: RlweParameters, plaintext: object
    ) -> NDArray[np.complex128] | NDArray[np.int64]:
        """See ``decode``."""

    @abstractmethod
    def encrypt(
        self, parameters: RlweParameters, key: PublicKey, plaintext: object, seed: int | None = None
    ) -> tuple[Residues, float]:
        """Returns the words and the scale of a ciphertext."""

    @abstractmethod
    def decrypt(
        self, parameters: RlweParameters, key: SecretKey, ciphertext: Ciphertext
    ) -> Plaintext | PlainPolynomial:
        """Decrypts a ciphertext that has been checked."""

    @abstractmethod
    def check_ciphertext(self, parameters: RlweParameters, ciphertext: Ciphertext) -> None:
        """Refuses a ciphertext that the scheme cannot have."""


class _Ckks(Messages):
    def encode(
        self,
        parameters: RlweParameters,
        values: ArrayLike,
        scale: float | None,
        limbs: int | None,
    ) -> Plaintext:
        return encode_slots(checked_ckks(parameters, "a scale"), values, scale, limbs)

    def decode(self, parameters: RlweParameters, plaintext: object) -> NDArray[np.complex128]:
        return decode_slots(checked_ckks(parameters, "decoding"), _of_kind(plaintext, Plaintext))

    def encrypt(
        self,
        parameters: RlweParameters,
        key: PublicKey,
        plaintext: object,
        seed: int | None = None,
    ) -> tuple[Residues, float]:
        encoded = _of_kind(plaintext, Plaintext)
        check_belongs(parameters, "the plaintext", encoded)
        check_shape(parameters, "plaintext", encoded.data.shape)
        check_public_key(parameters, key)
        context = core_context(parameters)
        if seed is not None:
            return _core.encrypt_for_test(context, key.data, encoded.data, seed), encoded.scale
        return _core.encrypt(context, key.data, encoded.data), encoded.scale

    def decrypt(
        self, parameters: RlweParameters, key: SecretKey, ciphertext: Ciphertext
    ) -> Plaintext:
        data = secret.decrypt(core_context(parameters), key.reveal(), ciphertext.data)
        warn_if_full(checked_ckks(parameters, "decryption"), data)
        return Plaintext(data, ciphertext.scale, parameters_id=parameters.parameters_id)

    def check_ciphertext(self, parameters: RlweParameters, ciphertext: Ciphertext) -> None:
        """Accepts any scale and level."""


class _Bfv(Messages):
    def encode(
        self,
        parameters: RlweParameters,
        values: ArrayLike,
        scale: float | None,
        limbs: int | None,
    ) -> PlainPolynomial:
        if scale is not None or limbs is not None:
            raise ParameterError(
                f"scale = {scale}, limbs = {limbs}: BFV encodes exactly and for all levels, and "
                "has neither: leave them out; FixedPoint encodes fractions"
            )
        return encode_batch(checked_bfv(parameters, "encoding"), values)

    def decode(self, parameters: RlweParameters, plaintext: object) -> NDArray[np.int64]:
        exact = checked_bfv(parameters, "decoding")
        return decode_batch(exact, _of_kind(plaintext, PlainPolynomial))

    def encrypt(
        self,
        parameters: RlweParameters,
        key: PublicKey,
        plaintext: object,
        seed: int | None = None,
    ) -> tuple[Residues, float]:
        exact, polynomial = (
            checked_bfv(parameters, "encryption"),
            _of_kind(plaintext, PlainPolynomial),
        )
        check_polynomial(exact, polynomial)
        check_public_key(parameters, key)
        context = bfv_context(exact)
        if seed is not None:
            return _core.bfv.encrypt_for_test(context, key.data, polynomial.data, seed), 1.0
        return _core.bfv.encrypt(context, key.data, polynomial.data), 1.0

    def decrypt(
        self, parameters: RlweParameters, key: SecretKey, ciphertext: Ciphertext
    ) -> PlainPolynomial:
        context = bfv_context(checked_bfv(parameters, "decryption"))
        data = secret.bfv_decrypt(context, key.reveal(), ciphertext.data)
        return PlainPolynomial(data, parameters_id=parameters.parameters_id)

    def check_ciphertext(self, parameters: RlweParameters, ciphertext: Ciphertext) -> None:
        least = checked_bfv(parameters, "decryption").min_limbs
        if ciphertext.scale != 1:
            raise ParameterError(
                f"a ciphertext of scale {ciphertext.scale:g} is CKKS's; the parameters are BFV's"
            )
        if ciphertext.limbs < least:
            raise ParameterError(
                f"a ciphertext of {ciphertext.limbs} limbs: the q of {parameters.name!r} exceeds t "
                f"with {least} or more"
            )


_SCHEMES: Mapping[str, Messages] = MappingProxyType({"ckks": _Ckks(), "bfv": _Bfv()})


def messages_of(parameters: RlweParameters) -> Messages:
    """Returns the operations of the parameters' scheme."""
    return _SCHEMES[parameters.scheme]


def _of_kind(plaintext: object, expected: type[T]) -> T:
    """Returns a plaintext of the scheme's type, or refuses it."""
    advice = "give what encode or decrypt returned for parameters of this scheme"
    check_type("plaintext", plaintext, expected, advice)
    assert isinstance(plaintext, expected)
    return plaintext
