"""The client: round trips, padding, what is refused, and a secret key that does not travel."""

import copy
import dataclasses
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.program.test_program_file import ANYTHING, PROGRAMS, bfv, ckks

from ringsmith import Program, client, compile_program, inner_product, open_device
from ringsmith.client import SecretKey
from ringsmith.errors import InteropError, ParameterError, ProgramError
from ringsmith.files.budget import LEAST, Budget
from ringsmith.files.container import unpack
from ringsmith.objects import Ciphertext, EvaluationKeys, Plaintext, PublicKey
from ringsmith.params import CkksParameters, KeyNeeds
from ringsmith.program.kit import ClientKit
from ringsmith.schemes import trace

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


# What clients do with a program or its kit: keys, encryption and decryption in one call each


@pytest.mark.parametrize("name", ["ckks", "fused", "bfv", "hps", "words"])
def test_keys_encryption_and_decryption_take_one_call_each(name: str) -> None:
    program = PROGRAMS[name]()
    numbers = {
        key: np.arange(1, min(length, 4) + 1) / (4 if "ckks" in program.parameters.scheme else 1)
        for key, length in program.lengths.items()
    }
    if program.parameters.scheme == "bfv":
        numbers = {key: values.astype(int) for key, values in numbers.items()}
    secret_key, public_key, evaluation_keys = program.generate_keys()
    inputs = program.encrypt(public_key, numbers)
    result = compile_program(program).run(open_device("cpu"), inputs, evaluation_keys)
    real = program.decrypt(secret_key, result.outputs, complex_numbers=False)
    found = program.decrypt(secret_key, result.outputs)
    assert {key: array.size for key, array in found.items()} == dict(program.output_lengths)
    for key, expected in program.evaluate(numbers).items():
        assert found[key].shape == expected.shape
        error = np.abs(found[key] - expected).max()
        assert error < (2**-8 if program.parameters.scheme == "ckks" else 1)
        assert np.array_equal(real[key], found[key].real)
        assert real[key].dtype == (np.float64 if program.parameters.scheme == "ckks" else np.int64)
    if program.parameters.scheme == "ckks":
        assert abs(found["a"][0].imag) > 0.1


def test_lengths_of_outputs_follow_from_inputs_or_are_declared() -> None:
    from ringsmith import matvec, sum_slots

    def lengths(function: Callable[..., Any], **options: Any) -> dict[str, int]:  # noqa: ANN401
        return dict(trace(function, ckks(), {"x": 8, "y": 1}, **options).output_lengths)

    assert lengths(lambda x, y: x * 0.5 + y) == {"result": 8}
    assert lengths(lambda x, y: (x, y + 1)) == {"result0": 8, "result1": 1}
    assert lengths(lambda x, y: matvec(np.ones((64, 8)), x) + y) == {"result": 64}
    assert lengths(lambda x, y: matvec(np.ones((3, 8)), x) + y) == {"result": 3}
    assert lengths(lambda x, y: inner_product(x, np.ones(8), 8) + y) == {"result": 1}
    assert lengths(lambda x, y: sum_slots(x, 4) + y) == {"result": 8}
    assert lengths(lambda x, y: x.rotate(-5) + y) == {"result": 13}
    assert lengths(lambda x, y: x.rotate(5) + y) == {"result": 8}
    assert lengths(lambda x, y: sum_slots(x) * y) == {"result": 1}
    with pytest.raises(ProgramError, match=r"shapes \(8,\) and \(3,\) do not fit, as in NumPy"):
        lengths(lambda x, y: (x + np.ones(3)) * y)
    assert lengths(lambda x, y: x + y, outputs={"result": 1}) == {"result": 1}
    assert lengths(lambda x, y: x + y, outputs={"result": None}) == {"result": 512}
    for declared, message in (
        ({"other": 1}, "the program's outputs are"),
        ({"result": 513}, "is not a whole number in 1 … 512"),
        ({"result": 0}, "is not a whole number in 1 … 512"),
        ({"result": True}, "is not a whole number in 1 … 512"),
        ([1], "outputs = .1. are no lengths by name"),
    ):
        with pytest.raises(ProgramError, match=message):
            lengths(lambda x, y: x + y, outputs=declared)


def test_a_kit_has_no_constants_graph_or_lines(tmp_path: Path) -> None:
    weights = [0.123456789, -0.987654321]
    program = trace(lambda x: x * weights, ckks(), {"x": 2})
    kit = program.client_kit()
    assert {field.name for field in dataclasses.fields(kit)} == {
        *("name", "parameters", "inputs", "outputs", "key_needs"),
        *("packed_inputs", "packed_outputs"),
    }
    kit.save(tmp_path / "x.rsk")
    data = (tmp_path / "x.rsk").read_bytes()
    content = unpack(data, "it", ANYTHING, Budget(LEAST), "a kit")
    assert content.arrays == ()
    assert "test_program_file" not in repr(content.content)
    assert "multiply" not in repr(content.content)
    loaded = ClientKit.load(tmp_path / "x.rsk", security=None)
    for found in (Program.load(tmp_path / "x.rsk"), loaded):
        assert isinstance(found, ClientKit)
        assert (found.name, found.parameters) == (kit.name, kit.parameters)
        assert (found.inputs, found.outputs) == (kit.inputs, kit.outputs)
        assert found.key_needs == kit.key_needs
    program.save(tmp_path / "x.rsp")
    with pytest.raises(InteropError, match="its format is 'ringsmith-program', and this is to be"):
        ClientKit.load(tmp_path / "x.rsp")


def test_what_is_no_input_is_refused() -> None:
    program = trace(lambda x, y: x + y, ckks(), {"x": 4, "y": 1})
    secret_key, public_key, _ = program.generate_keys()
    for inputs, error, message in (
        ({"x": [1]}, ProgramError, "takes the inputs .'x', 'y'. and was given .'x'."),
        ({"x": [1], "z": [1]}, ProgramError, "was given .'x', 'z'."),
        ({"x": [1] * 5, "y": 1}, ProgramError, "input 'x' holds 4 numbers and was given 5"),
        ({"x": [1], "y": [1, 2]}, ProgramError, "input 'y' holds 1 numbers and was given 2"),
        ({"x": [1, float("nan")], "y": 1}, ValueError, "input 'x': .* of finite numbers"),
        ({"x": ["one"], "y": 1}, ValueError, "input 'x': "),
        ({"x": np.ma.array([1.0], mask=[True]), "y": 1}, ProgramError, "is a masked array"),
        ([1], TypeError, "inputs: list was given"),
    ):
        with pytest.raises(error, match=message):
            program.encrypt(public_key, inputs)  # type: ignore[arg-type]
    x = program.encrypt(public_key, {"x": [1], "y": 1})["x"]
    lower_scale = dataclasses.replace(x, scale=2.0)
    for outputs, error, message in (
        ({}, ProgramError, "has the outputs .'result'. and was given none"),
        ({"x": x}, ProgramError, "and was given .'x'."),
        ({"result": lower_scale}, ProgramError, "give the outputs of a run of this program"),
        ({"result": 1}, TypeError, "output 'result': int was given"),
        (x, TypeError, "outputs: Ciphertext was given"),
    ):
        with pytest.raises(error, match=message):
            program.decrypt(secret_key, outputs)  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="BFV computes on whole numbers"):
        PROGRAMS["bfv"]().decrypt(secret_key, {"a": x}, complex_numbers=True)


def test_results_without_noise_budget_are_refused() -> None:
    program = trace(lambda x: x + x, bfv(), {"x": 4})
    _, public_key, _ = program.generate_keys()
    other, _, _ = program.generate_keys()
    x = program.encrypt(public_key, {"x": [1]})["x"]
    with pytest.raises(ParameterError, match="the ciphertext: of another key pair"):
        program.decrypt(other, {"result": x})
    with pytest.raises(ProgramError, match="output 'result': no noise budget is left"):
        program.decrypt(other, {"result": Ciphertext(x.data)})  # as SEAL's files: no tag
