"""CKKS decryptions that others may see, and the attack that they withstand.

Li and Micciancio 2021, eprint 2020/1533: a ciphertext (c_0, c_1) and its exact decryption m + e
give the key, s = (m + e - c_0) / c_1.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith import compile_program, open_device, trace
from ringsmith.client import (
    SecretKey,
    decrypt,
    decrypt_vector,
    encode,
    encrypt_for_test,
    encrypt_vector,
    generate_keys_for_test,
    shared_bits,
)
from ringsmith.client.sharing import flooded, rounded
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.interop import SealParameters, read_ciphertext, write_ciphertext
from ringsmith.objects import Ciphertext, Plaintext, PublicKey
from ringsmith.params import (
    AutoBfvParameters,
    AutoParameters,
    BfvParameters,
    CkksParameters,
    KeyNeeds,
)
from ringsmith.params.context import ntt_tables
from ringsmith.params.flooding import Flooding
from ringsmith.params.sampling import Draw
from ringsmith.program import ClientKit, EncryptedVector, InputSpec, Program
from ringsmith.runtime.evaluator import Evaluator
from ringsmith.schemes import program_file

SEED = 20_261_127
N, SCALE = 1024, 2.0**48
BOUND = 2.0**-34
"""More than the error of a fresh encryption, in every slot."""


@dataclass(frozen=True)
class Client:
    """A key pair, and what its holder can measure."""

    parameters: CkksParameters
    secret_key: SecretKey
    public_key: PublicKey

    def encrypt(self, numbers: object, seed: int = SEED) -> Ciphertext:
        """Encrypts numbers, with the errors of a seed."""
        plaintext = encode(self.parameters, np.asarray(numbers))
        return encrypt_for_test(self.parameters, self.public_key, plaintext, seed)

    def noise(self, plaintext: Plaintext, message: Plaintext) -> NDArray[np.int64]:
        """The coefficients of what a decryption of one limb differs by from the message."""
        (prime, *_), (table, *_) = self.parameters.data_primes, ntt_tables(self.parameters)
        p = np.uint64(prime)
        error = (plaintext.data[0] + (p - message.data[0])) % p
        table.inverse(error)
        centred = error.astype(np.int64)
        return np.where(centred > prime // 2, centred - prime, centred)


def client(seed: int = SEED) -> Client:
    parameters = CkksParameters.create(
        n=N, prime_bits=(60,), special_bits=60, scale_bits=48, security=None
    )
    secret_key, public_key, _ = generate_keys_for_test(parameters, KeyNeeds(), seed)
    return Client(parameters, secret_key, public_key)


@pytest.fixture(scope="module")
def alice() -> Client:
    return client()


def seeded(seed: int) -> Draw:
    return np.random.default_rng(seed).bytes


def attacked(alice: Client, ciphertext: Ciphertext, shared: Plaintext) -> float:
    """Solves for the key; returns the part of its residues that are right."""
    (prime, *_) = alice.parameters.data_primes
    found = [
        (int(m) - int(b)) * pow(int(a), -1, prime) % prime
        for m, b, a in zip(shared.data[0], *ciphertext.data[:, 0], strict=True)
    ]
    return float(np.mean(np.array(found, np.uint64) == alice.secret_key.reveal()[0]))


MESSAGE = np.linspace(-1, 1, N // 2)


def test_an_exact_decryption_gives_the_key_away(alice: Client) -> None:
    ciphertext = alice.encrypt(MESSAGE)
    numbers = decrypt_vector(alice.parameters, alice.secret_key, ciphertext)
    assert attacked(alice, ciphertext, encode(alice.parameters, numbers)) == 1


def test_a_shared_decryption_does_not_give_the_key_away(alice: Client) -> None:
    ciphertext = alice.encrypt(MESSAGE)
    arguments = alice.parameters, alice.secret_key, ciphertext
    numbers = decrypt_vector(*arguments, share=1, noise_bound=BOUND)
    assert np.abs(numbers - MESSAGE).max() < 0.1
    assert attacked(alice, ciphertext, encode(alice.parameters, numbers)) < 0.01
    plaintext = decrypt(*arguments, share=1, noise_bound=BOUND)
    assert attacked(alice, ciphertext, plaintext) < 0.01


def test_the_mean_of_as_many_decryptions_as_were_announced_is_no_better(alice: Client) -> None:
    """By the theorem it hides the noise as well as one decryption with share=1 does."""
    queries = 64
    ciphertext, flooding = alice.encrypt(MESSAGE), Flooding(queries)
    exact = decrypt(alice.parameters, alice.secret_key, ciphertext)
    total = np.zeros(N)
    for seed in range(queries):
        shared = flooded(alice.parameters, exact, flooding, BOUND, seeded(seed))
        total += alice.noise(shared, exact)
    left = total / queries
    alone = Flooding(1).deviation(BOUND * SCALE)
    assert left.std() == pytest.approx(alone, rel=0.1)
    own = alice.noise(exact, encode(alice.parameters, MESSAGE))
    assert np.linalg.norm(own) <= BOUND * SCALE
    assert left.std() > 2**15 * np.linalg.norm(own)


def distinguished(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Kolmogorov and Smirnov's test of two equally large samples, at the level of 1 %."""
    both = np.sort(np.concatenate([a, b]))
    below = (np.searchsorted(np.sort(x), both, "right") / x.size for x in (a, b))
    return bool(np.abs(np.subtract(*below)).max() > 1.63 * np.sqrt(2 / a.size))


def projected(
    alice: Client, seed: int, direction: NDArray[np.float64], noise_bound: float
) -> NDArray[np.float64]:
    """Flooded noise of many decryptions, along the direction that distinguishes two ciphertexts."""
    exact = decrypt(alice.parameters, alice.secret_key, alice.encrypt(MESSAGE, seed))
    message = encode(alice.parameters, MESSAGE)
    shared = (
        flooded(alice.parameters, exact, Flooding(1, 20), noise_bound, seeded(1000 * seed + i))
        for i in range(400)
    )
    return np.array([alice.noise(each, message) @ direction for each in shared])


def test_flooded_noise_does_not_depend_on_the_key_or_the_ciphertext() -> None:
    """The best linear test cannot distinguish two clients' noise; with too little noise it can."""
    alice, bob = client(), client(SEED + 1)
    message = encode(alice.parameters, MESSAGE)
    ours, theirs = (
        each.noise(decrypt(each.parameters, each.secret_key, each.encrypt(MESSAGE, seed)), message)
        for each, seed in ((alice, 1), (bob, 2))
    )
    difference = (ours - theirs).astype(np.float64)
    direction = difference / np.linalg.norm(difference)
    for noise_bound, expected in ((BOUND, False), (BOUND / 2**17, True)):
        samples = (projected(each, i, direction, noise_bound) for each, i in ((alice, 1), (bob, 2)))
        assert distinguished(*samples) == expected


def test_flooded_noise_does_not_depend_on_how_noisy_a_ciphertext_was(alice: Client) -> None:
    """Fresh, or with 16 times the noise: distinguished without flooding, and not with it."""
    fresh = alice.encrypt(np.zeros(1))
    data = fresh.data.astype(object) * 16 % alice.parameters.data_primes[0]
    noisy = replace(fresh, data=data.astype(np.uint64))
    zero = encode(alice.parameters, np.zeros(1))

    def noises(ciphertext: Ciphertext, *, share: bool) -> NDArray[np.float64]:
        found = decrypt(alice.parameters, alice.secret_key, ciphertext)
        if share:
            found = flooded(
                alice.parameters, found, Flooding(1), BOUND, seeded(int(ciphertext is noisy))
            )
        return alice.noise(found, zero).astype(np.float64)

    assert distinguished(noises(fresh, share=False), noises(noisy, share=False))
    assert not distinguished(noises(fresh, share=True), noises(noisy, share=True))


def test_numbers_are_rounded_to_what_survives_whatever_they_are(alice: Client) -> None:
    bits = shared_bits(alice.parameters, SCALE, 3, BOUND)
    assert bits == int(Flooding(3).bits(N, BOUND)) == 8
    found = []
    for seed in range(40):
        ciphertext = alice.encrypt(MESSAGE * seed / 4, seed)
        arguments = alice.parameters, alice.secret_key, ciphertext
        numbers = decrypt_vector(*arguments, share=3, noise_bound=BOUND)
        for part in (numbers.real, numbers.imag):
            assert not (part * 2**bits % 1).any()
            assert not np.signbit(part[part == 0]).any()
        found.append(np.abs(numbers.real - MESSAGE * seed / 4).max())
        assert np.abs(numbers.imag).max() <= 2.0**-bits
    assert 2.0 ** -(bits + 1) < max(found) <= 2.0**-bits
    assert np.array_equal(rounded(np.array([0.3 - 0.3j]), 2), [0.25 - 0.25j])


def test_a_decryption_is_a_fresh_one_each_time(alice: Client) -> None:
    arguments = alice.parameters, alice.secret_key, alice.encrypt(MESSAGE)
    first, second = (decrypt(*arguments, share=1, noise_bound=BOUND) for _ in range(2))
    assert not np.array_equal(first.data, second.data)
    assert np.array_equal(decrypt(*arguments).data, decrypt(*arguments).data)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"share": 1}, "share = 1 needs noise_bound: a ciphertext does not say how"),
        ({"share": 1, "noise_bound": 2.0**-49}, r"is 0\.5 units of the scale"),
        ({"share": 1, "noise_bound": float("nan")}, "noise_bound = nan"),
        ({"share": 1, "noise_bound": float("inf")}, "noise_bound = inf"),
        ({"share": 1, "noise_bound": 2.0**-25.5}, r"leaves 0\.\d bits after the point, and 1 is"),
        ({"share": 0, "noise_bound": BOUND}, "share = 0 is no number of decryptions"),
        (
            {"share": 1, "noise_bound": BOUND, "statistical_security": 64},
            r"statistical_security = 64 leaves -\d+\.\d bits",
        ),
    ],
)
def test_what_cannot_be_shared_is_refused(
    alice: Client, arguments: dict[str, float], message: str
) -> None:
    for function in (decrypt, decrypt_vector):
        with pytest.raises(ParameterError, match=message):
            function(alice.parameters, alice.secret_key, alice.encrypt(MESSAGE), **arguments)


# ---- programs and kits ---------------------------------------------------------------------


def wide() -> CkksParameters:
    return CkksParameters.create(
        n=N, prime_bits=(59, 52, 52), special_bits=60, scale_bits=52, security=None
    )


def product(x: EncryptedVector) -> EncryptedVector:
    return x * x * 0.5 + x.rotate(1)


@pytest.fixture(scope="module")
def program() -> Program:
    return trace(product, wide(), {"x": InputSpec(N // 2, bound=1.0)})


def runs(program: Program, numbers: object, seeds: int) -> Iterator[tuple[SecretKey, Ciphertext]]:
    compiled = compile_program(program)
    for seed in range(seeds):
        secret_key, public_key, keys = generate_keys_for_test(
            program.parameters, program.key_needs, seed
        )
        inputs = program.encrypt(public_key, {"x": numbers})
        outputs = compiled.run(open_device("cpu"), inputs, keys).outputs
        yield secret_key, outputs["result"]


def test_the_kit_s_noise_bounds_that_of_every_key_and_input(program: Program) -> None:
    port = program.client_kit().outputs["result"]
    drawn = np.random.default_rng(SEED)
    for numbers in (np.ones(N // 2), -np.ones(N // 2), drawn.uniform(-1, 1, N // 2)):
        exact = program.evaluate({"x": numbers})["result"]
        for secret_key, output in runs(program, numbers, 4):
            found = decrypt_vector(program.parameters, secret_key, output)
            length = float(np.sqrt(np.mean(np.abs(found - exact) ** 2)))
            assert port.noise is not None
            assert port.noise / 32 < length < port.noise, "no bound by chance, and not by far"
            assert length < Flooding(1).noise_bound(port.noise)


def test_roundings_that_a_program_repeats_stay_below_the_bound() -> None:
    """Key switchings of x + 1, x + 2, … have equal digits; the forecast takes them as random."""

    def repeated(x: EncryptedVector) -> EncryptedVector:
        total = x
        for k in range(16):
            rotated = x + k / 1024
            for _ in range(16):
                rotated = rotated.rotate(1)
            total = total + rotated
        return total

    program = trace(repeated, client().parameters, {"x": InputSpec(N // 2, bound=0.01)})
    exact = program.evaluate({"x": np.zeros(1)})["result"]
    bound = program.client_kit().noise_bounds(1)["result"]
    assert program.worst_case is not None
    deviation = program.worst_case["result"].spread
    assert bound > 12 * deviation
    for secret_key, output in runs(program, np.zeros(1), 5):
        error = decrypt_vector(program.parameters, secret_key, output) - exact
        assert float(np.sqrt(np.mean(np.abs(error) ** 2))) < 4 * deviation < bound


def test_a_program_shares_what_its_kit_says_survives(program: Program) -> None:
    numbers = np.linspace(-1, 1, N // 2)
    exact = program.evaluate({"x": numbers})["result"]
    bits = program.client_kit().shared_bits(10)["result"]
    assert bits > program.client_kit().shared_bits(10, statistical_security=36)["result"] >= 1
    for secret_key, output in runs(program, numbers, 3):
        found = program.decrypt(secret_key, {"result": output}, share=10)["result"]
        assert found.dtype == np.float64
        assert not (found * 2**bits % 1).any()
        assert np.abs(found - exact).max() <= 2.0**-bits
        complexes = program.decrypt(secret_key, {"result": output}, share=10, complex_numbers=True)[
            "result"
        ]
        assert not (complexes.imag * 2**bits % 1).any()


def test_a_kit_from_a_file_shares_as_the_program_does(program: Program) -> None:
    kit = program.client_kit()
    read = program_file.from_bytes(program_file.to_bytes(kit))
    assert isinstance(read, ClientKit)
    assert read.outputs == dict(kit.outputs)
    assert read.shared_bits(5) == kit.shared_bits(5)
    noise = kit.outputs["result"].noise
    assert noise is not None
    assert noise == 2.0 ** np.ceil(np.log2(noise)), "no more of the weights than its size"
    loaded = program_file.from_bytes(program.to_bytes())
    assert isinstance(loaded, Program)
    assert loaded.client_kit().outputs == kit.outputs


def test_a_kit_s_bound_shares_ciphertexts_without_the_kit(program: Program) -> None:
    kit = program.client_kit()
    bound = kit.noise_bounds(5)["result"]
    parameters, scale = program.parameters, kit.outputs["result"].scale
    assert shared_bits(parameters, scale, 5, bound) == kit.shared_bits(5)["result"]
    assert bound < kit.noise_bounds(5, statistical_security=40)["result"]


@pytest.mark.parametrize("noise", [0.0, -1.0, 2.0**-53])
def test_a_kit_that_claims_no_noise_is_refused(program: Program, noise: float) -> None:
    kit = program.client_kit()
    port = replace(kit.outputs["result"], noise=noise)
    with pytest.raises(ProgramError, match=r"\.noise .* is illegal at the scale"):
        program_file.to_bytes(replace(kit, outputs={"result": port}))


def test_what_has_no_bound_or_no_bits_left_is_not_shared(program: Program) -> None:
    secret_key, output = next(runs(program, np.zeros(1), 1))
    with pytest.raises(ProgramError, match=r"output 'result': noise .* leaves -\d+\.\d bits after"):
        program.decrypt(secret_key, {"result": output}, share=1, statistical_security=64)
    kit = program.client_kit()
    unknown = replace(
        kit, outputs={name: replace(port, noise=None) for name, port in kit.outputs.items()}
    )
    assert unknown.decrypt(secret_key, {"result": output})
    with pytest.raises(ProgramError, match="how large its noise is at most is unknown"):
        unknown.decrypt(secret_key, {"result": output}, share=1)


@pytest.mark.parametrize("share", [1, 200])
def test_automatic_parameters_leave_the_bits_that_are_asked_for(share: int) -> None:
    found = trace(product, AutoParameters(precision_bits=4, share=share), {"x": 8})
    assert found.client_kit().shared_bits(share)["result"] == 4
    plain = trace(product, AutoParameters(precision_bits=4), {"x": 8})
    assert plain.parameters.scale < found.parameters.scale
    with pytest.raises(ParameterError, match="samples are typical ones"):
        AutoParameters(share=share, samples={"x": [1]})
    with pytest.raises(ParameterError, match="share = 0"):
        AutoParameters(share=0)


# ---- BFV -----------------------------------------------------------------------------------


def test_a_bfv_result_is_shared_unchanged_where_no_decryption_fails() -> None:
    safe = trace(lambda x: x * x, AutoBfvParameters(plain_bits=17, margin_bits=2), {"x": 4})
    secret_key, public_key, keys = safe.generate_keys()
    inputs = safe.encrypt(public_key, {"x": [1, -2, 3, 4]})
    outputs = compile_program(safe).run(open_device("cpu"), inputs, keys).outputs
    assert safe.decrypt(secret_key, outputs, share=1000)["result"].tolist() == [1, 4, 9, 16]
    kit = safe.client_kit()
    assert kit.outputs["result"].budget == safe.forecast().bits
    assert kit.shared_bits(1) == {"result": 0}
    bound = kit.noise_bounds(1)["result"]
    foreign = replace(outputs["result"], history=None)
    arguments = safe.parameters, secret_key, foreign
    assert decrypt_vector(*arguments, share=1, noise_bound=bound)[3] == 16
    with pytest.raises(ParameterError, match="leaves 1 bits of noise budget"):
        decrypt_vector(*arguments, share=1, noise_bound=bound * 2 ** (safe.forecast().bits - 1))
    for budget, words in ((1, "1 bits"), (None, "an unknown noise budget")):
        port = replace(kit.outputs["result"], budget=budget)
        tight = replace(kit, outputs={"result": port})
        assert tight.decrypt(secret_key, outputs)["result"][0] == 1
        with pytest.raises(ProgramError, match=f"by the forecast {words} is left, and .* need 2"):
            tight.decrypt(secret_key, outputs, share=1)
    negative = replace(kit, outputs={"result": replace(kit.outputs["result"], budget=-1)})
    with pytest.raises(ProgramError, match="budget -1 is negative"):
        program_file.to_bytes(negative)


def test_a_bfv_ciphertext_is_shared_by_its_history_or_a_bound() -> None:
    parameters = BfvParameters.create(
        n=N, prime_bits=(36, 36), special_bits=37, plain_bits=16, security=None
    )
    secret_key, public_key, _ = generate_keys_for_test(parameters, KeyNeeds(), SEED)
    fresh = encrypt_vector(parameters, public_key, np.arange(8))
    evaluator = Evaluator(parameters)
    tripled = evaluator.run("add", evaluator.run("add", fresh, fresh), fresh)
    for ciphertext, factor in ((fresh, 1), (tripled, 3)):
        found = decrypt_vector(parameters, secret_key, ciphertext, share=7)
        assert np.array_equal(found[:8], factor * np.arange(8))
    shape = SealParameters.from_parameters(parameters)
    foreign = read_ciphertext(write_ciphertext(tripled, shape), shape)
    with pytest.raises(ParameterError, match="the noise of this ciphertext is unknown"):
        decrypt_vector(parameters, secret_key, foreign, share=7)
    found = decrypt_vector(parameters, secret_key, foreign, share=7, noise_bound=2.0**20)
    assert np.array_equal(found[:8], 3 * np.arange(8))
    assert decrypt(parameters, secret_key, foreign, share=7, noise_bound=2.0**20) is not None
    with pytest.raises(ParameterError, match=r"noise up to 2\^55\.0 leaves 0 bits of noise budget"):
        decrypt_vector(parameters, secret_key, foreign, share=7, noise_bound=2.0**55)
    with pytest.raises(ParameterError, match=r"noise_bound = 0\.5 must be finite"):
        decrypt_vector(parameters, secret_key, foreign, share=7, noise_bound=0.5)
