"""What a program means in NumPy: arrays and their operations, without slots.

Every value that a user sees is recorded twice: as an operation on all slots of a ciphertext
(``ringsmith.program.recorder``), which is what runs, and as an array operation. The second one
knows nothing of how numbers lie in slots, so that it can contradict the first.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""The numbers of a value: of a vector one dimension, of an array its shape."""


@dataclass(frozen=True, eq=False)
class ArrayNode:
    """A value as an array.

    Attributes:
        numbers: How many numbers it holds; of all slots, how many of them are shown.
        compute: Computes it from the operands' arrays.
        operands: The operands.
        name: Of an input: its name.
        all_slots: Whether the value is all slots of a ciphertext: an input without a length, or
            what was rotated. Its array has as many numbers as there are slots.
        filled: Slots, from the first, in which the numbers repeat; at least ``numbers``.
        period: Slots from one repetition to the next; zeros follow the numbers in it.
        shape: Of an ``EncryptedArray``: its shape.
    """

    numbers: int
    compute: Callable[..., Array] = field(repr=False)
    operands: tuple["ArrayNode", ...] = field(default=(), repr=False)
    name: str | None = None
    all_slots: bool = False
    filled: int = 0
    period: int = 0
    shape: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "filled", max(self.filled, self.numbers))
        object.__setattr__(self, "period", max(self.period, self.numbers))

    def repeats(self, numbers: int, slots: int) -> bool:
        """Whether this many numbers repeat, without gaps, in at least ``slots`` slots."""
        return self.filled >= slots and self.numbers == self.period == numbers


def evaluate_arrays(
    outputs: Mapping[str, ArrayNode],
    inputs: Mapping[str, Array],
    modulus: int | None,
) -> dict[str, Array]:
    """Computes arrays.

    Args:
        outputs: What to compute, by name.
        inputs: The inputs' numbers, as many as their nodes have, by name.
        modulus: The modulus of every number; None: no reduction.
    """
    order = ordered(outputs.values())
    uses = Counter(id(each) for node in order for each in node.operands)
    uses.update(id(node) for node in outputs.values())
    found: dict[int, Array] = {}
    for node in order:
        if node.name is not None:
            array = inputs[node.name]
        else:
            array = np.asarray(node.compute(*(found[id(each)] for each in node.operands)))
            if node.shape is None:
                array = np.atleast_1d(array)
        found[id(node)] = array if modulus is None else centred(array, modulus)
        for each in node.operands:
            uses[id(each)] -= 1
            if not uses[id(each)]:
                found.pop(id(each), None)
    return {
        name: found[id(node)][: node.numbers] if node.shape is None else found[id(node)]
        for name, node in outputs.items()
    }


def ordered(outputs: Iterable[ArrayNode]) -> list[ArrayNode]:
    """Returns the nodes that outputs depend on, operands before users."""
    order: list[ArrayNode] = []
    done: set[int] = set()
    for output in outputs:
        waiting = [output]
        while waiting:
            node = waiting[-1]
            missing = [each for each in node.operands if id(each) not in done]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if id(node) not in done:
                done.add(id(node))
                order.append(node)
    return order


def centred(array: Array, modulus: int) -> Array:
    """Returns numbers modulo an odd modulus, in -(modulus - 1)/2 … (modulus - 1)/2."""
    half = modulus // 2
    return np.asarray((array + half) % modulus - half)


def padded(array: Array, size: int) -> Array:
    """Returns the array with zeros up to ``size`` numbers; an object array stays one."""
    if array.size >= size:
        return array
    return np.concatenate([array, np.zeros(size - array.size, array.dtype)])
