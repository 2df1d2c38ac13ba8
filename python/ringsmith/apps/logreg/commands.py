"""``ringsmith run logreg`` and ``ringsmith demo``."""

from dataclasses import asdict
from typing import Final

from ringsmith.apps import tables
from ringsmith.apps.command import Command, device_and_design
from ringsmith.apps.logreg import report, session
from ringsmith.apps.logreg.sizes import DEMO, size_for
from ringsmith.apps.machines import open_machine
from ringsmith.apps.operations import OperationRow, operation_rows
from ringsmith.apps.results import program_numbers
from ringsmith.apps.seal_program import rotation_steps
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
    command = Command(output, design)
    chosen = size_for(size, design)
    stages, scheduled = command.stages, design if takes_design(device) else None
    current = session.begin(stages, chosen, scheduled, fused_rescale=fused_rescale)
    machine = open_machine(stages, device, design)
    answer = current.answer(stages, machine)
    _show(command, current, answer, device_and_design(device, design), None)
    typed = f"ringsmith run logreg --device {device} --design {design} --size {chosen.name}"
    typed += " --fused-rescale" * fused_rescale
    _finish(command, typed, current, answer, None, None)


def demo(output: Target | None = None) -> None:
    """Shows the whole path: encrypted patients classified on the RTL of ``DEMO_DESIGN``.

    Args:
        output: Where to write the numbers as JSON; None: nowhere.

    Raises:
        DeviceError: When the RTL's residues differ from the cpu device's.
        InteropError: When the file cannot be written.
        ToolError: When a tool is missing or fails.
    """
    command = Command(output, DEMO_DESIGN)
    console, stages, parameters = command.console, command.stages, DEMO.parameters
    console.print(
        f"\nEncrypted logistic regression on the simulated accelerator [bold]{DEMO_DESIGN}[/bold]: "
        f"RNS-CKKS, N = {parameters.n}, {parameters.limbs} data primes and one special prime, "
        f"{parameters.log_qp} bits; security: {parameters.security_text}.\n"
    )
    current = session.begin(stages, DEMO, DEMO_DESIGN)
    machine = open_machine(stages, "rtl", DEMO_DESIGN)
    answer = current.answer(stages, machine)
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
    console.print(report.patients_table(answer.outcome))
    _show(command, current, answer, f"the RTL of {DEMO_DESIGN}", seal)
    console.print(tables.operations_table(rows, DEMO_DESIGN))
    console.print(
        "Cycles are the simulated RTL's, with operands, program and keys resident; their time is "
        f"{tables.CLOCK}: no place and route backs the clock. SEAL (without HEXL) ran "
        "on one thread of this CPU in this same run; its CPU time counts. A cubic is no "
        "probability: it passes 0 and 1 by up to 0.08 where the sigmoid comes close to them.",
        style="dim",
    )
    _finish(command, "ringsmith demo", current, answer, seal, rows)


def _show(
    command: Command,
    current: session.Session,
    answer: session.Answer,
    where: str,
    seal: session.SealTimes | None,
) -> None:
    command.console.print(report.quality_table(answer.outcome.summary()))
    command.show_program(
        where,
        answer.results[0],
        current.server.compiled.compiled_graph.executable,
        answer.equal_bits,
        seal_seconds=seal.program if seal else None,
    )


def _finish(
    command: Command,
    typed: str,
    current: session.Session,
    answer: session.Answer,
    seal: session.SealTimes | None,
    rows: list[OperationRow] | None,
) -> None:
    """Writes what was measured."""
    numbers = {
        "quality": asdict(answer.outcome.summary()),
        "program": program_numbers(
            answer.results[0],
            current.server.compiled.compiled_graph.executable,
            equal_bits=answer.equal_bits,
            seal_seconds=seal.program if seal else None,
        ),
        "operations": None if rows is None else [row.to_dict() for row in rows],
    }
    command.finish(typed, current.server.interface, numbers, answer.equal_bits)
