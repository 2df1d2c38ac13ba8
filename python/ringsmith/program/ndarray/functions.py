"""Functions of encrypted arrays."""

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ringsmith.program.arrays import ArrayNode
from ringsmith.program.ndarray.array import EncryptedArray, checked_axes
from ringsmith.program.ndarray.layout import GAP, Layout
from ringsmith.program.ndarray.parts import Part
from ringsmith.program.ndarray.placing import Placed, moved_entries
from ringsmith.program.ndarray.products import convolution, matmul
from ringsmith.program.ndarray.terms import Listed
from ringsmith.program.plain import whole_number
from ringsmith.program.recorder import Trace
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.vector import EncryptedVector

Arrays = Sequence[object]
"""Arrays, encrypted or plain; at least one is encrypted."""
Lengths = int | tuple[int, ...]


def concatenate(arrays: Arrays, axis: int = 0) -> EncryptedArray:
    """Returns arrays one after another along an axis, as ``numpy.concatenate``."""
    return joined(arrays, lambda numbers: np.concatenate(numbers, axis))


def stack(arrays: Arrays, axis: int = 0) -> EncryptedArray:
    """Returns arrays along a new axis, as ``numpy.stack``."""
    return joined(arrays, lambda numbers: np.stack(numbers, axis))


def joined(
    arrays: Arrays, join: Callable[[Sequence[NDArray[Any]]], NDArray[Any]]
) -> EncryptedArray:
    """Returns what a function of NumPy makes of several arrays whose entries it moves.

    Args:
        arrays: The arrays.
        join: The function; it is called on the numbers of the entries.
    """
    source = caller()
    encrypted = [each for each in arrays if isinstance(each, EncryptedArray)]
    if not encrypted:
        raise source.error("none of the arrays is encrypted: call NumPy's function")
    trace = encrypted[0].trace
    found = [_as_array(each, trace, source) for each in arrays]
    if any(each.trace is not trace for each in found):
        raise source.error(
            "the operands belong to two traces: use only what the traced function was handed"
        )
    starts = np.cumsum([0, *(each.size for each in found)])
    numbers = [
        np.arange(each.size, dtype=np.int64).reshape(each.shape) + start
        for each, start in zip(found, starts, strict=False)
    ]
    try:
        joined = np.asarray(join(numbers))
    except (ValueError, IndexError, TypeError) as error:
        raise source.error(
            f"arrays of shapes {', '.join(str(each.shape) for each in found)}: {error}"
        ) from None
    flat = joined.reshape(-1)
    origin = np.searchsorted(starts, flat, side="right") - 1
    terms = []
    for number, start in enumerate(starts[:-1].tolist()):
        to = np.flatnonzero(origin == number)
        terms.append(Listed(to, flat[to] - start))
    content = moved_entries([each.content for each in found], terms, joined.shape, trace, source)
    return encrypted[0].made(content, lambda *each: join(each), *found)


def _as_array(value: object, trace: Trace, source: SourceLine) -> EncryptedArray:
    """Returns an array; plain numbers as one whose ciphertexts are known."""
    if isinstance(value, EncryptedArray):
        return value
    numbers = trace.space.array(value, source)
    layout = Layout.dense(numbers.shape, trace.space.slot_bits)
    laid = np.concatenate([np.zeros(1, numbers.dtype), numbers.reshape(-1)])[layout.table]
    parts: list[Part] = list(laid.reshape(layout.ciphertexts, layout.slots))
    node = ArrayNode(numbers.size, lambda: numbers, shape=numbers.shape)
    return EncryptedArray(trace, Placed(parts, layout), node)


def from_slots(x: EncryptedVector) -> EncryptedArray:
    """Returns the numbers of a vector as an array of one axis; ``EncryptedArray.slots`` reversed.

    Args:
        x: The vector; in BFV of both rows.
    """
    node, length = x.array, x.shape[0]
    layout = Layout.dense((length,), x.trace.space.slot_bits, rest=GAP)
    made = ArrayNode(length, lambda a: np.asarray(a[:length]), (node,), shape=(length,))
    return EncryptedArray(x.trace, Placed([x.slots_of()], layout), made)


def where(mask: object, a: object, b: object) -> EncryptedArray:
    """Returns a where a mask is true and b elsewhere, as ``numpy.where``.

    Args:
        mask: Plain truth values. Or an encrypted array of zeros and ones, such as ``compare``
            computes: the result is b + mask * (a - b).
        a: An array or number; encrypted or plain.
        b: Another.
    """
    if isinstance(mask, EncryptedArray):
        return cast("EncryptedArray", mask * (cast("Any", a) - b) + b)
    chosen = np.asarray(mask).astype(bool).astype(np.int64)
    return cast("EncryptedArray", cast("Any", a) * chosen + cast("Any", b) * (1 - chosen))


def roll(x: EncryptedArray, shift: Any, axis: Any = None) -> EncryptedArray:  # noqa: ANN401
    """Returns the array with its entries moved around, as ``numpy.roll``."""
    return x.rearranged(lambda a: np.roll(a, shift, axis))


def outer(a: object, b: object) -> EncryptedArray:
    """Returns the products of all entries of a with all of b, as ``numpy.outer``."""
    return cast("EncryptedArray", operand(a).reshape(-1, 1) * operand(b).reshape(-1))


def inner(a: object, b: object) -> EncryptedArray:
    """Returns sums of products over the last axes, as ``numpy.inner``."""
    left, right = operand(a), operand(b)
    if not left.ndim or not right.ndim:
        return cast("EncryptedArray", left * right)
    if left.ndim == 1 or right.ndim == 1:
        return matmul(right, left) if left.ndim == 1 else matmul(left, right)
    rows, columns = (each.reshape(-1, each.shape[-1]) for each in (left, right))
    return matmul(rows, columns.transpose()).reshape(*left.shape[:-1], *right.shape[:-1])


def dot(a: object, b: object) -> EncryptedArray:
    """Returns the product of arrays, as ``numpy.dot``."""
    left, right = operand(a), operand(b)
    if not left.ndim or not right.ndim:
        return cast("EncryptedArray", left * right)
    return matmul(left, right) if right.ndim <= 2 else inner(left, np.swapaxes(right, -1, -2))


def operand(value: object) -> Any:  # noqa: ANN401 - both have NumPy's methods
    """Returns an encrypted array itself, and anything else as an array of NumPy."""
    return value if isinstance(value, EncryptedArray) else np.asarray(value)


def cumsum(x: EncryptedArray, axis: int | None = None) -> EncryptedArray:
    """Returns sums of the entries up to each one, as ``numpy.cumsum``."""
    if axis is None:
        return cumsum(x.ravel(), 0)
    if not x.ndim:
        return cumsum(x.ravel(), axis)
    (number,) = checked_axes(axis, x.shape, caller())
    ones = np.triu(np.ones((x.shape[number], x.shape[number]), np.int64))
    moved = matmul(x.rearranged(lambda a: np.moveaxis(a, axis, -1)), ones)
    return moved.rearranged(lambda a: np.moveaxis(a, -1, axis))


def prod(x: EncryptedArray, axis: int | None = None, *, keepdims: bool = False) -> EncryptedArray:
    """Returns products over an axis, as ``numpy.prod``, through ceil(log2(length)) levels."""
    source = caller()
    if axis is None:
        whole = prod(x.ravel(), 0)
        return whole.reshape((1,) * x.ndim) if keepdims else whole
    (number,) = checked_axes(axis, x.shape, source)
    found = x.rearranged(lambda a: np.moveaxis(a, number, 0))
    while len(found) > 1:
        half = len(found) // 2
        pairs = found[:half] * found[half : 2 * half]
        found = concatenate([pairs, found[2 * half :]]) if len(found) % 2 else pairs
    return found.rearranged(lambda a: np.moveaxis(a, 0, number)) if keepdims else found[0]


def pad(
    x: EncryptedArray,
    pad_width: object,
    mode: str = "constant",
    *,
    constant_values: float = 0,
) -> EncryptedArray:
    """Returns the array with a number around it, as ``numpy.pad`` with one constant."""
    source = caller()
    if mode != "constant" or np.ndim(constant_values):
        raise source.error(f"pad with mode {mode!r}: give one number as constant_values")

    def padded(each: Sequence[NDArray[Any]]) -> NDArray[Any]:
        return np.pad(each[0], cast("Any", pad_width), constant_values=each[1].item())

    return joined([x, constant_values], padded)


def einsum(subscripts: str, *operands: object) -> EncryptedArray:
    """Returns a sum of products by the names of axes, as ``numpy.einsum``: ``"ij,jk->ik"``.

    Args:
        subscripts: A letter for each axis of each operand, all different in one operand; then
            ``->`` and the letters of the result. Without it, letters that occur once, in order.
        operands: Arrays, encrypted or plain; at least one is encrypted.

    Raises:
        ProgramError: When the letters do not fit.
    """
    source = caller()
    names, _, result = subscripts.replace(" ", "").partition("->")
    each = names.split(",")
    arrays = [operand(value) for value in operands]
    letters = sorted({*names} - {","})
    if "->" not in subscripts:
        result = "".join(letter for letter in letters if names.count(letter) == 1)
    fits = [
        len(name) == len({*name}) == array.ndim for name, array in zip(each, arrays, strict=False)
    ]
    legal = len(each) == len(arrays) and all(fits) and len({*result}) == len(result)
    if not legal or not {*result} <= {*letters} or not all(map(str.isalpha, letters)):
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise source.error(
            f"einsum {subscripts!r:.60} of shapes {shapes}: give each axis of an operand a letter "
            "of its own, and in the result letters of the operands"
        )
    order = [*result, *(letter for letter in letters if letter not in result)]
    factors = []
    for name, array in zip(each, arrays, strict=True):
        turned = np.transpose(array, sorted(range(array.ndim), key=lambda i: order.index(name[i])))
        factors.append(turned[tuple(slice(None) if letter in name else None for letter in order)])
    rest = tuple(range(len(result), len(order)))
    found = math.prod(factors[1:], start=factors[0])
    found = found.sum(axis=rest) if rest else found
    if not isinstance(found, EncryptedArray):
        raise source.error("none of the operands is encrypted: call NumPy's function")
    return found


def conv1d(
    x: EncryptedArray, kernels: object, *, stride: int = 1, padding: int = 0
) -> EncryptedArray:
    """Returns the correlation with kernels along one axis, as networks define a convolution.

    Args:
        x: Shape (…, channels, length).
        kernels: Plain, of shape (maps, channels, size). Or one kernel, of shape (size,): then x is
            of shape (…, length), and so is the result.
        stride: Entries from one place of the kernel to the next.
        padding: Zeros before and after.

    Returns:
        Shape (…, maps, (length + 2*padding - size) // stride + 1).

    Raises:
        ProgramError: When shapes do not fit.
    """
    return _convolved(x, kernels, (stride,), (padding,), caller())


def conv2d(
    x: EncryptedArray, kernels: object, *, stride: Lengths = 1, padding: Lengths = 0
) -> EncryptedArray:
    """Returns the correlation with kernels along two axes, as networks define a convolution.

    Args:
        x: Shape (…, channels, height, width).
        kernels: Plain, of shape (maps, channels, height, width). Or one kernel, of shape (height,
            width): then x is of shape (…, height, width), and the result of (…, rows, columns).
        stride: Entries from one place of the kernel to the next, of both axes or for each.
        padding: Zeros before and after, of both axes or for each.

    Returns:
        Shape (…, maps, rows, columns).

    Raises:
        ProgramError: When shapes do not fit.
    """
    return _convolved(x, kernels, _pair(stride), _pair(padding), caller())


def average_pool2d(
    x: EncryptedArray, size: Lengths, *, stride: Lengths | None = None
) -> EncryptedArray:
    """Returns means of windows along the last two axes; in CKKS only.

    Args:
        x: Shape (…, height, width).
        size: Rows and columns of a window, or one number for both.
        stride: From one window to the next; None: as ``size``.

    Raises:
        ProgramError: When shapes do not fit.
    """
    source = caller()
    height, width = _pair(size)
    if x.trace.space.exact:
        raise source.error("whole numbers modulo t have no mean: sum them with conv2d and ones")
    if x.ndim < 2:
        raise source.error(f"an array of shape {x.shape} has no two axes to pool along")
    kernel = np.full((1, 1, height, width), 1 / (height * width))
    apart = x.rearranged(lambda a: a[..., None, :, :])
    steps = _pair(size if stride is None else stride)
    pooled = _convolved(apart, kernel, steps, (0, 0), source)
    return pooled.rearranged(lambda a: a[..., 0, :, :])


def _convolved(
    x: EncryptedArray,
    kernels: object,
    strides: tuple[int, ...],
    padding: tuple[int, ...],
    source: SourceLine,
) -> EncryptedArray:
    if not isinstance(x, EncryptedArray):
        raise source.error(f"{x!r:.40} ({type(x).__name__}) stands where the encrypted array does")
    found = x.trace.space.array(kernels, source)
    axes = len(strides)
    if found.ndim == axes and x.ndim >= axes:
        apart = x.rearranged(lambda a: np.expand_dims(a, -axes - 1))
        made = _convolved(apart, found[None, None], strides, padding, source)
        return made.rearranged(lambda a: np.squeeze(a, -axes - 1))
    if found.ndim != axes + 2 or not found.any():
        raise source.error(
            f"kernels of shape {found.shape}: give one kernel of {axes} axes, or shape (maps, "
            f"channels, …) of {axes + 2} axes, not all zero"
        )
    for what, values, least in (("stride", strides, 1), ("padding", padding, 0)):
        if any(whole_number(each) is None or each < least for each in values):
            raise source.error(f"{what} = {values!r:.40}: give whole numbers from {least}")
    return convolution(x, found, strides, [(each, each) for each in padding], source)


def _pair(value: Lengths) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value, value)
