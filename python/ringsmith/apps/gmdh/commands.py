"""``ringsmith run gmdh``."""

from rich.console import Console

from ringsmith.apps import tables
from ringsmith.apps.breakdown import breakdown
from ringsmith.apps.conditions import conditions, seconds_at_assumed_clock
from ringsmith.apps.gmdh import report, session
from ringsmith.apps.gmdh.interface import OUTPUT
from ringsmith.apps.gmdh.server import SCHEMES
from ringsmith.apps.machines import open_machine
from ringsmith.apps.results import check, refuse_different_bits, write
from ringsmith.apps.stages import Stages
from ringsmith.errors import ProgramError
from ringsmith.files import Target
from ringsmith.program import CkksProgram


def run(scheme: str, device: str, design: str | None, output: Target | None = None) -> None:
    """Forecasts the held-out days on a device and prints how well.

    Args:
        scheme: ``bfv`` or ``ckks``.
        device: ``cpu``, ``model`` or ``rtl``.
        design: The accelerator that ``model`` and ``rtl`` are; None: the smallest that does.
        output: Where to write the numbers as JSON; None: nowhere.

    Raises:
        DeviceError: When the device's residues differ from the cpu device's.
        InteropError: When the file cannot be written.
        ParameterError: When there is no such design.
        ProgramError: When there is no such scheme, or the design cannot run the programs.
    """
    if scheme not in SCHEMES:
        raise ProgramError(f"scheme {scheme!r}: choose one of {', '.join(SCHEMES)}")
    check(output, design)
    console = Console()
    stages = Stages(console)
    current = session.begin(stages, scheme, device, design)
    machine = open_machine(stages, device, current.server.design or "nano")
    answer = session.answer(stages, current, machine)
    console.print()
    console.print(report.meters_table(current.days, answer.forecasts))
    console.print(report.quality_table(answer.quality, forecast_error(current)))
    on = current.server.design
    where = device if on is None else f"the {device} of {on.name}"
    for compiled, result in zip(current.server.compiled, answer.results, strict=True):
        executable = compiled.compiled_graph.executable
        if executable is None or result.cycles is None:
            continue
        console.print(tables.program_table(where, result, executable, answer.equal_bits))
        console.print(tables.breakdown_table(breakdown(executable), result.cycles))
    if output:
        named = f" --design {design}" if design else ""
        command = f"ringsmith run gmdh --scheme {scheme} --device {device}{named}"
        write(output, _numbers(command, stages, current, answer))
    refuse_different_bits(answer.equal_bits)


def forecast_error(current: session.Session) -> float | None:
    """Returns what CKKS's precision forecast says that no slot errs by more than; None in BFV."""
    (program, *_) = current.server.programs
    if not isinstance(program, CkksProgram):
        return None
    return program.forecast(current.server.bounds).outputs[OUTPUT].error


def _numbers(
    command: str, stages: Stages, current: session.Session, answer: session.Answer
) -> dict[str, object]:
    """What was measured, as JSON values."""
    server = current.server
    return {
        **conditions(
            command, server.programs[0].parameters, seeded_keys=server.interface.seeded_keys
        ),
        "quality": answer.quality.to_dict(),
        "forecast_error": forecast_error(current),
        "design": server.design.name if server.design else None,
        "programs": [
            {
                "operations": len(program.nodes),
                "plain_modulus": getattr(program.parameters, "plain_modulus", None),
                "instructions": result.instructions,
                "cycles": result.cycles,
                "seconds_at_assumed_clock": None
                if result.cycles is None
                else seconds_at_assumed_clock(result.cycles),
            }
            for program, result in zip(server.programs, answer.results, strict=True)
        ],
        "noise_budgets": list(answer.forecasts.budgets),
        "equal_bits_with_cpu": answer.equal_bits,
        "stage_seconds": stages.seconds(),
    }
