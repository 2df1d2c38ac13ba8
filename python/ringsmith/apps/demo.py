"""``ringsmith demo``: encrypted patients classified on the simulated RTL of ``nano``."""

from typing import Final

from rich.console import RenderableType

from ringsmith import runtime
from ringsmith.apps import session
from ringsmith.apps.logreg import DEMO, LogisticRegression, Predictions
from ringsmith.apps.operations import operation_rows
from ringsmith.apps.report import CLOCK, operations_table
from ringsmith.apps.seal_baseline import SealBaseline
from ringsmith.apps.seal_program import rotation_steps
from ringsmith.apps.stages import Stages
from ringsmith.files import Target

DESIGN: Final = "nano"
_NOTE: Final = (
    "Cycles are the simulated RTL's, with operands, program and keys resident; their time is "
    f"{CLOCK}: no place and route backs the clock. SEAL (without HEXL) ran on one thread of this "
    "CPU in this same run; its CPU time counts. A cubic is no probability: it passes 0 and 1 by up "
    "to 0.08 where the sigmoid comes close to them."
)


def demo(output: Target | None = None) -> None:
    """Shows the whole path: encrypted patients classified on the RTL of ``DESIGN``.

    Raises DeviceError when the RTL's residues differ from the cpu device's; InteropError when the
    file cannot be written; ToolError when a tool is missing or fails.
    """
    of = DEMO.parameters
    session.run(
        LogisticRegression(DEMO),
        "rtl",
        DESIGN,
        output,
        seal=True,
        typed="ringsmith demo",
        heading=f"\nEncrypted logistic regression on the simulated accelerator [bold]{DESIGN}"
        f"[/bold]: RNS-CKKS, N = {of.n}, {of.limbs} data primes and one special prime, "
        f"{of.log_qp} bits; security: {of.security_text}.\n",
        more=_operations,
    )


def _operations(
    stages: Stages,
    device: runtime.Device,
    current: session.Session[Predictions],
    answer: session.Answer[Predictions],
    baseline: SealBaseline | None,
) -> tuple[list[RenderableType], dict[str, object]]:
    """Single operations on the RTL, compared with SEAL's times."""
    of, steps = DEMO.parameters, rotation_steps(current.server.program)[0]
    with stages("Run single operations on the RTL") as stage:
        seal = baseline.operation_seconds(of.limbs, steps) if baseline else None
        rows = operation_rows(device, DESIGN, of, limbs=of.limbs, steps=steps, seal_seconds=seal)
        stage.note = "residues equal the interpreter's"
    written: dict[str, object] = {"operations": [row.to_dict() for row in rows]}
    return [operations_table(rows, DESIGN), f"[dim]{_NOTE}[/dim]"], written
