"""What the README calls, called with arguments of the wrong kind: refused in words, by name."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from ringsmith import compile_program, open_device, trace
from ringsmith.client import decrypt_vector, encrypt_vector, generate_keys, generate_keys_for_test
from ringsmith.errors import ProgramError
from ringsmith.params import CkksParameters, KeyNeeds


class Things:
    """A program and all that a run of it takes."""

    def __init__(self, parameters: CkksParameters) -> None:
        self.parameters = parameters
        self.program = trace(lambda x: x + 1, parameters)
        self.compiled = compile_program(self.program)
        self.cpu = open_device("cpu")
        self.secret, self.public, self.keys = generate_keys_for_test(
            parameters, self.program.key_needs, seed=5
        )
        self.x = encrypt_vector(parameters, self.public, [1.0])


@pytest.fixture(scope="module")
def things(small: CkksParameters) -> Things:
    return Things(small)


CALLS: list[tuple[Callable[[Any], object], str]] = [
    (
        lambda t: t.compiled.run(t.cpu, {"x": [1, 2]}, t.keys),
        "input 'x': list was given where Ciphertext belongs: encrypt it: encrypt_vector(",
    ),
    (
        lambda t: t.compiled.run(t.cpu, {"x": t.x}, None),
        "keys: NoneType was given where EvaluationKeys belongs: give the third of generate_keys",
    ),
    (lambda t: t.compiled.run(t.cpu, {"x": t.x}, t.public), "keys: PublicKey was given"),
    (lambda t: t.compiled.run(t.cpu, t.x, t.keys), "inputs: Ciphertext was given where Mapping"),
    (
        lambda t: t.compiled.run("cpu", {"x": t.x}, t.keys),
        "device: str was given where a device belongs: give open_device(kind)",
    ),
    (
        lambda t: encrypt_vector(t.parameters, t.secret, [1]),
        "public key: SecretKey was given where PublicKey belongs: give the second key",
    ),
    (
        lambda t: encrypt_vector("nano", t.public, [1]),
        "parameters: str was given where RlweParameters belongs: give parameter_set(name)",
    ),
    (
        lambda t: decrypt_vector(t.parameters, t.public, t.x),
        "secret key: PublicKey was given where SecretKey belongs: give the first key",
    ),
    (
        lambda t: decrypt_vector(t.parameters, t.secret, {"result": t.x}),
        "ciphertext: dict was given where Ciphertext belongs: give one of a result's outputs",
    ),
    (lambda t: decrypt_vector(None, t.secret, t.x), "parameters: NoneType was given"),
    (lambda t: generate_keys("nano", KeyNeeds()), "parameters: str was given"),
    (
        lambda t: generate_keys(t.parameters, None),  # type: ignore[arg-type]
        "key needs: NoneType was given where KeyNeeds belongs: give program.key_needs",
    ),
    (
        lambda t: generate_keys_for_test(t.parameters, t.program, 1),
        "key needs: CkksProgram was given",
    ),
]


@pytest.mark.parametrize(("call", "words"), CALLS)
def test_an_argument_of_the_wrong_kind_is_refused_in_words(
    call: Callable[[Any], object], words: str, things: Things
) -> None:
    with pytest.raises(TypeError, match=re.escape(words)):
        call(things)


def test_inputs_under_other_names_are_refused(things: Things) -> None:
    with pytest.raises(ProgramError, match=re.escape("takes the inputs ['x'], not ['0', 'y']")):
        things.compiled.run(things.cpu, {0: things.x, "y": things.x}, things.keys)  # type: ignore[dict-item]
