"""Every device equals Microsoft SEAL: same files in, same residues out, at N = 2^12, 2^13, 2^14.

SEAL makes keys and ciphertexts and saves them; ``interop`` reads the bytes; each operation runs as
a subroutine graph on the cpu, the model and the RTL of a design; SEAL does the same, saves its
result, and the two are compared residue for residue.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import pytest
import seal

from ringsmith import runtime
from ringsmith.apps.seal_baseline import SealBaseline
from ringsmith.arch.rpau.design import RpauDesign, load_design
from ringsmith.bench.medha.cases import graph_of
from ringsmith.interop import (
    SealParameters,
    read_ciphertext,
    read_galois_keys,
    read_plaintext,
    read_relin_keys,
)
from ringsmith.lower import lower_operation
from ringsmith.objects import EvaluationKeys, KeySwitchKey, Residues
from ringsmith.params import CkksParameters, parameter_set
from ringsmith.runtime.choose import smallest_design

OPERATIONS = (
    *("add", "sub", "negate", "add_plain", "sub_plain", "multiply_plain"),
    *("multiply", "square", "relinearize", "rescale", "mod_switch", "conjugate"),
    *("rotate:1", "rotate:100", "rotate:-1"),
)
KEY_SWITCHING = ("relinearize", "rotate", "conjugate")
MEDHA_SECONDS = 20.0
"""Processor time for a multiplication on the simulated design ``medha``, loading keys included."""
LARGE_RING = ("multiply", "relinearize", "rescale", "rotate:1")
KINDS = ("cpu", "model", "rtl")


def seals_own_parameters(n: int) -> CkksParameters:
    """SEAL's default primes for a ring; the last one is special."""
    *data, special = (prime.value() for prime in seal.CoeffModulus.BFVDefault(n))
    return CkksParameters.from_primes(
        n=n, data_primes=data, special_prime=special, scale=2.0**30, name=f"seal-{n}"
    )


PARAMETERS = {
    "seal-4096": lambda: seals_own_parameters(4096),  # 36, 36, 37 bits
    "seal-8192": lambda: seals_own_parameters(8192),  # 43, 43, 44, 44, 44 bits
    "nano": lambda: parameter_set("nano"),
    "medha-set1": lambda: parameter_set("medha-set1"),
}
DESIGNS = {"seal-8192": "nano", "nano": "nano", "medha-set1": "octo"}
"""Where none is named here, the design is made to fit."""
LIMBS = {"seal-4096": (2,), "seal-8192": (4, 3), "nano": (4, 3), "medha-set1": (7, 3)}


@dataclass(frozen=True)
class World:
    """SEAL with one parameter set, and its keys as the interpreter and the devices take them."""

    parameters: CkksParameters
    baseline: SealBaseline
    keys: dict[str, KeySwitchKey]

    def polynomials(self, operand: seal.Ciphertext | seal.Plaintext) -> Residues:
        """What a SEAL object holds, (polynomials, limbs, N), by way of its bytes."""
        shape = SealParameters.from_parameters(self.parameters)
        if isinstance(operand, seal.Plaintext):
            return read_plaintext(operand.to_bytes(), shape).data[np.newaxis]
        return read_ciphertext(operand.to_string(), shape).data


@cache
def world(name: str) -> World:
    parameters = PARAMETERS[name]()
    baseline = SealBaseline(parameters, (0, 1, 100, -1))  # SEAL's step 0 is conjugation
    shape = SealParameters.from_parameters(parameters)
    galois = read_galois_keys(baseline.galois_keys.to_string(), shape)
    relin = read_relin_keys(baseline.relin_keys.to_string(), shape)
    return World(parameters, baseline, runtime.named_keys(EvaluationKeys(relin, galois)))


@cache
def design(name: str) -> RpauDesign:
    """The design that runs a parameter set, for all of its operations the same."""
    if name in DESIGNS:
        return load_design(DESIGNS[name])
    parameters = world(name).parameters
    return smallest_design(lower_operation("relinearize", parameters, parameters.limbs))


@cache
def device(kind: str, design: RpauDesign) -> runtime.Machine:
    return runtime.open_device(kind, design)


def expected(
    world: World, operation: str, limbs: int, rng: np.random.Generator
) -> tuple[list[seal.Ciphertext | seal.Plaintext], seal.Ciphertext]:
    """Operands, and SEAL's result of an operation on them."""
    baseline, evaluator = world.baseline, world.baseline.evaluator
    slots, scale = world.parameters.slots, world.parameters.scale
    a, b = (baseline.encrypt(rng.uniform(-1, 1, slots)) for _ in range(2))
    for _ in range(world.parameters.limbs - limbs):
        a, b = evaluator.mod_switch_to_next(a), evaluator.mod_switch_to_next(b)
    plain = baseline.encode(rng.uniform(-1, 1, slots), scale, limbs)
    name, _, step = operation.partition(":")
    match name:
        case "add" | "sub" | "multiply":
            return [a, b], getattr(evaluator, name)(a, b)
        case "negate" | "square":
            return [a], getattr(evaluator, name)(a)
        case "add_plain" | "sub_plain" | "multiply_plain":
            return [a, plain], getattr(evaluator, name)(a, plain)
        case "relinearize":
            product = evaluator.multiply(a, b)
            return [product], evaluator.relinearize(product, baseline.relin_keys)
        case "rescale":
            return [a], evaluator.rescale_to_next(a)
        case "mod_switch":
            return [a], evaluator.mod_switch_to_next(a)
        case "conjugate":
            return [a], evaluator.complex_conjugate(a, baseline.galois_keys)
        case "rotate":
            return [a], evaluator.rotate_vector(a, int(step), baseline.galois_keys)
    raise AssertionError(operation)


def cases() -> Iterator[object]:
    """Every operation at two levels of the parameter sets on every device.

    Simulated key switching takes seconds, and a large ring's keys too: some of it waits for the
    full pass.
    """
    for kind, primes in product(KINDS, PARAMETERS):
        large = primes == "medha-set1"
        for limbs, name in product(LIMBS[primes], LARGE_RING if large else OPERATIONS):
            switching = name.partition(":")[0] in KEY_SWITCHING
            quick = not switching or name in ("relinearize", "rotate:1")
            slow = large or (kind == "rtl" and limbs == 3 and not quick)
            marks = [pytest.mark.full] if slow else []
            yield pytest.param(kind, primes, limbs, name, marks=marks)


@pytest.mark.parametrize(("kind", "primes", "limbs", "operation"), list(cases()))
def test_an_operation_on_a_device_equals_seal_residue_for_residue(
    kind: str, primes: str, limbs: int, operation: str, rng: np.random.Generator
) -> None:
    here = world(primes)
    operands, result = expected(here, operation, limbs, rng)
    name, _, step = operation.partition(":")
    graph = lower_operation(name, here.parameters, limbs, steps=int(step or 1))
    polynomials = np.concatenate([here.polynomials(operand) for operand in operands])
    inputs = dict(zip(graph.inputs, polynomials, strict=True))
    compiled = runtime.compile_graph(graph, design(primes))
    found = runtime.run_graph(compiled, device(kind, design(primes)), inputs, here.keys).outputs
    np.testing.assert_array_equal(np.stack(list(found.values())), here.polynomials(result))


@pytest.mark.full
@pytest.mark.parametrize("kind", ["model", "rtl"])
def test_multiply_and_relinearize_on_medha_is_one_program_with_seals_bits(
    kind: str, rng: np.random.Generator
) -> None:
    here = world("medha-set1")
    operands, product = expected(here, "multiply", here.parameters.limbs, rng)
    evaluator, baseline = here.baseline.evaluator, here.baseline
    result = evaluator.relinearize(product, baseline.relin_keys)
    graph = graph_of("multiply_relinearize", here.parameters)
    polynomials = np.concatenate([here.polynomials(operand) for operand in operands])
    inputs = dict(zip(graph.inputs, polynomials, strict=True))
    medha = load_design("medha")
    compiled = runtime.compile_graph(graph, medha).for_keys({**here.keys})
    machine = device(kind, medha)
    begin = time.process_time()
    found = runtime.run_graph(compiled, machine, inputs, here.keys)
    seconds = time.process_time() - begin
    np.testing.assert_array_equal(np.stack(list(found.outputs.values())), here.polynomials(result))
    assert found.host_transfers == 0
    assert seconds < MEDHA_SECONDS, "loading operands and keys and simulating"
