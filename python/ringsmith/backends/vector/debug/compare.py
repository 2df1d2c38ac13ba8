"""Model against RTL on programs of a cluster: contents and cycles, all equal."""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from operator import add
from pathlib import Path

import numpy as np

from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.timeline import Span
from ringsmith.backends.vector.device.model import Memory, Model
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.device.rtl import STARTED, VectorRtl
from ringsmith.backends.vector.isa.instructions import Limb
from ringsmith.errors import DeviceError
from ringsmith.hdl.instrument import Instrument


@dataclass(frozen=True)
class Compared:
    """What was found equal.

    Attributes:
        programs: Programs that ran on the RTL and on the model.
        instructions: Of all their lists.
        cycles: That they took.
        limbs: Outputs.
    """

    programs: int = 0
    instructions: int = 0
    cycles: int = 0
    limbs: int = 0

    def plus(self, other: "Compared") -> "Compared":
        """The sums with what was found equal in other programs."""
        return Compared(*map(add, astuple(self), astuple(other)))


def compare(
    executable: VectorExecutable,
    fetch: Callable[[Limb], Words],
    *,
    assertions: bool = False,
    counts: Path | None = None,
) -> Compared:
    """Runs a program on the RTL and on the model.

    Args:
        executable: The program, of one cluster.
        fetch: Returns N words of an input or a key.
        assertions: Checks the RTL's assertions in every cycle.
        counts: Where the RTL's coverage is written; None: nothing is counted.

    Raises:
        DeviceError: If an output differs, or an instruction begins in another cycle than that of
            the schedule.
        ToolError: If the RTL cannot be built.
    """
    memory = Memory(fetch)
    for _ in Model(executable, memory).run():
        pass
    [times] = executable.schedules
    instrument = Instrument.NONE if counts is None else Instrument.COVERAGE
    with VectorRtl(executable, fetch, assertions=assertions, instrument=instrument) as cluster:
        cluster.start()
        names = ["load_begun_o", "issued_o", "store_begun_o", "done_o"]
        found = cluster.record(["run_o", *names], executable.cycles + STARTED)
        first = int(np.argmax(found["run_o"])) + 1  # cycle 0 of the schedule
        for name, spans in zip(names, (times.loads, times.computing, times.stores), strict=False):
            _check_times(name, (np.flatnonzero(found[name]) - first).tolist(), spans)
        if (cycles := cluster.cycles()) != executable.cycles:
            raise DeviceError(f"{cycles} cycles of the RTL, {executable.cycles} of the model")
        outputs = [limb for limb in memory.written if limb.kind == "output"]
        for limb in outputs:
            words = cluster.output(limb.name, limb.index[0])
            wrong = np.flatnonzero(words != memory.written[limb])
            if wrong.size:
                at = int(wrong[0])
                raise DeviceError(
                    f"word {at} of {limb} is {words[at]} on the RTL and "
                    f"{memory.written[limb][at]} on the model"
                )
        if counts is not None:
            cluster.write_coverage(counts)
    return Compared(1, executable.instructions, executable.cycles, len(outputs))


def _check_times(name: str, found: list[int], spans: Sequence[Span]) -> None:
    expected = [span.begin for span in spans]
    if found != expected:
        at = next(
            (i for i, (a, b) in enumerate(zip(found, expected, strict=False)) if a != b),
            min(len(found), len(expected)),
        )
        raise DeviceError(
            f"{name}: instruction {at} begins in cycle {found[at : at + 1]} on the RTL and "
            f"{expected[at : at + 1]} on the model"
        )
