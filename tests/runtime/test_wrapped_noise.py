"""BFV noise that wraps around the modulus: the budget does not show it, and the history does."""

import math
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ringsmith import Compiled, client, compile_program, open_device, trace
from ringsmith.errors import ProgramError
from ringsmith.interop import SealParameters, read_ciphertext, write_ciphertext, write_secret_key
from ringsmith.objects import Ciphertext, EvaluationKeys, PublicKey
from ringsmith.params import BfvParameters, KeyNeeds
from ringsmith.runtime.evaluator import Evaluator
from ringsmith.runtime.noise import NoiseWarning

T = 65537
N = 1024
PRIMES = (1125899906820097, 1125899906738177, 1125899906732033)
"""Their product is a little below 2^150."""
DOUBLINGS = 150

Keys = tuple[client.SecretKey, PublicKey, EvaluationKeys]


def made(data_primes: tuple[int, ...]) -> BfvParameters:
    return BfvParameters(N, data_primes, (1125899906826241,), T)


@pytest.fixture(scope="module")
def parameters() -> BfvParameters:
    return made(PRIMES)


@pytest.fixture(scope="module")
def keys(parameters: BfvParameters) -> Keys:
    return client.generate_keys(parameters, KeyNeeds(3, {parameters.galois_element(1): 3}))


def centred(number: int, modulus: int) -> int:
    return (number + modulus // 2) % modulus - modulus // 2


def doubled(evaluator: Evaluator, c: Ciphertext) -> Iterator[Ciphertext]:
    """The results of one addition after the other."""
    for _ in range(DOUBLINGS):
        c = evaluator.run("add", c, c)
        yield c


def test_the_budget_of_wrapped_noise_is_positive_and_the_numbers_are_wrong(
    parameters: BfvParameters, keys: Keys
) -> None:
    secret, public, _ = keys
    c = client.encrypt_vector(parameters, public, np.ones(N, np.int64))
    results = [*doubled(Evaluator(parameters, check_noise=False), c)]
    budgets = [client.noise_budget(parameters, secret, each) for each in results]
    assert min(budgets[130:149]) == 0
    assert 9 <= budgets[-1] <= 12
    found = client.decrypt_vector(parameters, secret, results[-1])
    q = math.prod(PRIMES)
    assert pow(2, DOUBLINGS, T) == T - 64
    assert set(found) == {6321} == {centred(2**DOUBLINGS - q, T)}
    residues = np.array([(2**DOUBLINGS - q) % p for p in PRIMES], object)[None, :, None]
    primes = np.array(PRIMES, object)[None, :, None]
    same = c.data.astype(object) * residues % primes
    assert np.array_equal(results[-1].data, same.astype(np.uint64)), "no check can tell the two"


def test_seal_shows_the_same_budget_and_the_same_numbers(
    parameters: BfvParameters, keys: Keys, tmp_path: Path
) -> None:
    seal = pytest.importorskip("seal")
    secret, public, _ = keys
    shape = SealParameters.from_parameters(parameters)
    parms = seal.EncryptionParameters(seal.scheme_type.bfv)
    parms.set_poly_modulus_degree(N)
    parms.set_coeff_modulus([seal.Modulus(p) for p in parameters.primes])
    parms.set_plain_modulus(seal.Modulus(T))
    context = seal.SEALContext(parms, True, seal.sec_level_type.none)
    key = seal.SecretKey()
    (tmp_path / "secret.seal").write_bytes(write_secret_key(secret.reveal(), shape))
    key.load(context, str(tmp_path / "secret.seal"))
    decryptor, evaluator = seal.Decryptor(context, key), seal.Evaluator(context)
    c = client.encrypt_vector(parameters, public, np.ones(N, np.int64))
    theirs = seal.Ciphertext()
    theirs.load_bytes(context, write_ciphertext(c, shape))
    for _ in range(DOUBLINGS):
        theirs = evaluator.add(theirs, theirs)
    *_, ours = doubled(Evaluator(parameters, check_noise=False), c)
    assert decryptor.invariant_noise_budget(theirs) == client.noise_budget(parameters, secret, ours)
    same = read_ciphertext(theirs.to_string(), shape)
    assert np.array_equal(same.data, ours.data)


def test_an_operation_is_refused_before_its_result_may_be_wrong(
    parameters: BfvParameters, keys: Keys
) -> None:
    secret, public, _ = keys
    c = client.encrypt_vector(parameters, public, np.ones(N, np.int64))
    results = [c]
    with pytest.raises(ProgramError, match=r"add: by the forecast 1 bits of noise budget are miss"):
        results.extend(doubled(Evaluator(parameters), c))
    assert 120 < len(results) <= 128  # as many are right
    assert client.noise_budget(parameters, secret, results[-1]) >= 1
    found = client.decrypt_vector(parameters, secret, results[-1])
    assert set(found) == {centred(2 ** (len(results) - 1), T)}


def test_a_program_of_the_same_additions_is_refused_with_its_line(
    parameters: BfvParameters,
) -> None:
    def doublings(x):  # noqa: ANN001, ANN202
        for _ in range(DOUBLINGS):
            x = x + x
        return x

    with pytest.raises(ProgramError, match=r"test_wrapped_noise\.py:\d+: .*noise"):
        trace(doublings, parameters, {"x": 4})


OPERATIONS = (
    *("add", "sub", "add_plain", "multiply_plain", "square", "multiply", "rotate", "negate"),
    "mod_switch",
)


@pytest.mark.parametrize("seed", range(24))
def test_random_operations_are_right_until_one_is_refused(
    seed: int, parameters: BfvParameters, keys: Keys
) -> None:
    print("seed", seed)
    random = np.random.default_rng(seed)
    secret, public, evaluation = keys
    evaluator = Evaluator(parameters, evaluation)
    whole = [random.integers(-(T // 2), T // 2 + 1, N) for _ in range(2)]
    pool = [
        (client.encrypt_vector(parameters, public, each), each.astype(object)) for each in whole
    ]
    step, why = 0, ""
    for step in range(200):  # noqa: B007
        operation = str(random.choice(OPERATIONS))
        (a, x), (b, y) = (
            pool[int(random.integers(max(0, len(pool) - 3), len(pool)))] for _ in "ab"
        )
        if a.limbs != b.limbs:
            b, y = a, x
        try:
            pool.append(_computed(evaluator, parameters, operation, (a, x), (b, y), random))
        except ProgramError as error:
            why = str(error)
            if "transparent" in why:
                continue
            break
        result, expected = pool[-1]
        assert result.history is not None
        assert result.history.error is not None
        assert client.noise_budget(parameters, secret, result) >= 1
        found = client.decrypt_vector(parameters, secret, result)
        assert np.array_equal(found, _centred(expected))
    assert "bits of noise budget are missing" in why
    assert step > 4


def _centred(numbers: np.ndarray) -> np.ndarray:
    return ((numbers + T // 2) % T - T // 2).astype(np.int64)


def _computed(
    evaluator: Evaluator,
    parameters: BfvParameters,
    operation: str,
    first: tuple[Ciphertext, np.ndarray],
    second: tuple[Ciphertext, np.ndarray],
    random: np.random.Generator,
) -> tuple[Ciphertext, np.ndarray]:
    """A result of two polynomials, and what it should decrypt to."""
    (a, x), (b, y) = first, second
    match operation:
        case "add_plain" | "multiply_plain":
            size = 1 if random.random() < 0.5 else N
            plain = np.broadcast_to(random.integers(-(T // 2), T // 2 + 1, size), N)
            z = plain.astype(object)
            result = evaluator.run(operation, a, client.encode(parameters, plain))
            return result, x + z if operation == "add_plain" else x * z % T
        case "rotate":
            return evaluator.run("rotate", a, steps=1), np.roll(x.reshape(2, -1), -1, 1).reshape(-1)
        case "mod_switch" if a.limbs > parameters.min_limbs:
            return evaluator.run("mod_switch", a), x
        case "negate" | "mod_switch":
            return evaluator.run("negate", a), -x
        case "square":
            return evaluator.run("relinearize", evaluator.run("square", a)), x * x % T
        case "multiply":
            return evaluator.run("relinearize", evaluator.run("multiply", a, b)), x * y % T
        case _:
            return evaluator.run(operation, a, b), x + y if operation == "add" else x - y


def test_ciphertexts_of_unknown_history_are_computed_on_as_seal_does(
    parameters: BfvParameters, keys: Keys, tmp_path: Path
) -> None:
    _, public, _ = keys
    shape = SealParameters.from_parameters(parameters)
    c = client.encrypt_vector(parameters, public, [1])
    (tmp_path / "c.seal").write_bytes(write_ciphertext(c, shape))
    from_file = read_ciphertext(tmp_path / "c.seal", shape)
    assert from_file.history is None
    for result in doubled(Evaluator(parameters), from_file):
        assert result.history is not None
        assert result.history.error is None


@pytest.fixture(scope="module")
def doubling(parameters: BfvParameters) -> Compiled:
    return compile_program(trace(lambda x: x + x, parameters, {"x": 4}))


def test_a_run_on_a_result_warns_that_the_forecast_does_not_count_its_noise(
    doubling: Compiled, parameters: BfvParameters, keys: Keys
) -> None:
    _, public, evaluation = keys
    x = client.encrypt_vector(parameters, public, [1, 2, 3, 4])
    cpu = open_device("cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (y,) = doubling.run(cpu, {"x": x}, evaluation).outputs.values()
    for used in (y, Evaluator(parameters).run("negate", x)):
        with pytest.warns(NoiseWarning, match="input 'x' is a result and no fresh encryption") as w:
            doubling.run(cpu, {"x": used}, evaluation)
        assert w[0].filename == __file__
        with pytest.warns(NoiseWarning, match="trace one program for both steps"):
            doubling.submit(cpu, {"x": used}, evaluation).wait(60)
