"""Single HE operations on an accelerator: cycles of each alone, and the time of Microsoft SEAL.

Each operation is lowered, scheduled and run on the accelerator, as RTL or model, on random
residues: no latency depends on data. The result is compared with the interpreter's, so a table with
a wrong operation in it cannot come out.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from ringsmith import runtime
from ringsmith.apps.conditions import seconds_at_assumed_clock
from ringsmith.backends.random_operands import random_inputs, random_keys
from ringsmith.errors import DeviceError
from ringsmith.graph import Form, SubroutineGraph
from ringsmith.lower import lower_operation
from ringsmith.params import CkksParameters

OPERATIONS = ("ntt", "add", "multiply_plain", "multiply", "relinearize", "rescale", "rotate")
"""What is measured: HE operations, and before them the NTT of one polynomial, all limbs at once."""


@dataclass(frozen=True)
class OperationRow:
    """One operation alone.

    Attributes:
        name: The operation.
        limbs: Data limbs of its operands.
        instructions: Of its program, ``halt`` included.
        cycles: Clock cycles, operands and keys resident.
        seal_seconds: SEAL's median time on this CPU; None: not measured.
    """

    name: str
    limbs: int
    instructions: int
    cycles: int
    seal_seconds: float | None

    @property
    def seconds(self) -> float:
        """Time of the cycles at the assumed clock."""
        return seconds_at_assumed_clock(self.cycles)

    def to_dict(self) -> dict[str, object]:
        """Returns the row for a JSON file."""
        return {**asdict(self), "seconds_at_assumed_clock": self.seconds}


def operation_rows(
    device: runtime.Device,
    design: str,
    parameters: CkksParameters,
    limbs: int,
    steps: int,
    seal_seconds: Mapping[str, float] | None,
) -> list[OperationRow]:
    """Runs every operation alone on an accelerator.

    Raises DeviceError when the device's result differs from the interpreter's.
    """
    rows = []
    for name in OPERATIONS:
        graph = _operation_graph(name, parameters, limbs, steps)
        instructions, cycles = run_checked(runtime.compile_graph(graph, design), device)
        seal = (seal_seconds or {}).get(name)
        rows.append(OperationRow(name, limbs, instructions, cycles, seal))
    return rows


def _operation_graph(
    name: str, parameters: CkksParameters, limbs: int, steps: int
) -> SubroutineGraph:
    """Returns the subroutine graph of one operation."""
    if name != "ntt":
        return lower_operation(name, parameters, limbs, steps=steps)
    graph = SubroutineGraph.for_parameters(parameters)
    graph.output(graph.ntt(graph.input("x", range(limbs), Form.COEFF)), "z")
    return graph


def run_checked(compiled: runtime.CompiledGraph, device: runtime.Device) -> tuple[int, int]:
    """Runs a graph on random residues, and compares what comes out with the interpreter's.

    Returns instructions and cycles. Raises DeviceError when the device counts no cycles, or its
    result differs from the interpreter's.
    """
    if not device.capabilities.cycles:
        raise DeviceError(
            f"the {device.name} device counts no cycles: measure on the model or rtl device"
        )
    graph = compiled.graph
    rng = np.random.default_rng(1)
    inputs = random_inputs(graph, rng)
    assert compiled.executable is not None, "compiled for a design"
    design = compiled.executable.design.name
    keys = random_keys(graph, rng, compiled.executable.seeded)
    expected = runtime.run_graph(compiled, runtime.open_device("cpu"), inputs, keys).outputs
    result = runtime.run_graph(compiled, device, inputs, keys)
    for name, value in expected.items():
        if not np.array_equal(result.outputs[name], value):
            raise DeviceError(
                f"output {name!r} of the {device.name} of {design} differs from the "
                "interpreter's: report this with the design and the operation"
            )
    report = result.report
    assert report.instructions is not None, "a device that counts"
    assert report.cycles is not None, "a device that counts"
    return report.instructions, report.cycles
