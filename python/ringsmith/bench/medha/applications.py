"""Whole applications of the Medha paper, run on a device of a design."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from ringsmith import runtime
from ringsmith.apps.conditions import ASSUMED_HZ, seconds_at_assumed_clock
from ringsmith.apps.gmdh import Forecast
from ringsmith.apps.logreg import PAPER, PAPER_COUNTS, LogisticRegression, Size
from ringsmith.apps.report import refuse_different_bits
from ringsmith.apps.seal_baseline import median_seconds, seal_missing
from ringsmith.apps.seal_program import on_seal
from ringsmith.apps.session import Session, begin, open_machine
from ringsmith.apps.stages import Stages
from ringsmith.backends.registry import REFERENCE
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.bench.papers import SEAL
from ringsmith.bench.programs import OURS, one_thread
from ringsmith.bench.records import Found
from ringsmith.program import CkksProgram, Op
from ringsmith.runtime.host_link import MEDHA_XDMA

LOGREG: Final = "logreg"
"""The operation that the logistic regression's numbers are of."""
LOGREG_FUSED: Final = "logreg_fused_rescale"
"""The same with products relinearized and rescaled by one division."""
LOGREG_COUNTS: Final = "logreg_paper_counts"
"""The same by the circuit with the paper's operation counts."""
GMDH: Final = "gmdh"
"""The operation that the forecast's numbers are of."""

APPLICATIONS: Final = (LOGREG_COUNTS, LOGREG, LOGREG_FUSED, GMDH)
"""All that are run, in the order of the page."""

_REPEATS = 3
"""Runs of a whole program on the cpu device; the median counts."""


@dataclass(frozen=True)
class Application:
    """An application made ready to run on a design.

    Attributes:
        operation: One of ``APPLICATIONS``.
        program: Its one program.
        compiled: The same for the design.
        session: Client and server, with encrypted data.
        values: Every input's slot vector, which SEAL encrypts for itself.
        words: What it is, for the conditions.
    """

    operation: str
    program: CkksProgram
    compiled: runtime.Compiled
    session: Session[Any]
    values: Mapping[str, NDArray[np.float64]]
    words: str


def logistic_regression(
    operation: str, design: RpauDesign, size: Size | None = None
) -> Application:
    """Trains, compiles and encrypts for the logistic regression.

    Args:
        operation: ``LOGREG``, ``LOGREG_FUSED`` or ``LOGREG_COUNTS``.
        design: The accelerator.
        size: How large the application is; None: as large as the paper's.

    Raises:
        ProgramError: When the program does not fit the design.
        ToolError: When scikit-learn is missing.
    """
    size = size or (PAPER_COUNTS if operation == LOGREG_COUNTS else PAPER)
    fused = operation == LOGREG_FUSED
    stages = Stages(Console(quiet=True))
    current = begin(stages, LogisticRegression(size, fused_rescale=fused), design)
    words = (
        f"{size.held_out} patients of {size.features} features, degree {size.degree}, encrypted "
        f"over {size.limbs} limbs"
    )
    return _of(operation, current, words)


def power_forecast(design: RpauDesign) -> Application:
    """Trains, compiles and encrypts for the forecast of power demand, in CKKS.

    Raises:
        ProgramError: When the program does not fit the design.
        ToolError: When sktime is missing.
    """
    forecast = Forecast("ckks")
    current = begin(Stages(Console(quiet=True)), forecast, design)
    program, network = current.server.program, forecast.network
    words = (
        f"{len(forecast.days[2])} meters of at most {program.parameters.slots:,} a run, "
        f"{len(network.hours)} hours, multiplicative depth {len(network.layers)}, "
        f"encrypted over {next(iter(program.inputs.values())).limbs} limbs"
    )
    return _of(GMDH, current, words)


def _of(operation: str, current: Session[Any], words: str) -> Application:
    ckks = cast("CkksProgram", current.server.program)  # what was asked for
    slots = ckks.parameters.slots
    values = {name: np.pad(v, (0, slots - len(v))) for name, v in current.vectors[0].items()}
    return Application(operation, ckks, current.server.compiled[0], current, values, words)


def application_rows(
    application: Application,
    design: RpauDesign,
    *,
    device: str = "model",
    software: bool = False,
    earlier: Sequence[Found] = (),
) -> list[Found]:
    """Runs an application from encryption to decryption, and counts.

    ``transfers`` are limbs that cross to or from the host during one program, beside inputs and
    outputs. The time of all transfers, except keys, is that of the paper's link.

    Args:
        application: The application.
        design: The accelerator that it was made ready for.
        device: ``model`` or ``rtl``.
        software: Whether Microsoft SEAL, if it is installed, and the cpu device run the same
            program on this CPU.
        earlier: Times of an earlier run, which stay where ``software`` does not run.

    Raises:
        DeviceError: When a residue differs from the cpu device's.
        ToolError: When what builds the RTL is missing.
    """
    stages = Stages(Console(quiet=True))
    answer = application.session.answer(stages, open_machine(stages, device, design))
    refuse_different_bits(answer.equal_bits)
    [result] = answer.results
    rows = list(_counted(application, design, result, device))
    link, text = _communication(application, result)
    name, params, operation = (
        design.name,
        application.program.parameters.name,
        application.operation,
    )
    assert result.cycles is not None, "an accelerator counts"
    there = f"{operation}_communication"
    rows.append(Found(name, params, there, "microseconds", link * 1e6, "estimate", text))
    seconds = seconds_at_assumed_clock(result.cycles) + link
    text = f"{result.cycles:,} cycles at {ASSUMED_HZ / 1e6:.0f} MHz, assumed, and {text}"
    rows.append(Found(name, params, operation, "microseconds", seconds * 1e6, "estimate", text))
    ours = [each for each in earlier if (each.params, each.operation) == (params, operation)]
    run = "the same" if software else "an earlier"
    for time in _software(application) if software else ours:
        words = f"{text}; over {time.peer} on this CPU in {run} run"
        faster = time.value / (seconds * 1e6)
        rows.append(time)
        rows.append(Found(name, params, operation, "speedup", faster, "estimate", words, time.peer))
    return rows


def _counted(
    application: Application, design: RpauDesign, result: runtime.RunResult, device: str
) -> Iterator[Found]:
    """Cycles and operations of a run."""
    params, operation = application.program.parameters.name, application.operation
    runs = len(_executable(application).runs)
    conditions = (
        f"{operation}: whole program, {application.words}; {runs} runs, inputs and keys loaded "
        "before each, transfers not timed; every residue equals the cpu device's"
    )
    assert result.cycles is not None, "an accelerator counts"
    assert result.instructions is not None, "an accelerator counts"
    counted = {
        "cycles": result.cycles,
        "instructions": result.instructions,
        "transfers": result.host_transfers,
    }
    for metric, value in counted.items():
        yield Found(design.name, params, operation, metric, value, device, conditions)
    ops = Counter(node.op for node in application.program.nodes)
    operations = {
        "products": ops[Op.MULTIPLY] + ops[Op.SQUARE],
        "rotations": ops[Op.ROTATE],
        "rescalings": ops[Op.RESCALE] + ops[Op.RELINEARIZE_RESCALE],
    }
    text = f"operations of {operation}; products of two ciphertexts"
    for metric, value in operations.items():
        yield Found(design.name, params, operation, metric, value, "estimate", text)


def _communication(application: Application, result: runtime.RunResult) -> tuple[float, str]:
    """Seconds of all that crosses to and from the host over the paper's link, and that in words."""
    runs, n = _executable(application).runs, application.program.parameters.n
    ends = (runs[0].loads, runs[-1].stores)
    limbs = sum(len(at) for places in ends for at in places.values()) + result.spilled_words // n
    text = f"{limbs} limbs in, out and under way, keys apart, over {MEDHA_XDMA.name}"
    return MEDHA_XDMA.seconds(limbs * n), text


def _executable(application: Application) -> Executable:
    executable = application.compiled.compiled_graph.executable
    assert isinstance(executable, Executable), "compiled for a design of RPAUs"
    return executable


def _software(application: Application) -> Iterator[Found]:
    """SEAL, where it is installed, and the cpu device: each one's time for the program."""
    params = application.program.parameters.name
    text = "the same program on this CPU, one thread, median CPU time"

    def time(seconds: float, peer: str) -> Found:
        what = (REFERENCE, params, application.operation, "microseconds")
        return Found(*what, seconds * 1e6, "cpu", text, peer)

    if seal_missing() is None:
        yield time(on_seal(application.program, application.values)[1], SEAL)
    current, machine = application.session, runtime.open_device(REFERENCE)
    keys = current.client.evaluation_keys
    with one_thread():
        call = partial(current.server.run, machine, current.inputs, keys)
        yield time(median_seconds(call, _REPEATS), OURS)
