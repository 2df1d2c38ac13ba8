"""What a host does with a device, recorded step by step from a run on the model."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.interface import AddressSpace, KeyStream, SegmentReport, Words
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.spaces import space_runs
from ringsmith.progress import Task


class Do(IntEnum):
    """What a step does; the testbench knows the numbers."""

    RING = 1
    """Chooses the ring."""
    WRITE = 2
    """Writes words to an address space."""
    PROGRAM = 3
    """Loads instruction words."""
    RUN = 4
    """Runs the program; the device must count as many cycles and instructions as said."""
    READ = 5
    """Reads a polynomial, whose words must be those said."""


_NO_WORDS = np.empty(0, dtype=np.uint64)
_NO_RUN = SegmentReport(0, 0)


@dataclass(frozen=True)
class Step:
    """Something that the host does.

    Attributes:
        do: What.
        words: What is written, or must be read.
        space: The memory.
        unit: The RPAU.
        index: The polynomial, or the modulus bank of a table.
        address: The first word in it.
        report: What a run takes.
        log_degree: log2 of the ring's degree, where it is chosen.
    """

    do: Do
    words: Words
    space: AddressSpace = AddressSpace.POLY
    unit: int = 0
    index: int = 0
    address: int = 0
    report: SegmentReport = _NO_RUN
    log_degree: int = 0


class Recorder:
    """The model of a device, which records what it is asked; see ``interface.Coprocessor``.

    Attributes:
        steps: What was done so far.
    """

    name = "model"
    streams = False
    """Keys come before a program: a testbench has no link's timing."""

    def __init__(self, design: RpauDesign) -> None:
        self._model = ModelCoprocessor(design)
        self.steps: list[Step] = []

    @property
    def design(self) -> RpauDesign:
        """The design point."""
        return self._model.design

    def set_ring(self, log_degree: int) -> None:
        """Chooses the ring."""
        self._model.set_ring(log_degree)
        self.steps.append(Step(Do.RING, _NO_WORDS, log_degree=log_degree))

    def write(self, space: AddressSpace, unit: int, index: int, words: Words) -> None:
        """Writes one polynomial or table."""
        self._model.write(space, unit, index, words)
        for address, part in space_runs(self.design, space, words):
            self.steps.append(Step(Do.WRITE, part.copy(), space, unit, index, address))

    def read(self, space: AddressSpace, unit: int, index: int) -> Words:
        """Reads one work polynomial."""
        words = self._model.read(space, unit, index)
        self.steps.append(Step(Do.READ, words.copy(), space, unit, index))
        return words

    def load_program(self, words: Words) -> None:
        """Loads instruction words."""
        self._model.load_program(words)
        self.steps.append(Step(Do.PROGRAM, words.copy()))

    def run(
        self, max_cycles: int, task: Task | None = None, stream: KeyStream | None = None
    ) -> SegmentReport:
        """Runs the loaded program."""
        report = self._model.run(max_cycles, task, stream)
        self.steps.append(Step(Do.RUN, _NO_WORDS, report=report))
        return report
