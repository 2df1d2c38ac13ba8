"""A device without a service: ``python -m ringsmith.bench.service.alone PROGRAM.rsp DEVICE``."""

import sys

import numpy as np

from ringsmith.backends.registry import backend_without_designs
from ringsmith.bench.service.processes import answer
from ringsmith.program import Program
from ringsmith.runtime import (
    AnyKeys,
    RunResult,
    compile_for_smallest_design,
    compile_program,
    open_device,
    prepare_keys,
)


def main(path: str, kind: str) -> None:
    """Runs a program, one job after another, for a given time."""
    program = Program.load(path)
    assert isinstance(program, Program)
    kit = program.client_kit()
    _, public_key, keys = kit.generate_keys(seeded=True)
    numbers = np.random.default_rng().uniform(-1, 1, 4)
    inputs = kit.encrypt(public_key, dict.fromkeys(kit.inputs, numbers))
    if backend_without_designs(kind) is not None:
        compiled, machine = compile_program(program), open_device(kind)
        of_machine: AnyKeys = prepare_keys(keys, program.parameters)
    else:
        compiled = compile_for_smallest_design(program)
        design = compiled.compiled_graph.design
        assert design is not None
        machine, of_machine = open_device(kind, design), keys

    def check(found: RunResult) -> None:
        assert found.outputs

    answer(lambda: compiled.run(machine, inputs, of_machine), check)


if __name__ == "__main__":
    main(*sys.argv[1:])
