"""What ``pickle`` and ``copy`` do with objects: the public ones travel, others name the way."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from ringsmith import client, compile_program, open_device, parameter_set, trace
from ringsmith.interop.seeded_keys import on_the_fly_keys
from ringsmith.objects import EvaluationKeys, PublicKey, Residues
from ringsmith.params import BfvParameters, CkksParameters, KeyNeeds, SecurityWarning
from ringsmith.runtime import precompute_keys

NEEDS = KeyNeeds(2, {9: 1, 3: 2})


def pickled(thing: object) -> Any:  # noqa: ANN401 - whatever was given
    """What comes back from a pickle."""
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - our own


@pytest.fixture(scope="module")
def keys(small: CkksParameters) -> tuple[client.SecretKey, PublicKey, EvaluationKeys]:
    return client.generate_keys(small, NEEDS, seeded=True)


@pytest.fixture(scope="module")
def exact() -> BfvParameters:
    with pytest.warns(SecurityWarning, match="for experiments"):
        return BfvParameters.create(
            n=1024, prime_bits=(40, 40), special_bits=41, plain_modulus=12289, security=None
        )


def words_of(thing: Any) -> list[Residues]:  # noqa: ANN401 - any object
    """All residues of an object."""
    if isinstance(thing, EvaluationKeys):
        return [each.data for each in (thing.relin, *thing.galois.values()) if each is not None]
    words: Residues = thing.data
    return [words]


def test_public_objects_are_pickled_and_copied(
    small: CkksParameters,
    exact: BfvParameters,
    keys: tuple[client.SecretKey, PublicKey, EvaluationKeys],
) -> None:
    _, public, evaluation = keys
    plain, polynomial = client.encode(small, [1, 2]), client.encode(exact, [1, 2])
    things: list[Any] = [public, evaluation, evaluation.relin, plain, polynomial]
    things.append(client.encrypt(small, public, plain))
    for thing in things:
        for again in (pickled(thing), copy.deepcopy(thing), copy.copy(thing)):
            assert type(again) is type(thing)
            assert again.parameters_id == thing.parameters_id is not None
            assert getattr(again, "key_tag", 0) == getattr(thing, "key_tag", 0)
            pairs = zip(words_of(again), words_of(thing), strict=True)
            assert all(np.array_equal(a, b) for a, b in pairs)
    again, relin = pickled(evaluation), evaluation.relin
    assert relin is not None
    assert again.relin.seed == relin.seed is not None
    assert not again.relin.data.flags.writeable
    assert list(again.galois) == list(evaluation.galois)
    with pytest.raises(TypeError):
        again.galois[5] = relin


def test_keys_needs_and_parameters_are_pickled(
    small: CkksParameters,
    exact: BfvParameters,
    keys: tuple[client.SecretKey, PublicKey, EvaluationKeys],
) -> None:
    on_the_fly = on_the_fly_keys(keys[2], small.primes)
    again = pickled(on_the_fly)
    assert on_the_fly.relin is not None
    assert np.array_equal(again.relin.half, on_the_fly.relin.half)
    assert again.key_tag == keys[1].key_tag
    assert pickled(NEEDS) == NEEDS
    for parameters in (small, exact):
        assert pickled(parameters) == parameters
        assert pickled(parameters).parameters_id == parameters.parameters_id


def test_precomputed_keys_say_what_to_pickle_instead(
    small: CkksParameters, keys: tuple[client.SecretKey, PublicKey, EvaluationKeys]
) -> None:
    with pytest.raises(TypeError, match="pickle the EvaluationKeys and call precompute_keys"):
        pickle.dumps(precompute_keys(keys[2], small))


@pytest.mark.parametrize("design", [None, "nano"])
def test_compiled_programs_are_pickled_and_copied(design: str | None) -> None:
    program = trace(lambda x: x * x + 1, parameter_set("nano"), {"x": 4})
    compiled = compile_program(program, design)
    _, public_key, keys = program.generate_keys()
    inputs = program.encrypt(public_key, {"x": [1, 2, 3, 4]})
    cpu = open_device("cpu")
    (expected,) = compiled.run(cpu, inputs, keys).outputs.values()
    for again in (pickled(compiled), copy.deepcopy(compiled)):
        (found,) = again.run(cpu, inputs, keys).outputs.values()
        assert np.array_equal(found.data, expected.data)
        assert again.compiled_graph.design == compiled.compiled_graph.design


def test_a_program_and_its_kit_are_pickled_as_their_files() -> None:
    program = trace(lambda x: (1 - 0.5 * x).rotate(1), parameter_set("nano"), {"x": 4})
    kit = program.client_kit()
    again = pickled(program)
    x = {"x": np.arange(4) / 4}
    assert np.array_equal(again.evaluate(x)["result"], program.evaluate(x)["result"])
    assert again.to_bytes() == program.to_bytes()
    assert pickled(kit).inputs == kit.inputs
    assert copy.deepcopy(program) is program
