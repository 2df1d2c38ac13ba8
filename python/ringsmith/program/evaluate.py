"""A program run in the clear: the oracle that decrypted results are compared with."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ringsmith.errors import ProgramError
from ringsmith.program.nodes import Node, Op
from ringsmith.program.plain import PlainValues, numbers


def evaluate(
    nodes: Sequence[Node],
    slots: int,
    lengths: Mapping[str, int],
    inputs: Mapping[str, ArrayLike],
) -> dict[str, PlainValues]:
    """Runs planned nodes on floats; ``Program.evaluate`` describes arguments and result.

    Args:
        nodes: The program's nodes, operands before users.
        slots: Numbers that one ciphertext holds.
        lengths: Numbers that each input holds, by name.
        inputs: The vectors, by name.
    """
    if inputs.keys() != lengths.keys():
        raise ProgramError(
            f"the program takes the inputs {sorted(lengths)} and was given {sorted(inputs)}: "
            "give a vector for each input"
        )
    values: list[PlainValues] = []
    outputs = {}
    for node in nodes:
        if node.op is Op.INPUT and node.name is not None:
            values.append(_input(node, inputs[node.name], lengths[node.name], slots))
        else:
            values.append(_apply(node, [values[i] for i in node.operands], slots))
        if node.op is Op.OUTPUT and node.name is not None:
            outputs[node.name] = values[-1]
    return outputs


def _input(node: Node, value: ArrayLike, length: int, slots: int) -> PlainValues:
    array = np.atleast_1d(numbers(value, node.source))
    if array.size > length:
        raise ProgramError(
            f"input {node.name!r} holds {length} numbers and was given {array.size}: "
            "declare a greater length when tracing, or split the vector"
        )
    return np.concatenate([array, np.zeros(slots - array.size, array.dtype)])


def _apply(node: Node, operands: list[PlainValues], slots: int) -> PlainValues:
    """Returns what the operation means; relinearize, rescale and mod_switch mean nothing here."""
    if node.plain is not None:
        operands.append(node.plain.vector(slots))
    a, b = operands[0], operands[-1]
    match node.op:
        case Op.ADD | Op.ADD_PLAIN:
            return a + b
        case Op.SUB | Op.SUB_PLAIN:
            return a - b
        case Op.MULTIPLY | Op.MULTIPLY_PLAIN | Op.SQUARE:
            return a * b
        case Op.NEGATE:
            return -a
        case Op.CONJUGATE:
            return np.conjugate(a)
        case Op.ROTATE:
            return np.roll(a, -(node.steps or 0))
        case _:
            return a
