"""RTL against interpreter and schedule, on HE operations with random residues: all equal."""

from dataclasses import dataclass

import numpy as np

from ringsmith import progress
from ringsmith.backends.base import CompiledGraph, Machine
from ringsmith.backends.inspector import WriteOperation
from ringsmith.backends.random_operands import random_operands
from ringsmith.backends.vector.compile import compile_graph
from ringsmith.backends.vector.debug.costs import OPERATIONS, filled_parameters
from ringsmith.backends.vector.design import VectorDesign
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


def compare_operations(
    device: Machine, design: VectorDesign, write: WriteOperation, count: int
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
    instructions = cycles = words = 0
    names, n = tuple(OPERATIONS.values()), max(1 << design.min_log_n, MIN_DEGREE)
    what = f"comparing the {device.name} of {design.name} with the interpreter"
    with progress.task(what, count, "operations") as task:
        for number in range(count):
            size = int(random.integers(1, 4))  # primes of a digit
            dnum = int(random.integers(1, _MOST_LIMBS // size + 1))
            limbs = max(2, int(random.integers(size * (dnum - 1) + 1, size * dnum + 1)))
            of = filled_parameters(design, n, limbs, size, -(-limbs // size))
            graph = write(names[number % len(names)], of, of.limbs)
            told = f"{names[number % len(names)]} of {limbs} limbs, dnum = {of.dnum}"
            executable = compile_graph(graph, design)
            inputs, keys = random_operands(graph, random)
            found = device.execute(CompiledGraph(graph, executable), inputs, keys)
            expected = graph.to_core().run(inputs, {name: key.data for name, key in keys.items()})
            for name, limb_words in expected.items():
                if not np.array_equal(found.outputs[name], limb_words):
                    raise DeviceError(
                        f"{told} on {device.name} of {design.name}: result {name} differs from "
                        "the interpreter's"
                    )
                words += limb_words.size
            if found.cycles != executable.cycles:
                raise DeviceError(
                    f"{told} on {device.name} of {design.name}: {found.cycles} cycles, and the "
                    f"schedule has {executable.cycles}"
                )
            instructions += executable.instructions
            cycles += executable.cycles
            task.advance(1)
    return ComparedOperations(count, instructions, cycles, words)
