"""``ringsmith run logreg`` and ``ringsmith demo``."""

from typing import Final

from rich.console import Console

from ringsmith.apps import tables
from ringsmith.apps.breakdown import breakdown
from ringsmith.apps.conditions import conditions
from ringsmith.apps.logreg import report, session
from ringsmith.apps.logreg.sizes import DEMO, size_for
from ringsmith.apps.machines import open_machine
from ringsmith.apps.operations import OperationRow, operation_rows
from ringsmith.apps.results import check, program_numbers, refuse_different_bits, write
from ringsmith.apps.seal_program import rotation_steps
from ringsmith.apps.stages import Stages
from ringsmith.backends.registry import takes_design
from ringsmith.files import Target

DEMO_DESIGN: Final = "nano"


def run(
    device: str,
    design: str,
    size: str | None = None,
    output: Target | None = None,
    *,
    fused_rescale: bool = False,
) -> None:
    """Classifies the held-out patients on a device and prints how well.

    Args:
        device: ``cpu``, ``model`` or ``rtl``.
        design: The accelerator that ``model`` and ``rtl`` are.
        size: A name of ``sizes.SIZES``; None: the largest that the design's ring is for.
        output: Where to write the numbers as JSON; None: nowhere.
        fused_rescale: Whether products are relinearized and rescaled by one division.

    Raises:
        DeviceError: When the device's residues differ from the cpu device's.
        InteropError: When the file cannot be written.
        ParameterError: When there is no such design or size.
        ProgramError: When the size does not fit the design.
    """
    check(output, design)
    chosen = size_for(size, design)
    console = Console()
    stages = Stages(console)
    scheduled = design if takes_design(device) else None
    current = session.begin(stages, chosen, scheduled, fused_rescale=fused_rescale)
    machine = open_machine(stages, device, design)
    answer = session.answer(stages, current, machine)
    where = f"the {device} of {design}" if takes_design(device) else device
    _print_answer(console, current, answer, where, None)
    if output:
        command = f"ringsmith run logreg --device {device} --design {design} --size {chosen.name}"
        command += " --fused-rescale" * fused_rescale
        write(output, _numbers(command, stages, current, answer, None, None))
    refuse_different_bits(answer.equal_bits)


def demo(output: Target | None = None) -> None:
    """Shows the whole path: encrypted patients classified on the RTL of ``DEMO_DESIGN``.

    Args:
        output: Where to write the numbers as JSON; None: nowhere.

    Raises:
        DeviceError: When the RTL's residues differ from the cpu device's.
        InteropError: When the file cannot be written.
        ToolError: When a tool is missing or fails.
    """
    check(output, DEMO_DESIGN)
    console = Console()
    parameters = DEMO.parameters
    console.print(
        f"\nEncrypted logistic regression on the simulated accelerator [bold]{DEMO_DESIGN}[/bold]: "
        f"RNS-CKKS, N = {parameters.n}, {parameters.limbs} data primes and one special prime, "
        f"{parameters.log_qp} bits, {parameters.security}-bit security.\n"
    )
    stages = Stages(console)
    current = session.begin(stages, DEMO, DEMO_DESIGN)
    machine = open_machine(stages, "rtl", DEMO_DESIGN)
    answer = session.answer(stages, current, machine)
    seal = session.time_seal(stages, current)
    with stages("Run single operations on the RTL") as stage:
        rows = operation_rows(
            machine,
            DEMO_DESIGN,
            parameters,
            limbs=parameters.limbs,
            steps=rotation_steps(current.server.program)[0],
            seal_seconds=seal.operations if seal else None,
        )
        stage.note = "residues equal the interpreter's"
    console.print()
    console.print(report.patients_table(answer.predictions))
    _print_answer(console, current, answer, f"the RTL of {DEMO_DESIGN}", seal)
    console.print(tables.operations_table(rows, DEMO_DESIGN))
    console.print(
        "Cycles are the simulated RTL's, with operands, program and keys resident; their time is "
        f"{tables.CLOCK}: no place and route backs the clock. SEAL (without HEXL) ran "
        "on one thread of this CPU in this same run; its CPU time counts. A cubic is no "
        "probability: it passes 0 and 1 by up to 0.08 where the sigmoid comes close to them.",
        style="dim",
    )
    if output:
        command = "ringsmith demo"
        write(output, _numbers(command, stages, current, answer, seal, rows))
    refuse_different_bits(answer.equal_bits)


def _print_answer(
    console: Console,
    current: session.Session,
    answer: session.Answer,
    where: str,
    seal: session.SealTimes | None,
) -> None:
    console.print(report.quality_table(answer.predictions.summary()))
    result, executable = answer.result, current.server.compiled.compiled_graph.executable
    if executable is None or result.cycles is None:
        return
    seconds = seal.program if seal else None
    console.print(tables.program_table(where, result, executable, answer.equal_bits, seconds))
    console.print(tables.breakdown_table(breakdown(executable), result.cycles))


def _numbers(
    command: str,
    stages: Stages,
    current: session.Session,
    answer: session.Answer,
    seal: session.SealTimes | None,
    rows: list[OperationRow] | None,
) -> dict[str, object]:
    """What was measured, as JSON values."""
    interface = current.server.interface
    return {
        **conditions(command, interface.parameters, seeded_keys=interface.seeded_keys),
        "quality": answer.predictions.summary().to_dict(),
        "program": program_numbers(
            answer.result,
            current.server.compiled.compiled_graph.executable,
            equal_bits=answer.equal_bits,
            seal_seconds=seal.program if seal else None,
        ),
        "operations": None if rows is None else [row.to_dict() for row in rows],
        "stage_seconds": stages.seconds(),
    }
