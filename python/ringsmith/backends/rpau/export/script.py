"""What a host does with a device, recorded step by step from a run on the model, and as files.

A testbench reads the files with ``$readmemh``, and people can read them, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ringsmith.backends.exporter import hex_words
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.interface import AddressSpace, KeyStream, SegmentReport, Words
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.spaces import space_runs
from ringsmith.backends.rpau.isa.assembler import decode, format_instruction
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


_STEPS_HEAD = """\
// What the host does, in order: two words a step.
//   word 0: what (8 bits), address space (8), RPAU (8), index (16), number of words or
// instructions (24)
//   word 1: first word of the address space (32), first word of the file (32); of a run its clock
// cycles
// 1 ring, 2 write words of data.hex, 3 load words of microcode.hex, 4 run, 5 read and compare with
// words of expected.hex. Address spaces are those of register host_space.
"""


def files(steps: Sequence[Step]) -> dict[str, str]:
    """The files by name."""
    words: dict[Do, list[int]] = {Do.WRITE: [], Do.PROGRAM: [], Do.READ: []}
    lines = [_STEPS_HEAD]
    for step in steps:
        held = words.get(step.do, [])
        first, second, comment = _encoded(step, len(held))
        lines.append(f"{first:016x} {second:016x}  // {comment}\n")
        held += step.words.tolist()
    return {
        "steps.hex": "".join(lines),
        "data.hex": hex_words(words[Do.WRITE]),
        "microcode.hex": "".join(
            f"{word:016x}  // {format_instruction(decode(word))}\n" for word in words[Do.PROGRAM]
        ),
        "expected.hex": hex_words(words[Do.READ]),
    }


def sizes(steps: Sequence[Step]) -> Mapping[str, int]:
    """Steps, and words of each file, by the names that the testbench gives them."""
    count = {do: sum(step.words.size for step in steps if step.do is do) for do in Do}
    return {
        "steps": len(steps),
        "data_words": count[Do.WRITE],
        "instructions": count[Do.PROGRAM],
        "expected_words": count[Do.READ],
    }


def _encoded(step: Step, offset: int) -> tuple[int, int, str]:
    """The two words of a step whose words begin at an offset of their file, and a comment."""
    place = step.space << 48 | step.unit << 40 | step.index << 24
    count = int(step.words.size)
    where = f"{step.space.name.lower()} {step.index} of RPAU {step.unit}"
    match step.do:
        case Do.RING:
            return step.do << 56, step.log_degree, f"ring of degree {1 << step.log_degree}"
        case Do.PROGRAM:
            return step.do << 56 | count, offset, f"load {count} instructions"
        case Do.RUN:
            cycles, instructions = step.report.cycles, step.report.instructions
            text = f"run: {cycles} clock cycles, {instructions} instructions"
            return step.do << 56 | instructions, cycles, text
        case Do.WRITE:
            begin = f" from word {step.address} on" if step.address else ""
            second, text = step.address << 32 | offset, f"write {count} words: {where}{begin}"
            return step.do << 56 | place | count, second, text
    return step.do << 56 | place | count, offset, f"read {count} words: {where}"
