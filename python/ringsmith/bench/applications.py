"""Whole applications of the Medha paper as records: compiled for a design, or estimated."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from ringsmith import runtime
from ringsmith.apps.logreg.model import train
from ringsmith.apps.logreg.records import load_records
from ringsmith.apps.logreg.server import Server
from ringsmith.apps.logreg.sizes import PAPER, Size
from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.bench.records import Record
from ringsmith.lower import lower_operation
from ringsmith.params import ckks_set

PAPER_NAME: Final = "medha"


@dataclass(frozen=True)
class Mix:
    """How many of which operations an application takes.

    Attributes:
        name: The application.
        params: The parameter set to run it with.
        limbs: Data limbs of every operation.
        counts: Operation, as ``lower_operation`` knows it -> how many.
        where: Where the counts are from.
    """

    name: str
    params: str
    limbs: int
    counts: Mapping[str, int]
    where: str


PRIVFT: Final = Mix(
    name="privft",
    params="medha-set1",
    limbs=5,
    counts=MappingProxyType({"multiply_plain": 3, "add": 75, "rotate": 14}),
    where='Medha, section 5, "Benchmarking of homomorphic applications"',
)
"""Text classification by PrivFT: 3 products with scalars, 75 sums and 14 rotations with L = 5."""


def mix_records(mix: Mix, design: RpauDesign) -> list[Record]:
    """Estimates an application's cycles: those of each operation alone, times how many there are.

    Operations of one program overlap and share what they load, so a compiled program would take
    fewer; transfers to and from the host are not in it. Rescalings that the counts do not name
    are not counted.

    Args:
        mix: The operations.
        design: The accelerator; must run the parameter set.

    Raises:
        ParameterError: When there is no such parameter set.
        ProgramError: When an operation does not fit the design.
    """
    parameters = ckks_set(mix.params)
    alone: dict[str, int] = {}
    for operation in mix.counts:
        graph = lower_operation(operation, parameters, mix.limbs)
        executable = runtime.compile_graph(graph, design).executable
        assert executable is not None, "a design is named"
        alone[operation] = executable.cycles
    total = sum(count * alone[operation] for operation, count in mix.counts.items())
    terms = ", ".join(f"{n} {name} of {alone[name]:,} cycles" for name, n in mix.counts.items())
    conditions = (
        f"{mix.name}: sum of {terms}, each compiled alone at {mix.limbs} limbs, operands and keys "
        f"resident; counts from {mix.where}"
    )
    return [_record(design, mix.params, mix.name, "cycles", total, "estimate", conditions)]


def logreg_records(design: RpauDesign, size: Size = PAPER) -> list[Record]:
    """Compiles the logistic regression and counts instructions, cycles and transfers.

    Cycles are the schedule's, which the model and the RTL take exactly. ``transfers`` are limbs
    that cross to or from the host between the runs of one program, beside inputs and outputs.

    Args:
        design: The accelerator.
        size: How large the application is.

    Raises:
        ProgramError: When the program does not fit the design.
        ToolError: When scikit-learn is missing.
    """
    model = train(load_records(size.held_out)[0], size)
    server = Server(model, size, design)
    executable = server.compiled.compiled_graph.executable
    assert executable is not None, "a design is named"
    conditions = (
        f"logreg: whole program, {size.held_out} patients of {size.features} features, degree "
        f"{size.degree}, encrypted over {size.limbs} limbs; {len(executable.runs)} runs, inputs "
        "and keys loaded before each, transfers not timed; SEAL's bits"
    )
    numbers = {
        "cycles": executable.cycles,
        "instructions": len(executable.words),
        "transfers": executable.host_transfers,
    }
    return [
        _record(design, size.parameter_set, "logreg", metric, value, "model", conditions)
        for metric, value in numbers.items()
    ]


def _record(
    design: RpauDesign,
    params: str,
    operation: str,
    metric: str,
    value: int,
    source: str,
    conditions: str,
) -> Record:
    """A record without the paper's number, which whoever prints it puts beside."""
    return Record(
        paper=PAPER_NAME,
        design=design.name,
        params=params,
        operation=operation,
        metric=metric,
        unit="",
        paper_value=None,
        value=value,
        source=source,
        conditions=conditions,
    )
