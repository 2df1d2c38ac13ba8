"""Common code of applications' commands: checks arguments first, prints, writes numbers last."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.console import Console

from ringsmith.apps import tables
from ringsmith.apps.breakdown import breakdown
from ringsmith.apps.conditions import ASSUMED_HZ, conditions
from ringsmith.apps.interface import Interface
from ringsmith.apps.results import refuse_different_bits
from ringsmith.apps.stages import Stages
from ringsmith.backends.base import Design, Executable
from ringsmith.backends.registry import named_design, takes_design
from ringsmith.files import Target
from ringsmith.runtime import RunResult


class Command:
    """One run of an application's command.

    Attributes:
        console: Where results are printed.
        stages: Shows progress there.
    """

    def __init__(
        self,
        output: Target | None,
        design: str | None,
        hz: float = ASSUMED_HZ,
        inputs: Iterable[Path | None] = (),
    ) -> None:
        """Refuses a file or a design before minutes are spent on what goes into it.

        Args:
            output: Where to write the numbers as JSON; None: nowhere.
            design: The accelerator that was asked for; None: none.
            hz: The clock at which cycles become seconds.
            inputs: Files that are read; None for one that is not given.

        Raises:
            InteropError: When the file cannot be written, or is one that is read.
            ParameterError: When there is no such design.
        """
        if design is not None:
            named_design(design)
        if output:
            output.check([*inputs, Path(design) if design else None])
        self._output = output
        self._hz = hz
        self.console = Console()
        self.stages = Stages(self.console)

    def show_program(
        self,
        where: str,
        result: RunResult,
        executable: Executable | None,
        equal_bits: bool | None,
        *,
        seal_seconds: float | None = None,
        cpu_seconds: float | None = None,
    ) -> None:
        """Prints what a program took, and where its cycles went; nothing of what was not measured.

        Args:
            where: The device and its design.
            result: The run.
            executable: What ran; None on the cpu device.
            equal_bits: Whether every residue equals the cpu device's; None on the cpu itself.
            seal_seconds: SEAL's time for the same program; None: not measured.
            cpu_seconds: The cpu device's CPU time for it; None: not measured.
        """
        if executable is None and seal_seconds is None and cpu_seconds is None:
            return
        self.console.print(
            tables.program_table(
                where, result, executable, equal_bits, seal_seconds, cpu_seconds, self._hz
            )
        )
        if executable is not None and result.cycles is not None:
            self.console.print(tables.breakdown_table(breakdown(executable), result.cycles))

    def finish(
        self,
        typed: str,
        interface: Interface,
        numbers: Mapping[str, object],
        equal_bits: bool | None,
    ) -> None:
        """Writes the numbers where that was asked for, and refuses wrong residues.

        Args:
            typed: The command line.
            interface: The server's, for the conditions.
            numbers: What was measured, as JSON values.
            equal_bits: Whether every residue equals the cpu device's; None on the cpu itself.

        Raises:
            DeviceError: When they differ.
            InteropError: When the file cannot be written.
        """
        if self._output:
            around = conditions(
                typed, interface.parameters, seeded_keys=interface.seeded_keys, hz=self._hz
            )
            written = {**around, **numbers, "stage_seconds": self.stages.seconds()}
            self._output.write(json.dumps(written, indent=2) + "\n")
        refuse_different_bits(equal_bits)


def device_and_design(device: str, design: str | Design) -> str:
    """Where a program ran, for people."""
    if not takes_design(device):
        return device
    return f"the {device} of {design if isinstance(design, str) else design.name}"
