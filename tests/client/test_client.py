"""The client: round trips, padding, what is refused, and a secret key that does not travel."""

import copy
import pickle
import re
from collections.abc import Callable

import numpy as np
import pytest

from ringsmith import client
from ringsmith.client import SecretKey
from ringsmith.errors import ParameterError
from ringsmith.objects import Ciphertext, EvaluationKeys, Plaintext, PublicKey
from ringsmith.params import CkksParameters, KeyNeeds

Keys = tuple[SecretKey, PublicKey, EvaluationKeys]


@pytest.fixture(scope="module")
def keys(small: CkksParameters) -> Keys:
    """Fresh keys: relinearization, one rotation and conjugation."""
    elements = (small.galois_element(5), small.conjugation_element)
    return client.generate_keys(small, KeyNeeds(5, dict.fromkeys(elements, 5)))


def test_what_is_encrypted_is_decrypted(
    small: CkksParameters, keys: Keys, rng: np.random.Generator
) -> None:
    secret, public, _ = keys
    values = rng.uniform(-1, 1, small.slots) + 1j * rng.uniform(-1, 1, small.slots)
    for limbs, scale in ((None, None), (1, 2.0**35), (3, 2.0**60)):
        ciphertext = client.encrypt_vector(small, public, values, scale=scale, limbs=limbs)
        assert ciphertext.data.shape == (2, limbs or small.limbs, small.n)
        assert ciphertext.scale == (scale or small.scale)
        decrypted = client.decrypt_vector(small, secret, ciphertext)
        assert np.abs(decrypted - values).max() < 2.0**-15


def test_decoding_undoes_encoding(small: CkksParameters, rng: np.random.Generator) -> None:
    values = rng.uniform(-100, 100, small.slots)
    decoded = client.decode(small, client.encode(small, values, scale=2.0**45))
    assert np.abs(decoded - values).max() < 2.0**-35


def test_short_vectors_are_followed_by_zeros(small: CkksParameters, keys: Keys) -> None:
    secret, public, _ = keys
    for values in ([3, 1, 2], np.array([3, 1, 2], np.uint8), (3.0, 1.0, 2.0)):
        decrypted = client.decrypt_vector(
            small, secret, client.encrypt_vector(small, public, values)
        )
        assert np.abs(decrypted[:3] - [3, 1, 2]).max() < 1e-6
        assert np.abs(decrypted[3:]).max() < 1e-6


def test_two_encryptions_of_one_message_differ(small: CkksParameters, keys: Keys) -> None:
    plaintext = client.encode(small, [1.0])
    a, b = (client.encrypt(small, keys[1], plaintext) for _ in range(2))
    assert not np.array_equal(a.data, b.data)


def test_keys_are_exactly_those_needed(small: CkksParameters, keys: Keys) -> None:
    _, public, evaluation = keys
    assert public.data.shape == (2, 6, small.n)
    assert evaluation.relin is not None
    assert evaluation.relin.data.shape == (5, 2, 6, small.n)
    assert list(evaluation.galois) == sorted((small.galois_element(5), 2 * small.n - 1))
    _, _, nothing = client.generate_keys(small, KeyNeeds())
    assert nothing.relin is None
    assert not nothing.galois


def test_fresh_keys_differ_and_test_keys_do_not(small: CkksParameters) -> None:
    needs = KeyNeeds(2, {3: 1, 9: 1})
    a, b = (client.generate_keys(small, needs)[1].data for _ in range(2))
    assert not np.array_equal(a, b)
    first, again, other = (
        client.generate_keys_for_test(small, needs, seed) for seed in (1, 1, 1000)
    )
    assert np.array_equal(first[1].data, again[1].data)
    assert not np.array_equal(first[1].data, other[1].data)
    galois = first[2].galois
    assert not np.array_equal(galois[3].data[:, 1], galois[9].data[:, 1])


def test_a_secret_key_shows_nothing_and_is_not_pickled_or_copied(keys: Keys) -> None:
    secret = keys[0]
    assert repr(secret) == str(secret) == f"{secret}" == "SecretKey(hidden)"
    with pytest.raises(TypeError, match="not pickled or copied"):
        pickle.dumps(secret)
    for duplicate in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled or copied"):
            duplicate(secret)
    with pytest.raises(TypeError, match="not pickled or copied"):
        pickle.dumps({"keys": [keys]})
    assert not hasattr(secret, "__dict__")


def test_a_wrong_key_of_unknown_tag_decrypts_to_noise_with_a_warning(
    small: CkksParameters, keys: Keys
) -> None:
    other, _, _ = client.generate_keys(small, KeyNeeds())
    unknown = SecretKey(other.reveal())
    for limbs in range(1, small.limbs + 1):
        ciphertext = client.encrypt_vector(small, keys[1], [1.0] * small.slots, limbs=limbs)
        with pytest.warns(client.DecryptionWarning, match="fills its modulus") as found:
            decrypted = client.decrypt_vector(small, unknown, ciphertext)
        assert [warning.filename for warning in found] == [__file__]
        assert np.abs(decrypted - 1).max() > 1e2
        with pytest.warns(client.DecryptionWarning, match="fills its modulus") as found:
            client.decrypt(small, unknown, ciphertext)
        assert [warning.filename for warning in found] == [__file__]


@pytest.mark.filterwarnings("error::ringsmith.client.DecryptionWarning")
def test_the_largest_numbers_that_can_be_encoded_decrypt_without_a_warning(
    small: CkksParameters, keys: Keys, rng: np.random.Generator
) -> None:
    for limbs in (1, 3):
        modulus = np.prod(np.array(small.data_primes[:limbs], float))
        largest = 0.49 * modulus / small.scale
        signs = rng.choice([-1.0, 1.0], small.slots)
        single = np.eye(1, small.slots)[0]
        for shape in (np.ones(small.slots), signs, single, rng.uniform(-1, 1, small.slots)):
            ciphertext = client.encrypt_vector(small, keys[1], largest * shape, limbs=limbs)
            decrypted = client.decrypt_vector(small, keys[0], ciphertext)
            assert np.abs(decrypted - largest * shape).max() < 1e-6 * largest


def test_masked_arrays_are_refused(small: CkksParameters) -> None:
    masked = np.ma.MaskedArray([1.0, 2.0], mask=[False, True])
    with pytest.raises(ParameterError, match="a masked array hides numbers"):
        client.encode(small, masked)


REFUSED: list[tuple[Callable[[CkksParameters, Keys], object], str]] = [
    (lambda p, k: client.encode(p, np.ones(513)), "a vector of 513 numbers exceeds the 512 slots"),
    (lambda p, k: client.encode(p, np.ones((2, 2))), "of float64 and shape (2, 2) is no vector"),
    (lambda p, k: client.encode(p, []), "shape (0,) is no vector"),
    (lambda p, k: client.encode(p, [np.nan]), "is no vector of finite numbers"),
    (lambda p, k: client.encode(p, [-np.inf]), "is no vector of finite numbers: number 0 is -inf"),
    (
        lambda p, k: client.encode(p, [1, np.nan, np.inf]),
        "finite numbers: number 1 is nan, counted",
    ),
    (lambda p, k: client.encode(p, ["1"]), "is no vector of finite numbers"),
    (lambda p, k: client.encode(p, [1], scale=0.0), "scale = 0.0 must be finite and at least 1"),
    (lambda p, k: client.encode(p, [1], scale=np.inf), "scale = inf must be"),
    (lambda p, k: client.encode(p, [1], limbs=0), "limbs = 0 is outside 1 … 5"),
    (lambda p, k: client.encode(p, [1], limbs=6), "limbs = 6 is outside 1 … 5"),
    (lambda p, k: client.encode(p, [1e4], limbs=1), "exceeds the modulus of 50.0 bits of 1 limbs"),
    (
        lambda p, k: client.encrypt(p, PublicKey(k[1].data[:, :5]), client.encode(p, [1])),
        "the public key has the shape (2, 5, 1024)",
    ),
    (
        lambda p, k: client.encrypt(p, k[1], Plaintext(np.zeros((6, p.n), np.uint64), 1.0)),
        "plaintext limbs have the shape (6, 1024)",
    ),
    (
        lambda p, k: client.decode(p, Plaintext(np.zeros(p.n, np.uint64), 1.0)),
        "plaintext limbs have the shape (1024,)",
    ),
    (
        lambda p, k: client.decrypt(p, k[0], Ciphertext(np.zeros((2, 1, 512), np.uint64), 1.0)),
        "ciphertext limbs have the shape (1, 512)",
    ),
    (
        lambda p, k: client.decrypt(p, k[0], Ciphertext(np.zeros((4, 1, p.n), np.uint64), 1.0)),
        "a ciphertext of 4 polynomials",
    ),
    (lambda p, k: client.generate_keys(p, KeyNeeds(None, {4: 1})), "Galois element 4 is not odd"),
    (lambda p, k: client.generate_keys(p, KeyNeeds(None, {2049: 1})), "not odd in 3 … 2047"),
    (lambda p, k: client.generate_keys(p, KeyNeeds(None, {1: 1})), "Galois element 1 is not odd"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_does_not_fit_is_refused_in_words(
    call: Callable[[CkksParameters, Keys], object], words: str, small: CkksParameters, keys: Keys
) -> None:
    with pytest.raises(ParameterError, match=re.escape(words)):
        call(small, keys)
