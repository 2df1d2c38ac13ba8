"""How large a program's numbers are for sample inputs, in place of worst cases."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op, Slots
from ringsmith.program.nodes import Node

MARGIN = 2.0
"""By what factor other inputs may make larger numbers than the samples do."""


def magnitudes(
    nodes: Sequence[Node],
    filled: Mapping[str, NDArray[np.bool_]],
    samples: Mapping[str, ArrayLike],
) -> list[NDArray[np.float32]]:
    """Returns for each node, in each slot, the largest magnitude of samples, times ``MARGIN``.

    Args:
        nodes: The planned nodes.
        filled: The slots that hold numbers, by the input's name.
        samples: For each input a vector, or an array (samples, numbers); each as many samples.

    Raises:
        ProgramError: When samples are missing or no numbers, or too long.
    """
    if samples.keys() != filled.keys():
        raise ProgramError(
            f"the program takes the inputs {sorted(filled)} and samples were given for "
            f"{sorted(samples)}: give samples of each input"
        )
    slots = next(iter(filled.values())).size
    rows = {
        name: _rows(name, samples[name], int(where.nonzero()[0].max(initial=0)) + 1)
        for name, where in filled.items()
    }
    largest = [np.zeros(slots, np.float32) for _ in nodes]
    for drawn in zip_longest(*rows.values()):
        if any(row is None for row in drawn):
            counts = ", ".join(f"{len(row)} of {name!r}" for name, row in rows.items())
            raise ProgramError(f"samples differ in number: {counts}: give as many of each input")
        inputs = {
            name: np.concatenate([row, np.zeros(slots - row.size)])
            for name, row in zip(rows, drawn, strict=True)
        }
        for before, size in zip(largest, _sizes(nodes, slots, inputs), strict=True):
            np.maximum(before, np.float32(MARGIN) * size, out=before)
    return largest


def _rows(name: str, given: ArrayLike, length: int) -> NDArray[np.number]:
    array = np.atleast_2d(np.asarray(given))
    numeric = array.dtype.kind in "iufc" and bool(np.isfinite(array).all())
    if array.ndim != 2 or not numeric or not 0 < array.shape[1] <= length:
        raise ProgramError(
            f"samples of {name!r} have the shape {np.shape(given)}: give a vector of at most "
            f"{length} finite numbers, or an array of such rows"
        )
    return array


def _sizes(
    nodes: Sequence[Node], slots: int, inputs: Mapping[str, NDArray[np.number]]
) -> Iterator[NDArray[np.float32]]:
    """Runs nodes on clear inputs; yields the magnitudes of each."""
    uses = Counter(i for node in nodes for i in node.operands)
    values: dict[int, NDArray[np.number]] = {}
    for node in nodes:
        if node.stage:
            yield np.zeros(slots, np.float32)
            continue
        if node.op is Op.INPUT:
            value = inputs[node.name or ""]
        else:
            operands = [values[i] for i in node.operands if not nodes[i].stage]
            if node.plain is not None:
                operands.append(node.plain.vector(slots))
            rotated = Slots(slots, node.steps or 0)
            value = node.op.record.meaning(operands[0], operands[-1], rotated)
        for i in node.operands:
            uses[i] -= 1
            if not uses[i]:
                values.pop(i, None)
        values[node.id] = value
        yield np.abs(value).astype(np.float32)
