"""Every device equals Microsoft SEAL: same files in, same residues out, at N = 2^13.

SEAL makes keys and ciphertexts and saves them; ``interop`` reads the bytes; each operation runs as
a subroutine graph on the cpu, the model and the RTL of ``nano``; SEAL does the same, saves its
result, and the two are compared residue for residue.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import seal

from ringsmith import runtime
from ringsmith.apps.seal_baseline import SealBaseline
from ringsmith.interop import SealParameters, read_ciphertext, read_galois_keys, read_relin_keys
from ringsmith.lower import lower_operation
from ringsmith.objects import Ciphertext, EvaluationKeys, Residues
from ringsmith.params import CkksParameters, parameter_set

STEPS = (1, 100, 4095)
OPERATIONS = ("add", "multiply", "relinearize", "rescale", *(f"rotate:{step}" for step in STEPS))


def seals_own_parameters() -> CkksParameters:
    """SEAL's default primes for N = 8192 (43, 43, 44, 44, 44 bits); the last one is special."""
    *data, special = (prime.value() for prime in seal.CoeffModulus.BFVDefault(8192))
    return CkksParameters.from_primes(
        n=8192, data_primes=data, special_prime=special, scale=2.0**40, name="seal-8192"
    )


PARAMETERS = {"seal-8192": seals_own_parameters, "nano": lambda: parameter_set("nano")}


@dataclass(frozen=True)
class World:
    """SEAL with one parameter set, and its keys as the interpreter and the devices take them."""

    parameters: CkksParameters
    baseline: SealBaseline
    keys: dict[str, Residues]

    def read(self, ciphertext: seal.Ciphertext) -> Ciphertext:
        """A SEAL ciphertext, by way of its bytes."""
        return read_ciphertext(ciphertext.to_string(), SealParameters.from_ckks(self.parameters))


@cache
def world(name: str) -> World:
    parameters = PARAMETERS[name]()
    baseline = SealBaseline(parameters, STEPS)
    shape = SealParameters.from_ckks(parameters)
    galois = read_galois_keys(baseline.galois_keys.to_string(), shape)
    relin = read_relin_keys(baseline.relin_keys.to_string(), shape)
    return World(parameters, baseline, runtime.named_keys(EvaluationKeys(relin, galois)))


@cache
def device(kind: str) -> runtime.Machine:
    return runtime.open_device(kind, "nano")


def expected(
    world: World, operation: str, limbs: int, rng: np.random.Generator
) -> tuple[list[seal.Ciphertext], seal.Ciphertext]:
    """Operands, and SEAL's result of an operation on them."""
    evaluator, slots = world.baseline.evaluator, world.parameters.slots
    a, b = (world.baseline.encrypt(rng.uniform(-1, 1, slots)) for _ in range(2))
    for _ in range(world.parameters.limbs - limbs):
        a, b = evaluator.mod_switch_to_next(a), evaluator.mod_switch_to_next(b)
    name, _, step = operation.partition(":")
    match name:
        case "add":
            return [a, b], evaluator.add(a, b)
        case "multiply":
            return [a, b], evaluator.multiply(a, b)
        case "relinearize":
            product = evaluator.multiply(a, b)
            return [product], evaluator.relinearize(product, world.baseline.relin_keys)
        case "rescale":
            return [a], evaluator.rescale_to_next(a)
        case "rotate":
            return [a], evaluator.rotate_vector(a, int(step), world.baseline.galois_keys)
    raise AssertionError(operation)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("limbs", [4, 3])
@pytest.mark.parametrize("primes", PARAMETERS)
@pytest.mark.parametrize("kind", ["cpu", "model", "rtl"])
def test_an_operation_on_a_device_equals_seal_residue_for_residue(
    kind: str, primes: str, limbs: int, operation: str, rng: np.random.Generator
) -> None:
    here = world(primes)
    operands, result = expected(here, operation, limbs, rng)
    name, _, step = operation.partition(":")
    graph = lower_operation(name, here.parameters, limbs, steps=int(step or 0))
    polynomials = [poly for operand in operands for poly in here.read(operand).data]
    inputs = dict(zip(graph.inputs, polynomials, strict=True))
    compiled = runtime.compile_graph(graph, "nano")
    found = runtime.run_graph(compiled, device(kind), inputs, here.keys).outputs
    np.testing.assert_array_equal(np.stack(list(found.values())), here.read(result).data)
