"""A planned program on Microsoft SEAL, node by node: the same operations in the same order."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from ringsmith.apps.seal_baseline import SealBaseline, SealContext, median_seconds, seal_version
from ringsmith.graph.operations import Key, Op
from ringsmith.program import CkksProgram, Node, Program

if TYPE_CHECKING:
    import seal

PROGRAM_REPEATS = 5
"""Runs of a whole program; the median counts."""
LARGEST_ERROR = 1e-4
"""A result of SEAL's that errs by more is not the program's."""


def rotation_steps(program: Program) -> list[int]:
    """Returns the rotations of a program, each once, ascending: SEAL makes Galois keys for them.

    Conjugation, and BFV's swap of the rows, is step 0, as SEAL has it.
    """
    steps = {node.steps or 0 for node in program.nodes if node.element is not None}
    return sorted(steps)


class SealProgram:
    """A program made ready for SEAL: its plain operands are encoded once, here.

    Args:
        baseline: SEAL with the program's parameters and with keys for its ``rotation_steps``.
        program: The planned program.
        encode: Makes the plaintext of a node's plain operand over the limbs of the node's
            encrypted operand; by default SEAL's own encoder.
    """

    def __init__(
        self,
        baseline: SealContext,
        program: Program,
        encode: "Callable[[Node], seal.Plaintext] | None" = None,
    ) -> None:
        self._baseline = baseline
        self._program = program
        encode = encode or self._encode
        self._plains = {node.id: encode(node) for node in program.nodes if node.plain is not None}

    def run(self, inputs: "Mapping[str, seal.Ciphertext]") -> "dict[str, seal.Ciphertext]":
        """Returns the outputs by name for encrypted inputs by name."""
        values: list[seal.Ciphertext] = []
        for node in self._program.nodes:
            if node.op is Op.INPUT:
                value = inputs[node.name or ""]
            else:
                value = self._apply(node, [values[operand] for operand in node.operands])
                value.scale(node.scale)  # the plan's; SEAL's may differ in the last bit
            values.append(value)
        return {name: values[node.id] for name, node in self._program.outputs.items()}

    def _encode(self, node: Node) -> "seal.Plaintext":
        assert node.plain is not None
        return self._baseline.encode_operand(node.plain, node.limbs)

    def _apply(self, node: Node, operands: "list[seal.Ciphertext]") -> "seal.Ciphertext":
        evaluator, a, record = self._baseline.evaluator, operands[0], node.op.record
        if record.port:
            return a
        if record.key is Key.RELINEARIZATION:
            a = evaluator.relinearize(a, self._baseline.relin_keys)
        match node.op:
            case Op.RELINEARIZE:
                return a
            case Op.RESCALE | Op.RELINEARIZE_RESCALE:
                return evaluator.rescale_to_next(a)
            case Op.MOD_SWITCH:
                for _ in range(self._program.nodes[node.operands[0]].limbs - node.limbs):
                    a = evaluator.mod_switch_to_next(a)
                return a
            case Op.ROTATE:
                return self._baseline.rotate(a, node.steps or 0)
            case Op.CONJUGATE | Op.SWAP_COLUMNS:
                return self._baseline.mirror(a)
        plain = [self._plains[node.id]] if record.plain else []
        return getattr(evaluator, node.op)(*operands, *plain)  # SEAL calls the others as we do


def seal_is_there(console: Console) -> bool:
    """Returns whether ``seal-python`` is installed; prints a line that says so if it is not."""
    if seal_version() is not None:
        return True
    console.print(
        "[yellow]–[/yellow] seal-python is not installed: Microsoft SEAL is not timed "
        r"(pip install 'ringsmith\[seal]')"
    )
    return False


def on_seal(
    program: CkksProgram, inputs: Mapping[str, NDArray[np.float64]]
) -> tuple[SealBaseline, float]:
    """Returns SEAL with the keys of a program, and its ``program_seconds`` for it."""
    baseline = SealBaseline(program.parameters, rotation_steps(program))
    return baseline, program_seconds(baseline, program, inputs)


def program_seconds(
    baseline: SealBaseline, program: CkksProgram, inputs: Mapping[str, NDArray[np.float64]]
) -> float:
    """Returns SEAL's median CPU seconds for a program, whose results are checked."""
    slots = program.slots(inputs)
    encrypted = {
        name: baseline.encrypt(slots[name], node.scale, node.limbs)
        for name, node in program.inputs.items()
    }
    on_seal = SealProgram(baseline, program)
    clear = program.simulate(inputs)
    for name, found in on_seal.run(encrypted).items():
        error = float(np.abs(baseline.decrypt(found) - clear[name]).max())
        assert error < LARGEST_ERROR, f"SEAL's {name} is off by {error}: mistranslated"
    return median_seconds(lambda: on_seal.run(encrypted), PROGRAM_REPEATS)
