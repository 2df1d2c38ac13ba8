"""Every operation equals Microsoft SEAL's, bit for bit, at every level."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ringsmith import _core

if TYPE_CHECKING:
    from tests.core.conftest import SealOracle


def test_add_sub_and_negate_equal_seal(oracle: "SealOracle", rng: np.random.Generator) -> None:
    for drops in oracle.drops:
        a, b = oracle.ciphertext(rng, drops), oracle.ciphertext(rng, drops)
        x, y = oracle.words(a), oracle.words(b)
        assert np.array_equal(
            _core.add(oracle.core, x, y), oracle.words(oracle.evaluator.add(a, b))
        )
        assert np.array_equal(
            _core.sub(oracle.core, x, y), oracle.words(oracle.evaluator.sub(a, b))
        )
        assert np.array_equal(
            _core.negate(oracle.core, x), oracle.words(oracle.evaluator.negate(a))
        )


def test_operations_with_a_plaintext_equal_seal(
    oracle: "SealOracle", rng: np.random.Generator
) -> None:
    for drops in oracle.drops:
        cipher, plain = oracle.ciphertext(rng, drops), oracle.plaintext(rng, drops)
        x, m = oracle.words(cipher), oracle.words(plain)
        for mine, theirs in [
            (_core.add_plain, oracle.evaluator.add_plain),
            (_core.sub_plain, oracle.evaluator.sub_plain),
        ]:
            assert np.array_equal(mine(oracle.core, x, m), oracle.words(theirs(cipher, plain)))
        if drops + 1 < len(oracle.drops):  # SEAL refuses a scale beyond the last prime
            expected = oracle.words(oracle.evaluator.multiply_plain(cipher, plain))
            assert np.array_equal(_core.multiply_plain(oracle.core, x, m), expected)


def test_multiply_square_and_relinearize_equal_seal(
    oracle: "SealOracle", rng: np.random.Generator
) -> None:
    for drops in oracle.drops[:-1]:  # SEAL refuses a scale beyond the last prime
        a, b = oracle.ciphertext(rng, drops), oracle.ciphertext(rng, drops)
        product, squared = oracle.evaluator.multiply(a, b), oracle.evaluator.square(a)
        mine = _core.multiply(oracle.core, oracle.words(a), oracle.words(b))
        assert np.array_equal(mine, oracle.words(product))
        assert np.array_equal(_core.square(oracle.core, oracle.words(a)), oracle.words(squared))
        back = oracle.evaluator.relinearize(product, oracle.relin_keys)
        mine = _core.relinearize(oracle.core, mine, oracle.relin_key)
        assert np.array_equal(mine, oracle.words(back))


def test_operations_on_three_polynomials_equal_seal(
    small_oracle: "SealOracle", rng: np.random.Generator
) -> None:
    oracle, core = small_oracle, small_oracle.core
    b = oracle.ciphertext(rng)
    product = oracle.evaluator.multiply(b, b)
    a = oracle.encryptor.encrypt(oracle.plaintext(rng, scale=product.scale()))
    x, p = oracle.words(a), oracle.words(product)
    assert np.array_equal(_core.add(core, x, p), oracle.words(oracle.evaluator.add(a, product)))
    assert np.array_equal(_core.sub(core, x, p), oracle.words(oracle.evaluator.sub(a, product)))
    assert np.array_equal(_core.sub(core, p, x), oracle.words(oracle.evaluator.sub(product, a)))
    rescaled = oracle.evaluator.rescale_to_next(product)
    assert np.array_equal(_core.rescale(core, p), oracle.words(rescaled))


def test_rescale_and_mod_switch_equal_seal_down_to_one_limb(
    oracle: "SealOracle", rng: np.random.Generator
) -> None:
    cipher = oracle.ciphertext(rng)
    for _ in oracle.drops[:-1]:
        words = oracle.words(cipher)
        switched = oracle.evaluator.mod_switch_to_next(cipher)
        assert np.array_equal(_core.mod_switch(oracle.core, words), oracle.words(switched))
        rescaled = oracle.evaluator.rescale_to_next(cipher)
        assert np.array_equal(_core.rescale(oracle.core, words), oracle.words(rescaled))
        cipher = switched


@pytest.mark.parametrize("steps", [1, -3, 64, -500])
def test_rotation_equals_seal(oracle: "SealOracle", rng: np.random.Generator, steps: int) -> None:
    element = _core.galois_element(oracle.n, steps)
    for drops in oracle.drops:
        cipher = oracle.ciphertext(rng, drops)
        expected = oracle.words(oracle.evaluator.rotate_vector(cipher, steps, oracle.galois_keys))
        key = oracle.galois_key[element].data
        mine = _core.apply_galois(oracle.core, oracle.words(cipher), element, key)
        assert np.array_equal(mine, expected)


def test_conjugation_equals_seal(oracle: "SealOracle", rng: np.random.Generator) -> None:
    element = 2 * oracle.n - 1
    for drops in oracle.drops:
        cipher = oracle.ciphertext(rng, drops)
        expected = oracle.words(oracle.evaluator.complex_conjugate(cipher, oracle.galois_keys))
        key = oracle.galois_key[element].data
        mine = _core.apply_galois(oracle.core, oracle.words(cipher), element, key)
        assert np.array_equal(mine, expected)


def test_decryption_equals_seal(oracle: "SealOracle", rng: np.random.Generator) -> None:
    for drops in oracle.drops:
        cipher = oracle.ciphertext(rng, drops)
        mine = _core.secret.decrypt(oracle.core, oracle.secret_key, oracle.words(cipher))
        plain = oracle.decryptor.decrypt(cipher)
        assert np.array_equal(mine, oracle.words(plain))
    product = oracle.evaluator.multiply(oracle.ciphertext(rng), oracle.ciphertext(rng))
    mine = _core.secret.decrypt(oracle.core, oracle.secret_key, oracle.words(product))
    assert np.array_equal(mine, oracle.words(oracle.decryptor.decrypt(product)))


def test_a_whole_program_equals_seal(oracle: "SealOracle", rng: np.random.Generator) -> None:
    """A product, relinearized and rescaled, plus its rotation: errors would add up here."""
    core, evaluator = oracle.core, oracle.evaluator
    a, b = oracle.ciphertext(rng), oracle.ciphertext(rng)
    theirs = evaluator.relinearize(evaluator.multiply(a, b), oracle.relin_keys)
    evaluator.rescale_to_next_inplace(theirs)
    theirs = evaluator.add(theirs, evaluator.rotate_vector(theirs, 1, oracle.galois_keys))
    mine = _core.multiply(core, oracle.words(a), oracle.words(b))
    mine = _core.rescale(core, _core.relinearize(core, mine, oracle.relin_key))
    element = _core.galois_element(oracle.n, 1)
    rotated = _core.apply_galois(core, mine, element, oracle.galois_key[element].data)
    assert np.array_equal(_core.add(core, mine, rotated), oracle.words(theirs))
