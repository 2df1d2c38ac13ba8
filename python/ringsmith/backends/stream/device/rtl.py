"""The stream core's RTL under Verilator, as a device."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringsmith import progress
from ringsmith.backends.stream.design import package, rtl
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.design.generator import Schedule
from ringsmith.backends.stream.device.interface import (
    ResidueProduct,
    StreamReport,
    checked_descriptors,
)
from ringsmith.backends.stream.isa.descriptor import Descriptor
from ringsmith.backends.stream.model import flow
from ringsmith.backends.stream.model.batch import batch_schedule
from ringsmith.errors import DeviceError
from ringsmith.hdl.block import Block
from ringsmith.hdl.sources import rtl_sources
from ringsmith.hdl.verilate import build_block
from ringsmith.objects import Residues

_ROWS = ("a_i", "b_i", "powers_i")
_STROBES = ("first_i", "descriptor_valid_i")
_WORDS = ("q_i", "unit_i", "scale_i")


@dataclass(frozen=True)
class Frame:
    """What enters the core for a product: its descriptor and operands, in natural order."""

    descriptor: Descriptor
    a: Residues
    b: Residues


def core_block(design: StreamDesign, *, assertions: bool = False) -> Block:
    """The core's RTL, built or found in the cache, out of reset.

    Args:
        design: The design point.
        assertions: Checks the RTL's assertions in every cycle, and starts from random contents.

    Raises:
        ToolError: If Verilator or a C++ compiler is missing or fails.
    """
    library = build_block(
        rtl.CORE,
        rtl_sources(*rtl.FOLDERS),
        rtl.parameters(design),
        assertions=assertions,
        flags=rtl.SIMULATION,
        title=design.name,
    )
    block = Block(library)
    block.step(package.RESET_CYCLES)
    block.poke("rst_ni", 1)
    return block


def stimulus(
    design: StreamDesign, frames: Sequence[Frame], schedule: Schedule
) -> dict[str, Residues]:
    """What to drive in each cycle so that frames flow as the schedule says, and one cycle more.

    In that last one, nothing is offered and nothing begins: it can be held.
    """
    total = schedule.started[-1] + design.period + 1
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(_ROWS, (total, design.lanes))
    shapes |= dict.fromkeys((*_WORDS, *_STROBES), (total,))
    inputs = {name: np.zeros(shape, dtype=np.uint64) for name, shape in shapes.items()}
    for frame, started, accepted in zip(frames, schedule.started, schedule.accepted, strict=True):
        inputs["a_i"][started : started + design.period] = flow.to_frame(design, frame.a)
        inputs["b_i"][started : started + design.period] = flow.to_frame(design, frame.b)
        inputs["first_i"][started] = 1
        inputs["descriptor_valid_i"][accepted] = 1
        words = frame.descriptor
        for name, value in zip(_WORDS, (words.q, words.unit, words.scale), strict=True):
            inputs[name][accepted] = value
        inputs["powers_i"][accepted] = words.powers
    return inputs


class StreamRtl:
    """The core's RTL, simulated cycle by cycle.

    Descriptors and frames are offered in the cycles that the model says; that the core takes each
    of them there, and gives each product as long after it as the model says, is checked.

    Args:
        design: The design point; its simulation is built first, or found in the cache.

    Raises:
        ToolError: If Verilator or a C++ compiler is missing or fails.
    """

    name = "rtl"

    def __init__(self, design: StreamDesign) -> None:
        self.design = design
        self.block = core_block(design)

    def multiply(self, batch: Sequence[ResidueProduct]) -> StreamReport:
        """Makes products; see ``interface.StreamCoprocessor``.

        Raises:
            DeviceError: If an operand is of another length or not below its prime, the design does
                not take a prime, or the RTL is not ready, or gives no product, in the model's
                cycle.
        """
        descriptors = checked_descriptors(batch, self.design)
        if not batch:
            return StreamReport([], [], 0)
        frames = [Frame(d, p.a, p.b) for d, p in zip(descriptors, batch, strict=True)]
        schedule = batch_schedule(self.design, len(batch))
        delay = package.core_cycles(self.design.cfg)
        total = schedule.started[-1] + delay + self.design.period
        names = ("descriptor_ready_o", "ready_o", "first_o", "y_o")
        inputs = stimulus(self.design, frames, schedule)
        with progress.task(
            f"running the simulation of {self.design.name}", total, "cycles"
        ) as task:
            out = self.block.run(inputs, names, total, task)
        self._check_taken("descriptor", out["descriptor_ready_o"], schedule.accepted)
        self._check_taken("frame", out["ready_o"], schedule.started)
        starts = [int(cycle) for cycle in np.flatnonzero(out["first_o"])]
        wanted = [started + delay for started in schedule.started]
        if starts != wanted:
            late = next((n for n, cycle in enumerate(wanted) if cycle not in starts), len(wanted))
            raise DeviceError(
                f"rtl of design {self.design.name}: {len(starts)} products began, and {late} of "
                f"{len(wanted)} in their cycles: it stalled, or it is no RTL of this design; open "
                "the device anew"
            )
        products = [
            flow.from_frame(out["y_o"][start : start + self.design.period]) for start in starts
        ]
        return StreamReport(products, starts, starts[-1] + self.design.period)

    def _check_taken(self, what: str, ready: Residues, cycles: Sequence[int]) -> None:
        refused = np.flatnonzero(ready[list(cycles)] == 0)
        if refused.size:
            number = int(refused[0])
            raise DeviceError(
                f"rtl of design {self.design.name} stalled: it was not ready for {what} {number} "
                f"of {len(cycles)} in cycle {cycles[number]}, where the model takes it: open the "
                "device anew"
            )
