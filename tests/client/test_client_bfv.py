"""BFV at the client: encoders, encryption, noise budget, fixed point; and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringsmith import client
from ringsmith.client import FixedPoint
from ringsmith.errors import ParameterError
from ringsmith.objects import EvaluationKeys, PlainPolynomial, PublicKey
from ringsmith.params import (
    BfvParameters,
    KeyNeeds,
    core_context,
)
from ringsmith.runtime.evaluator import Evaluator

T = 65537
Keys = tuple[client.SecretKey, PublicKey, EvaluationKeys]


def made(**change: Any) -> BfvParameters:  # noqa: ANN401 - any literal
    """Parameters far too small to be secure, so that tests are quick."""
    literal: dict[str, Any] = {"n": 1024, "prime_bits": (50, 50), "special_bits": 51}
    if "plain_modulus" not in change:
        literal["plain_modulus"] = T
    return BfvParameters.create(**(literal | change), security=None)


VARIANTS: dict[str, dict[str, Any]] = {
    "SEAL": {},
    "hps": {"multiplication": "hps"},
    "HEAWS": {
        "multiplication": "hps",
        "relinearization": "word",
        "word_bits": 25,
        "special_bits": (),
        "error_deviation": 102.0,
    },
    "dnum": {"dnum": 1, "special_bits": (51, 51)},
}


@pytest.fixture(scope="module")
def bfv() -> BfvParameters:
    """SEAL's kind, batching."""
    return made()


@pytest.fixture(scope="module")
def keys(bfv: BfvParameters) -> Keys:
    """Keys for relinearization."""
    return client.generate_keys(bfv, KeyNeeds(bfv.limbs))


# ---- computing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_computed_is_exact_in_every_variant(variant: str, rng: np.random.Generator) -> None:
    parameters = made(**VARIANTS[variant])
    n, row = parameters.n, parameters.row_size
    left, swap = parameters.galois_element(3), parameters.conjugation_element
    needs = KeyNeeds(parameters.limbs, dict.fromkeys((left, swap), parameters.limbs))
    secret, public, keys = client.generate_keys(parameters, needs)
    assert keys.relin is not None
    assert keys.relin.digits == parameters.key_digits
    x, y = (rng.integers(-(T // 2), T // 2 + 1, n) for _ in "xy")

    def exact(values: np.ndarray) -> np.ndarray:
        return (values + T // 2) % T - T // 2

    evaluator = Evaluator(parameters, keys)
    a, b = (client.encrypt_vector(parameters, public, v) for v in (x, y))
    product = evaluator.run("relinearize", evaluator.run("multiply", a, b))
    plain = client.encode(parameters, y)
    swapped = np.concatenate([x[row:], x[:row]])
    rotated = np.concatenate([np.roll(x[:row], -3), np.roll(x[row:], -3)])
    for result, expected in (
        (evaluator.run("add", a, b), x + y),
        (evaluator.run("sub", a, b), x - y),
        (evaluator.run("negate", a), -x),
        (evaluator.run("add_plain", a, plain), x + y),
        (evaluator.run("sub_plain", a, plain), x - y),
        (evaluator.run("multiply_plain", a, plain), x * y),
        (evaluator.run("square", a), x * x),
        (product, x * y),
        (evaluator.run("mod_switch", a), x),
        (evaluator.run("rotate", a, steps=3), rotated),
        (evaluator.run("conjugate", a), swapped),
    ):
        assert result.scale == 1.0
        found = client.decrypt_vector(parameters, secret, result)
        assert np.array_equal(found, exact(expected))
        assert client.noise_budget(parameters, secret, result) > 0


def test_the_error_bound_is_the_cores() -> None:
    for change in VARIANTS.values():
        parameters = made(**change)
        assert core_context(parameters).error_bound == parameters.max_error


def test_noise_budgets_are_seals(bfv: BfvParameters, keys: Keys, tmp_path: Path) -> None:
    seal = pytest.importorskip("seal")
    from ringsmith.interop import SealParameters, write_ciphertext, write_secret_key

    secret, public, _ = keys
    shape = SealParameters.from_parameters(bfv)
    parms = seal.EncryptionParameters(seal.scheme_type.bfv)
    parms.set_poly_modulus_degree(bfv.n)
    parms.set_coeff_modulus([seal.Modulus(q) for q in bfv.primes])
    parms.set_plain_modulus(bfv.plain_modulus)
    context = seal.SEALContext(parms, True, seal.sec_level_type.none)
    theirs = seal.SecretKey()
    file = tmp_path / "secret.seal"
    file.write_bytes(write_secret_key(secret.reveal(), shape))
    theirs.load(context, str(file))
    decryptor = seal.Decryptor(context, theirs)
    cipher = client.encrypt_vector(bfv, public, [1, 2, 3])
    evaluator = Evaluator(bfv, check_noise=False)
    budgets = []
    while True:
        loaded = seal.Ciphertext()
        loaded.load_bytes(context, write_ciphertext(cipher, shape))
        budgets.append(client.noise_budget(bfv, secret, cipher))
        assert budgets[-1] == decryptor.invariant_noise_budget(loaded)
        if budgets[-1] == 0:
            break
        plain = client.encode(bfv, np.arange(bfv.n))
        cipher = evaluator.run("multiply_plain", cipher, plain)
    assert len(budgets) > 2
    assert budgets == sorted(budgets, reverse=True)


# ---- encoders ------------------------------------------------------------------------------------


def test_slots_come_back_centred_and_row_by_row(bfv: BfvParameters) -> None:
    values = [0, 1, -1, T - 1, T // 2, T // 2 + 1, -(T // 2)]
    decoded = client.decode(bfv, client.encode(bfv, values))
    assert decoded[:7].tolist() == [0, 1, -1, -1, T // 2, -(T // 2), -(T // 2)]
    assert not decoded[7:].any()
    rows = client.decode(bfv, client.encode(bfv, [[1, 2], [3, 4]]))
    assert (rows[:2].tolist(), rows[512:514].tolist()) == ([1, 2], [3, 4])
    assert np.count_nonzero(rows) == 4


def test_slots_multiply_slot_by_slot_and_coefficients_as_polynomials(
    bfv: BfvParameters, keys: Keys
) -> None:
    secret, public, evaluation = keys
    evaluator = Evaluator(bfv, evaluation)
    factor = client.encode_coefficients(bfv, [0, 1])  # X
    last = np.zeros(bfv.n, np.int64)
    last[[0, -1]] = [5, 7]
    cipher = client.encrypt(bfv, public, client.encode_coefficients(bfv, last))
    product = evaluator.run("multiply_plain", cipher, factor)
    shifted = client.decode_coefficients(bfv, client.decrypt(bfv, secret, product))
    assert shifted[:2].tolist() == [-7, 5]
    assert not shifted[2:].any()


@pytest.mark.parametrize("value", [0, 1, -1, 12345, -(2**70) + 1, 2**1024 - 1])
def test_an_integer_of_any_size_comes_back(value: int, bfv: BfvParameters) -> None:
    assert client.decode_integer(bfv, client.encode_integer(bfv, value)) == value


def test_encrypted_integers_multiply(bfv: BfvParameters, keys: Keys) -> None:
    secret, public, evaluation = keys
    a, b = 2**40 + 12345, -(2**35) + 99
    first, second = (
        client.encrypt(bfv, public, client.encode_integer(bfv, value)) for value in (a, b)
    )
    product = Evaluator(bfv, evaluation).run("multiply", first, second)
    assert client.decode_integer(bfv, client.decrypt(bfv, secret, product)) == a * b


def test_fixed_point_keeps_count_of_the_bits(bfv: BfvParameters, keys: Keys) -> None:
    secret, public, _ = keys
    x, y = FixedPoint(5), FixedPoint(7)
    cipher = client.encrypt(bfv, public, x.encode(bfv, [0.5, -1.25, 3.0]))
    product = Evaluator(bfv).run("multiply_plain", cipher, y.encode(bfv, [0.75, 2.5, -0.5]))
    both = x * y
    assert both == FixedPoint(12)
    found = both.decode(bfv, client.decrypt(bfv, secret, product))
    assert found[:3].tolist() == [0.375, -3.125, -1.5]
    assert x + FixedPoint(5) == x
    assert FixedPoint(1).integers([0.25, 0.75, -0.25, 1.25]).tolist() == [0, 2, 0, 2]  # to even
    with pytest.raises(ParameterError, match="5 and 7 bits after the point cannot be added"):
        x + y
    with pytest.raises(ParameterError, match="fraction_bits = -1 is outside 0 … 1024"):
        FixedPoint(-1)
    with pytest.raises(ParameterError, match=r"fraction_bits = 1\.5 is not a whole number"):
        FixedPoint(1.5)  # type: ignore[arg-type]
    for values in (np.inf, np.nan, 1e300):
        with pytest.raises(ParameterError, match="is not finite or exceeds 62 bits"):
            x.integers([values])
    with pytest.raises(ParameterError, match="are no real numbers"):
        x.integers(["a"])
    with pytest.raises(ParameterError, match=f"is outside the plaintext space -32768 … {T - 1}"):
        x.encode(bfv, [2049.0])


@pytest.mark.parametrize("t", [2, 256, 1009, 65536])
def test_a_t_that_does_not_batch_is_refused_and_encodes_coefficients(t: int) -> None:
    parameters = made(plain_modulus=t)
    for call in (
        lambda: client.encode(parameters, [1]),
        lambda: client.decode(parameters, PlainPolynomial(np.zeros(1024, np.uint64))),
        lambda: FixedPoint(1).encode(parameters, [0.5]),
    ):
        with pytest.raises(ParameterError, match=f"t = {t} does not batch: .* 1 mod 2N = 2048"):
            call()
    secret, public, _ = client.generate_keys(parameters, KeyNeeds())
    cipher = client.encrypt(parameters, public, client.encode_coefficients(parameters, [1, t - 1]))
    found = client.decode_coefficients(parameters, client.decrypt(parameters, secret, cipher))
    assert found[:2].tolist() == [1, 1 if t == 2 else -1]
