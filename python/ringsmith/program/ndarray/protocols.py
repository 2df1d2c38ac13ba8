"""Functions of NumPy that take encrypted arrays by its protocols."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ringsmith.program.late import of_program
from ringsmith.program.ndarray.array import EncryptedArray, checked_axes
from ringsmith.program.ndarray.functions import (
    cumsum,
    dot,
    einsum,
    inner,
    joined,
    operand,
    outer,
    pad,
    prod,
    where,
)
from ringsmith.program.ndarray.products import matmul
from ringsmith.program.source import caller


def _differences(x: EncryptedArray, n: int = 1, axis: int = -1) -> EncryptedArray:
    """Returns differences of neighbours along an axis, n times, as ``numpy.diff``."""
    for _ in range(n):
        later = x.rearranged(lambda a: np.delete(a, 0, axis))
        x = later - x.rearranged(lambda a: np.delete(a, -1, axis))
    return x


def clip(x: EncryptedArray, low: float, high: float) -> EncryptedArray:
    """Returns about the numbers moved into a range, as ``numpy.clip``; by ``maximum``."""
    above = of_program("maximum")(x, low)
    return cast("EncryptedArray", of_program("minimum")(above, high))


def _polyval(coefficients: object, x: EncryptedArray) -> EncryptedArray:
    """As ``numpy.polyval``: coefficients from the highest power."""
    return cast("EncryptedArray", of_program("polynomial")(x, np.asarray(coefficients)[::-1]))


def _convolve(a: Any, v: Any, mode: str = "full") -> EncryptedArray:  # noqa: ANN401
    """As ``numpy.convolve``."""
    source = caller()
    left, right = operand(a), operand(v)
    if left.ndim != 1 or right.ndim != 1 or mode not in ("full", "same", "valid"):
        raise source.error(
            f"convolve of shapes {left.shape} and {right.shape}, mode = {mode!r:.40}: give one "
            'axis each, and "full", "same" or "valid"'
        )
    if len(left) < len(right):
        left, right = right, left
    x, w = (left, right) if isinstance(left, EncryptedArray) else (right, left)
    count = len(left) + len(right) - 1
    to = np.add.outer(np.arange(len(x)), np.arange(len(w)))
    if isinstance(w, EncryptedArray):
        sums = (to.reshape(-1, 1) == np.arange(count)).astype(np.int64)
        full = outer(x, w).reshape(-1) @ sums
    else:
        matrix = np.zeros((len(x), count), np.asarray(w).dtype)
        np.put_along_axis(matrix, to, np.broadcast_to(w, to.shape), axis=1)
        full = x @ matrix
    starts = {"full": (0, count), "valid": (len(right) - 1, len(left))}
    first = (len(right) - 1) // 2
    low, high = starts.get(mode, (first, first + len(left)))
    return cast("EncryptedArray", full[low:high])


def _correlate(a: Any, v: Any, mode: str = "valid") -> EncryptedArray:  # noqa: ANN401
    """As ``numpy.correlate``, where a is not the shorter one."""
    if len(a) < len(v):
        raise caller().error(f"correlate of {len(a)} entries with {len(v)}: give the longer first")
    turned = operand(v)[::-1]
    whole = isinstance(turned, EncryptedArray) and turned.trace.space.exact
    return _convolve(a, turned if whole else np.conjugate(turned), mode)


def _average(x: EncryptedArray, axis: int | None = None, weights: object = None) -> EncryptedArray:
    """As ``numpy.average``, of plain weights."""
    if weights is None:
        return x.mean(axis)
    given = np.asarray(weights)
    if given.ndim == 1 and axis is not None and x.ndim > 1:
        (number,) = checked_axes(axis, x.shape, caller())
        given = given.reshape([-1 if each == number else 1 for each in range(x.ndim)])
    shares = given / np.sum(given, axis=axis if given.ndim == x.ndim else None, keepdims=True)
    return cast("EncryptedArray", (x * shares).sum(axis))


def _median(x: EncryptedArray, axis: int | None = None) -> EncryptedArray:
    """As ``numpy.median``: the middle of the sorted entries."""
    if axis is None:
        return _median(x.ravel(), 0)
    (number,) = checked_axes(axis, x.shape, caller())
    length, last = x.shape[number], x.rearranged(lambda a: np.moveaxis(a, number, -1))
    ordered = of_program("sort")(last, -1)
    middle = ordered[..., (length - 1) // 2]
    return cast(
        "EncryptedArray", middle if length % 2 else (middle + ordered[..., length // 2]) / 2
    )


def _norm(x: EncryptedArray, *, axis: Any = None, keepdims: bool = False) -> EncryptedArray:  # noqa: ANN401
    """As ``numpy.linalg.norm`` with its default: the root of the sum of squares."""
    squares = x * x if x.real is x else x * x.conjugate()
    return cast("EncryptedArray", of_program("sqrt")(squares.sum(axis, keepdims=keepdims)))


def _vdot(a: Any, b: Any) -> EncryptedArray:  # noqa: ANN401
    """As ``numpy.vdot``."""
    left, right = operand(a).reshape(-1), operand(b).reshape(-1)
    return dot(
        left if isinstance(left, EncryptedArray) and left.real is left else left.conjugate(), right
    )


def _covariance(x: EncryptedArray, *, rowvar: bool = True, ddof: int = 1) -> EncryptedArray:
    """As ``numpy.cov``."""
    rows = x if rowvar or x.ndim == 1 else x.transpose()
    rows = rows.reshape(1, -1) if x.ndim == 1 else rows
    centred = rows - rows.mean(axis=1, keepdims=True)
    other = centred if centred.real is centred else centred.conjugate()
    found = centred @ other.transpose() / (rows.shape[1] - ddof)
    return found.reshape(()) if x.ndim == 1 else found


def _spectrum(x: EncryptedArray, axis: int, *, inverse: bool = False) -> EncryptedArray:
    """As ``numpy.fft.fft`` or ``ifft``, as a product with the matrix."""
    (number,) = checked_axes(axis, x.shape, caller())
    transform = np.fft.ifft if inverse else np.fft.fft
    moved = matmul(
        x.rearranged(lambda a: np.moveaxis(a, number, -1)), transform(np.eye(x.shape[number]))
    )
    return moved.rearranged(lambda a: np.moveaxis(a, -1, number))


_MOVING = (
    *("reshape", "ravel", "squeeze", "expand_dims", "atleast_1d", "atleast_2d", "atleast_3d"),
    *("transpose", "swapaxes", "moveaxis", "flip", "fliplr", "flipud", "rot90", "roll"),
    *("take", "compress", "delete", "diagonal", "diag", "repeat", "tile", "broadcast_to", "copy"),
)
_SPLITTING = ("split", "array_split", "hsplit", "vsplit", "dsplit")
_JOINING = ("concatenate", "stack", "vstack", "hstack", "dstack", "column_stack")
_COMPUTING: Mapping[str, Callable[..., EncryptedArray]] = {
    "sum": EncryptedArray.sum,
    "mean": EncryptedArray.mean,
    "var": EncryptedArray.var,
    "std": EncryptedArray.std,
    "max": EncryptedArray.max,
    "amax": EncryptedArray.max,
    "min": EncryptedArray.min,
    "amin": EncryptedArray.min,
    "sort": lambda x, axis=-1: of_program("sort")(x, axis),
    "dot": dot,
    "inner": inner,
    "outer": outer,
    "cumsum": cumsum,
    "diff": _differences,
    "einsum": einsum,
    "pad": pad,
    "prod": prod,
    "where": where,
    "average": _average,
    "clip": clip,
    "convolve": _convolve,
    "correlate": _correlate,
    "cov": _covariance,
    "fft": lambda x, axis=-1: _spectrum(x, axis),
    "ifft": lambda x, axis=-1: _spectrum(x, axis, inverse=True),
    "imag": lambda x: x.imag,
    "median": _median,
    "norm": _norm,
    "polyval": _polyval,
    "ptp": lambda x, axis=None: x.max(axis) - x.min(axis),
    "real": lambda x: x.real,
    "vdot": _vdot,
}
_ALIKE = ("zeros_like", "ones_like", "full_like")


def called_by_numpy(
    function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]
) -> object:
    """Returns what a function of NumPy makes of encrypted arrays; None: it is not supported."""
    name = function.__name__
    if not args:  # the first one is given by its name
        first, *_ = inspect.signature(function).parameters
        args, options = (options[first],), {k: v for k, v in options.items() if k != first}
    if name in ("shape", "ndim", "size") and not options and len(args) == 1:
        return getattr(args[0], name)
    if name in _ALIKE and not options:
        return function(np.zeros(args[0].shape), *args[1:])
    if name in _SPLITTING:
        return _split(args[0], lambda a: function(a, *args[1:], **options))
    if name in _MOVING and isinstance(args[0], EncryptedArray):
        return args[0].rearranged(lambda a: function(a, *args[1:], **options))
    if name in _JOINING:
        return joined(args[0], lambda each: function(each, *args[1:], **options))
    if name in _COMPUTING:
        try:
            return _COMPUTING[name](*args, **options)
        except TypeError as error:  # an option of NumPy's that encrypted arrays do not have
            raise caller().error(f"np.{name}: {error}") from error
    return None


def _split(
    x: EncryptedArray, function: Callable[[NDArray[Any]], Sequence[NDArray[Any]]]
) -> list[EncryptedArray]:
    """Returns the parts that a function of NumPy splits an array into."""
    try:
        count = len(function(np.zeros(x.shape)))
    except ValueError as error:
        raise caller().error(f"of an array of shape {x.shape}: {error}") from None
    return [x.rearranged(lambda a, i=i: function(a)[i]) for i in range(count)]  # type: ignore[misc]


def called_as_ufunc(ufunc: np.ufunc, operands: Sequence[Any]) -> EncryptedArray | None:
    """Returns what an arithmetic function of NumPy makes of operands; None: not supported."""
    if ufunc is np.matmul:
        return matmul(*operands)
    if ufunc in _BINARY:
        forward, reflected = _BINARY[ufunc]
        a, b = operands
        found = forward(a, b) if isinstance(a, EncryptedArray) else reflected(b, a)
        return cast("EncryptedArray", found)
    if ufunc in _APPROXIMATED:
        return cast("EncryptedArray", of_program(_APPROXIMATED[ufunc])(*_first_encrypted(operands)))
    return _UNARY[ufunc](*operands) if ufunc in _UNARY else None


def _first_encrypted(operands: Sequence[Any]) -> Sequence[Any]:
    """Operands of a symmetric function, an encrypted one before a plain one."""
    return operands if isinstance(operands[0], EncryptedArray) else tuple(reversed(operands))


_APPROXIMATED: Mapping[np.ufunc, str] = {
    np.exp: "exp",
    np.log: "log",
    np.sqrt: "sqrt",
    np.tanh: "tanh",
    np.reciprocal: "inverse",
    np.maximum: "maximum",
    np.fmax: "maximum",
    np.minimum: "minimum",
    np.fmin: "minimum",
}
"""Functions of ringsmith, with their default errors."""
_BINARY: Mapping[np.ufunc, tuple[Callable[..., Any], Callable[..., Any]]] = {
    np.add: (EncryptedArray.__add__, EncryptedArray.__radd__),
    np.subtract: (EncryptedArray.__sub__, EncryptedArray.__rsub__),
    np.multiply: (EncryptedArray.__mul__, EncryptedArray.__rmul__),
    np.true_divide: (EncryptedArray.__truediv__, EncryptedArray.__rtruediv__),
    np.power: (EncryptedArray.__pow__, EncryptedArray.__rpow__),
}
_UNARY: Mapping[np.ufunc, Callable[[EncryptedArray], EncryptedArray]] = {
    np.negative: EncryptedArray.__neg__,
    np.positive: EncryptedArray.__pos__,
    np.square: lambda x: x * x,
    np.conjugate: EncryptedArray.conjugate,
    np.absolute: abs,
    np.fabs: abs,
}
