"""``ringsmith run gmdh``."""

from collections import Counter
from dataclasses import asdict

from ringsmith.apps.command import Command, device_and_design
from ringsmith.apps.gmdh import report, session, steps
from ringsmith.apps.gmdh.interface import OUTPUT
from ringsmith.apps.gmdh.server import EXACT, SCHEMES
from ringsmith.apps.machines import open_machine
from ringsmith.apps.results import program_numbers
from ringsmith.errors import ProgramError
from ringsmith.files import Target
from ringsmith.program import CkksProgram


def run(scheme: str, device: str, design: str | None, output: Target | None = None) -> None:
    """Forecasts the held-out days on a device and prints how well.

    Args:
        scheme: ``bfv`` or ``ckks``.
        device: ``cpu``, ``model`` or ``rtl``.
        design: The accelerator that ``model`` and ``rtl`` are; None: the smallest that does. In BFV
            one of the ring of ``steps.paper_set`` gets one operation at a time, on ``cpu`` too.
        output: Where to write the numbers as JSON; None: nowhere.

    Raises:
        DeviceError: When the device's residues differ from the cpu device's.
        InteropError: When the file cannot be written.
        ParameterError: When there is no such design.
        ProgramError: When there is no such scheme, or the design cannot run the programs.
    """
    if scheme not in SCHEMES:
        raise ProgramError(f"scheme {scheme!r}: choose one of {', '.join(SCHEMES)}")
    command = Command(output, design)
    if scheme == EXACT and design is not None and steps.takes_steps(design):
        _run_steps(command, device, design)
        return
    current = session.begin(command.stages, scheme, device, design)
    on = current.server.design or "nano"
    answer = current.answer(command.stages, open_machine(command.stages, device, on))
    outcome, error = answer.outcome, forecast_error(current)
    command.console.print()
    command.console.print(report.meters_table(current.data, outcome.forecasts))
    command.console.print(report.quality_table(outcome.quality, error))
    for compiled, result in zip(current.server.compiled, answer.results, strict=True):
        executable = compiled.compiled_graph.executable
        command.show_program(device_and_design(device, on), result, executable, answer.equal_bits)
    typed = f"ringsmith run gmdh --scheme {scheme} --device {device}"
    typed += f" --design {design}" if design else ""
    command.finish(typed, current.server.interface, _numbers(current, answer), answer.equal_bits)


def _run_steps(command: Command, device: str, design: str) -> None:
    """The exact forecast on a design that gets one operation at a time."""
    current = session.begin_steps(command.stages, design)
    answer = current.answer(command.stages, open_machine(command.stages, device, design))
    outcome, server = answer.outcome, current.server
    took = report.Took.of([result.cycles for result in answer.results], server)
    command.console.print()
    command.console.print(report.meters_table(current.data, outcome.forecasts))
    command.console.print(report.quality_table(outcome.quality, None))
    command.console.print(report.steps_table(device_and_design(device, design), server, took))
    numbers = {
        "quality": asdict(outcome.quality),
        "design": server.design.name,
        "plain_moduli": [of.plain_modulus for of in server.parameters],
        "steps": dict(Counter(server.ran)),
        "cycles": [result.cycles for result in answer.results],
        "host_transfers": [result.host_transfers for result in answer.results],
        "coprocessors": server.coprocessors,
        "seconds_with_one": took.with_one if took else None,
        "seconds_with_all": took.with_all if took else None,
        "noise_budgets": list(outcome.forecasts.budgets),
        "equal_bits_with_cpu": answer.equal_bits,
    }
    typed = f"ringsmith run gmdh --scheme {EXACT} --device {device} --design {design}"
    command.finish(typed, server.interface, numbers, answer.equal_bits)


def forecast_error(current: session.Session) -> float | None:
    """Returns what CKKS's precision forecast says that no demand errs by more than; None in BFV."""
    (program, *_), (part, *_) = current.server.programs, current.server.interface.parts
    if not isinstance(program, CkksProgram):
        return None
    return program.forecast(current.server.bounds).outputs[OUTPUT].error * part.unit


def _numbers(current: session.Session, answer: session.Answer) -> dict[str, object]:
    """What was measured, as JSON values."""
    server = current.server
    return {
        "quality": asdict(answer.outcome.quality),
        "forecast_error": forecast_error(current),
        "design": server.design.name if server.design else None,
        "programs": [
            {
                "operations": len(program.nodes),
                "plain_modulus": getattr(program.parameters, "plain_modulus", None),
                **program_numbers(
                    result,
                    compiled.compiled_graph.executable,
                    equal_bits=answer.equal_bits,
                    seal_seconds=None,
                ),
            }
            for program, compiled, result in zip(
                server.programs, server.compiled, answer.results, strict=True
            )
        ],
        "noise_budgets": list(answer.outcome.forecasts.budgets),
        "equal_bits_with_cpu": answer.equal_bits,
    }
