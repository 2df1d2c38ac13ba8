"""A program in time: each instruction with its cycles, unit, RPAUs and operation.

A trace comes from an executable, whose starts the scheduler computed, or from the starts that a
device reports after a run (``ModelCoprocessor.trace``). Either way it must obey the issue rule of
``docs/reference/rpau.md``, and each event says what kept it from issuing earlier.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.compiler.timeline import HALT, Timing
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.isa.assembler import check_program, format_instruction
from ringsmith.backends.rpau.isa.instruction_set import CONTROL, ISA, Instruction
from ringsmith.errors import ProgramError

UNKNOWN_ORIGIN = "?"
"""Origin of the instructions of a bare program."""


@dataclass(frozen=True)
class Event:
    """One instruction in time.

    Attributes:
        index: Position in the program, from 0.
        instruction: What is done.
        start: Cycle in which it issues, counted from the start command.
        end: First cycle in which its unit is idle again; ``start`` for what occupies no unit.
        origin: The HE operation that it serves, such as ``rotate:12``.
        blocker: Index of the instruction whose end let it issue; None where only the fetch of the
            instruction itself did. Of several that end together, the one that issued first.
        keys: Whether it waited for keys to arrive, longer than for all else.
    """

    index: int
    instruction: Instruction
    start: int
    end: int
    origin: str
    blocker: int | None
    keys: bool = False

    @property
    def unit(self) -> str:
        """Its unit: one of ``ISA.execution_units``, or ``control``."""
        return self.instruction.operation.unit

    @property
    def name(self) -> str:
        """Name of the instruction's operation, such as ``ntt``."""
        return self.instruction.operation.name

    @property
    def operation(self) -> str:
        """Kind of HE operation that it serves: ``rotate`` of ``rotate:12``."""
        return self.origin.partition(":")[0]

    @property
    def text(self) -> str:
        """The instruction as assembly text."""
        return format_instruction(self.instruction)


@dataclass(frozen=True)
class Trace:
    """A program in time.

    Attributes:
        design: The accelerator.
        fetch_cycles: From one issue to the earliest next one.
        events: Every instruction in the order of issue, ``halt`` last.
        cycles: From the start command to completion, without what the host does between runs.
    """

    design: RpauDesign
    fetch_cycles: int
    events: tuple[Event, ...]
    cycles: int

    @classmethod
    def of_executable(cls, executable: Executable) -> "Trace":
        """The trace that the scheduler predicted. Runs follow one another at once.

        Raises:
            ProgramError: If the starts do not obey the issue rule: the file is damaged, or made
                for other latencies than this version's.
        """
        return cls._of_runs(executable, [run.starts for run in executable.runs])

    @classmethod
    def of_model(cls, executable: Executable) -> "Trace":
        """The trace of a run on the model, which computes starts of its own.

        Raises:
            DeviceError: If the program breaks the hazard rule, or does not end.
        """
        coprocessor = ModelCoprocessor(executable.design, timing_only=True)
        coprocessor.set_ring(executable.log_degree)
        starts = []
        for run in executable.runs:
            coprocessor.load_program(np.array(run.words, dtype=np.uint64))
            coprocessor.run(max_cycles=2 * run.cycles + 1000)
            starts.append([int(start) for start in coprocessor.trace()])
        return cls._of_runs(executable, starts)

    @classmethod
    def of_run(
        cls,
        design: RpauDesign,
        words: Sequence[int],
        starts: Sequence[int],
        *,
        origins: Sequence[str] | None = None,
        timing: Timing | None = None,
    ) -> "Trace":
        """The trace of a bare program whose starts are known, from any device.

        Args:
            design: The accelerator.
            words: Instruction words, ``halt`` last.
            starts: The cycle in which each issued.
            origins: The HE operation that each serves; None: unknown.
            timing: Latencies in place of the design's own.

        Raises:
            ProgramError: If the words are no program of the design, there are more or fewer starts
                or origins than words, or the starts do not obey the issue rule.
        """
        replay = _Replay(design, timing or Timing.of(design))
        replay.run(words, starts, origins or [UNKNOWN_ORIGIN] * len(words))
        return replay.trace()

    @classmethod
    def _of_runs(cls, executable: Executable, starts: Sequence[Sequence[int]]) -> "Trace":
        timing = Timing.of(executable.design, executable.log_degree)
        replay = _Replay(executable.design, timing)
        for run, cycles in zip(executable.runs, starts, strict=True):
            replay.run(run.words, cycles, run.origins)
        return replay.trace()

    def lane(self, rpau: int, unit: str) -> list[Event]:
        """What one unit of one RPAU works on, in order."""
        return [e for e in self.events if e.unit == unit and e.instruction.mask >> rpau & 1]

    def operations(self) -> list[str]:
        """Kinds of HE operations that instructions serve, in the order of their first issue."""
        return list(dict.fromkeys(event.operation for event in self.events if event.name != HALT))


class _Replay:
    """Issues instructions at given starts, and finds out for each what it waited for."""

    def __init__(self, design: RpauDesign, timing: Timing) -> None:
        self.design = design
        self.timing = timing
        self.events: list[Event] = []
        self._last: dict[tuple[str, int], Event] = {}

    def trace(self) -> Trace:
        """What was issued."""
        cycles = self.events[-1].start
        return Trace(self.design, self.timing.fetch_cycles, tuple(self.events), cycles)

    def run(self, words: Sequence[int], starts: Sequence[int], origins: Sequence[str]) -> None:
        """Adds a program, whose starts count from the end of the one before."""
        program = check_program([int(word) for word in words], self.design)
        if not len(program) == len(starts) == len(origins):
            raise ProgramError(
                f"{len(program)} instructions have {len(starts)} starts and {len(origins)} "
                "origins: give one of each to every instruction"
            )
        begin = self._end()
        for each, start, origin in zip(program, starts, origins, strict=True):
            self._issue(each, begin + int(start), origin)

    def _end(self) -> int:
        return self.events[-1].start if self.events else 0

    def _issue(self, instruction: Instruction, start: int, origin: str) -> None:
        ready = self._end() + self.timing.fetch_cycles
        awaited = self._awaited(instruction)
        expected = max([ready, *(event.end for event in awaited)])
        index = len(self.events)
        keys = instruction.operation.awaits and start > expected
        if start != expected and not keys:
            raise ProgramError(
                f"instruction {index} ({format_instruction(instruction)}) issues in cycle {start}, "
                f"and by the issue rule it would in {expected}: compile the program again for this "
                f"version's {self.design.name}"
            )
        ending = [event.index for event in awaited if event.end == start]
        latency = self.timing.latencies[instruction.operation.name]
        first = min(ending, default=None)
        event = Event(index, instruction, start, start + latency, origin, first, keys)
        self.events.append(event)
        if event.unit != CONTROL:
            self._last.update(((event.unit, rpau), event) for rpau in instruction.rpaus())

    def _awaited(self, instruction: Instruction) -> list[Event]:
        """The last instruction on each unit that must be idle before this one issues."""
        if instruction.operation.name == HALT:
            return list(self._last.values())
        units = [
            unit
            for unit in ISA.execution_units
            if unit in instruction.waits or unit == instruction.operation.unit
        ]
        places = ((unit, rpau) for unit in units for rpau in instruction.rpaus())
        return [self._last[place] for place in places if place in self._last]
