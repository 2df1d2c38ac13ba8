"""Model against RTL on random programs: contents, cycles and instructions, all equal."""

from collections.abc import Collection, Mapping
from dataclasses import astuple, dataclass
from operator import add
from typing import ClassVar

import numpy as np

from ringsmith import progress
from ringsmith.backends.base import AXI_LITE
from ringsmith.backends.rpau.debug.random_program import RandomProgram, random_program, ring_in_turn
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.axi_lite import SimulatedBus
from ringsmith.backends.rpau.device.interface import (
    AddressSpace,
    Coprocessor,
    KeyPoly,
    KeyStream,
    SegmentReport,
)
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.registers import RegisterCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.isa.instruction_set import ISA
from ringsmith.errors import DeviceError


@dataclass(frozen=True)
class Compared:
    """What was found equal.

    Attributes:
        programs: Random programs that ran on both devices.
        instructions: Executed on each, over all programs.
        cycles: Taken by each, over all programs.
        polynomials: Compared at the ends of the programs.
    """

    programs: int
    instructions: int
    cycles: int
    polynomials: int

    def plus(self, other: "Compared") -> "Compared":
        """The sums with what was found equal in other programs."""
        return Compared(*map(add, astuple(self), astuple(other)))


def load_random(coprocessor: Coprocessor, program: RandomProgram) -> None:
    """Loads a random program and all contents that it starts from."""
    for space, rpau, index, words in program.loads():
        coprocessor.write(AddressSpace[space], rpau, index, words)
    coprocessor.load_program(program.words)


def stream_of(program: RandomProgram) -> KeyStream | None:
    """The keys of a random program that come while it runs."""
    if program.arrivals is None:
        return None
    polys = (
        KeyPoly(rpau, index, program.keys[rpau, index], f"key {index} of RPAU {rpau}")
        for rpau, index in program.streamed
    )
    return KeyStream(tuple(polys), program.arrivals)


def run_random(coprocessor: Coprocessor, program: RandomProgram) -> SegmentReport:
    """Loads and runs a random program on a device.

    Raises:
        DeviceError: If it does not end in the cycles that the timeline says.
    """
    load_random(coprocessor, program)
    return coprocessor.run(program.cycles + 1000, stream=stream_of(program))


def compare(
    coprocessor: Coprocessor, design: RpauDesign, seeds: Collection[int], length: int
) -> Compared:
    """Runs random programs on a device and on the model, in the design's rings in turn.

    Args:
        coprocessor: The device to be compared, of the same design.
        design: The design.
        seeds: One a program.
        length: Instructions of each program, ``halt`` included.

    Raises:
        DeviceError: At the first difference; names the seed and what differs.
    """
    total = Compared(0, 0, 0, 0)
    what = f"comparing the {coprocessor.name} of {design.name} with the model"
    with progress.task(what, len(seeds), "programs") as task:
        for seed in seeds:
            total = total.plus(compare_one(coprocessor, design, seed, length))
            task.advance()
    return total


def compare_one(coprocessor: Coprocessor, design: RpauDesign, seed: int, length: int) -> Compared:
    """Runs the random program of a seed on both; arguments and errors of ``compare``."""
    ring = ring_in_turn(design, seed)
    program = random_program(design, seed, length, log_degree=ring)
    model = ModelCoprocessor(design)
    for each in (coprocessor, model):
        each.set_ring(ring)
    found, expected = run_random(coprocessor, program), run_random(model, program)
    if found != expected:
        raise DeviceError(f"random program {seed} of {design.name}: {found}, not {expected}")
    polynomials = 0
    for rpau, written in enumerate(program.written):
        for poly in sorted(written):
            one, other = (d.read(AddressSpace.POLY, rpau, poly) for d in (coprocessor, model))
            wrong = np.flatnonzero(one != other)
            if wrong.size:
                raise DeviceError(
                    f"random program {seed} of {design.name}: RPAU {rpau}, polynomial {poly}, "
                    f"word {wrong[0]} is {one[wrong[0]]} and the model has {other[wrong[0]]}"
                )
            polynomials += 1
    return Compared(1, found.instructions, found.cycles, polynomials)


DEVICES = ("rtl", AXI_LITE)
"""The RTL by its ports, and behind its register block. Of several accelerators, one runs."""

LENGTH = 2 * len(ISA.operations)
"""Instructions of a program: each operation, and as many more."""


@dataclass(frozen=True)
class RandomPrograms:
    """Programs of the instruction set on the simulated RTL and on the model.

    Attributes:
        design: The design.
        device: One of ``DEVICES``.
    """

    design: RpauDesign
    device: str
    programs: ClassVar[str] = "random programs"

    def run(self, seed: int) -> Mapping[str, int]:
        """See ``Verification.run``."""
        coprocessor = self._open()
        try:
            found = compare_one(coprocessor, self.design, seed, LENGTH)
        finally:
            coprocessor.close()
        return {
            "instructions": found.instructions,
            "cycles": found.cycles,
            "polynomials": found.polynomials,
        }

    def _open(self) -> RegisterCoprocessor | RtlCoprocessor:
        if self.device == AXI_LITE:
            return RegisterCoprocessor(self.design, SimulatedBus(self.design))
        return RtlCoprocessor(self.design)
