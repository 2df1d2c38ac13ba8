"""Random lists of instructions and HE operations, each on a new device."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ringsmith.backends.inspector import WriteOperation
from ringsmith.backends.vector.debug.campaign import LENGTH
from ringsmith.backends.vector.debug.compare import compare
from ringsmith.backends.vector.debug.compare_operations import compare_operation
from ringsmith.backends.vector.debug.costs import OPERATIONS
from ringsmith.backends.vector.debug.random_program import random_program
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.device.machine import VectorMachine

RTL = "rtl"
DEVICES = (RTL, "model")


@dataclass(frozen=True)
class RandomPrograms:
    """On the RTL of one cluster, lists of instructions in half of the cases; else HE operations.

    Lists run on RTL and model. The results of HE operations are the interpreter's, and their cycles
    the schedule's.

    Attributes:
        design: The design.
        device: One of ``DEVICES``.
        write: Writes the graphs of operations.
    """

    design: VectorDesign
    device: str
    write: WriteOperation
    programs: ClassVar[str] = "random programs"

    def run(self, seed: int) -> Mapping[str, int]:
        """See ``Verification.run``."""
        random = np.random.default_rng(seed)
        if random.integers(2) and self.device == RTL and self.design.clusters == 1:
            program = random_program(self.design, seed, LENGTH)
            same = compare(program.executable, program.fetch)
            words = same.limbs * program.executable.graph.n
            return {"instructions": same.instructions, "cycles": same.cycles, "words": words}
        name = str(random.choice([*OPERATIONS.values()]))
        machine = VectorMachine(self.design, self.device)
        found = compare_operation(machine, self.design, self.write, name, random)
        return {
            "instructions": found.instructions,
            "cycles": found.cycles,
            "words": found.words,
        }
