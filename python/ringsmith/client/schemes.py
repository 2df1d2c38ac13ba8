"""The scheme-dependent operations of ``ringsmith.client`` on messages."""

import math
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
    first_not_finite,
    refuse_masked,
)
from ringsmith.client.full_modulus import warn_if_full
from ringsmith.client.integers import check_polynomial, decode_batch, encode_batch
from ringsmith.client.keys import SecretKey
from ringsmith.client.sharing import Sharing, flooded, shared_bits
from ringsmith.errors import ParameterError, check_type
from ringsmith.objects import Ciphertext, PlainPolynomial, Plaintext, PublicKey, Residues
from ringsmith.params import (
    BfvParameters,
    CkksParameters,
    RlweParameters,
    bfv_context,
    ckks_encoder,
    core_context,
)
from ringsmith.params.flooding import SHARED_BUDGET
from ringsmith.python_numbers import python_number

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

    @abstractmethod
    def shared_bits(
        self, parameters: RlweParameters, ciphertext: Ciphertext, sharing: Sharing
    ) -> int:
        """Returns the bits after the point that survive; refuses what must not be shared."""

    @abstractmethod
    def shared(
        self, parameters: RlweParameters, key: SecretKey, ciphertext: Ciphertext, sharing: Sharing
    ) -> Plaintext | PlainPolynomial:
        """Decrypts a ciphertext, which ``shared_bits`` has admitted, for others to see."""


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

    def shared_bits(
        self, parameters: RlweParameters, ciphertext: Ciphertext, sharing: Sharing
    ) -> int:
        flooding = sharing.flooding
        if sharing.noise_bound is None:
            raise ParameterError(
                f"share = {flooding.queries} needs noise_bound: a ciphertext does not say how "
                "large its noise may be: decrypt by the program or its client kit, which knows it, "
                "or give ClientKit.noise_bounds(share)[name]"
            )
        return shared_bits(
            parameters,
            ciphertext.scale,
            flooding.queries,
            sharing.noise_bound,
            statistical_security=flooding.statistical_security,
        )

    def shared(
        self, parameters: RlweParameters, key: SecretKey, ciphertext: Ciphertext, sharing: Sharing
    ) -> Plaintext:
        assert sharing.noise_bound is not None, "shared_bits asks for it"
        found = self.decrypt(parameters, key, ciphertext)
        return flooded(parameters, found, sharing.flooding, sharing.noise_bound)


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

    def shared_bits(
        self, parameters: RlweParameters, ciphertext: Ciphertext, sharing: Sharing
    ) -> int:
        exact = checked_bfv(parameters, "a noise budget")
        bound = sharing.noise_bound
        if bound is None:
            bound = _known_noise(exact, ciphertext)
        if not 1 <= bound < math.inf:
            raise ParameterError(f"noise_bound = {bound!r} must be finite and at least 1")
        q = math.prod(exact.data_primes[: ciphertext.limbs])
        left = math.floor(math.log2(q / exact.plain_modulus / bound)) - 1
        if left < SHARED_BUDGET:
            raise ParameterError(
                f"noise up to 2^{math.log2(bound):.1f} leaves {left} bits of noise budget, and "
                f"results that are shared need {SHARED_BUDGET}, so that no decryption fails: "
                "compute less on it, or take a larger q or a smaller t"
            )
        return 0

    def shared(
        self, parameters: RlweParameters, key: SecretKey, ciphertext: Ciphertext, sharing: Sharing
    ) -> PlainPolynomial:
        return self.decrypt(parameters, key, ciphertext)


def _known_noise(parameters: BfvParameters, ciphertext: Ciphertext) -> float:
    """Returns a bound of the largest coefficient of a ciphertext's error."""
    history = ciphertext.history
    if history is not None and history.fresh:
        # u*e + e_0 + e_1*s with ternary u and s, not divided, and the message's rounding.
        return float(core_context(parameters).error_bound * (2 * parameters.n + 1) + 1)
    if history is None or history.error is None:
        raise ParameterError(
            "share: the noise of this ciphertext is unknown, and its budget does not prove that it "
            "never reached the modulus: decrypt by the program or its client kit, compute with "
            "Evaluator in this process, or give noise_bound"
        )
    return math.exp2(history.error[0])


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


# ---- CKKS's encoder: vectors of N/2 real or complex numbers to plaintexts and back ---------------


def encode_slots(
    parameters: CkksParameters, values: ArrayLike, scale: float | None, limbs: int | None
) -> Plaintext:
    """Encodes a vector; arguments and errors are those of ``encode``."""
    scale = parameters.scale if scale is None else scale
    limbs = parameters.limbs if limbs is None else limbs
    scale, limbs = python_number(scale), python_number(limbs)
    if isinstance(limbs, bool) or not isinstance(limbs, int) or not 1 <= limbs <= parameters.limbs:
        raise ParameterError(f"limbs = {limbs!r:.60} is outside 1 … {parameters.limbs}")
    if not isinstance(scale, int | float) or not (math.isfinite(scale) and scale >= 1):
        raise ParameterError(f"scale = {scale!r:.60} must be finite and at least 1")
    slots = _checked_slots(parameters, values)
    largest = float(np.abs(slots).max())
    log_q = math.log2(math.prod(parameters.data_primes[:limbs]))
    if largest > 0 and math.log2(largest) + math.log2(scale) + 1 >= log_q:
        raise ParameterError(
            f"the number {largest:.3g} at scale 2^{math.log2(scale):.1f} exceeds the "
            f"modulus of {log_q:.1f} bits of {limbs} limbs: divide the vector by a constant, or "
            "lower the scale"
        )
    data = ckks_encoder(parameters).encode(slots, scale, limbs)
    return Plaintext(data, scale, parameters_id=parameters.parameters_id)


def decode_slots(parameters: CkksParameters, plaintext: Plaintext) -> NDArray[np.complex128]:
    """Returns the N/2 complex numbers; errors are those of ``decode``."""
    check_belongs(parameters, "the plaintext", plaintext)
    check_shape(parameters, "plaintext", plaintext.data.shape)
    return ckks_encoder(parameters).decode(plaintext.data, plaintext.scale)


def _checked_slots(parameters: CkksParameters, values: ArrayLike) -> NDArray[np.complex128]:
    refuse_masked(values)
    array = np.atleast_1d(np.asarray(values))
    numeric = array.dtype.kind in "iufc" and np.isfinite(array).all()
    if not numeric or array.ndim != 1 or array.size == 0:
        first = first_not_finite(array)
        raise ParameterError(
            f"an array of {array.dtype} and shape {array.shape} is no vector of finite numbers"
            f"{first and f': {first}'}"
        )
    if array.size > parameters.slots:
        raise ParameterError(
            f"a vector of {array.size} numbers exceeds the {parameters.slots} slots of a "
            "ciphertext: split it, or raise N"
        )
    padded = np.zeros(parameters.slots, np.complex128)
    padded[: array.size] = array
    return padded
