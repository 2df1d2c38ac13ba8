"""Circuit privacy: the noise of sanitized results does not depend on a program's constants."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith import client, compile_program, open_device, trace
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.objects import Ciphertext, Residues
from ringsmith.params import AutoBfvParameters, BfvParameters, CkksParameters, RlweParameters
from ringsmith.params.context import ntt_tables
from ringsmith.params.flooding import hiding_deviation
from ringsmith.program import InputSpec, Program
from ringsmith.runtime import Sanitizer

SEED = 20_261_127
N = 1024
Keys = tuple[client.SecretKey, Any, Any]


def seeded(seed: int) -> Callable[[int], bytes]:
    return np.random.default_rng(seed).bytes


def ckks() -> CkksParameters:
    return CkksParameters.create(
        n=N, prime_bits=(60, 56), special_bits=60, scale_bits=54, security=None
    )


def bfv() -> BfvParameters:
    return BfvParameters.create(
        n=N, prime_bits=(50, 50, 50), special_bits=51, plain_bits=16, security=None
    )


def weighted(parameters: RlweParameters, weight: float) -> Program:
    """The inputs times weights: zeros stay zeros, and the noise grows by the weights' size.

    In BFV it grows by that of their polynomial: weights above 10 are the limit of random ones.
    """
    weights = np.full(parameters.slots, weight)
    if parameters.exact:
        weights = weights.astype(np.int64)
        if weight > 10:
            weights = np.random.default_rng(SEED).integers(-weights, weights)
    return trace(lambda x: x * weights, parameters, {"x": InputSpec(None, bound=1)})


def answer(program: Program, keys: Keys, numbers: object) -> dict[str, Ciphertext]:
    _, public_key, evaluation_keys = keys
    inputs = program.encrypt(public_key, {"x": numbers})
    return compile_program(program).run(open_device("cpu"), inputs, evaluation_keys).outputs


def noise(parameters: RlweParameters, key: client.SecretKey, result: Ciphertext) -> list[float]:
    """The coefficients of the phase of an encryption of zeros, which the key's holder measures."""
    residues: list[Residues] = []
    for i, (prime, table) in enumerate(
        zip(parameters.data_primes[: result.limbs], ntt_tables(parameters), strict=False)
    ):
        b, a = (polynomial[i].copy() for polynomial in result.data)
        if parameters.exact:
            table.forward(a)
            table.forward(b)
        product = a.astype(object) * key.reveal()[i].astype(object)
        phase = ((product + b) % prime).astype(np.uint64)
        table.inverse(phase)
        residues.append(phase)
    primes = parameters.data_primes[: result.limbs]
    q = int(np.prod(np.array(primes, object)))
    total = sum(
        residue.astype(object) * (q // p) * pow(q // p, -1, p)
        for residue, p in zip(residues, primes, strict=True)
    )
    return [float((number + q // 2) % q - q // 2) for number in np.asarray(total)]


def distinguished(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Kolmogorov and Smirnov's test of two equally large samples, at the level of 1 %."""
    both = np.sort(np.concatenate([a, b]))
    below = (np.searchsorted(np.sort(x), both, "right") / x.size for x in (a, b))
    return bool(np.abs(np.subtract(*below)).max() > 1.63 * np.sqrt(2 / a.size))


@pytest.mark.parametrize(("make", "weights"), [(ckks, (0.01, 20)), (bfv, (2, 300))])
def test_two_weights_cannot_be_told_apart_by_the_noise(
    make: Callable[[], RlweParameters], weights: tuple[float, float]
) -> None:
    """They are told apart at once without sanitizing; the numbers are zeros for both."""
    parameters, bits = make(), 20
    programs = [weighted(parameters, weight) for weight in weights]
    needed = [Sanitizer(p, statistical_security=bits).deviations["result"] for p in programs]
    assert needed[0] < needed[1], "the size follows the weights: servers set one for both"
    size = {"result": max(needed)}
    clear, hidden = [], []
    for seed, program in enumerate(programs):
        keys = program.generate_keys()
        outputs = answer(program, keys, np.zeros(1, np.int64))
        sanitizer = Sanitizer(program, statistical_security=bits, deviations=size)
        assert sanitizer.deviations == size
        assert sanitizer.left["result"] >= 1
        sanitized = sanitizer._run(outputs, keys[1], seeded(SEED + seed))
        clear.append(np.array(noise(parameters, keys[0], outputs["result"])))
        hidden.append(np.array(noise(parameters, keys[0], sanitized["result"])))
    assert distinguished(*clear)
    assert not distinguished(*hidden)
    for each in hidden:
        assert each.std() == pytest.approx(size["result"], rel=0.1)
    for own in clear:
        assert hiding_deviation(float(np.linalg.norm(own)), bits) <= size["result"]


@pytest.mark.parametrize("make", [ckks, bfv])
def test_a_sanitized_result_has_the_numbers_and_fresh_polynomials(
    make: Callable[[], RlweParameters],
) -> None:
    parameters = make()
    program = weighted(parameters, 2 if parameters.exact else 0.5)
    keys = program.generate_keys()
    numbers = np.arange(parameters.slots) % 2
    outputs = answer(program, keys, numbers)
    sanitizer = Sanitizer(program, statistical_security=20)
    first, second = (sanitizer.run(outputs, keys[1])["result"] for _ in range(2))
    found, exact = (
        program.decrypt(keys[0], {"result": first})["result"],
        program.evaluate({"x": numbers})["result"],
    )
    if parameters.exact:
        assert np.array_equal(found, exact)
        budget = client.noise_budget(parameters, keys[0], first)
        assert sanitizer.left["result"] <= budget <= sanitizer.left["result"] + 4
    else:
        error = np.abs(found - exact).max()
        left = sanitizer.left["result"]
        assert 2.0 ** -(left + 3) < error <= 2.0**-left
    for other in (second, outputs["result"]):
        equal = [np.mean(a == b) for a, b in zip(first.data, other.data, strict=True)]
        assert max(equal) < 0.01, "neither polynomial shows the old one"
    assert first.scale == outputs["result"].scale
    assert first.key_tag == keys[1].key_tag


def test_slots_after_the_numbers_are_random_in_bfv_and_must_be_zero_in_ckks() -> None:
    program = trace(lambda x: x + x.rotate(1), bfv(), {"x": 8}, outputs={"result": 1})
    keys = program.generate_keys()
    outputs = answer(program, keys, np.arange(8))
    parameters = program.parameters
    before = client.decrypt_vector(parameters, keys[0], outputs["result"])
    assert before[:3].tolist() == [1, 3, 5]
    sanitizer = Sanitizer(program)
    results = [
        client.decrypt_vector(parameters, keys[0], sanitizer.run(outputs, keys[1])["result"])
        for _ in range(2)
    ]
    t = parameters.message_modulus
    for result in results:
        assert result[0] == 1
        assert np.unique(result[1:]).size > 1000
        assert abs(np.mean(result[1:])) < 4 * t / np.sqrt(12 * N)
        assert np.mean(np.abs(result[1:]) > t / 4) == pytest.approx(0.5, abs=0.07)
    assert np.mean(results[0][1:] == results[1][1:]) < 0.01

    shown = trace(lambda x: x + x.rotate(1), ckks(), {"x": 8}, outputs={"result": 1})
    with pytest.raises(ProgramError, match=r"the slots after its 1 numbers may hold .* a mask"):
        Sanitizer(shown, statistical_security=10)
    masked = trace(lambda x: (x + x.rotate(1)) * [1.0], ckks(), {"x": 8}, outputs={"result": 1})
    keys = masked.generate_keys()
    outputs = answer(masked, keys, np.arange(8) / 8)
    found = Sanitizer(masked, statistical_security=10).run(outputs, keys[1])["result"]
    slots = client.decrypt_vector(masked.parameters, keys[0], found)
    assert np.abs(slots - np.eye(1, N // 2)[0] / 8).max() < 2.0**-8


def test_what_cannot_be_sanitized_is_refused() -> None:
    program = weighted(ckks(), 0.5)
    keys = program.generate_keys()
    outputs = answer(program, keys, np.zeros(1))
    with pytest.raises(ProgramError, match=r"leaves -\d+ bits after the point, .* larger scale"):
        Sanitizer(program, statistical_security=64)
    with pytest.raises(ParameterError, match="statistical_security = 0 is no number of bits"):
        Sanitizer(program, statistical_security=0)
    sanitizer = Sanitizer(program, statistical_security=10)
    with pytest.raises(ParameterError, match=r"deviations\['result'\] = 1.0: the forecast asks"):
        Sanitizer(program, statistical_security=10, deviations={"result": 1.0})
    with pytest.raises(ParameterError, match=r"deviations\['other'\]"):
        Sanitizer(program, statistical_security=10, deviations={"other": 1e30})
    with pytest.raises(ProgramError, match="'other'"):
        sanitizer.run({"other": outputs["result"]}, keys[1])
    with pytest.raises(ProgramError, match="and the program makes"):
        sanitizer.run({"result": replace(outputs["result"], scale=2.0)}, keys[1])
    with pytest.raises(ProgramError, match="of another key pair"):
        sanitizer.run(outputs, program.generate_keys()[1])
    with pytest.raises(ProgramError, match="made with other parameters"):
        sanitizer.run(outputs, weighted(bfv(), 2).generate_keys()[1])
    with pytest.raises(TypeError, match="public key"):
        sanitizer.run(outputs, keys[0])
    tight = trace(lambda x: x * 3, AutoBfvParameters(plain_bits=17), {"x": 4})
    with pytest.raises(ProgramError, match=r"leaves -\d+ bits of noise budget, and 1 is") as error:
        Sanitizer(tight)
    margin = int(str(error.value).partition("margin_bits=")[2].partition(")")[0])
    wish = AutoBfvParameters(plain_bits=17, margin_bits=margin)
    assert Sanitizer(trace(lambda x: x * 3, wish, {"x": 4})).left["result"] >= 1
