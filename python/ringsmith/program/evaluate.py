"""Simulates a program on clear data, slot by slot."""

from collections.abc import Mapping, Sequence

import numpy as np

from ringsmith.graph.operations import Op, Slots, Values
from ringsmith.program.arrays import centred, padded
from ringsmith.program.nodes import Node
from ringsmith.program.plain import Space

_LARGEST_PRODUCT_MODULUS = 1 << 31
"""Products modulo more overflow 64 bits, and Python's integers are used."""


def simulate(
    nodes: Sequence[Node],
    space: Space,
    inputs: Mapping[str, Values],
    modulus: int | None = None,
) -> dict[str, Values]:
    """Runs planned nodes, slot by slot; ``Program.simulate`` describes the result.

    Args:
        nodes: The program's nodes, operands before users.
        space: The slots of a ciphertext.
        inputs: The numbers of the inputs, by name; zeros follow.
        modulus: The modulus of every value; None: no reduction.
    """
    values: list[Values] = []
    outputs = {}
    for node in nodes:
        if node.stage:
            values.append(np.zeros(0))
            continue
        if node.op is Op.INPUT and node.name is not None:
            value = padded(inputs[node.name], space.slots)
        else:
            value = _apply(node, [values[i] for i in node.operands if not nodes[i].stage], space)
        if modulus is not None:
            kind = object if modulus > _LARGEST_PRODUCT_MODULUS else np.int64
            value = centred(value.astype(kind), modulus)
        if node.bound is not None and not node.bound.computed and node.op is not Op.INPUT:
            node.bound.checked(value)
        values.append(value)
        if node.op is Op.OUTPUT and node.name is not None:
            outputs[node.name] = value
    return outputs


def _apply(node: Node, operands: list[Values], space: Space) -> Values:
    """Returns the operation's result; relinearize, rescale and mod_switch change nothing here."""
    if node.plain is not None:
        operands.append(node.plain.vector(space.slots))
    slots = Slots(space.row, node.steps or 0)
    return node.op.record.meaning(operands[0], operands[-1], slots)
