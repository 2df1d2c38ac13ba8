"""Every operation equals Microsoft SEAL's, bit for bit, at every level."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import seal

from ringsmith import _core, interop
from ringsmith._core import bfv, secret
from ringsmith.objects import Ciphertext, Residues

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


# Every BFV operation (BEHZ, RNS digits) compared with Microsoft SEAL: equal to the last bit


if TYPE_CHECKING:
    from tests.core.conftest import BfvOracle

SealObject = Any
"""Whatever ``seal-python``, which has no types, makes."""


def test_the_context_is_seals(bfv_oracle: "BfvOracle") -> None:
    context = bfv_oracle.bfv
    assert context.batching == bfv_oracle.context.first_context_data().qualifiers().using_batching
    assert context.primes == [*bfv_oracle.primes, *bfv_oracle.extension]
    lowest, levels = bfv_oracle.context.first_context_data(), 1
    while lowest.next_context_data() is not None:
        lowest, levels = lowest.next_context_data(), levels + 1
    assert levels == len(bfv_oracle.drops)


def test_addition_subtraction_and_negation_equal_seal(
    bfv_oracle: "BfvOracle", rng: np.random.Generator
) -> None:
    core, evaluator, words = bfv_oracle.core, bfv_oracle.evaluator, bfv_oracle.words
    for drops in bfv_oracle.drops:
        a, b = bfv_oracle.ciphertext(rng, drops), bfv_oracle.ciphertext(rng, drops)
        x, y = words(a), words(b)
        assert np.array_equal(_core.add(core, x, y), words(evaluator.add(a, b)))
        assert np.array_equal(_core.sub(core, x, y), words(evaluator.sub(a, b)))
        assert np.array_equal(_core.negate(core, x), words(evaluator.negate(a)))


def messages(oracle: "BfvOracle", rng: np.random.Generator) -> list[Residues]:
    """A random plaintext, and such as SEAL treats apart: one or few terms, at the edges of t."""
    sparse = []
    for value in {1, oracle.t // 2, (oracle.t + 1) // 2, oracle.t - 1} - {0}:
        term = np.zeros(oracle.n, dtype=np.uint64)
        term[int(rng.integers(oracle.n))] = value
        sparse.append(term)
    pair = np.zeros(oracle.n, dtype=np.uint64)
    pair[[0, 5]] = oracle.t - 1
    return [oracle.message(rng), *sparse, pair]


def test_operations_with_plaintexts_equal_seal(
    bfv_oracle: "BfvOracle", rng: np.random.Generator
) -> None:
    context, evaluator, words = bfv_oracle.bfv, bfv_oracle.evaluator, bfv_oracle.words
    for drops in bfv_oracle.drops:
        a = bfv_oracle.ciphertext(rng, drops)
        x = words(a)
        for message in messages(bfv_oracle, rng):
            plain = bfv_oracle.plaintext(message)
            sum_, difference = evaluator.add_plain(a, plain), evaluator.sub_plain(a, plain)
            assert np.array_equal(bfv.add_plain(context, x, message), words(sum_))
            assert np.array_equal(bfv.sub_plain(context, x, message), words(difference))
            product = evaluator.multiply_plain(a, plain)
            assert np.array_equal(bfv.multiply_plain(context, x, message), words(product))


def test_multiplication_squaring_and_relinearization_equal_seal(
    bfv_oracle: "BfvOracle", rng: np.random.Generator
) -> None:
    context, evaluator, words = bfv_oracle.bfv, bfv_oracle.evaluator, bfv_oracle.words
    for drops in bfv_oracle.drops:
        a, b = bfv_oracle.ciphertext(rng, drops), bfv_oracle.ciphertext(rng, drops)
        product, squared = evaluator.multiply(a, b), evaluator.square(a)
        mine = bfv.multiply(context, words(a), words(b))
        assert np.array_equal(mine, words(product))
        assert np.array_equal(bfv.square(context, words(a)), words(squared))
        back = evaluator.relinearize(product, bfv_oracle.relin_keys)
        assert np.array_equal(bfv.relinearize(context, mine, bfv_oracle.relin_key), words(back))


def test_products_of_three_polynomials_equal_seal(
    bfv_oracle: "BfvOracle", rng: np.random.Generator
) -> None:
    context, evaluator, words = bfv_oracle.bfv, bfv_oracle.evaluator, bfv_oracle.words
    a, b = bfv_oracle.ciphertext(rng), bfv_oracle.ciphertext(rng)
    ab, bb = evaluator.multiply(a, b), evaluator.square(b)
    for x, y in ((ab, a), (a, bb), (ab, bb)):
        mine = bfv.multiply(context, words(x), words(y))
        assert np.array_equal(mine, words(evaluator.multiply(x, y)))
    assert np.array_equal(bfv.square(context, words(ab)), words(evaluator.square(ab)))
    summed = _core.sub(bfv_oracle.core, words(a), words(ab))
    assert np.array_equal(summed, words(evaluator.sub(a, ab)))


def test_mod_switch_equals_seal_down_to_the_lowest_level(
    bfv_oracle: "BfvOracle", rng: np.random.Generator
) -> None:
    cipher = bfv_oracle.evaluator.multiply(bfv_oracle.ciphertext(rng), bfv_oracle.ciphertext(rng))
    for _ in bfv_oracle.drops[:-1]:
        switched = bfv_oracle.evaluator.mod_switch_to_next(cipher)
        mine = bfv.mod_switch(bfv_oracle.bfv, bfv_oracle.words(cipher))
        assert np.array_equal(mine, bfv_oracle.words(switched))
        cipher = switched
    with pytest.raises(_core.ParameterError, match=f"more than {bfv_oracle.bfv.min_limbs} limbs"):
        bfv.mod_switch(bfv_oracle.bfv, bfv_oracle.words(cipher))


def test_rotations_of_rows_and_their_swap_equal_seal(
    bfv_oracle: "BfvOracle", rng: np.random.Generator
) -> None:
    for drops in bfv_oracle.drops:
        for element, key in bfv_oracle.galois_key.items():
            cipher = bfv_oracle.ciphertext(rng, drops)
            moved = bfv_oracle.evaluator.apply_galois(cipher, element, bfv_oracle.galois_keys)
            words = bfv_oracle.words(cipher)
            mine = bfv.apply_galois(bfv_oracle.bfv, words, element, key.data)
            assert np.array_equal(mine, bfv_oracle.words(moved))


def test_rotation_steps_mean_what_they_mean_in_seal(
    bfv_oracle: "BfvOracle", rng: np.random.Generator
) -> None:
    if not bfv_oracle.bfv.batching:
        pytest.skip("SEAL rotates only where t batches")
    cipher, keys = bfv_oracle.ciphertext(rng), bfv_oracle.galois_keys
    one = _core.galois_element(bfv_oracle.n, 1)
    for element, expected in (
        (one, bfv_oracle.evaluator.rotate_rows(cipher, 1, keys)),
        (2 * bfv_oracle.n - 1, bfv_oracle.evaluator.rotate_columns(cipher, keys)),
    ):
        key = bfv_oracle.galois_key[element].data
        mine = bfv.apply_galois(bfv_oracle.bfv, bfv_oracle.words(cipher), element, key)
        assert np.array_equal(mine, bfv_oracle.words(expected))


def test_encoding_and_decoding_equal_seal(
    bfv_oracle: "BfvOracle", rng: np.random.Generator
) -> None:
    context, values = bfv_oracle.bfv, bfv_oracle.message(rng)
    if not context.batching:
        for function in (bfv.encode, bfv.decode):
            with pytest.raises(_core.ParameterError, match="does not batch"):
                function(context, values)
        return
    encoder = seal.BatchEncoder(bfv_oracle.context)
    theirs = bfv_oracle.words(encoder.encode(values))
    assert np.array_equal(bfv.encode(context, values), theirs)
    assert np.array_equal(bfv.decode(context, theirs), values)
    signed = values.astype(np.int64) - bfv_oracle.t // 2
    assert np.array_equal(bfv.encode(context, signed), bfv_oracle.words(encoder.encode(signed)))


def test_decryption_and_noise_budget_equal_seal_also_where_no_budget_is_left(
    bfv_oracle: "BfvOracle", rng: np.random.Generator
) -> None:
    def check(cipher: SealObject) -> int:
        plain = bfv_oracle.decryptor.decrypt(cipher)
        budget = bfv_oracle.decryptor.invariant_noise_budget(cipher)
        arguments = (bfv_oracle.bfv, bfv_oracle.secret_key, bfv_oracle.words(cipher))
        assert np.array_equal(secret.bfv_decrypt(*arguments), bfv_oracle.words(plain))
        assert secret.bfv_noise_budget(*arguments) == budget
        return budget

    for drops in bfv_oracle.drops:
        check(bfv_oracle.ciphertext(rng, drops))
    cipher, budget = bfv_oracle.ciphertext(rng), 1
    while budget > 0:  # a square takes log2(t N) bits or so
        squared = bfv_oracle.evaluator.square(cipher)
        check(squared)
        cipher = bfv_oracle.evaluator.relinearize(squared, bfv_oracle.relin_keys)
        budget = check(cipher)


def test_seal_decrypts_what_is_encrypted_here(
    bfv_oracle: "BfvOracle", rng: np.random.Generator
) -> None:
    message = bfv_oracle.message(rng)
    public = secret.generate_public_key(bfv_oracle.core, bfv_oracle.secret_key)
    for words in (
        bfv.encrypt(bfv_oracle.bfv, public, message),
        secret.bfv_encrypt_symmetric(bfv_oracle.bfv, bfv_oracle.secret_key, message),
    ):
        data = interop.write_ciphertext(Ciphertext(words), bfv_oracle.parameters)
        cipher = bfv_oracle.load(seal.Ciphertext(), data)
        plain = bfv_oracle.words(bfv_oracle.decryptor.decrypt(cipher))
        assert np.array_equal(plain, message)
        assert bfv_oracle.decryptor.invariant_noise_budget(cipher) > 0


def test_a_whole_bfv_program_equals_seal(bfv_oracle: "BfvOracle", rng: np.random.Generator) -> None:
    """A product, relinearized and switched, plus its rotation: errors would add up here."""
    context, evaluator = bfv_oracle.bfv, bfv_oracle.evaluator
    a, b = bfv_oracle.ciphertext(rng), bfv_oracle.ciphertext(rng)
    theirs = evaluator.relinearize(evaluator.multiply(a, b), bfv_oracle.relin_keys)
    mine = bfv.multiply(context, bfv_oracle.words(a), bfv_oracle.words(b))
    mine = bfv.relinearize(context, mine, bfv_oracle.relin_key)
    if len(bfv_oracle.drops) > 1:
        evaluator.mod_switch_to_next_inplace(theirs)
        mine = bfv.mod_switch(context, mine)
    element = _core.galois_element(bfv_oracle.n, 1)
    moved = evaluator.apply_galois(theirs, element, bfv_oracle.galois_keys)
    theirs = evaluator.square(evaluator.add(theirs, moved))
    rotated = bfv.apply_galois(context, mine, element, bfv_oracle.galois_key[element].data)
    mine = bfv.square(context, _core.add(bfv_oracle.core, mine, rotated))
    assert np.array_equal(mine, bfv_oracle.words(theirs))
