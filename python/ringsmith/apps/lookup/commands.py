"""``ringsmith run lookup``."""

from ringsmith.apps.command import Command, device_and_design
from ringsmith.apps.lookup import session
from ringsmith.apps.lookup.records import RECORDS, picture
from ringsmith.apps.machines import open_machine
from ringsmith.apps.results import program_numbers
from ringsmith.apps.tables import figures_table
from ringsmith.backends.registry import takes_design
from ringsmith.errors import DeviceError, ParameterError
from ringsmith.files import Target


def run(device: str, design: str, record: int, output: Target | None = None) -> None:
    """Looks a record up on a device, and shows it.

    Args:
        device: ``cpu``, ``model`` or ``rtl``.
        design: The accelerator that ``model`` and ``rtl`` are.
        record: Number of the record.
        output: Where to write the numbers as JSON; None: nowhere.

    Raises:
        DeviceError: When the device's residues differ from the cpu device's, or the record from
            the table's.
        InteropError: When the file cannot be written.
        ParameterError: When there is no such design or record.
        ProgramError: When the design cannot run the program.
    """
    command = Command(output, design)
    if not 0 <= record < RECORDS:
        raise ParameterError(f"record {record}: take one of 0 … {RECORDS - 1}")
    current = session.begin(command.stages, record, design if takes_design(device) else None)
    answer = current.answer(command.stages, open_machine(command.stages, device, design))
    (result,), found = answer.results, answer.outcome
    executable = current.server.compiled.compiled_graph.executable
    command.console.print()
    for line in picture(found.record):
        command.console.print(f"  {line}", markup=False, highlight=False)
    rows = [("numbers equal to the table's", "all" if found.right else "no")]
    command.console.print(figures_table(f"Record {record}, decrypted", rows))
    where = device_and_design(device, design)
    command.show_program(where, result, executable, answer.equal_bits)
    numbers = {
        "record": record,
        "fields": found.record.tolist(),
        "right": found.right,
        "operations": len(current.server.program.nodes),
        "program": program_numbers(
            result, executable, equal_bits=answer.equal_bits, seal_seconds=None
        ),
    }
    typed = f"ringsmith run lookup --device {device} --design {design} --record {record}"
    command.finish(typed, current.server.interface, numbers, answer.equal_bits)
    if not found.right:
        raise DeviceError(f"record {record} came back with other numbers: report this")
