"""A small encrypted operation for a testbench: encrypted, run on the model, decrypted.

Keys follow from a fixed seed: they show that a device computes, and protect nothing.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ringsmith import client
from ringsmith.backends.base import Backend, CompiledGraph, Design
from ringsmith.backends.exporter import Demonstration, Exporter
from ringsmith.backends.keys import core_key
from ringsmith.client.schemes import messages_of
from ringsmith.errors import DeviceError, ParameterError, ProgramError
from ringsmith.lower import lower_operation
from ringsmith.objects import Ciphertext, EvaluationKeys, KeySwitchKey, Residues, keys_by_name
from ringsmith.params import KeyNeeds, RlweParameters

SEED = 2026
"""What keys, messages and errors follow from."""

Vector = NDArray[np.int64]

_LARGEST = 7
"""The largest number in a message."""


def _rotated(x: Vector, _: Vector) -> Vector:
    return np.roll(x, -1, axis=-1)


OPERATIONS: Mapping[str, Callable[[Vector, Vector], Vector]] = MappingProxyType(
    {
        "add": lambda x, y: x + y,
        "multiply": lambda x, y: x * y,
        "multiply_relinearize": lambda x, y: x * y,
        "rotate": _rotated,
    }
)
"""Operation -> what it makes of two vectors."""


@dataclass(frozen=True)
class Shown:
    """An operation or a program, demonstrated.

    Attributes:
        demonstration: What a testbench needs.
        title: What is computed, and its parameters, in words.
        result: The first messages and results, in words.
        details: Parameters and results, for the manifest.
    """

    demonstration: Demonstration
    title: str
    result: str
    details: Mapping[str, object]


def shown(backend: Backend, exporter: Exporter, design: Design, name: str) -> Shown:
    """Encrypts two messages, runs an operation on the model of a design, and decrypts the result.

    Raises:
        ParameterError: If there is no such operation, or the design takes no HE parameters.
        ProgramError: If the operation does not fit the design; says what it needs.
        DeviceError: If the result is not the interpreter's, or not the messages'.
    """
    if name not in OPERATIONS:
        raise ParameterError(
            f"operation {name!r:.40} is not known: choose one of {', '.join(OPERATIONS)}"
        )
    parameters = exporter.parameters(design)
    limbs = parameters.limbs
    graph = lower_operation(name, parameters, limbs)
    compiled = CompiledGraph(graph, backend.compile(graph, design))
    needs = _needs(name, parameters)
    secret, public, keys = client.generate_keys_for_test(
        parameters, needs, SEED, seeded=compiled.expands_keys
    )
    scheme = messages_of(parameters)
    messages = [_message(parameters, number) for number in range(2)]
    encrypted = [
        client.encrypt_for_test(
            parameters, public, scheme.encode(parameters, message, None, None), SEED + 100 + number
        )
        for number, message in enumerate(messages)
    ]
    inputs = {
        f"{port}.{half}": np.ascontiguousarray(ciphertext.data[half])
        for port, ciphertext in zip("xy", encrypted, strict=True)
        for half in range(2)
        if f"{port}.{half}" in graph.inputs
    }
    demonstration, outputs = run_on_model(exporter, compiled, inputs, keys)
    scale = encrypted[0].scale ** (2 if "multiply" in name else 1)
    result = Ciphertext(
        np.stack([outputs[port] for port in sorted(outputs)]),
        scale,
        parameters_id=parameters.parameters_id,
        key_tag=public.key_tag,
    )
    found = scheme.decode(parameters, scheme.decrypt(parameters, secret, result))
    wanted = OPERATIONS[name](*messages)
    _check_message(parameters, found, wanted)
    title = parameters.scheme.upper()
    return Shown(
        demonstration,
        f"{name} of two {title} ciphertexts, N = {parameters.n}, {limbs} primes of data",
        f"the first slots of the messages are {[_few(message) for message in messages]}, and of "
        f"the result {_few(wanted)}",
        {
            "name": name,
            "scheme": title,
            "n": parameters.n,
            "primes": [int(prime) for prime in parameters.primes],
            "data_primes": limbs,
            "first_messages": [_few(message) for message in messages],
            "first_result": _few(wanted),
            **demonstration.figures,
        },
    )


def run_on_model(
    exporter: Exporter,
    compiled: CompiledGraph,
    inputs: Mapping[str, Residues],
    keys: EvaluationKeys,
) -> tuple[Demonstration, Mapping[str, Residues]]:
    """Records what a host does for a compiled graph, and its outputs, which are right to the bit.

    Raises:
        DeviceError: If an output is not the reference interpreter's.
    """
    by_name = keys_by_name(keys)
    demonstration, outputs = exporter.demonstrate(compiled, inputs, by_name)
    _check_bits(compiled, inputs, by_name, outputs)
    return demonstration, outputs


def _needs(name: str, parameters: RlweParameters) -> KeyNeeds:
    if name == "rotate":
        return KeyNeeds(None, {parameters.galois_element(1): parameters.limbs})
    return KeyNeeds(parameters.limbs if "relinearize" in name else None, {})


def _message(parameters: RlweParameters, number: int) -> Vector:
    """Small integers in N/2 slots, which follow from the number."""
    random = np.random.default_rng([SEED, number])
    return random.integers(0, _LARGEST, parameters.n // 2, dtype=np.int64, endpoint=True)


def _check_bits(
    compiled: CompiledGraph,
    inputs: Mapping[str, Residues],
    keys: Mapping[str, KeySwitchKey],
    outputs: Mapping[str, Residues],
) -> None:
    """Refuses outputs that are not the reference interpreter's."""
    wanted = compiled.core.run(dict(inputs), {name: core_key(key) for name, key in keys.items()})
    for name, residues in outputs.items():
        if not np.array_equal(residues, wanted[name]):
            raise DeviceError(
                f"output {name} of the model is not the interpreter's: report this as a bug"
            )


def _check_message(parameters: RlweParameters, found: object, wanted: Vector) -> None:
    """Refuses a decrypted result other than the operation's on the messages, in integers."""
    slots = np.rint(np.real(np.asarray(found)))[: wanted.size]
    if not np.array_equal(slots, wanted):
        raise ProgramError(
            f"the result does not decrypt to the message: {parameters.limbs} data primes of "
            f"{parameters.data_primes[0].bit_length()} bits leave too few for it; choose another "
            "--operation, or a design with wider words or more units"
        )


def _few(vector: Vector) -> list[int]:
    return [int(value) for value in vector[:4]]


def quietly(run: Callable[[], Shown]) -> Shown:
    """Runs without warnings of parameters that hold no security: these keys are known anyway."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run()
