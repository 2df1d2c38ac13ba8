"""What is measured: the demo's program and single operations on ``nano``, beside Microsoft SEAL."""

from dataclasses import asdict
from typing import Any

from bench.compile_time import COLUMNS, measure_compile_time
from ringsmith.apps.breakdown import breakdown
from ringsmith.apps.conditions import conditions, seconds_at_assumed_clock
from ringsmith.apps.logreg import session
from ringsmith.apps.logreg.sizes import DEMO
from ringsmith.apps.machines import open_machine
from ringsmith.apps.operations import operation_rows
from ringsmith.apps.seal_baseline import SealBaseline, seal_version
from ringsmith.apps.seal_program import rotation_steps
from ringsmith.apps.stages import Stages
from ringsmith.backends.rpau.design import load_design
from ringsmith.progress import task

DESIGN = "nano"


def measure(stages: Stages, command: str, *, quick: bool = False) -> dict[str, Any]:
    """Measures everything on the simulated RTL.

    Args:
        stages: Where progress is shown.
        command: What was typed.
        quick: Whether single operations run at two limbs alone, not at each number of limbs.

    Returns:
        Conditions and numbers, as JSON values.

    Raises:
        RingsmithError: When a tool is missing, or a device's bits are not the interpreter's.
    """
    parameters, design = DEMO.parameters, load_design(DESIGN)
    current = session.begin(stages, DEMO, DESIGN)
    machine = open_machine(stages, "rtl", DESIGN)
    answer = session.answer(stages, current, machine)
    seal = session.time_seal(stages, current)
    steps = rotation_steps(current.server.program)[0]
    baseline = SealBaseline(parameters, [steps]) if seal_version() else None
    rows = []
    levels = range(2 if quick else parameters.limbs, 1, -1)
    with task("measuring single operations", len(levels), "levels") as measured:
        for limbs in levels:
            with stages(f"Single operations, {limbs} limbs"):
                times = baseline.operation_seconds(limbs, steps) if baseline else None
                rows += operation_rows(machine, DESIGN, parameters, limbs, steps, times)
            measured.advance()
    executable = current.server.compiled.compiled_graph.executable
    cycles = answer.result.cycles
    assert executable is not None
    assert cycles is not None
    return {
        **conditions(command, parameters, seeded_keys=current.server.interface.seeded_keys),
        "design": asdict(design),
        "ntt_lower_bound_cycles": design.n // 2 * design.log_n // design.cores,
        "program": {
            "name": "logreg",
            "instructions": answer.result.instructions,
            "cycles": cycles,
            "predicted_cycles": executable.cycles,
            "seconds_at_assumed_clock": seconds_at_assumed_clock(cycles),
            "seal_seconds": seal.program if seal else None,
            "equal_bits_with_cpu": answer.equal_bits,
            "breakdown": [asdict(share) for share in breakdown(executable)],
            "quality": answer.predictions.summary().to_dict(),
        },
        "operations": [row.to_dict() for row in rows],
        "compile_time": measure_compile_time(
            stages, command, DESIGN, COLUMNS[:1] if quick else COLUMNS
        ),
    }
