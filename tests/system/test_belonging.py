"""Objects know what they belong to: parameters' identity and key tags, checked at every entry."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from ringsmith import client, interop
from ringsmith.errors import InteropError, ParameterError, ProgramError, RingsmithError
from ringsmith.interop import SealParameters
from ringsmith.interop.seeded_keys import on_the_fly_keys
from ringsmith.objects import Ciphertext, EvaluationKeys, PublicKey
from ringsmith.params import BfvParameters, CkksParameters, KeyNeeds
from ringsmith.program import EncryptedVector, trace
from ringsmith.runtime import Compiled, compile_program, open_device, precompute_keys
from ringsmith.runtime.evaluator import Evaluator

Parameters = CkksParameters | BfvParameters


@dataclass(frozen=True)
class Party:
    """A client of some parameters."""

    parameters: Parameters
    secret: client.SecretKey
    public: PublicKey
    keys: EvaluationKeys
    x: Ciphertext


def party(parameters: Parameters) -> Party:
    """A client with fresh keys, seeded, and one ciphertext."""
    needs = KeyNeeds(parameters.limbs, {parameters.galois_element(1): parameters.limbs})
    secret, public, keys = client.generate_keys(parameters, needs, seeded=True)
    x = client.encrypt_vector(parameters, public, [1, 2, 3])
    return Party(parameters, secret, public, keys, x)


def bfv_of(t: int) -> BfvParameters:
    """Small BFV parameters."""
    return BfvParameters.create(
        n=1024, prime_bits=(40, 40), special_bits=41, plain_modulus=t, security=None
    )


@pytest.fixture(scope="module")
def ours(small: CkksParameters) -> Party:
    return party(small)


@pytest.fixture(scope="module")
def another(small: CkksParameters) -> Party:
    """Another client of the same parameters."""
    return party(small)


@pytest.fixture(scope="module")
def foreign(small: CkksParameters) -> Party:
    """A client of parameters with one data prime less; what it has fits in shape, where it can."""
    return party(replace(small, data_primes=small.data_primes[:-1], dnum=4, name="other"))


@pytest.fixture(scope="module")
def exact() -> Party:
    return party(bfv_of(12289))


@pytest.fixture(scope="module")
def compiled(small: CkksParameters) -> Compiled:
    def rotated(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
        return x.rotate(1) + y

    return compile_program(trace(rotated, small))


# ---- what is handed on ---------------------------------------------------------------------------


def test_keys_ciphertexts_and_plaintexts_carry_identity_and_tag(ours: Party, exact: Party) -> None:
    for each in (ours, exact):
        identity, tag = each.parameters.parameters_id, each.public.key_tag
        assert tag is not None
        assert len(tag) == 16
        assert each.keys.relin is not None
        galois = each.keys.galois.values()
        for thing in (each.secret, each.public, each.keys, each.keys.relin, *galois, each.x):
            assert (thing.parameters_id, thing.key_tag) == (identity, tag)
        on_the_fly = on_the_fly_keys(each.keys, each.parameters.primes)
        prepared = precompute_keys(each.keys, each.parameters)
        for keys in (on_the_fly, prepared):
            assert (keys.parameters_id, keys.key_tag) == (identity, tag)
        plain = client.encode(each.parameters, [1])
        assert plain.parameters_id == identity
        decrypted = client.decrypt(each.parameters, each.secret, each.x)
        assert decrypted.parameters_id == identity


def test_fresh_keys_have_fresh_tags(ours: Party, another: Party) -> None:
    assert ours.public.key_tag != another.public.key_tag


def test_results_carry_identity_and_tag(ours: Party, exact: Party, compiled: Compiled) -> None:
    found = compiled.run(open_device("cpu"), {"x": ours.x, "y": ours.x}, ours.keys).outputs
    results = [*found.values()]
    for each in (ours, exact):
        evaluator = Evaluator(each.parameters, each.keys)
        plain = client.encode(each.parameters, [1])
        made = [
            evaluator.run("add", each.x, each.x),
            evaluator.run("multiply_plain", each.x, plain),
            evaluator.run("relinearize", evaluator.run("square", each.x)),
        ]
        for result in made + (results if each is ours else []):
            assert result.parameters_id == each.parameters.parameters_id
            assert result.key_tag == each.public.key_tag


def test_an_unknown_tag_fits_everything_and_is_not_guessed(
    ours: Party, another: Party, compiled: Compiled
) -> None:
    unknown = Ciphertext(ours.x.data, ours.x.scale)
    evaluator = Evaluator(ours.parameters, ours.keys)
    assert evaluator.run("negate", unknown).key_tag is None
    assert evaluator.run("add", unknown, another_free(ours.x)).key_tag == ours.x.key_tag
    run = compiled.run(open_device("cpu"), {"x": unknown, "y": unknown}, ours.keys)
    assert {each.key_tag for each in run.outputs.values()} == {None}
    client.decrypt(ours.parameters, ours.secret, unknown)


def another_free(x: Ciphertext) -> Ciphertext:
    """A ciphertext of other residues, so that sums are not transparent."""
    return replace(x, data=x.data[::-1].copy())


# ---- what is refused -----------------------------------------------------------------------------

CPU = open_device("cpu")
PARAMETERS, KEY_PAIR = "made with other parameters", "of another key pair"
Call = Callable[[Party, Party, Compiled], object]
REFUSED: list[tuple[str, Call, type[RingsmithError]]] = [
    (
        "the public key",
        lambda a, b, c: client.encrypt_vector(a.parameters, b.public, [1]),
        ParameterError,
    ),
    (
        "the plaintext",
        lambda a, b, c: client.encrypt(
            a.parameters, a.public, client.encode(b.parameters, [1], limbs=2)
        ),
        ParameterError,
    ),
    (
        "the plaintext",
        lambda a, b, c: client.decode(a.parameters, client.encode(b.parameters, [1], limbs=2)),
        ParameterError,
    ),
    ("the ciphertext", lambda a, b, c: client.decrypt(a.parameters, a.secret, b.x), ParameterError),
    ("the secret key", lambda a, b, c: client.decrypt(a.parameters, b.secret, a.x), ParameterError),
    (
        "the evaluation keys",
        lambda a, b, c: Evaluator(a.parameters, b.keys).run("rotate", a.x, steps=1),
        ProgramError,
    ),
    (
        "add: the first operand",
        lambda a, b, c: Evaluator(a.parameters).run("add", b.x, a.x),
        ProgramError,
    ),
    (
        "add_plain: the second operand",
        lambda a, b, c: Evaluator(a.parameters).run(
            "add_plain", a.x, client.encode(b.parameters, [1])
        ),
        ProgramError,
    ),
    ("input 'y'", lambda a, b, c: c.run(CPU, {"x": a.x, "y": b.x}, a.keys), ProgramError),
    ("the evaluation keys", lambda a, b, c: c.run(CPU, {"x": a.x, "y": a.x}, b.keys), ProgramError),
    ("the evaluation keys", lambda a, b, c: precompute_keys(b.keys, a.parameters), ParameterError),
]
OTHER_CLIENT: list[tuple[str, Call, type[RingsmithError]]] = [
    (
        "the ciphertext",
        lambda a, b, c: client.decrypt_vector(a.parameters, b.secret, a.x),
        ParameterError,
    ),
    (
        "rotate: the first operand",
        lambda a, b, c: Evaluator(a.parameters, b.keys).run("rotate", a.x, steps=1),
        ProgramError,
    ),
    (
        "add: the second operand",
        lambda a, b, c: Evaluator(a.parameters).run("add", a.x, b.x),
        ProgramError,
    ),
    ("input 'x'", lambda a, b, c: c.run(CPU, {"x": a.x, "y": a.x}, b.keys), ProgramError),
    (
        "input 'x'",
        lambda a, b, c: c.run(CPU, {"x": a.x, "y": a.x}, precompute_keys(b.keys, b.parameters)),
        ProgramError,
    ),
    ("input 'y'", lambda a, b, c: c.run(CPU, {"x": a.x, "y": b.x}, a.keys), ProgramError),
]


def check_refused(
    what: str, call: Callable[[], object], error: type[RingsmithError], words: str
) -> None:
    """The error names what does not fit, in one line with a hint."""
    with pytest.raises(error) as found:
        call()
    text = str(found.value)
    assert text.startswith(f"{what}: {words} ")
    assert "\n" not in text
    assert ": give " in text or ": name " in text or ": encode " in text or ": decrypt " in text


@pytest.mark.parametrize(("what", "call", "error"), REFUSED)
def test_objects_of_other_parameters_are_refused(
    what: str,
    call: Call,
    error: type[RingsmithError],
    ours: Party,
    foreign: Party,
    compiled: Compiled,
) -> None:
    check_refused(what, lambda: call(ours, foreign, compiled), error, PARAMETERS)


@pytest.mark.parametrize(("what", "call", "error"), OTHER_CLIENT)
def test_objects_of_another_client_are_refused(
    what: str,
    call: Call,
    error: type[RingsmithError],
    ours: Party,
    another: Party,
    compiled: Compiled,
) -> None:
    check_refused(what, lambda: call(ours, another, compiled), error, KEY_PAIR)


def test_bfv_objects_of_another_plain_modulus_or_client_are_refused(exact: Party) -> None:
    wider, same = party(bfv_of(40961)), party(bfv_of(12289))
    parameters = exact.parameters
    assert isinstance(parameters, BfvParameters)
    for call, what, words in (
        (lambda: client.noise_budget(parameters, exact.secret, wider.x), "ciphertext", PARAMETERS),
        (lambda: client.noise_budget(parameters, same.secret, exact.x), "ciphertext", KEY_PAIR),
        (lambda: client.decrypt(parameters, same.secret, exact.x), "ciphertext", KEY_PAIR),
        (
            lambda: client.decode(parameters, client.encode(wider.parameters, [1])),
            "plaintext",
            PARAMETERS,
        ),
    ):
        check_refused(f"the {what}", call, ParameterError, words)


def test_no_file_is_stamped_with_other_parameters(ours: Party, foreign: Party) -> None:
    shape = SealParameters.from_parameters(foreign.parameters)
    assert ours.keys.relin is not None
    plain = client.encode(ours.parameters, [1], limbs=2)
    low = client.encrypt(ours.parameters, ours.public, plain)
    for call in (
        lambda: interop.write_ciphertext(low, shape),
        lambda: interop.write_plaintext(plain, shape),
        lambda: interop.write_public_key(ours.public, shape),
        lambda: interop.write_relin_keys(ours.keys.relin, shape),
        lambda: interop.write_galois_keys(ours.keys.galois, shape),
    ):
        with pytest.raises(InteropError, match="made with other parameters"):
            call()


def test_keys_for_any_plain_modulus_serve_them_all_and_keep_their_tag(
    exact: Party, ours: Party
) -> None:
    first, other = exact.parameters, bfv_of(40961)
    secret, public, keys = client.generate_keys(first, KeyNeeds(2), any_plain_modulus=True)
    assert {secret.parameters_id, public.parameters_id, keys.parameters_id} == {None}
    for parameters in (first, other):
        x = client.encrypt_vector(parameters, public, [3])
        assert x.parameters_id == parameters.parameters_id
        y = Evaluator(parameters, keys).run("square", x)
        assert client.decrypt_vector(parameters, secret, y)[0] == 9
    with pytest.raises(ProgramError, match="of another key pair"):
        Evaluator(first, keys).run("negate", exact.x)
    with pytest.raises(ParameterError, match="any plain modulus is BFV's"):
        client.generate_keys(ours.parameters, KeyNeeds(), any_plain_modulus=True)


def test_evaluation_keys_of_two_clients_do_not_mix(
    ours: Party, another: Party, foreign: Party
) -> None:
    with pytest.raises(ParameterError, match="of 2 different key pairs"):
        EvaluationKeys(ours.keys.relin, another.keys.galois)
    with pytest.raises(ParameterError, match="of 2 different parameters"):
        EvaluationKeys(ours.keys.relin, foreign.keys.galois)


def test_tags_and_identities_have_their_lengths() -> None:
    with pytest.raises(ParameterError, match="key_tag = b'short' is not 16 bytes"):
        Ciphertext(np.zeros((2, 1, 4), np.uint64), key_tag=b"short")
    with pytest.raises(ParameterError, match="parameters_id = b'short' is not 32 bytes"):
        client.SecretKey(np.zeros((1, 4), np.uint64), parameters_id=b"short")
