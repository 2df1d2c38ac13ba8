"""Waves of a window of a program: the RTL's signals, cycle by cycle, in a VCD file.

The window is given in cycles, or as instructions of the trace. Inputs and keys are random
residues: no cycle and no control signal depends on them.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.random_operands import random_key
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.debug.trace import Trace
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.interface import Coprocessor
from ringsmith.backends.rpau.device.recording import TOP_SCOPE, WavesCoprocessor
from ringsmith.errors import ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.objects import KeySwitchKey, Residues
from ringsmith.params import KeyShape


def window_of(trace: Trace, first: int, last: int) -> tuple[int, int]:
    """First and last cycle of instructions ``first`` … ``last``, from issue to idle units.

    Raises:
        ProgramError: If there are no such instructions.
    """
    count = len(trace.events)
    if not 0 <= first <= last < count:
        raise ProgramError(
            f"instructions {first} … {last} are no window of a program of {count}: name two in "
            f"0 … {count - 1}, the first one first"
        )
    events = trace.events[first : last + 1]
    return events[0].start, max(event.end for event in events)


def record(
    executable: Executable,
    path: Path,
    window: tuple[int, int],
    *,
    scope: str = TOP_SCOPE,
    depth: int = 0,
) -> int:
    """Runs a program on the simulated RTL and records a window of it.

    Args:
        executable: The program.
        path: The VCD file to write; in it a cycle takes ``WavesCoprocessor.PERIOD_NS``.
        window: First and last cycle, counted from the start command over all runs.
        scope: Module instance whose signals are recorded; counts only with a depth.
        depth: Levels of instances to record, ``scope`` the first; 0: everything.

    Returns:
        The program's cycles.

    Raises:
        ProgramError: If the window begins after the program's end.
        DeviceError: If the window is empty, or the file cannot be written.
        ToolError: If Verilator or the compiler is missing or fails.
    """
    first, last = window
    if first > executable.cycles:
        raise ProgramError(
            f"the window begins in cycle {first} and the program ends in {executable.cycles}: "
            "name an earlier one"
        )
    coprocessor = WavesCoprocessor(
        executable.design, path, first=first, last=last, scope=scope, depth=depth
    )
    try:
        return run_on_random_data(executable, coprocessor)
    finally:
        coprocessor.close()


def run_on_random_data(executable: Executable, coprocessor: Coprocessor) -> int:
    """Runs a program on random inputs and keys, and returns its cycles.

    Args:
        executable: The program.
        coprocessor: A device of its design.

    Raises:
        DeviceError: If the program breaks the hazard rule, or does not end.
    """
    rng = np.random.default_rng(1)
    inputs = {name: _limbs(executable, values, rng) for name, values in executable.inputs.items()}
    # The accelerator reads the executable alone, so the graph may be without nodes.
    special = (len(executable.primes) - 1,)
    graph = SubroutineGraph(executable.n, executable.primes, executable.roots, special)
    compiled = CompiledGraph(graph, executable)
    result = RpauDevice(coprocessor).execute(compiled, inputs, _keys(executable, rng))
    assert result.cycles is not None
    return result.cycles


def _limbs(executable: Executable, values: Mapping[int, int], rng: np.random.Generator) -> Residues:
    """Random limbs of an input."""
    n, primes = executable.n, executable.primes
    return np.stack([rng.integers(0, primes[limb], n, np.uint64) for limb in sorted(values)])


def _keys(executable: Executable, rng: np.random.Generator) -> dict[str, KeySwitchKey]:
    """Random key-switching keys, with as many digits as are loaded."""
    digits: dict[str, int] = {}
    for run in executable.runs:
        for load in run.keys:
            digits[load.key] = max(digits.get(load.key, 0), load.digit + 1)
    n, primes, seeded = executable.n, executable.primes, executable.seeded
    return {
        name: random_key(primes, n, KeyShape.full(count, len(primes)), rng, seeded=name in seeded)
        for name, count in digits.items()
    }
