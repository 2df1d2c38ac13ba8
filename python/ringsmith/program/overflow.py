"""Whether values stay within what a scheme can hold, for all inputs in their ranges."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.program.nodes import Node
from ringsmith.program.spans import Span, of_input

DEFAULT_BOUND = 1.0
"""The magnitude of an input's numbers that planning assumes where no range is declared."""


class RangeError(ProgramError):
    """A value that may exceed what its ciphertext holds.

    Attributes:
        missing_bits: By how many bits.
    """

    def __init__(self, message: str, missing_bits: float = 0.0) -> None:
        super().__init__(message)
        self.missing_bits = missing_bits


class ConstantOutputError(ProgramError):
    """An output that is the same for all inputs, whatever the parameters."""


def input_spans(
    nodes: Sequence[Node],
    filled: Mapping[str, NDArray[np.bool_]],
    complex_inputs: Iterable[str],
    default: float,
) -> dict[str, Span]:
    """Returns the ranges of the inputs' slots, by name.

    Args:
        nodes: The program's nodes.
        filled: The slots that hold numbers, by the input's name.
        complex_inputs: Inputs whose numbers may be complex.
        default: The magnitude of inputs without a declared range.
    """
    found = {}
    for node in nodes:
        if node.op is Op.INPUT and node.name is not None:
            low, high = (
                (-default, default) if node.bound is None else (node.bound.low, node.bound.high)
            )
            found[node.name] = of_input(
                filled[node.name],
                low,
                high,
                complex_numbers=node.name in complex_inputs,
            )
    return found


def check_outputs(nodes: Sequence[Node], constant: Iterable[int]) -> None:
    """Refuses an output that is the same for all inputs.

    Raises:
        ConstantOutputError: Names the user's line.
    """
    fixed = set(constant)
    for node in nodes:
        if node.op is Op.OUTPUT and node.id in fixed:
            raise ConstantOutputError(
                f"{node.source}: output {node.name!r} is the same for all inputs: its operands are "
                "zero or cancel (in SEAL, a transparent ciphertext, which anybody can read), or "
                "rotations took its numbers elsewhere: leave it out"
            )


def largest_bound(fits: Callable[[float], bool], limit: float) -> float:
    """Returns about the largest magnitude of undeclared inputs that fits, within an eighth.

    Args:
        fits: Whether all values stay in range with inputs of a magnitude; of 1 they do.
        limit: What no input may exceed.
    """
    low, high = DEFAULT_BOUND, 2 * DEFAULT_BOUND
    while high <= limit and fits(high):
        low, high = high, high * high
    while high > 2 * low:
        middle = 2.0 ** round(math.log2(low * high) / 2)
        low, high = (middle, high) if middle <= limit and fits(middle) else (low, middle)
    for step in (low / 2, low / 4, low / 8):
        if low + step <= limit and fits(low + step):
            low += step
    return low


def without_computed(nodes: Sequence[Node]) -> list[Node]:
    """Returns the nodes without the ranges that were computed for the inputs' default ranges."""
    return [
        replace(node, bound=None) if node.bound is not None and node.bound.computed else node
        for node in nodes
    ]


def undeclared(nodes: Sequence[Node]) -> list[str]:
    """Returns the inputs without a declared range."""
    return [node.name or "" for node in nodes if node.op is Op.INPUT and node.bound is None]


def promised(nodes: Sequence[Node]) -> bool:
    """Whether the program promises ranges of values, which rest on those of the inputs."""
    return any(
        node.bound is not None and not node.bound.computed and node.op is not Op.INPUT
        for node in nodes
    )
