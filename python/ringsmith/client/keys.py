"""Key generation. The secret key is born here and stays here."""

import secrets
from types import MappingProxyType
from typing import NoReturn, SupportsIndex

from ringsmith._core import secret
from ringsmith.client.checks import check_parameters
from ringsmith.errors import ParameterError, check_type
from ringsmith.objects import SEED_BYTES, EvaluationKeys, KeySwitchKey, PublicKey, Residues
from ringsmith.params import BfvParameters, KeyNeeds, RlweParameters, core_context


class SecretKey:
    """A secret key: shape (K, N), ternary, NTT form over all primes.

    It shows nothing of itself when printed, and refuses to be pickled or copied, so that it does
    not travel by accident. Only ``ringsmith.client`` reads it.
    """

    __slots__ = ("_data",)

    def __init__(self, data: Residues) -> None:
        self._data = data

    def reveal(self) -> Residues:
        """Returns the key itself, for decryption and for writing it where its holder says."""
        return self._data

    def __repr__(self) -> str:
        return "SecretKey(hidden)"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            "a secret key is not pickled or copied: pass a public key or evaluation keys instead"
        )


def generate_keys(
    parameters: RlweParameters, needs: KeyNeeds, *, seeded: bool = False
) -> tuple[SecretKey, PublicKey, EvaluationKeys]:
    """Makes fresh keys from the operating system's randomness.

    Args:
        parameters: The parameter set.
        needs: Which evaluation keys to make, such as ``program.key_needs``. Every key is made with
            all its digits, so it serves at any number of limbs.
        seeded: Whether half 1 of each evaluation key is expanded from a seed of its own, which the
            key then carries: a device that expands it too needs half the key memory.

    Raises:
        ParameterError: When a Galois element is illegal.
        TypeError: When an argument is of another kind.
    """
    _check_needs(parameters, needs)
    context, words = core_context(parameters), _word_bits(parameters)
    key = secret.generate_secret_key(context)
    public = secret.generate_public_key(context, key)

    def relin_key() -> KeySwitchKey:
        if seeded:
            seed = secrets.token_bytes(SEED_BYTES)
            return KeySwitchKey(secret.generate_seeded_relin_key(context, key, seed, words), seed)
        if words:
            return KeySwitchKey(secret.generate_word_relin_key(context, key, words))
        return KeySwitchKey(secret.generate_relin_key(context, key))

    def galois_key(element: int) -> KeySwitchKey:
        if seeded:
            seed = secrets.token_bytes(SEED_BYTES)
            data = secret.generate_seeded_galois_key(context, key, element, seed, words)
            return KeySwitchKey(data, seed)
        if words:
            return KeySwitchKey(secret.generate_word_galois_key(context, key, element, words))
        return KeySwitchKey(secret.generate_galois_key(context, key, element))

    relin = None if needs.relin is None else relin_key()
    galois = {element: galois_key(element) for element in needs.galois}
    return SecretKey(key), PublicKey(public), EvaluationKeys(relin, MappingProxyType(galois))


def generate_keys_for_test(
    parameters: RlweParameters, needs: KeyNeeds, seed: int, *, seeded: bool = False
) -> tuple[SecretKey, PublicKey, EvaluationKeys]:
    """Makes the keys of a fixed seed: everybody can make them, so they protect nothing.

    Arguments and errors are those of ``generate_keys``.
    """
    _check_needs(parameters, needs)
    context, words = core_context(parameters), _word_bits(parameters)
    key = secret.generate_secret_key_for_test(context, seed)
    public = secret.generate_public_key_for_test(context, key, seed + 1)

    def relin_key(own: int) -> KeySwitchKey:
        if seeded:
            public_seed = own.to_bytes(SEED_BYTES, "little")
            data = secret.generate_seeded_relin_key_for_test(context, key, public_seed, words, own)
            return KeySwitchKey(data, public_seed)
        if words:
            return KeySwitchKey(secret.generate_word_relin_key_for_test(context, key, words, own))
        return KeySwitchKey(secret.generate_relin_key_for_test(context, key, own))

    def galois_key(element: int, own: int) -> KeySwitchKey:
        if seeded:
            public_seed = own.to_bytes(SEED_BYTES, "little")
            data = secret.generate_seeded_galois_key_for_test(
                context, key, element, public_seed, words, own
            )
            return KeySwitchKey(data, public_seed)
        if words:
            data = secret.generate_word_galois_key_for_test(context, key, element, words, own)
            return KeySwitchKey(data)
        return KeySwitchKey(secret.generate_galois_key_for_test(context, key, element, own))

    relin = None if needs.relin is None else relin_key(seed + 2)
    galois = {element: galois_key(element, seed + 3 + i) for i, element in enumerate(needs.galois)}
    return SecretKey(key), PublicKey(public), EvaluationKeys(relin, MappingProxyType(galois))


def _word_bits(parameters: RlweParameters) -> int:
    """Bits of a word of the keys; 0 where their digits are primes."""
    return parameters.word_bits if isinstance(parameters, BfvParameters) else 0


def _check_needs(parameters: RlweParameters, needs: KeyNeeds) -> None:
    check_parameters(parameters)
    check_type("key needs", needs, KeyNeeds, "give program.key_needs, or KeyNeeds() for none")
    for element in needs.galois:
        if not 1 < element < 2 * parameters.n or element % 2 == 0:
            raise ParameterError(
                f"Galois element {element} is not odd in 3 … {2 * parameters.n - 1}: "
                "parameters.galois_element(steps) gives a rotation's"
            )
