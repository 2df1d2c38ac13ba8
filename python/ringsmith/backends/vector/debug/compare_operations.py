"""RTL against interpreter and schedule, on HE operations with random residues: all equal."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from operator import add
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from ringsmith import progress
from ringsmith.backends.base import CompiledGraph, Device
from ringsmith.backends.inspector import WriteOperation
from ringsmith.backends.keys import core_key
from ringsmith.backends.random_operands import random_operands
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.debug.campaign import LENGTH
from ringsmith.backends.vector.debug.compare import compare
from ringsmith.backends.vector.debug.costs import OPERATIONS, filled_parameters
from ringsmith.backends.vector.debug.random_program import random_program
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.device.device import VectorDevice
from ringsmith.errors import DeviceError
from ringsmith.params.primes import MIN_DEGREE

_SEED = 7
_MOST_LIMBS = 7


@dataclass(frozen=True)
class ComparedOperations:
    """What was found equal.

    Attributes:
        operations: HE operations that ran.
        instructions: Of all lists, over all of them.
        cycles: Taken, over all of them.
        words: Compared, those of all results.
    """

    operations: int
    instructions: int
    cycles: int
    words: int

    def plus(self, other: "ComparedOperations") -> "ComparedOperations":
        """The sums with what was found equal in other operations."""
        return ComparedOperations(*map(add, astuple(self), astuple(other)))


def compare_operations(
    device: Device, design: VectorDesign, write: WriteOperation, count: int
) -> ComparedOperations:
    """Runs the main HE operations in turn, in the design's smallest ring, of random limbs and dnum.

    Args:
        device: The device to be compared.
        design: Its design.
        write: Writes the graphs of the operations.
        count: How many operations.

    Raises:
        DeviceError: At the first difference; names the operation and what differs.
    """
    random = np.random.default_rng(_SEED)
    total, names = ComparedOperations(0, 0, 0, 0), tuple(OPERATIONS.values())
    what = f"comparing the {device.name} of {design.name} with the interpreter"
    with progress.task(what, count, "operations") as task:
        for number in range(count):
            name = names[number % len(names)]
            total = total.plus(compare_operation(device, design, write, name, random))
            task.advance(1)
    return total


def compare_operation(
    device: Device, design: VectorDesign, write: WriteOperation, name: str, random: Generator
) -> ComparedOperations:
    """Runs an HE operation of random limbs and dnum, as ``compare_operations``.

    Args:
        device: The device to be compared.
        design: Its design.
        write: Writes the graphs of the operations.
        name: The operation.
        random: Draws sizes and residues.

    Raises:
        DeviceError: If a result or the cycles differ; names the operation.
    """
    n = max(1 << design.min_log_n, MIN_DEGREE)
    size = int(random.integers(1, 4))  # primes of a digit
    dnum = int(random.integers(1, _MOST_LIMBS // size + 1))
    limbs = max(2, int(random.integers(size * (dnum - 1) + 1, size * dnum + 1)))
    of = filled_parameters(design, n, limbs, size, -(-limbs // size))
    graph = write(name, of, of.limbs)
    where = f"{name} of {limbs} limbs, dnum = {of.dnum}, on {device.name} of {design.name}"
    executable = compile_graph(graph, design)
    inputs, keys = random_operands(graph, random)
    found = device.execute(CompiledGraph(graph, executable), inputs, keys)
    expected = graph.to_core().run(inputs, {name: core_key(key) for name, key in keys.items()})
    for result, limb_words in expected.items():
        if not np.array_equal(found.outputs[result], limb_words):
            raise DeviceError(f"{where}: result {result} differs from the interpreter's")
    if found.cycles != executable.cycles:
        raise DeviceError(
            f"{where}: {found.cycles} cycles, and the schedule has {executable.cycles}"
        )
    words = sum(limb_words.size for limb_words in expected.values())
    return ComparedOperations(1, executable.instructions, executable.cycles, words)


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
        device = VectorDevice(self.design, self.device)
        found = compare_operation(device, self.design, self.write, name, random)
        return {
            "instructions": found.instructions,
            "cycles": found.cycles,
            "words": found.words,
        }
