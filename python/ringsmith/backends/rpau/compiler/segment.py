"""Cuts a program into scheduled program segments: results of ``scheduler``.

A program that fits is one segment. Otherwise each segment takes as many of the remaining
instructions, in sequential order, as the work memory, the stores of keys and seeds and the program
store allow. A polynomial that the next segment needs stays in place. Any other that is needed later
is spilled to the host, and loaded again before the segment that needs it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ringsmith.backends.rpau.compiler import _scheduler
from ringsmith.backends.rpau.compiler.selection import Selection
from ringsmith.backends.rpau.compiler.timeline import HALT, UNIT_BITS, Timing, machine
from ringsmith.backends.rpau.compiler.virtual import Location, VirtualInstruction
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.isa.instruction_set import ISA, Instruction, Operation
from ringsmith.backends.rpau.isa.kinds import KEY_POLY, POLY, SEED
from ringsmith.errors import CompileError

_OPERATIONS: Mapping[int, Operation] = {each.opcode: each for each in ISA.operations}
_VALUES = 6
"""Operands that an instruction has at most."""


@dataclass(frozen=True)
class Placed:
    """An instruction in time and space.

    Attributes:
        instruction: What is done, on work polynomials, with its wait bits.
        start: Cycle of issue, counted from the start command.
        origin: The HE operation that it serves.
    """

    instruction: Instruction
    start: int
    origin: str


@dataclass(frozen=True)
class Segment:
    """One program segment.

    Attributes:
        cycles: From the start command to completion.
        peak: The most work polynomials in use at once in one RPAU.
        polys: Work polynomial of every virtual polynomial.
        keys: Index in the key store of each key polynomial, by its index in the selection.
        seeds: Index in the seed store of each seed, by its index in the selection.
        loads: What the host writes before it: virtual polynomial -> mask of RPAUs.
        stores: What the host reads after it.
    """

    cycles: int
    peak: int
    polys: Mapping[int, int]
    keys: Mapping[int, int]
    seeds: Mapping[int, int]
    loads: Mapping[int, int]
    stores: Mapping[int, int]
    _run: _scheduler.Run

    @classmethod
    def of(cls, run: _scheduler.Run) -> "Segment":
        """What the scheduler found, by name."""
        return cls(
            run.cycles,
            run.peak,
            dict(run.slots),
            dict(run.keys),
            dict(run.seeds),
            dict(run.loads),
            dict(run.stores),
            run,
        )

    def program(self, selection: Selection) -> Iterator[Placed]:
        """The instructions of the segment in issue order, ``halt`` last."""
        places = {POLY: self.polys, KEY_POLY: self.keys, SEED: self.seeds}
        for opcode, mask, waits, index, start in self._run.issued:
            operation = _OPERATIONS[opcode]
            units = frozenset(unit for unit, bit in UNIT_BITS.items() if waits & bit)
            if operation.name == HALT:
                yield Placed(Instruction(operation, mask, (), units), start, HALT)
                continue
            virtual = selection.instructions[index]
            if not operation.operands:  # waits for the ring before the instruction
                yield Placed(Instruction(operation, mask, (), units), start, virtual.origin)
                continue
            placed = replace(virtual.place(places), operation=operation, waits=units)
            yield Placed(placed, start, virtual.origin)


def cut(
    selection: Selection, design: RpauDesign, advance: Callable[[int], None] = lambda _: None
) -> list[Segment]:
    """Cuts a program into program segments and schedules them.

    Args:
        selection: The program.
        design: The accelerator.
        advance: Called with the number of scheduled instructions after each program segment.

    Raises:
        CompileError: If a few instructions that belong together do not fit.
    """
    cutter = _cutter(selection, design)
    position = 0
    while not cutter.done():
        scheduled = cutter.next()
        if scheduled is None:
            node = _operation_of(selection.instructions[position])
            raise CompileError(_too_small(cutter, design), node)
        position += scheduled
        advance(scheduled)
    return [Segment.of(run) for run in cutter.runs()]


def fits_at_once(selection: Selection, design: RpauDesign) -> bool:
    """Whether a program, in its order of selection, is one segment."""
    return _cutter(selection, design).whole()


def _cutter(selection: Selection, design: RpauDesign) -> _scheduler.Cutter:
    return _scheduler.Cutter(
        machine(Timing.of(design, selection.log_degree), design),
        _rows([each.instruction for each in selection.instructions]),
        selection.masks,
        _masks(selection, selection.inputs),
        _masks(selection, selection.outputs),
    )


def _rows(instructions: list[Instruction]) -> NDArray[np.int32]:
    """Opcode, mask and operand values of each instruction."""
    zeros = (0,) * _VALUES
    rows = [
        (each.operation.opcode, each.mask, *each.values, *zeros[len(each.values) :])
        for each in instructions
    ]
    return np.array(rows, dtype=np.int32).reshape(len(rows), 2 + _VALUES)


def _masks(selection: Selection, locations: Mapping[str, Location]) -> list[int]:
    """For each virtual polynomial, with its sub-polynomials, the RPAUs where some locations are."""
    masks = [0] * len(selection.masks)
    for location in locations.values():
        for limb, first in location.items():
            for poly in range(first, first + selection.sub_polynomials):
                masks[poly] |= 1 << selection.order.rpau(limb)
    return masks


def _operation_of(virtual: VirtualInstruction) -> int | None:
    """Id of the HE operation that an instruction serves, where known."""
    _, _, identity = virtual.origin.partition(":")
    return int(identity) if identity else None


def _too_small(cutter: _scheduler.Cutter, design: RpauDesign) -> str:
    """Says what the shortest next segment lacks."""
    key_polys, seeds, work_polys = cutter.shortage()
    for what, needed, available in (
        ("polynomials of the key store", key_polys, design.key_polys),
        ("seeds", seeds, design.seeds),
    ):
        if needed > available:
            return (
                f"instructions that belong together need {needed} {what} at once and design "
                f"{design.name} has {available}: use a larger design"
            )
    if work_polys <= design.work_polys:
        return (
            f"instructions that belong together need {work_polys} work polynomials at once, and of "
            f"the {design.work_polys} of design {design.name} {design.work_uram_polys} share "
            "the ports of UltraRAM banks: use a design with more of them in block RAM"
        )
    return (
        f"instructions that belong together need {work_polys} work polynomials at once and design "
        f"{design.name} has {design.work_polys}: use a larger design"
    )
