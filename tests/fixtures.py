"""Fixtures of many packages' tests: a small parameter set, and encrypted runs of a program."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.backends.keys import core_key
from ringsmith.client import SecretKey, decrypt_vector, encrypt_vector, generate_keys_for_test
from ringsmith.lower import Lowered, lower
from ringsmith.objects import Ciphertext, EvaluationKeys, KeySwitchKey, PublicKey
from ringsmith.params import (
    BfvParameters,
    CkksParameters,
    KeyNeeds,
    bfv_context,
    core_context,
)
from ringsmith.program import BfvProgram, Program
from ringsmith.runtime import compile_program, open_device

Vectors = dict[str, NDArray[np.generic]]


def insecure(
    n: int, prime_bits: tuple[int, ...], special_bits: int, scale_bits: int
) -> CkksParameters:
    """Parameters far too small to be secure, so that tests are quick."""
    return CkksParameters.create(
        n=n,
        prime_bits=prime_bits,
        special_bits=special_bits,
        scale_bits=scale_bits,
        security=None,
        name=f"test-{n}",
    )


@pytest.fixture(scope="session")
def small() -> CkksParameters:
    """N = 2^10, four levels."""
    return insecure(1024, (50, 40, 40, 40, 40), 51, 40)


def run_inputs(
    lowered: Lowered, ciphertexts: Mapping[str, Ciphertext]
) -> dict[str, NDArray[np.uint64]]:
    """Names every polynomial that the graph is handed."""
    inputs = dict(lowered.plaintexts)
    for name, port in lowered.inputs.items():
        inputs.update(zip(port.polynomials, ciphertexts[name].data, strict=True))
    return inputs


def run_keys(keys: EvaluationKeys) -> dict[str, _core.TruncatedKey]:
    """Names every key-switching key that the graph is handed."""
    arrays = {f"galois:{element}": core_key(key) for element, key in keys.galois.items()}
    return arrays if keys.relin is None else {"relin": core_key(keys.relin), **arrays}


class Encrypted:
    """A program's run on the reference interpreter, from vectors to vectors.

    Args:
        program: The program.
        inputs: Numbers by name.
        full: Whether keys are full, and not truncated to the limbs that they are used at.
    """

    def __init__(
        self, program: Program, inputs: Mapping[str, NDArray[np.generic]], *, full: bool = False
    ) -> None:
        self.program, self.parameters = program, program.parameters
        self.secret: SecretKey
        self.public: PublicKey
        self.keys: EvaluationKeys
        needs, limbs = program.key_needs, program.parameters.limbs
        if full:
            needs = KeyNeeds(needs.relin and limbs, dict.fromkeys(needs.galois, limbs))
        self.secret, self.public, self.keys = generate_keys_for_test(
            program.parameters, needs, seed=7
        )
        self.lowered = lower(program)
        self.ciphertexts = {
            name: encrypt_vector(
                self.parameters, self.public, inputs[name], scale=port.scale, limbs=port.limbs
            )
            for name, port in self.lowered.inputs.items()
        }

    def run(self) -> dict[str, Ciphertext]:
        """Returns the encrypted outputs."""
        outputs = self.lowered.graph.to_core().run(
            run_inputs(self.lowered, self.ciphertexts), run_keys(self.keys)
        )
        return {
            name: Ciphertext(np.stack([outputs[p] for p in port.polynomials]), port.scale)
            for name, port in self.lowered.outputs.items()
        }

    def decrypted(self) -> Vectors:
        """Returns all slots of the outputs, complex."""
        return {
            name: decrypt_vector(self.parameters, self.secret, ciphertext)
            for name, ciphertext in self.run().items()
        }


@pytest.fixture(scope="session")
def run_encrypted() -> Callable[[Program, Mapping[str, NDArray[np.generic]]], Encrypted]:
    """Encrypts the inputs of a program and makes its run ready."""
    return Encrypted


@pytest.fixture(scope="session")
def context(small: CkksParameters) -> _core.Context:
    """The core's context of ``small``."""
    return _core.Context(small.n, list(small.primes))


class EncryptedExact:
    """A BFV program run on the cpu device under keys of a fixed seed, from vectors to vectors.

    Attributes:
        decrypted: All slots of each output, centred modulo t.
        budgets: Each output's true noise budget.
    """

    def __init__(self, program: BfvProgram, inputs: Mapping[str, NDArray[np.int64]]) -> None:
        parameters = program.parameters
        context, secret = bfv_context(parameters), _core.secret
        key, public, keys = exact_keys(parameters, program.key_needs)
        ciphertexts = {}
        for seed, (name, values) in enumerate(inputs.items()):
            slots = np.zeros(parameters.n, np.int64)
            slots[: values.size] = values
            plain = _core.bfv.encode(context, slots)
            data = _core.bfv.encrypt_for_test(context, public, plain, seed)
            ciphertexts[name] = Ciphertext(data)
        compiled = compile_program(program)
        outputs = compiled.run(open_device("cpu"), ciphertexts, keys).outputs
        self.decrypted = {}
        for name, ciphertext in outputs.items():
            plain = secret.bfv_decrypt(context, key, ciphertext.data)
            slots = _core.bfv.decode(context, plain).astype(np.int64)
            t = parameters.plain_modulus
            self.decrypted[name] = np.where(slots > t // 2, slots - t, slots)
        self.budgets = {
            name: secret.bfv_noise_budget(context, key, c.data) for name, c in outputs.items()
        }


def exact_keys(
    parameters: BfvParameters, needs: KeyNeeds
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], EvaluationKeys]:
    """Secret, public and evaluation keys of a fixed seed, cut as the parameters say."""
    context, secret, bits = core_context(parameters), _core.secret, parameters.word_bits
    key = secret.generate_secret_key_for_test(context, 7)
    public = secret.generate_public_key_for_test(context, key, 8)
    relin = secret.generate_key_switch_key_for_test(context, key, None, word_bits=bits, seed=9)
    galois = {
        e: secret.generate_key_switch_key_for_test(context, key, e, word_bits=bits, seed=10 + e)
        for e in needs.galois
    }
    turned = {e: KeySwitchKey(data) for e, data in galois.items()}
    return key, public, EvaluationKeys(KeySwitchKey(relin), turned)


@pytest.fixture(scope="session")
def run_exact() -> Callable[[BfvProgram, Mapping[str, NDArray[np.int64]]], EncryptedExact]:
    """Encrypts the inputs of a BFV program and runs it."""
    return EncryptedExact
