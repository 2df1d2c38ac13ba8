"""A process of a measurement that asks for the same result again and again.

``python -m bench.service.asker service URL PROGRAM`` asks a service, with keys and inputs of its
own; ``… alone FILE.rsp DEVICE`` runs a program on a device, without a service.
"""

import sys

import numpy as np

from bench.service.processes import answer
from ringsmith.backends.registry import backend_without_designs
from ringsmith.objects import Ciphertext
from ringsmith.program import Program
from ringsmith.remote import Service
from ringsmith.runtime import (
    AnyKeys,
    RunResult,
    compile_for_smallest_design,
    compile_program,
    open_device,
    precompute_keys,
)


def service(url: str, name: str) -> None:
    """Sends requests to a service until it is stopped.

    Raises AssertionError if two results for the same inputs differ.
    """
    with Service(url, security=None) as remote:
        program = remote.program(name)
        _, public_key, keys = program.generate_keys()
        numbers = np.random.default_rng().uniform(-1, 1, 4)
        inputs = program.encrypt(public_key, dict.fromkeys(program.kit.inputs, numbers))
        first = remote.run(program, inputs, keys)

        def check(found: dict[str, Ciphertext]) -> None:
            for key, value in first.items():
                assert np.array_equal(found[key].data, value.data), "two results differ"

        answer(lambda: remote.run(program, inputs, keys), check)


def alone(path: str, kind: str) -> None:
    """Runs a program, one job after another, until its input ends."""
    program = Program.load(path)
    assert isinstance(program, Program)
    kit = program.client_kit()
    _, public_key, keys = kit.generate_keys(seeded=True)
    numbers = np.random.default_rng().uniform(-1, 1, 4)
    inputs = kit.encrypt(public_key, dict.fromkeys(kit.inputs, numbers))
    if backend_without_designs(kind) is not None:
        compiled, device = compile_program(program), open_device(kind)
        of_device: AnyKeys = precompute_keys(keys, program.parameters)
    else:
        compiled = compile_for_smallest_design(program)
        design = compiled.compiled_graph.design
        assert design is not None
        device, of_device = open_device(kind, design), keys

    def check(found: RunResult) -> None:
        assert found.outputs

    answer(lambda: compiled.run(device, inputs, of_device), check)


if __name__ == "__main__":
    {"service": service, "alone": alone}[sys.argv[1]](*sys.argv[2:])
