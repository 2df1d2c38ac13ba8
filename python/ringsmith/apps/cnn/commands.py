"""``ringsmith run cnn``."""

from collections import Counter
from dataclasses import asdict
from typing import Final

from ringsmith.apps.cnn import report, session
from ringsmith.apps.cnn.images import HELD_OUT
from ringsmith.apps.cnn.packing import Layout
from ringsmith.apps.cnn.training import MAPS
from ringsmith.apps.command import Command, device_and_design
from ringsmith.apps.machines import open_machine
from ringsmith.apps.results import program_numbers
from ringsmith.backends.registry import takes_design
from ringsmith.errors import ParameterError
from ringsmith.files import Target
from ringsmith.params import ckks_set

PARAMETERS: Final = "medha21-set1"
"""N = 2^14, 128-bit security, and the five levels that the network takes."""


def run(
    device: str, design: str, images: int | None = None, *, seal: bool, output: Target | None = None
) -> None:
    """Classifies held-out images on a device and prints how well.

    Args:
        device: ``cpu``, ``model`` or ``rtl``.
        design: The accelerator that ``model`` and ``rtl`` are.
        images: Held-out images to classify; None: all on ``cpu``, else one ciphertext of them.
        seal: Whether to time Microsoft SEAL, and the cpu device, on the program for one batch.
        output: Where to write the numbers as JSON; None: nowhere.

    Raises:
        DeviceError: When the device's residues differ from the cpu device's.
        InteropError: When the file cannot be written.
        ParameterError: When there is no such design, or are not so many images.
        ProgramError: When the program does not fit the design.
    """
    command = Command(output, design)
    parameters, on_design = ckks_set(PARAMETERS), takes_design(device)
    if images is None:
        images = Layout(parameters.slots, MAPS).images if on_design else HELD_OUT
    if not 1 <= images <= HELD_OUT:
        raise ParameterError(f"images = {images}: take 1 … {HELD_OUT}, those kept from training")
    stages, console = command.stages, command.console
    current = session.begin(stages, parameters, design if on_design else None, images)
    answer = current.answer(stages, open_machine(stages, device, design))
    times = session.time_on_cpu(stages, current) if seal else None
    console.print()
    console.print(report.images_table(answer.outcome))
    console.print(report.quality_table(answer.outcome.summary()))
    command.show_program(
        f"{device_and_design(device, design)}, one batch",
        answer.results[0],
        current.server.compiled.compiled_graph.executable,
        answer.equal_bits,
        seal_seconds=times.seal if times else None,
        cpu_seconds=times.ours if times else None,
    )
    typed = f"ringsmith run cnn --device {device} --design {design} --images {images}"
    typed += " --seal" * seal
    numbers = _numbers(current, answer, times)
    command.finish(typed, current.server.interface, numbers, answer.equal_bits)


def _numbers(
    current: session.Session, answer: session.Answer, times: session.CpuTimes | None
) -> dict[str, object]:
    """What was measured, as JSON values; the program's numbers are those of one batch."""
    program = program_numbers(
        answer.results[0],
        current.server.compiled.compiled_graph.executable,
        equal_bits=answer.equal_bits,
        seal_seconds=times.seal if times else None,
    )
    return {
        "quality": asdict(answer.outcome.summary()),
        "batches": len(answer.results),
        "images_per_batch": current.server.interface.layout.images,
        "program": {
            "operations": dict(Counter(node.op for node in current.server.program.nodes)),
            **program,
            "cpu_seconds": times.ours if times else None,
        },
    }
