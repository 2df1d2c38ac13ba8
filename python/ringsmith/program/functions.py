"""Building blocks that users call on encrypted vectors: inner products and polynomials."""

import numpy as np

from ringsmith.program.plain import PlainValues, numbers, plain_values, whole_number
from ringsmith.program.source import SourceLine, caller
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
    weights[i + j*stride], slots counted modulo the number of slots. Two layouts use it:

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
    slots, source = x.trace.slots, caller()
    length = _checked_power_of_two("length", length, slots, source)
    stride = _checked_power_of_two("stride", stride, slots // length, source)
    if not isinstance(weights, EncryptedVector):

        def lay_out(entries: PlainValues) -> PlainValues:
            return _in_every_block(entries, length, stride, slots)

        weights = plain_values(weights, slots, source, lay_out)
    total = x * weights
    steps = [stride << k for k in range(length.bit_length() - 1)]
    for step in steps:
        total = total + total.rotate(step)
    block = length * stride
    if everywhere and block < slots:
        total = total * np.tile(np.arange(block) < stride, slots // block).astype(np.float64)
        for step in steps:
            total = total + total.rotate(-step)
    return total


def polynomial(x: EncryptedVector, coefficients: object) -> EncryptedVector:
    """Returns c[0] + c[1]*x + … + c[d]*x^d in every slot, through ceil(log2(d + 1)) levels.

    The polynomial is split at the largest power of two m <= d into low + x^m * high, and so on
    (Paterson and Stockmeyer 1973, with the baby steps left out). A product with a coefficient is
    a plain multiplication whose scale is free, and the planner makes it the scale of what it is
    added to.

    Args:
        x: The encrypted vector.
        coefficients: The numbers c[0] … c[d], the constant first, not all of c[1] … c[d] zero.

    Raises:
        ProgramError: When the coefficients are not numbers, or make a constant.
    """
    source = caller()
    c = np.trim_zeros(np.atleast_1d(numbers(coefficients, source)), "b")
    if c.size < 2:
        raise source.error(
            "the polynomial is constant, and its value does not depend on the encrypted vector: "
            "give a nonzero coefficient of degree 1 or more"
        )
    return _plus(_without_constant(x, c), c[0])


def _without_constant(x: EncryptedVector, c: PlainValues) -> EncryptedVector:
    """Returns c[1]*x + … + c[d]*x^d for d >= 1 and c[d] != 0.

    The constant is left to the caller: it is added after rescaling, while the terms here are added
    before it, so that one rescaling serves them all.
    """
    m = 1 << ((c.size - 1).bit_length() - 1)
    high, low = c[m:], np.trim_zeros(c[:m], "b")
    power = x**m
    if high.size > 1:
        total = _plus(_without_constant(x, high), high[0]) * power
    else:
        total = power if high[0] == 1 else power * high[0]
    return total + _without_constant(x, low) if low.size > 1 else total


def _plus(x: EncryptedVector, constant: complex) -> EncryptedVector:
    return x if constant == 0 else x + constant


def _in_every_block(entries: PlainValues, length: int, stride: int, slots: int) -> PlainValues:
    """Lays at most ``length`` weights out for every block; leaves longer vectors as they are."""
    if entries.size > length:
        return entries
    padded = np.concatenate([entries, np.zeros(length - entries.size, entries.dtype)])
    return np.tile(np.repeat(padded, stride), slots // (length * stride))


def _checked_power_of_two(what: str, value: object, high: int, source: SourceLine) -> int:
    number = whole_number(value)
    if number is None or not 1 <= number <= high or number & (number - 1):
        fitting = ""
        if number is not None and 1 <= number < high:
            fitting = f": pad to {1 << (number - 1).bit_length()}"
        raise source.error(f"{what} = {value!r:.60} is not a power of two in 1 … {high}{fitting}")
    return number
