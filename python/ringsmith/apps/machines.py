"""Running an application's programs on a device, and comparing with the ``cpu`` device."""

from collections.abc import Callable, Sequence

import numpy as np

from ringsmith import runtime
from ringsmith.apps.stages import Stages
from ringsmith.backends.base import Design
from ringsmith.backends.registry import REFERENCE


def open_machine(stages: Stages, kind: str, design: str | Design) -> runtime.Machine:
    """Opens the server's device; the RTL's simulator is built the first time.

    Raises:
        ToolError: When Verilator or a compiler is missing or fails.
    """
    if kind != "rtl":
        return runtime.open_device(kind, design)
    name = design if isinstance(design, str) else design.name
    with stages(f"Build the RTL of {name}", "minutes, but only the first time"):
        return runtime.open_device(kind, design)


def run_and_compare(
    stages: Stages,
    machine: runtime.Machine,
    run: Callable[[runtime.Machine], Sequence[runtime.RunResult]],
) -> tuple[Sequence[runtime.RunResult], bool | None]:
    """Runs programs on a machine, and again on the ``cpu`` device unless it is that.

    Args:
        stages: Shows progress.
        machine: The server's device.
        run: Runs the programs on the machine that it is given.

    Returns:
        The results, and whether every residue of theirs equals the cpu device's; None: on it.

    Raises:
        DeviceError: When the machine fails.
    """
    with stages(f"Server: run on the {machine.name} device") as stage:
        results = run(machine)
        cycles = [result.cycles for result in results if result.cycles is not None]
        stage.note = f"{sum(cycles):,} clock cycles" if cycles else ""
    if machine.name == REFERENCE:
        return results, None
    with stages("Compare with the cpu device") as stage:
        equal = all(
            np.array_equal(found.data, reference.outputs[name].data)
            for result, reference in zip(results, run(runtime.open_device(REFERENCE)), strict=True)
            for name, found in result.outputs.items()
        )
        stage.note = "every residue equal" if equal else "DIFFERENT"
    return results, equal
