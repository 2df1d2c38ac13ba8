"""Microsoft SEAL with keys and ciphertexts of its own, as the interpreter and devices take them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import seal

from ringsmith import runtime
from ringsmith.apps.seal_baseline import SealBaseline
from ringsmith.backends.base import Design
from ringsmith.interop import (
    SealParameters,
    read_ciphertext,
    read_galois_keys,
    read_plaintext,
    read_relin_keys,
)
from ringsmith.lower import lower_operation
from ringsmith.objects import EvaluationKeys, KeySwitchKey, Residues
from ringsmith.params import CkksParameters

STEPS = (0, 1, 100, -1)
"""Rotations that there are keys of; SEAL's step 0 is conjugation."""


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


def world_of(parameters: CkksParameters, steps: Sequence[int] = STEPS) -> World:
    """SEAL with fresh keys for a parameter set."""
    baseline = SealBaseline(parameters, steps)
    shape = SealParameters.from_parameters(parameters)
    galois = read_galois_keys(baseline.galois_keys.to_string(), shape)
    relin = read_relin_keys(baseline.relin_keys.to_string(), shape)
    return World(parameters, baseline, runtime.named_keys(EvaluationKeys(relin, galois)))


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
        case "multiply_relinearize":
            product = evaluator.multiply(a, b)
            return [a, b], evaluator.relinearize(product, baseline.relin_keys)
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


def check_operation(
    world: World,
    design: Design,
    devices: Sequence[runtime.Device],
    operation: str,
    limbs: int,
    rng: np.random.Generator,
) -> None:
    """Runs an operation on devices of a design: SEAL's residues, in the executable's cycles."""
    operands, result = expected(world, operation, limbs, rng)
    name, _, step = operation.partition(":")
    graph = lower_operation(name, world.parameters, limbs, steps=int(step or 1))
    polynomials = np.concatenate([world.polynomials(operand) for operand in operands])
    inputs = dict(zip(graph.inputs, polynomials, strict=True))
    compiled = runtime.compile_graph(graph, design)
    assert compiled.executable is not None, "a design was given"
    for device in devices:
        found = runtime.run_graph(compiled, device, inputs, world.keys)
        outputs = np.stack(list(found.outputs.values()))
        np.testing.assert_array_equal(outputs, world.polynomials(result), err_msg=device.name)
        assert found.cycles in (None, compiled.executable.cycles), device.name
