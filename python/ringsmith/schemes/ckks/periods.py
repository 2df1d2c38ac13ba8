"""Slots of one period that stand for all, where a program repeats: forecasts of them are faster.

An array's entries are repeated in the slots that it leaves free, and so are plain operands, ranges
and results. The noise of slots differs in the digits' means alone (``noise.key_switch_offset``), of
which the largest counts for all slots that one stands for. Rotations wrap around in a period: it is
so long that no two rotations of one value become one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ringsmith.graph.operations import Op
from ringsmith.program.nodes import Node
from ringsmith.program.plain import remembered
from ringsmith.program.recording import Recording
from ringsmith.program.spans import Span

_LEAST = 1 << 10
"""Slots of a period at least: fewer are not faster."""


def period(
    nodes: Sequence[Node], ranges: Iterable[Span], lengths: Mapping[str, int], slots: int
) -> int:
    """Returns after how many slots a program repeats, a power of two; all slots if it does not.

    Args:
        nodes: The planned nodes.
        ranges: Of the inputs.
        lengths: Numbers that each output holds, by name.
        slots: All slots.
    """
    if any(node.stage or node.approximated or node.op is Op.BOOTSTRAP for node in nodes):
        return slots
    if any(length < slots for length in lengths.values()):
        return slots
    found = max(_LEAST, 1 << _reach(nodes, slots).bit_length())
    ends = (end for span in ranges for end in (span.low, span.high))
    plain = (node.plain.values for node in nodes if node.plain is not None)
    for values in (*ends, *plain):
        if found < slots and values.ndim:
            found = max(found, remembered(values, _repeats_after))
    return min(found, slots)


def repetition(recording: Recording) -> int:
    """Returns after how many slots all values of a program repeat, a power of two.

    All slots where an input's zeros or numbers do not repeat, or a plain operand's. Rotations keep
    what repeats.

    Args:
        recording: What the function does.
    """
    slots = recording.trace.space.slots
    found = 1
    held: set[str] = set()
    for packing in recording.packed_inputs.values():
        held.update(packing.ports)
        for row in packing.table.reshape(-1, packing.slots):
            found = max(found, remembered(row, _repeats_after))
    if not held >= recording.inputs.keys():
        return slots
    for node in recording.trace.nodes:
        if node.values is not None and node.values.ndim and found < slots:
            whole = node.values.size == slots
            found = max(found, remembered(node.values, _repeats_after)) if whole else slots
    return found


def shortened(
    nodes: Sequence[Node], ranges: Mapping[str, Span], slots: int
) -> tuple[list[Node], dict[str, Span]]:
    """Returns nodes and ranges of the first slots."""
    plain = {
        node.id: replace(node.plain, values=node.plain.values[:slots].copy())
        for node in nodes
        if node.plain is not None and node.plain.values.ndim
    }
    return (
        [replace(node, plain=plain[node.id]) if node.id in plain else node for node in nodes],
        {
            name: Span(_first(span.low, slots), _first(span.high, slots), span.disc)
            for name, span in ranges.items()
        },
    )


def _first(values: NDArray[np.generic], slots: int) -> NDArray[np.generic]:
    return values[:slots] if values.ndim else values


def _repeats_after(values: NDArray[np.generic]) -> int:
    """After how many numbers an array repeats, a power of two."""
    size = values.size
    while size > 1 and np.array_equal(values[: size // 2], values[size // 2 : size]):
        size //= 2
    return size


def _reach(nodes: Sequence[Node], slots: int) -> int:
    """By how many slots the rotations of a value in a later one lie apart at most."""
    reach: dict[int, tuple[int, int]] = {}
    for node in nodes:
        before = [reach[i] for i in node.operands]
        low, high = min((a for a, _ in before), default=0), max((b for _, b in before), default=0)
        steps = (node.steps or 0) % slots
        steps -= slots if 2 * steps > slots else 0
        reach[node.id] = min(low + steps, 0), max(high + steps, 0)
    return max(high - low for low, high in reach.values())
