"""Whole applications of the Medha paper: run on a device of a design, or estimated."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rich.console import Console

from ringsmith import runtime
from ringsmith.apps.conditions import ASSUMED_HZ, seconds_at_assumed_clock
from ringsmith.apps.logreg import session
from ringsmith.apps.logreg.sizes import PAPER, Size
from ringsmith.apps.machines import open_machine
from ringsmith.apps.results import refuse_different_bits
from ringsmith.apps.stages import Stages
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.bench.medha import lenet5
from ringsmith.bench.papers import SEAL
from ringsmith.bench.records import Found
from ringsmith.lower import lower_operation
from ringsmith.params import ckks_set
from ringsmith.runtime.host_link import MEDHA_XDMA

LOGREG: Final = "logreg"
"""The operation that the logistic regression's numbers are of."""

LOGREG_FUSED: Final = "logreg_fused_rescale"
"""The same with products relinearized and rescaled by one division."""


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


LENET5: Final = Mix(
    name="lenet5",
    params="medha-set2",
    limbs=lenet5.depth() + 1,
    counts=MappingProxyType(dict(lenet5.operations())),
    where="the layers of LeNet-5 (LeCun et al. 1998) with squares, packed as GAZELLE (Juvekar et "
    "al. 2018) does; all at the first level, so that the estimate is too high",
)
"""One image through a network of LeNet-5's size (:mod:`ringsmith.bench.medha.lenet5`)."""


def mix_cycles(mix: Mix, design: RpauDesign) -> Found:
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
    total, terms, moved = 0, [], False
    for operation, count in mix.counts.items():
        graph = lower_operation(operation, parameters, mix.limbs)
        executable = runtime.compile_graph(graph, design).executable
        assert isinstance(executable, Executable), "a design of RPAUs is named"
        total += count * executable.cycles
        transfers = executable.host_transfers
        moved = moved or transfers > 0
        under_way = f" and {transfers:,} limbs under way" if transfers else ""
        terms.append(f"{count} {operation} of {executable.cycles:,} cycles{under_way}")
    resident = "operands and keys resident" + ", but for limbs under way, not timed" * moved
    conditions = (
        f"{mix.name}: sum of {', '.join(terms)}, each compiled alone at {mix.limbs} limbs, "
        f"{resident}; counts from {mix.where}"
    )
    return Found(design.name, mix.params, mix.name, "cycles", total, "estimate", conditions)


def logreg_rows(
    design: RpauDesign,
    size: Size = PAPER,
    *,
    device: str = "model",
    fused_rescale: bool = False,
    seal: bool = False,
    say: Callable[[str], None] | None = None,
) -> list[Found]:
    """Runs the logistic regression from encryption to decryption, and counts.

    ``transfers`` are limbs that cross to or from the host between the runs of one program, beside
    inputs and outputs. The time of all that crosses, keys apart, is that of the paper's link.

    Args:
        design: The accelerator.
        size: How large the application is.
        device: ``model`` or ``rtl``.
        fused_rescale: Whether it is ``LOGREG_FUSED`` that runs.
        seal: Whether Microsoft SEAL runs the same program on this CPU, if it is installed.
        say: Takes lines for people; None: nobody reads them.

    Raises:
        DeviceError: When a residue differs from the cpu device's.
        ProgramError: When the program does not fit the design.
        ToolError: When scikit-learn is missing, or what builds the RTL.
    """
    stages = Stages(Console(quiet=True))
    current = session.begin(stages, size, design, fused_rescale=fused_rescale)
    answer = current.answer(stages, open_machine(stages, device, design))
    refuse_different_bits(answer.equal_bits)
    [result] = answer.results
    executable = current.server.compiled.compiled_graph.executable
    assert isinstance(executable, Executable), "a design of RPAUs is named"
    assert result.cycles is not None, "an accelerator counts"
    assert result.instructions is not None, "an accelerator counts"
    name, params = design.name, size.parameter_set
    operation = LOGREG_FUSED if fused_rescale else LOGREG
    runs = executable.runs
    conditions = (
        f"{operation}: whole program, {size.held_out} patients of {size.features} features, degree "
        f"{size.degree}, encrypted over {size.limbs} limbs; {len(runs)} runs, inputs "
        "and keys loaded before each, transfers not timed; every residue equals the cpu device's"
    )
    if say is not None:
        say(f"{name}, {params}: {operation}: {result.cycles:,} cycles")
    counted = {
        "cycles": result.cycles,
        "instructions": result.instructions,
        "transfers": result.host_transfers,
    }
    rows = [
        Found(name, params, operation, metric, value, device, conditions)
        for metric, value in counted.items()
    ]
    ends = (runs[0].loads, runs[-1].stores)
    limbs = sum(len(at) for places in ends for at in places.values())
    limbs += result.spilled_words // size.parameters.n
    link = MEDHA_XDMA.seconds(limbs * size.parameters.n)
    text = f"{limbs} limbs in, out and under way, keys apart, over {MEDHA_XDMA.name}"
    there = f"{operation}_communication"
    rows.append(Found(name, params, there, "microseconds", link * 1e6, "estimate", text))
    seconds = seconds_at_assumed_clock(result.cycles) + link
    text = f"{result.cycles:,} cycles at {ASSUMED_HZ / 1e6:.0f} MHz, assumed, and {text}"
    rows.append(Found(name, params, operation, "microseconds", seconds * 1e6, "estimate", text))
    times = session.time_seal(stages, current) if seal else None
    if times is not None:
        there = "the same program on this CPU, one thread, median CPU time"
        software = times.program * 1e6
        rows.append(Found("cpu", params, operation, "microseconds", software, "cpu", there, SEAL))
        speedup, text = times.program / seconds, f"{text}; over SEAL on this CPU in the same run"
        rows.append(Found(name, params, operation, "speedup", speedup, "estimate", text, SEAL))
    return rows
