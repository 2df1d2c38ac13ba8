"""Building blocks that users call on encrypted vectors: sums and inner products."""

from dataclasses import dataclass

import numpy as np

from ringsmith.caching import cached
from ringsmith.program import clearing
from ringsmith.program.arrays import Array, ArrayNode, padded
from ringsmith.program.plain import PlainValues, checked_power_of_two, whole_number
from ringsmith.program.recorded import (
    RecordedVector,
    Vector,
    check_encrypted,
    check_row,
    shape_error,
)
from ringsmith.program.source import SourceLine, caller


def inner_product(
    x: Vector,
    weights: object,
    length: int,
    *,
    stride: int = 1,
    everywhere: bool = False,
) -> Vector:
    """Returns sums of ``length`` products: one multiplication and log2(length) rotations.

    Of at most ``length`` numbers the result is one number, their inner product with as many
    weights. Of more numbers, number i of the result is the sum over j = 0 … length - 1 of
    x[i + j*stride] * weights[i + j*stride]. Two layouts use that:

    - Consecutive vectors (``stride=1``): vector v lies in slots v*length … v*length + length - 1,
      and its sum arrives in its first slot. The other slots mix two vectors, unless
      ``everywhere`` is set, which costs one more level and log2(length) more rotations.
    - Interleaved vectors: entry j of vector v lies in slot j*stride + v, and the sum of vector v
      arrives in slot v. Of at most length*stride numbers the result is ``stride`` numbers.

    Slots are counted modulo N/2, as rotations count them: all slots of CKKS are one such row, and
    BFV's two rows are summed separately.

    Args:
        x: The encrypted vectors.
        weights: As many encrypted or plain numbers as x has. Or as many plain numbers as each
            vector has, at most ``length``: they stand at every vector and are followed by zeros.
        length: Entries of each vector, a power of two; vectors of fewer numbers end in zeros.
        stride: Distance in slots of the entries of one vector, a power of two.
        everywhere: Whether all length*stride slots of each block hold the sums that otherwise
            only its first ``stride`` slots hold. Free where length*stride is the number of slots.

    Raises:
        ProgramError: When length or stride is illegal, or the weights are.
    """
    check_encrypted(x, "inner_product(x, weights, length)", caller(), "x @ weights")
    space, source = x.trace.space, caller()
    length = checked_power_of_two("length", length, space.row, source)
    stride = checked_power_of_two("stride", stride, space.row // length, source)
    if not isinstance(weights, RecordedVector):
        given = space.numbers(weights, source)
        if given.ndim:
            weights = _laid_out(x, given, length, stride, source)
    return _summed(x * weights, length, stride, everywhere, source)


def sum_slots(
    x: Vector,
    length: int | None = None,
    *,
    stride: int = 1,
    everywhere: bool = False,
) -> Vector:
    """Returns sums: log2(length) rotations and no multiplication.

    Without ``length``, the sum of all numbers, as one number. It stands in every slot, unless slots
    after the numbers depend on the inputs. With a length, sums of ``length`` entries: of at most
    ``length`` numbers one number, their sum; of more numbers, number i is the sum over j = 0 …
    length - 1 of x[i + j*stride]. Layouts and
    ``everywhere`` are those of ``inner_product``.

    Args:
        x: The encrypted vectors.
        length: Entries of each vector, a power of two; vectors of fewer numbers end in zeros. None:
            N/2 / stride.
        stride: Distance in slots of the entries of one vector, a power of two.
        everywhere: Whether all length*stride slots of each block hold the sums.

    Raises:
        ProgramError: When length or stride is illegal.
    """
    check_encrypted(x, "sum_slots(x)", caller(), "x.sum(axis)")
    slots, source = x.trace.space.row, caller()
    if length is None and stride == 1:
        return _total(x, source)
    if length is None:
        length = slots // checked_power_of_two("stride", stride, slots, source)
    length = checked_power_of_two("length", length, slots, source)
    stride = checked_power_of_two("stride", stride, slots // length, source)
    return _summed(x, length, stride, everywhere, source)


def sum_rotations(x: Vector, count: int, step: int = 1) -> Vector:
    """Returns x + x.rotate(step) + … + x.rotate((count - 1)*step): ``count`` terms, any number.

    Slot i of the result is the sum over j = 0 … count - 1 of x[i + j*step], slots counted modulo
    N/2; the result is all slots. Sums of a half or a third of the terms are added by one
    or two rotations, or one term is added to all others: log2(count) rotations for a power of two,
    and the fewest that this way allows for other counts, such as 5 for 18. ``sum_slots`` has the
    layouts.

    Args:
        x: The encrypted vector.
        count: Terms, 1 … N/2.
        step: Slots that a term is rotated further to the left than the one before it; negative:
            to the right; in magnitude such that all rotations are below N/2.

    Raises:
        ProgramError: When the count or the step is illegal.
    """
    check_encrypted(x, "sum_rotations(x, count)", caller())
    source, space = caller(), x.trace.space
    row = space.row
    terms, distance = whole_number(count), whole_number(step)
    if terms is None or not 1 <= terms <= row:
        raise source.error(f"count = {count!r:.60} is not a whole number in 1 … {row}")
    if distance is None or abs(distance) * (terms - 1) >= row:
        largest = (row - 1) // max(terms - 1, 1)
        raise source.error(
            f"step = {step!r:.60} is not a whole number in {-largest} … {largest}, and so the last "
            f"of {terms} terms not rotated by less than the {row} slots of a row"
        )
    if terms == 1:
        return x
    check_row(x, (terms - 1) * distance, source)
    whole = x.all_slots(source)
    total = sum_terms(whole.slots_of(), terms, distance)
    numbers = min(x.array.numbers + (terms - 1) * max(0, -distance), space.slots)
    node = ArrayNode(
        numbers, lambda a: _windows(a, terms, distance, row), (whole.array,), all_slots=True
    )
    return x.made(total.index, node)


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


def sum_terms(x: Vector, count: int, step: int) -> Vector:
    """Returns ``sum_rotations`` of slots, without its checks."""
    if count == 1:
        return x
    parts = _way(count).parts
    if parts == 1:
        return x + sum_terms(x, count - 1, step).rotate(step)
    length = count // parts
    part = total = sum_terms(x, length, step)
    for index in range(1, parts):
        total = total + part.rotate(index * length * step)
    return total


def _total(x: Vector, source: SourceLine) -> Vector:
    """The sum of all numbers, in every slot."""
    space, trace = x.trace.space, x.trace
    if x.shape == (1,):
        return x
    numbers = x.array.numbers
    if not x.array.all_slots and clearing.depends(trace, x.index, numbers) and numbers <= space.row:
        total = sum_terms(x.slots_of(), numbers, 1)  # the first slot reads nothing else
        return x.made(total.index, ArrayNode(1, lambda a: a.sum(keepdims=True), (x.array,)))
    whole = x.all_slots(source)
    total = sum_terms(whole.slots_of(), space.row, 1)
    index = clearing.both_rows(trace, total.index, source)
    node = ArrayNode(1, lambda a: a.sum(keepdims=True), (whole.array,), filled=space.slots)
    return x.made(index, node)


def _summed(x: Vector, length: int, stride: int, everywhere: bool, source: SourceLine) -> Vector:
    """Rotates and adds; ``sum_slots`` describes the arguments, which were checked."""
    space, trace, given = x.trace.space, x.trace, x.array
    block = length * stride
    numbers = given.numbers
    if given.all_slots:
        start = x.slots_of()
    elif numbers > space.row == block:
        raise source.error(
            f"sums of {block} slots of {numbers} numbers, which lie in two rows of {space.row} "
            "slots: each row is summed by itself; leave the length out to sum all numbers"
        )
    elif space.chosen and numbers % block and numbers > max(block, space.row - block + stride):
        raise source.error(
            f"sums of {block} slots of {numbers} numbers pass the end of a row of {space.row} "
            "slots, and the result would depend on N: raise N"
        )
    else:
        stop = block if numbers <= block else None  # slots behind the only block are not read
        start = x.slots_of(clearing.cleared(trace, x.index, numbers, source, stop))
    total = sum_terms(start, length, stride)
    spread = everywhere and block < space.row
    if spread:
        total = total * np.tile((np.arange(block) < stride).astype(int), space.slots // block)
        total = sum_terms(total, length, -stride)

    def sums(a: Array) -> Array:
        found = _windows(padded(a, space.slots), length, stride, space.row)
        if spread:
            blocks = found.reshape(-1, length, stride)
            found = np.broadcast_to(blocks[:, :1], blocks.shape).reshape(-1)
        return found

    if numbers > block:
        node = ArrayNode(
            numbers,
            sums if given.all_slots else lambda a: sums(a)[:numbers],
            (given,),
            all_slots=given.all_slots,
        )
    else:
        filled = block if everywhere or block == space.row else stride
        node = ArrayNode(stride, lambda a: sums(a)[:stride], (given,), filled=filled)
    return x.made(total.index, node)


def _windows(a: Array, count: int, step: int, row: int) -> Array:
    """The sum over j = 0 … count - 1 of a[i + j*step], in each row, for every i."""
    rows = a.reshape(-1, row)
    total = sum(np.roll(rows, -step * j, axis=1) for j in range(count))
    return np.asarray(total).reshape(-1)


def _laid_out(
    x: Vector, given: PlainValues, length: int, stride: int, source: SourceLine
) -> PlainValues:
    """Returns one weight for each number of x, or for each slot."""
    space, node = x.trace.space, x.array
    block = length * stride
    if given.size > length:
        if not node.all_slots and given.size not in (node.numbers, space.slots):
            raise shape_error(node.numbers, given.size, source)
        return given  # one a number
    padded_weights = np.concatenate([given, np.zeros(length - given.size, given.dtype)])
    laid = np.tile(np.repeat(padded_weights, stride), space.slots // block)
    if node.all_slots:
        return laid
    if node.numbers <= block:
        entries = -(-node.numbers // stride)
        if given.size < entries or given[entries:].any():
            raise shape_error(entries, given.size, source)
    return laid[: node.numbers]
