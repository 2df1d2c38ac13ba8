"""Single HE operations on an accelerator: cycles of each alone, beside Microsoft SEAL's time.

Each operation is lowered, scheduled and run on the ``model`` device, whose cycles and contents
equal the simulated RTL's, on random residues: no latency depends on data. The result is compared
with the interpreter's, so a table with a wrong operation in it cannot come out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from ringsmith import runtime
from ringsmith.apps.conditions import seconds_at_assumed_clock
from ringsmith.errors import DeviceError
from ringsmith.lower import Form, SubroutineGraph, lower_operation
from ringsmith.objects import Residues
from ringsmith.params import CkksParameters

OPERATIONS = ("add", "multiply_plain", "multiply", "relinearize", "rescale", "rotate")
"""HE operations that are measured, and ``ntt`` before them: one polynomial, all limbs at once."""


@dataclass(frozen=True)
class OperationRow:
    """One operation alone, on ciphertexts with all data limbs.

    Attributes:
        name: The operation.
        instructions: Of its program, ``halt`` included.
        cycles: Clock cycles, operands and keys resident.
        seal_seconds: SEAL's median time on this CPU; None: not measured.
    """

    name: str
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
    parameters: CkksParameters,
    design: str,
    steps: int,
    seal_seconds: Mapping[str, float] | None,
    names: Sequence[str] = ("ntt", *OPERATIONS),
) -> list[OperationRow]:
    """Runs every operation alone on the model of a design.

    Args:
        parameters: HE parameters that the design can run.
        design: Name of the design.
        steps: Rotation to measure.
        seal_seconds: SEAL's times by operation, or None where SEAL is missing.
        names: Operations to measure.

    Raises:
        DeviceError: When the model's result differs from the interpreter's.
    """
    rows = []
    for name in names:
        graph = operation_graph(name, parameters, steps)
        result = _run_checked(graph, design)
        rows.append(OperationRow(name, *result, (seal_seconds or {}).get(name)))
    return rows


def operation_graph(name: str, parameters: CkksParameters, steps: int) -> SubroutineGraph:
    """Returns the subroutine graph of one operation at all limbs.

    Raises:
        ProgramError: When there is no such operation.
    """
    if name != "ntt":
        return lower_operation(name, parameters, parameters.limbs, steps=steps)
    graph = SubroutineGraph.for_parameters(parameters)
    value = graph.input("a", range(parameters.limbs), Form.COEFF)
    graph.output(graph.ntt(value), "b")
    return graph


def random_residues(
    graph: SubroutineGraph, rng: np.random.Generator
) -> tuple[dict[str, Residues], dict[str, Residues]]:
    """Returns uniform canonical inputs and key-switching keys that fit a graph."""

    def residues(primes: Sequence[int], *lead: int) -> Residues:
        limbs = [rng.integers(0, q, (*lead, graph.n), dtype=np.uint64) for q in primes]
        return np.ascontiguousarray(np.stack(limbs, axis=len(lead)))

    inputs = {
        name: residues([graph.primes[i] for i in kind.base]) for name, kind in graph.inputs.items()
    }
    keys = {name: residues(graph.primes, digits, 2) for name, digits in graph.keys.items()}
    return inputs, keys


def _run_checked(graph: SubroutineGraph, design: str) -> tuple[int, int]:
    """Returns (instructions, cycles) of a graph on the model, checked against the interpreter."""
    compiled = runtime.compile_graph(graph, design)
    inputs, keys = random_residues(graph, np.random.default_rng(1))
    expected = runtime.run_graph(compiled, runtime.open_device("cpu"), inputs, keys).outputs
    machine = runtime.open_device("model", design)
    result = runtime.run_graph(compiled, machine, inputs, keys)
    for name, value in expected.items():
        if not np.array_equal(result.outputs[name], value):
            raise DeviceError(
                f"output {name!r} of the model of {design} differs from the interpreter's: "
                "report this with the design and the operation"
            )
    assert result.instructions is not None
    assert result.cycles is not None
    return result.instructions, result.cycles
