"""A program on the architectures of another package: compiled, run, kept, explained."""

import sys
from pathlib import Path

import numpy as np

from ringsmith import AutoParameters, Compiled, compile_program, explain, open_device, trace
from ringsmith.params import CkksParameters


def main(folder: Path) -> None:
    """Runs the program everywhere."""
    shape = CkksParameters.create(
        n=1024, prime_bits=(36, 26), special_bits=37, scale_bits=26, security=None
    )
    program = trace(lambda x: (x * x).rotate(1) + 1, shape, {"x": 8})
    _, public_key, keys = program.generate_keys()
    inputs = program.encrypt(public_key, {"x": np.arange(8) / 8})
    compiled = compile_program(program, "abacus")
    compiled.save(folder / "program.rsc")
    kept = Compiled.load(folder / "program.rsc", "abacus")
    results = [
        each.run(device, inputs, keys)
        for each, device in (
            (compiled, open_device("cpu")),
            (kept, open_device("model", "abacus")),
            (compiled, open_device("slow-oracle")),
        )
    ]
    data = [result.outputs["result"].data.tobytes() for result in results]
    assert data[0] == data[1] == data[2]
    assert results[0].cycles is None
    assert results[1].cycles == kept.compiled_graph.executable.cycles > 0
    print("same bits on cpu, model of abacus and slow-oracle")
    print(explain(program, "abacus"))
    chosen = trace(lambda x: x + 1, AutoParameters(precision_bits=10, design="abacus"), {"x": 8})
    assert chosen.parameters.n <= 1 << 12
    print("parameters for abacus", chosen.parameters.n)


main(Path(sys.argv[1]))
