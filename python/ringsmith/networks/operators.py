"""ONNX's operators on encrypted arrays, and on arrays of NumPy alike.

Operators follow https://onnx.ai/onnx/operators in the versions 7 and later. Where all operands are
known, a node is computed when the program is made.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.networks.calls import Call, Value, encrypted
from ringsmith.program.approximations import inverse
from ringsmith.program.elementwise import value_range
from ringsmith.program.ndarray.axes import amax
from ringsmith.program.ndarray.functions import concatenate, pad
from ringsmith.program.ndarray.products import convolution, correlation
from ringsmith.program.polynomials import chebyshev
from ringsmith.program.ranges import bounded
from ringsmith.program.source import caller

Operator = Callable[[Call], Any]
OPERATORS: dict[str, Operator] = {}
"""By ONNX's name. A result is a value or a tuple of values."""


def operator(*names: str) -> Callable[[Operator], Operator]:
    """Registers a function as what operators do."""

    def register(function: Operator) -> Operator:
        OPERATORS.update(dict.fromkeys(names, function))
        return function

    return register


def moved(x: Value, function: Callable[[NDArray[Any]], NDArray[Any]]) -> Value:
    """Returns what a function of NumPy that only moves entries makes of a value."""
    return x.rearranged(function) if encrypted(x) else function(np.asarray(x))


# ---- arithmetic ----------------------------------------------------------------------------


@operator("Add")
def _add(call: Call) -> Value:
    return call.x + call.take(1)


@operator("Sub")
def _subtract(call: Call) -> Value:
    return call.x - call.take(1)


@operator("Mul")
def _multiply(call: Call) -> Value:
    return call.x * call.take(1)


@operator("Div")
def _divide(call: Call) -> Value:
    x, y = call.x, call.take(1)
    if not encrypted(y):
        if not np.all(y):
            raise call.error("a division by 0")
        whole = all(not encrypted(v) and np.asarray(v).dtype.kind in "iu" for v in (x, y))
        return np.trunc(x / y).astype(np.int64) if whole else x * (1 / np.asarray(y, np.float64))
    return x * inverse(y, error=call.settings.error)


@operator("Neg")
def _negative(call: Call) -> Value:
    return -call.x


@operator("Sum")
def _sum(call: Call) -> Value:
    total = call.x
    for each in call.operands[1:]:
        total = total + each
    return total


@operator("Mean")
def _mean(call: Call) -> Value:
    return _sum(call) * (1 / len(call.operands))


@operator("Pow")
def _power(call: Call) -> Value:
    exponent = call.plain(1)
    if not encrypted(call.x):
        return np.power(call.x, exponent)
    if exponent.size != 1 or exponent.item() != int(exponent.item()) or exponent.item() < 1:
        raise call.error(
            f"the exponent {exponent.reshape(-1)[:3].tolist()} is not one whole number from 1"
        )
    return call.x ** int(exponent.item())


@operator("Identity", "Dropout")
def _identity(call: Call) -> Value:
    return call.x


@operator("Cast")
def _cast(call: Call) -> Value:
    from onnx import TensorProto, helper

    kind = call.attribute("to")
    fractions = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16)
    if kind in fractions:
        return call.x if encrypted(call.x) else np.asarray(call.x, np.float64)
    if encrypted(call.x):
        raise call.error("an encrypted fraction cannot be rounded to a whole number")
    return np.asarray(call.x).astype(helper.tensor_dtype_to_np_dtype(kind))


@operator("MatMul")
def _matmul(call: Call) -> Value:
    return call.x @ call.take(1)


@operator("Gemm")
def _gemm(call: Call) -> Value:
    a, b, c = call.x, call.take(1), call.optional(2)
    alpha, beta = call.attribute("alpha", 1.0), call.attribute("beta", 1.0)
    if call.attribute("transA", 0):
        a = a.T
    if call.attribute("transB", 0):
        b = b.T
    if alpha != 1:
        a, b = (a, b * alpha) if not encrypted(b) else (a * alpha, b)
    found = a @ b
    return found if c is None else found + (c if beta == 1 else c * beta)


# ---- convolutions and windows ---------------------------------------------------------------


def _windows(call: Call, axes: int) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """Returns the strides, and the zeros before and after each of the last axes."""
    strides = call.whole_numbers("strides") or (1,) * axes
    pads = call.whole_numbers("pads") or (0,) * (2 * axes)
    if len(strides) != axes or len(pads) != 2 * axes or min(pads) < 0 or min(strides) < 1:
        raise call.error(f"strides {strides!r:.40} or pads {pads!r:.40} do not fit {axes} axes")
    return strides, tuple(zip(pads[:axes], pads[axes:], strict=True))


def _automatic_pads(
    call: Call,
    lengths: tuple[int, ...],
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    pads: tuple[tuple[int, int], ...],
) -> tuple[tuple[int, int], ...]:
    """Returns the pads that ``auto_pad`` asks for."""
    mode = call.attribute("auto_pad", "NOTSET")
    if mode == "NOTSET":
        return pads
    if mode == "VALID":
        return ((0, 0),) * len(lengths)
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        raise call.error(f"auto_pad {mode!r:.40} is not known")
    found = []
    for length, size, stride in zip(lengths, sizes, strides, strict=True):
        total = max((-(-length // stride) - 1) * stride + size - length, 0)
        less, more = total // 2, total - total // 2
        found.append((less, more) if mode == "SAME_UPPER" else (more, less))
    return tuple(found)


@operator("Conv")
def _convolution(call: Call) -> Value:
    x, weights = call.x, call.plain(1)
    axes = weights.ndim - 2
    if axes < 1 or x.ndim != weights.ndim:
        raise call.error(f"weights of shape {weights.shape} do not fit {x.shape}")
    groups = call.attribute("group", 1)
    kernels = _dilated(call, _grouped(call, weights, groups, x.shape[1]), axes)
    strides, pads = _windows(call, axes)
    pads = _automatic_pads(call, x.shape[2:], kernels.shape[2:], strides, pads)
    found = _correlated(call, x, kernels, strides, pads)
    bias = call.optional(2)
    return found if bias is None else found + call.plain(2).reshape(-1, *[1] * axes)


def _correlated(
    call: Call,
    x: Value,
    kernels: NDArray[Any],
    strides: tuple[int, ...],
    pads: tuple[tuple[int, int], ...],
) -> Value:
    """Returns the correlation with kernels."""
    if encrypted(x):
        return convolution(x, kernels, strides, pads, caller())
    call.checked(x.shape[0], *x.shape[2:], *kernels.shape[1:])
    return correlation(np.asarray(x, np.float64), kernels, strides, pads)


def _grouped(call: Call, weights: NDArray[Any], groups: int, channels: int) -> NDArray[Any]:
    """Returns kernels of all channels, with zeros for channels of other groups."""
    maps, each = weights.shape[:2]
    if groups < 1 or maps % groups or each * groups != channels:
        raise call.error(
            f"{groups} groups of weights of shape {weights.shape} do not fit {channels} channels"
        )
    if groups == 1:
        return weights
    call.checked(maps, channels, *weights.shape[2:])
    full = np.zeros((maps, channels, *weights.shape[2:]), weights.dtype)
    for group in range(groups):
        rows = slice(group * maps // groups, (group + 1) * maps // groups)
        full[rows, group * each : (group + 1) * each] = weights[rows]
    return full


def _dilated(call: Call, weights: NDArray[Any], axes: int) -> NDArray[Any]:
    """Returns kernels with zeros between their entries."""
    dilations = call.whole_numbers("dilations") or (1,) * axes
    if len(dilations) != axes or min(dilations) < 1:
        raise call.error(f"dilations {dilations!r:.40} do not fit {axes} axes")
    if max(dilations) == 1:
        return weights
    sizes = [(n - 1) * d + 1 for n, d in zip(weights.shape[2:], dilations, strict=True)]
    call.checked(*weights.shape[:2], *sizes)
    full = np.zeros((*weights.shape[:2], *sizes), weights.dtype)
    full[(slice(None), slice(None), *(slice(None, None, d) for d in dilations))] = weights
    return full


@operator("AveragePool")
def _average_pool(call: Call) -> Value:
    x, sizes = call.x, call.whole_numbers("kernel_shape") or ()
    axes = len(sizes)
    if axes != x.ndim - 2 or not axes or call.attribute("ceil_mode", 0):
        raise call.error(f"windows of {sizes!r:.40} entries of {x.shape}, or with ceil_mode")
    if max(call.whole_numbers("dilations") or (1,)) > 1:
        raise call.error("dilations of windows are not computed")
    strides, pads = _windows(call, axes)
    pads = _automatic_pads(call, x.shape[2:], sizes, strides, pads)
    kernel = np.ones((1, 1, *sizes))
    counts = correlation(np.ones((1, *x.shape[2:])), kernel, strides, pads)
    if call.attribute("count_include_pad", 0) or counts.min() == counts.max():
        kernel = kernel / (
            np.prod(sizes) if call.attribute("count_include_pad", 0) else counts.max()
        )
        shares: Any = None
    else:
        shares = 1 / counts
    apart = moved(x, lambda a: a[:, :, None])
    pooled = (
        convolution(apart, kernel, strides, pads, caller())
        if encrypted(x)
        else correlation(apart, kernel, strides, pads)
    )
    pooled = moved(pooled, lambda a: a[:, :, 0])
    return pooled if shares is None else pooled * shares


@operator("GlobalAveragePool")
def _global_average(call: Call) -> Value:
    return call.x.mean(axis=tuple(range(2, call.x.ndim)), keepdims=True)


@operator("MaxPool")
def _max_pool(call: Call) -> Value:
    x, sizes = call.x, call.whole_numbers("kernel_shape") or ()
    axes = len(sizes)
    if axes != x.ndim - 2 or not axes or call.attribute("ceil_mode", 0):
        raise call.error(f"windows of {sizes!r:.40} entries of {x.shape}, or with ceil_mode")
    if len(call.node.outputs) > 1 or max(call.whole_numbers("dilations") or (1,)) > 1:
        raise call.error("the places of the largest entries, and dilations, are not computed")
    strides, pads = _windows(call, axes)
    pads = _automatic_pads(call, x.shape[2:], sizes, strides, pads)

    def windows(a: NDArray[Any]) -> NDArray[Any]:
        around = [(0, 0), (0, 0), *pads]
        padded = np.pad(a, around, mode="edge")  # an edge is an entry of its window already
        found = np.lib.stride_tricks.sliding_window_view(padded, sizes, tuple(range(2, a.ndim)))
        found = found[(slice(None), slice(None), *(slice(None, None, each) for each in strides))]
        return found.reshape(*found.shape[: a.ndim], -1)

    if any(pad >= size for pair, size in zip(pads, sizes, strict=True) for pad in pair):
        raise call.error(f"pads {pads!r:.60} as large as the windows of {sizes!r:.40}")
    return _largest(call, moved(x, windows), -1)


def _largest(call: Call, x: Value, axis: Any, *, keepdims: bool = False) -> Value:  # noqa: ANN401
    """Returns about the largest entries along an axis, by comparisons."""
    if not encrypted(x):
        return x.max(axis=axis, keepdims=keepdims)
    return amax(x, axis, keepdims=keepdims, error=share_of(call, x))


def share_of(call: Call, x: Value) -> float | None:
    """Returns the error that is allowed of results of the same range as x; None: the default."""
    if call.settings.error is None:
        return None
    found = value_range(x)
    return None if found is None else call.settings.error * float(found.high - found.low)


# ---- normalizations --------------------------------------------------------------------------


@operator("BatchNormalization")
def _batch_normalization(call: Call) -> Value:
    x = call.x
    if call.attribute("training_mode", 0):
        raise call.error("it is in training mode: export the network for inference")
    scale, shift, mean, variance = (call.plain(i) for i in range(1, 5))
    factor = scale / np.sqrt(variance + call.attribute("epsilon", 1e-5))
    lengths = (-1, *[1] * (x.ndim - 2))
    return x * factor.reshape(lengths) + (shift - mean * factor).reshape(lengths)


@operator("LayerNormalization")
def _layer_normalization(call: Call) -> Value:
    x = call.x
    first = call.attribute("axis", -1) % x.ndim
    axes = tuple(range(first, x.ndim))
    centred = x - x.mean(axis=axes, keepdims=True)
    variance = (centred * centred).mean(axis=axes, keepdims=True)
    variance = variance + call.attribute("epsilon", 1e-5)
    name = f"{call.node.outputs[0]} variance"
    found = call.range_of(name, variance, above_zero=True)
    if encrypted(variance):
        if found is None:
            raise call.error(
                "the variance has no range above 0: calibrate with samples (--calibrate)"
            )
        variance = bounded(variance, found)
        spread = interpolated(call, variance, lambda v: 1 / np.sqrt(v), found)
    else:
        spread = 1 / np.sqrt(variance)
    scaled = centred * spread * call.plain(1)
    return scaled if call.optional(2) is None else scaled + call.plain(2)


def interpolated(
    call: Call,
    x: Value,
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    interval: tuple[float, float],
) -> Value:
    """Returns any function of encrypted numbers in an interval, as a polynomial."""
    points = np.linspace(*interval, 1025)
    values = np.asarray(function(points))
    width = float(values.max() - values.min())
    if call.settings.degree is not None:
        return chebyshev(x, function, call.settings.degree, interval)
    return chebyshev(x, function, interval=interval, error=(call.settings.error or 2**-10) * width)


# ---- sums ------------------------------------------------------------------------------------


def _reduced_axes(call: Call) -> tuple[int, ...] | None:
    axes = call.whole_numbers("axes", 1)
    if axes is None and call.attribute("noop_with_empty_axes", 0):
        return ()
    return axes


@operator("ReduceSum")
def _reduce_sum(call: Call) -> Value:
    axes, kept = _reduced_axes(call), bool(call.attribute("keepdims", 1))
    return call.x if axes == () else call.x.sum(axis=axes, keepdims=kept)


@operator("ReduceMean")
def _reduce_mean(call: Call) -> Value:
    axes, kept = _reduced_axes(call), bool(call.attribute("keepdims", 1))
    return call.x if axes == () else call.x.mean(axis=axes, keepdims=kept)


@operator("ReduceMax", "GlobalMaxPool")
def _reduce_max(call: Call) -> Value:
    whole = call.node.operator == "GlobalMaxPool"
    axes = tuple(range(2, call.x.ndim)) if whole else _reduced_axes(call)
    if axes == ():
        return call.x
    return _largest(call, call.x, axes, keepdims=bool(call.attribute("keepdims", 1)))


# ---- where entries go ------------------------------------------------------------------------


@operator("Constant")
def _constant(call: Call) -> Value:
    for name in ("value", "value_float", "value_int", "value_floats", "value_ints"):
        if name in call.node.attributes:
            return np.asarray(call.attribute(name))
    raise call.error("it has no number")


@operator("ConstantOfShape")
def _constant_of_shape(call: Call) -> Value:
    shape = tuple(int(each) for each in call.plain(0).reshape(-1))
    if min(shape, default=1) < 1:
        raise call.error(f"shape {shape!r:.60} has a length below 1")
    call.checked(*shape)
    return np.broadcast_to(np.asarray(call.attribute("value", np.zeros(1))).reshape(()), shape)


@operator("Shape")
def _shape(call: Call) -> Value:
    start, end = call.attribute("start", 0), call.attribute("end", None)
    return np.asarray(call.x.shape[start:end], np.int64)


@operator("Flatten")
def _flatten(call: Call) -> Value:
    x = call.x
    axis = call.attribute("axis", 1)
    first = axis % x.ndim if axis < 0 else axis
    return x.reshape(int(np.prod(x.shape[:first], dtype=np.int64)), -1)


@operator("Reshape")
def _reshape(call: Call) -> Value:
    x, wanted = call.x, [int(each) for each in call.plain(1).reshape(-1)]
    if not call.attribute("allowzero", 0):
        wanted = [x.shape[i] if n == 0 and i < x.ndim else n for i, n in enumerate(wanted)]
    return x.reshape(tuple(wanted))


@operator("Transpose")
def _transpose(call: Call) -> Value:
    order = call.whole_numbers("perm")
    return moved(call.x, lambda a: np.transpose(a, order))


@operator("Concat")
def _concat(call: Call) -> Value:
    axis = int(call.attribute("axis", 0))
    parts = [np.asarray(v) if not encrypted(v) else v for v in call.operands if v is not None]
    return concatenate(parts, axis) if any(map(encrypted, parts)) else np.concatenate(parts, axis)


@operator("Squeeze")
def _squeeze(call: Call) -> Value:
    axes = call.whole_numbers("axes", 1)
    return moved(call.x, lambda a: np.squeeze(a, axes))


@operator("Unsqueeze")
def _unsqueeze(call: Call) -> Value:
    axes = call.whole_numbers("axes", 1) or ()
    return moved(call.x, lambda a: np.expand_dims(a, axes))


@operator("Slice")
def _slice(call: Call) -> Value:
    x = call.x
    starts, ends = call.whole_numbers("starts", 1), call.whole_numbers("ends", 2)
    if starts is None or ends is None or len(starts) != len(ends):
        raise call.error("starts and ends are missing, or differ in number")
    axes = call.whole_numbers("axes", 3) or tuple(range(len(starts)))
    steps = call.whole_numbers("steps", 4) or (1,) * len(starts)
    index = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        if not -x.ndim <= axis < x.ndim or not step:
            raise call.error(f"axis {axis} or step {step} of a value of shape {x.shape}")
        below = step < 0 and end < -x.shape[axis]
        index[axis % x.ndim] = slice(start, None if below else end, step)
    return x[tuple(index)]


@operator("Split")
def _split(call: Call) -> Value:
    x, axis = call.x, call.attribute("axis", 0) % call.x.ndim
    lengths = call.whole_numbers("split", 1)
    if lengths is None:
        count = call.attribute("num_outputs", len(call.node.outputs))
        each = -(-x.shape[axis] // count)
        lengths = tuple(min(each, x.shape[axis] - i * each) for i in range(count))
    if sum(lengths) != x.shape[axis] or min(lengths) < 1:
        raise call.error(f"parts of {lengths!r:.60} entries of axis {axis} of {x.shape}")
    ends = np.cumsum(lengths).tolist()
    before = (slice(None),) * axis
    return tuple(x[(*before, slice(end - n, end))] for n, end in zip(lengths, ends, strict=True))


@operator("Gather")
def _gather(call: Call) -> Value:
    indices, axis = call.plain(1), call.attribute("axis", 0)
    return moved(call.x, lambda a: np.take(a, indices.astype(np.int64), axis))


@operator("Expand")
def _expand(call: Call) -> Value:
    shape = tuple(int(each) for each in call.plain(1).reshape(-1))
    wanted = np.broadcast_shapes(call.x.shape, shape)
    call.checked(*wanted)
    return moved(call.x, lambda a: np.broadcast_to(a, wanted))


@operator("Pad")
def _pad(call: Call) -> Value:
    x, widths = call.x, call.whole_numbers("pads", 1) or ()
    given = call.optional(2)
    value = call.attribute("value", 0.0) if given is None else call.plain(2).item()
    axes = call.whole_numbers("axes", 3) or tuple(range(x.ndim))
    if call.attribute("mode", "constant") != "constant" or len(widths) != 2 * len(axes):
        raise call.error("only constants are put around a tensor, with a width for each end")
    around = [(0, 0)] * x.ndim
    for axis, before, after in zip(axes, widths, widths[len(axes) :], strict=False):
        if before < 0 or after < 0:
            raise call.error(f"pads {widths!r:.60} below 0: take a slice")
        around[axis] = (before, after)
    call.checked(*(n + sum(each) for n, each in zip(x.shape, around, strict=True)))
    return (pad if encrypted(x) else np.pad)(x, around, constant_values=value)


# ---- quantized networks ----------------------------------------------------------------------


def _scaled(call: Call) -> tuple[Any, Any]:
    """Returns the scale and the zero point along the axis that they belong to."""
    axis, ndim = call.attribute("axis", 1), call.x.ndim
    scale = call.plain(1)
    zero = np.zeros(()) if call.optional(2) is None else call.plain(2).astype(np.float64)
    if scale.size == 1:
        return scale.item(), zero.item() if zero.size == 1 else zero
    lengths = [1] * ndim
    lengths[axis % ndim] = scale.size
    return scale.reshape(lengths), zero.reshape(lengths) if zero.size > 1 else zero


@operator("QuantizeLinear")
def _quantize(call: Call) -> Value:
    """Without rounding, which has no polynomial: x / scale + zero point."""
    scale, zero = _scaled(call)
    if encrypted(call.x):
        raise call.error(
            "no DequantizeLinear with the same scale follows: rounding has no polynomial"
        )
    kind = np.int8 if call.optional(2) is None else call.plain(2).dtype
    ends = np.iinfo(kind) if np.issubdtype(kind, np.integer) else np.iinfo(np.uint8)
    return np.clip(np.rint(call.x / scale) + zero, ends.min, ends.max)


@operator("DequantizeLinear")
def _dequantize(call: Call) -> Value:
    scale, zero = _scaled(call)
    return (call.x - zero) * scale
