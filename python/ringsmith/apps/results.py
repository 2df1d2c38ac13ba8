"""What a run took as JSON values, and what no application accepts."""

from dataclasses import asdict

from ringsmith.apps.breakdown import breakdown
from ringsmith.apps.conditions import ASSUMED_HZ, seconds_at_assumed_clock
from ringsmith.backends.base import Executable
from ringsmith.errors import DeviceError
from ringsmith.runtime import RunResult


def program_numbers(
    result: RunResult,
    executable: Executable | None,
    *,
    equal_bits: bool | None,
    seal_seconds: float | None,
    hz: float = ASSUMED_HZ,
) -> dict[str, object]:
    """What a run of a program took, as JSON values.

    Args:
        result: The run; of the cpu device it has no cycles.
        executable: What ran; None on the cpu device.
        equal_bits: Whether every residue equals the cpu device's; None on the cpu itself.
        seal_seconds: SEAL's time for the same program; None: not measured.
        hz: The clock at which cycles become seconds.
    """
    cycles = result.cycles
    return {
        "instructions": result.instructions,
        "cycles": cycles,
        "host_transfers": result.host_transfers,
        "memory_bytes_read": result.memory_read,
        "memory_bytes_written": result.memory_written,
        "busy": dict(result.busy),
        "predicted_cycles": executable.cycles if executable else None,
        "seconds_at_assumed_clock": (
            None if cycles is None else seconds_at_assumed_clock(cycles, hz)
        ),
        "seal_seconds": seal_seconds,
        "equal_bits_with_cpu": equal_bits,
        "breakdown": [asdict(share) for share in breakdown(executable)] if executable else None,
    }


def refuse_different_bits(equal_bits: bool | None) -> None:
    """Refuses a result whose residues are not the cpu device's; None: they were not compared.

    Raises:
        DeviceError: Where they differ.
    """
    if equal_bits is False:
        raise DeviceError("the device's residues differ from the cpu device's: report this")
