"""Building blocks that users call on encrypted vectors: sums and inner products."""

from dataclasses import dataclass

import numpy as np

from ringsmith.caching import cached
from ringsmith.program.lengths import holds
from ringsmith.program.plain import PlainValues, Space, checked_power_of_two, whole_number
from ringsmith.program.source import caller
from ringsmith.program.vector import EncryptedVector


def inner_product(
    x: EncryptedVector,
    weights: object,
    length: int,
    *,
    stride: int = 1,
    everywhere: bool = False,
) -> EncryptedVector:
    """Returns sums of ``length`` products: one multiplication and log2(length) rotations.

    Slot i of the result is the sum over j = 0 … length - 1 of x[i + j*stride] *
    weights[i + j*stride], slots counted modulo N/2, as rotations count them: all slots of CKKS are
    one such row, and BFV's two rows are summed side by side. Two layouts use it:

    - Consecutive vectors (``stride=1``): vector v lies in slots v*length … v*length + length - 1,
      and its sum arrives in its first slot. The other slots mix two vectors, unless
      ``everywhere`` is set, which costs one more level and log2(length) more rotations.
    - Interleaved vectors (``stride = slots / length``): entry j of vector v lies in slot
      j*stride + v, and every slot that is v modulo stride holds the sum of vector v.

    Args:
        x: The encrypted vectors.
        weights: An encrypted vector; or at most ``length`` numbers, which stand at every vector
            and are followed by zeros; or more numbers, one a slot.
        length: Entries of each vector, a power of two.
        stride: Distance in slots of the entries of one vector, a power of two.
        everywhere: Whether all length*stride slots of each block hold the sums that otherwise
            only its first ``stride`` slots hold. Free where length*stride is the number of slots.

    Raises:
        ProgramError: When length or stride is illegal, or the weights are.
    """
    space, source = x.trace.space, caller()
    length = checked_power_of_two("length", length, space.row, source)
    stride = checked_power_of_two("stride", stride, space.row // length, source)
    if not isinstance(weights, EncryptedVector):

        def lay_out(entries: PlainValues) -> PlainValues:
            return _in_every_block(entries, length, stride, space)

        weights = space.vector(weights, source, lay_out)
    return _summed(x * weights, length, stride, everywhere)


def sum_slots(
    x: EncryptedVector,
    length: int | None = None,
    *,
    stride: int = 1,
    everywhere: bool = False,
) -> EncryptedVector:
    """Returns sums of ``length`` entries: log2(length) rotations and no multiplication.

    Slot i of the result is the sum over j = 0 … length - 1 of x[i + j*stride], slots counted modulo
    N/2; so without ``length`` every slot holds the sum of all, or of its row in BFV. Layouts and
    ``everywhere`` are those of ``inner_product``.

    Args:
        x: The encrypted vectors.
        length: Entries of each vector, a power of two; None: N/2 / stride.
        stride: Distance in slots of the entries of one vector, a power of two.
        everywhere: Whether all length*stride slots of each block hold the sums.

    Raises:
        ProgramError: When length or stride is illegal.
    """
    slots, source = x.trace.space.row, caller()
    if length is None:
        length = slots // checked_power_of_two("stride", stride, slots, source)
    length = checked_power_of_two("length", length, slots, source)
    stride = checked_power_of_two("stride", stride, slots // length, source)
    return _summed(x, length, stride, everywhere)


def sum_rotations(x: EncryptedVector, count: int, step: int = 1) -> EncryptedVector:
    """Returns x + x.rotate(step) + … + x.rotate((count - 1)*step): ``count`` terms, any number.

    Slot i of the result is the sum over j = 0 … count - 1 of x[i + j*step], slots counted modulo
    N/2. Sums of a half or a third of the terms are put side by side by one or two rotations, or a
    term is put beside all others: log2(count) rotations for a power of two, and the fewest that
    this way allows for other counts, such as 5 for 18. ``sum_slots`` has the layouts.

    Args:
        x: The encrypted vector.
        count: Terms, 1 … N/2.
        step: Slots that a term is rotated further to the left than the one before it; negative:
            to the right; in magnitude such that all rotations are below N/2.

    Raises:
        ProgramError: When the count or the step is illegal.
    """
    source, row = caller(), x.trace.space.row
    terms, distance = whole_number(count), whole_number(step)
    if terms is None or not 1 <= terms <= row:
        raise source.error(f"count = {count!r:.60} is not a whole number in 1 … {row}")
    if distance is None or abs(distance) * (terms - 1) >= row:
        largest = (row - 1) // max(terms - 1, 1)
        raise source.error(
            f"step = {step!r:.60} is not a whole number in {-largest} … {largest}, and so the last "
            f"of {terms} terms not rotated by less than the {row} slots of a row"
        )
    return _side_by_side(x, terms, distance)


@dataclass(frozen=True, order=True)
class _Way:
    """How terms are added: fewer rotations come first, then fewer after one another.

    Attributes:
        rotations: Rotations altogether.
        depth: The most of them in a row.
        parts: 2 or 3: equal parts are added; 1: one term is added to the others.
    """

    rotations: int
    depth: int
    parts: int


@cached
def _way(count: int) -> _Way:
    """The best way to add ``count`` rotated terms, from 1."""
    if count == 1:
        return _Way(0, 0, 1)
    ways = [(_way(count - 1), 1)] if count % 2 else []
    ways += [(_way(count // parts), parts) for parts in (2, 3) if count % parts == 0]
    return min(_Way(w.rotations + max(parts - 1, 1), w.depth + 1, parts) for w, parts in ways)


def _side_by_side(x: EncryptedVector, count: int, step: int) -> EncryptedVector:
    if count == 1:
        return x
    parts = _way(count).parts
    if parts == 1:
        return x + _side_by_side(x, count - 1, step).rotate(step)
    length = count // parts
    part = total = _side_by_side(x, length, step)
    for index in range(1, parts):
        total = total + part.rotate(index * length * step)
    return total


def _summed(x: EncryptedVector, length: int, stride: int, everywhere: bool) -> EncryptedVector:
    """Rotates and adds; ``sum_slots`` describes the arguments, which were checked."""
    space = x.trace.space
    total = _side_by_side(x, length, stride)
    block = length * stride
    if everywhere and block < space.row:
        total = total * np.tile((np.arange(block) < stride).astype(int), space.slots // block)
        total = _side_by_side(total, length, -stride)
        return holds(total, x, lambda numbers: max(numbers, block))
    return holds(total, x, lambda numbers: stride if numbers <= block else numbers)


def _in_every_block(entries: PlainValues, length: int, stride: int, space: Space) -> PlainValues:
    """Lays at most ``length`` weights out for every block; leaves longer vectors as they are."""
    if entries.size > length:
        return entries
    padded = np.concatenate([entries, np.zeros(length - entries.size, entries.dtype)])
    return np.tile(np.repeat(padded, stride), space.slots // (length * stride))
