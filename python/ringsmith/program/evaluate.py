"""Runs a program on clear data: the reference for decrypted results."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op, Slots, Values
from ringsmith.program.nodes import Bound, Node
from ringsmith.program.plain import Space

_LARGEST_PRODUCT_MODULUS = 1 << 31
"""Products modulo more overflow 64 bits, and Python's integers are used."""


_BOUND_SLACK = 1e-9
"""Distance outside of a range, relative to it, at which a number is refused."""


def evaluate(
    nodes: Sequence[Node],
    space: Space,
    lengths: Mapping[str, int],
    inputs: Mapping[str, ArrayLike],
    modulus: int | None = None,
) -> dict[str, Values]:
    """Runs planned nodes; the scheme's ``Program.evaluate`` describes arguments and result.

    Args:
        nodes: The program's nodes, operands before users.
        space: The slots of a ciphertext.
        lengths: Numbers that each input holds, by name.
        inputs: The vectors, by name.
        modulus: The modulus of every value; None: no reduction.
    """
    if inputs.keys() != lengths.keys():
        raise ProgramError(
            f"the program takes the inputs {sorted(lengths)} and was given {sorted(inputs)}: "
            "give a vector for each input"
        )
    values: list[Values] = []
    outputs = {}
    for node in nodes:
        if node.op is Op.INPUT and node.name is not None:
            value = _input(node, inputs[node.name], lengths[node.name], space)
        else:
            value = _apply(node, [values[i] for i in node.operands], space)
        if node.bound is not None:
            _check_bound(node, node.bound, value)
        if modulus is not None:
            kind = object if modulus > _LARGEST_PRODUCT_MODULUS else np.int64
            value = value.astype(kind) % modulus
        values.append(value)
        if node.op is Op.OUTPUT and node.name is not None:
            outputs[node.name] = value
    return outputs


def _check_bound(node: Node, bound: Bound, value: Values) -> None:
    """Refuses numbers outside the range that the program promises."""
    slack = _BOUND_SLACK * max(bound.magnitude, 1.0)
    outside = np.abs(value) > bound.magnitude + slack
    if -bound.low != bound.high:
        outside |= (value.real < bound.low - slack) | (value.real > bound.high + slack)
        outside |= np.abs(value.imag) > slack
    if outside.any():
        slot = int(np.argmax(outside))
        raise ProgramError(
            f"{bound.source}: slot {slot} holds {value[slot]:.6g} (of %{node.id}, {node.op}, "
            f"{node.source}), and the range [{bound.low:g}, {bound.high:g}] was promised of every "
            "slot: widen the range, or keep the inputs within it (slots after an input's numbers "
            "hold 0)"
        )


def _input(node: Node, value: ArrayLike, length: int, space: Space) -> Values:
    array = np.atleast_1d(space.numbers(value, node.source, f"input {node.name!r}"))
    if array.size > length:
        raise ProgramError(
            f"input {node.name!r} holds {length} numbers and was given {array.size}: "
            "declare a greater length when tracing, or split the vector"
        )
    return np.concatenate([array, np.zeros(space.slots - array.size, array.dtype)])


def _apply(node: Node, operands: list[Values], space: Space) -> Values:
    """Returns the operation's result; relinearize, rescale and mod_switch change nothing here."""
    if node.plain is not None:
        operands.append(node.plain.vector(space.slots))
    slots = Slots(space.row, node.steps or 0)
    return node.op.record.meaning(operands[0], operands[-1], slots)
