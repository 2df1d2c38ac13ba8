"""Encrypted arrays: NumPy's arithmetic on entries, wherever these lie in ciphertexts."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from ringsmith.graph.operations import Op
from ringsmith.program import clearing
from ringsmith.program.arithmetic import Arithmetic
from ringsmith.program.arrays import Array, ArrayNode
from ringsmith.program.ndarray.layout import GAP, Layout
from ringsmith.program.ndarray.parts import (
    NOTHING,
    Part,
    combined,
)
from ringsmith.program.ndarray.placing import (
    Placed,
    keeps_slots,
    merged,
    moved_entries,
    placed,
    placing_cost,
    seen_as,
    summed,
)
from ringsmith.program.ndarray.terms import Listed
from ringsmith.program.nodes import Bound
from ringsmith.program.plain import PlainValues, whole_number
from ringsmith.program.recorder import Trace
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.spans import Span
from ringsmith.program.unsupported import numpy_error
from ringsmith.program.vector import EncryptedVector

Axis = int | tuple[int, ...] | None
"""The axes that are summed over; None: all."""


class EncryptedArray(Arithmetic):
    """An encrypted array; made by ``trace`` for an input with a shape.

    It means what NumPy means: arithmetic with arrays and numbers, encrypted or plain, of shapes
    that broadcast; slices, ``reshape``, ``transpose``, ``sum`` and ``@``. Where an entry lies, and
    what other slots hold, is its layout, and never changes a result.

    Attributes:
        shape: As NumPy's.
    """

    kind = "array"

    def __init__(self, trace: Trace, content: Placed, node: ArrayNode) -> None:
        """For this package only.

        Args:
            trace: Where operations are recorded.
            content: The ciphertexts, and where entries lie in them.
            node: What the array means.
        """
        self._trace = trace
        self._content = content
        self._node = node

    # ---- what it is ------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self._content.layout.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)

    @property
    def content(self) -> Placed:
        """The ciphertexts, and where entries lie in them."""
        return self._content

    @property
    def trace(self) -> Trace:
        """The trace that the array belongs to."""
        return self._trace

    @property
    def node(self) -> ArrayNode:
        """What it means."""
        return self._node

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"EncryptedArray(shape {self.shape})"

    def made(
        self, content: Placed, compute: Callable[..., Array], *operands: "EncryptedArray"
    ) -> Self:
        """Returns an array of the same trace.

        Args:
            content: Its ciphertexts.
            compute: Computes it from the operands' arrays.
            operands: What it is computed from; without any this array.
        """
        nodes = tuple(each.node for each in operands or (self,))
        size = math.prod(content.layout.shape)
        node = ArrayNode(size, compute, nodes, shape=content.layout.shape)
        return type(self)(self._trace, content, node)

    # ---- arithmetic ------------------------------------------------------------------------

    def __neg__(self) -> Self:
        parts = [
            np.asarray(np.negative(part)) if isinstance(part, np.ndarray) else -part
            for part in self._content.parts
        ]
        return self.made(replace(self._content, parts=parts, unshaped=None), np.negative)

    def conjugate(self) -> Self:
        """Returns the complex conjugate of every entry; in CKKS only."""
        if self._trace.space.exact:
            raise caller().error("whole numbers have no conjugate: leave it out")
        parts = [
            np.asarray(np.conjugate(part)) if isinstance(part, np.ndarray) else part.conjugate()
            for part in self._content.parts
        ]
        return self.made(replace(self._content, parts=parts, unshaped=None), np.conjugate)

    def _binary(self, op: Op, other: object) -> Self:
        source = caller()
        if isinstance(other, EncryptedVector):
            raise source.error(
                f"an array of shape {self.shape} meets a vector of slots: declare the vector's "
                f"input with a shape, ({len(other)},), or write from_slots(vector)"
            )
        if not isinstance(other, EncryptedArray):
            return self._with_plain(op, self._trace.space.array(other, source), source)
        if other.trace is not self._trace:
            raise source.error(
                "the operands belong to two traces: use only what the traced function was handed"
            )
        shape = broadcast_shape(self.shape, other.shape, source)
        x, y = self._content.broadcast(len(shape)), other.content.broadcast(len(shape))
        target = self._meeting(x.layout, y.layout, shape)
        left = placed(x, target, self._trace, source)
        right = placed(y, target, self._trace, source)
        pairs = zip(left, right, _present(target), strict=True)
        parts = [combined(op, a, b, self._trace) if here else NOTHING for a, b, here in pairs]
        kept = [each.origin for each in (x, y) if keeps_slots(each.layout, target)]
        origin = next((each for each in kept if each is not None), None)
        return self.made(Placed(parts, target, origin), COMPUTE[op], self, other)

    def _meeting(self, x: Layout, y: Layout, shape: tuple[int, ...]) -> Layout:
        """The layout in which two arrays meet for the least cost."""
        space = self._trace.space

        def both(target: Layout) -> float:
            return sum(placing_cost(each, target, space) for each in (x, y))

        return min(dict.fromkeys((merged(x, y, shape), merged(y, x, shape))), key=both)

    def _with_plain(self, op: Op, values: PlainValues, source: SourceLine) -> Self:
        """Returns a sum or product with plain numbers, in slots without entries zeros."""
        shape = broadcast_shape(self.shape, values.shape, source)
        compute = COMPUTE[op]
        if not values.ndim:
            parts = [combined(op, part, values, self._trace) for part in self._content.parts]
            if op is Op.MULTIPLY and not values.any():
                parts = [NOTHING for _ in parts]
            present = _present(self._content.layout)
            parts = [part if here else NOTHING for part, here in zip(parts, present, strict=True)]
            content = replace(self._content, parts=parts, unshaped=None)
            return self.made(content, lambda a: compute(a, values))
        x = self._content.broadcast(len(shape))
        layout = x.layout
        if layout.shape != shape:
            layout = merged(layout, Layout.dense(shape, layout.slot_bits), shape)
        parts = list(placed(x, layout, self._trace, source))
        laid = np.concatenate([np.zeros(1, values.dtype), np.broadcast_to(values, shape).ravel()])
        rows = laid[layout.table].reshape(layout.ciphertexts, layout.slots)
        parts = [
            combined(op, part, row, self._trace) for part, row in zip(parts, rows, strict=True)
        ]
        origin = x.origin if keeps_slots(x.layout, layout) else None
        return self.made(Placed(parts, layout, origin), lambda a: compute(a, values))

    def __matmul__(self, other: object) -> "EncryptedArray":
        return _computed("products", "matmul", self, other)

    def __rmatmul__(self, other: object) -> "EncryptedArray":
        return _computed("products", "matmul", other, self)

    def dot(self, other: object) -> "EncryptedArray":
        """Returns the product with an array, as ``numpy.dot`` for up to two axes."""
        return _computed("functions", "dot", self, other)

    def prod(self, axis: int | None = None, *, keepdims: bool = False) -> "EncryptedArray":
        """Returns products over an axis, as ``numpy.prod``."""
        return _computed("functions", "prod", self, axis, keepdims=keepdims)

    def clip(self, low: float, high: float) -> "EncryptedArray":
        """Returns about the numbers moved into a range, as ``numpy.clip``, by ``maximum``."""
        return _computed("protocols", "clip", self, low, high)

    def copy(self) -> Self:
        """Returns the array itself, which is never changed."""
        return self

    @property
    def real(self) -> Self:
        """The real parts; in CKKS only."""
        return (
            self if self._is_real() else self.made(((self + self.conjugate()) / 2).content, np.real)
        )

    @property
    def imag(self) -> Self:
        """The imaginary parts; in CKKS only."""
        return self.made(((self - self.conjugate()) / 2j).content, np.imag)

    def cumsum(self, axis: int | None = None) -> "EncryptedArray":
        """Returns sums of the entries up to each one, as ``numpy.cumsum``."""
        return _computed("functions", "cumsum", self, axis)

    def _of_ufunc(self, ufunc: np.ufunc, operands: Sequence[Any]) -> object:
        return _later("protocols", "called_as_ufunc")(ufunc, operands)

    def __array_function__(
        self,
        function: Callable[..., object],
        types: object,
        args: Sequence[object],
        options: Mapping[str, object],
    ) -> object:
        """Takes functions that move and add up entries from NumPy, and refuses its others."""
        found = _later("protocols", "called_by_numpy")(function, args, options)
        if found is None:
            raise numpy_error(function.__name__, self.kind)
        return found

    # ---- where entries go --------------------------------------------------------------------

    def __getitem__(self, index: object) -> Self:  # type: ignore[override]
        source = caller()
        try:
            taken = self._numbers()[cast("Any", index)]  # NumPy checks it
        except (IndexError, TypeError, ValueError) as error:
            raise source.error(
                f"[{index!r:.60}] of an array of shape {self.shape}: {error}"
            ) from None
        taken = np.asarray(taken)
        if not taken.size:
            raise source.error(f"[{index!r:.60}] of an array of shape {self.shape} takes no entry")
        return self.taken(taken, lambda a: a[index], source)

    def reshape(self, *shape: Any) -> Self:  # noqa: ANN401 - as NumPy's
        """Returns the entries in another shape, as ``numpy.reshape`` in order C."""
        return self.rearranged(lambda a: np.reshape(a, _one(shape)))

    def ravel(self) -> Self:
        """Returns the entries along one axis."""
        return self.reshape(-1)

    flatten = ravel

    def transpose(self, *axes: Any) -> Self:  # noqa: ANN401 - as NumPy's
        """Returns the array with its axes in another order, as ``numpy.transpose``."""
        return self.rearranged(lambda a: np.transpose(a, _one(axes) if axes else None))

    @property
    def T(self) -> Self:  # noqa: N802 - NumPy's name
        """The array with its axes reversed."""
        return self.transpose()

    def swapaxes(self, first: int, second: int) -> Self:
        """Returns the array with two axes exchanged, as ``numpy.swapaxes``."""
        return self.rearranged(lambda a: np.swapaxes(a, first, second))

    def squeeze(self, axis: Axis = None) -> Self:
        """Returns the array without axes of length 1."""
        return self.rearranged(lambda a: np.squeeze(a, axis))

    def __iter__(self) -> Iterator[Self]:  # type: ignore[override]
        return (self[i] for i in range(len(self)))

    def rearranged(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> Self:
        """Returns what a function of NumPy that only moves entries makes of the array.

        Args:
            function: Such as ``np.transpose``; it is called on the numbers of the entries.
        """
        source = caller()
        try:
            taken = np.asarray(function(self._numbers()))
        except (IndexError, TypeError, ValueError) as error:
            raise source.error(f"of an array of shape {self.shape}: {error}") from None
        return self.taken(taken, function, source)

    def _numbers(self) -> NDArray[np.int64]:
        return np.arange(self.size, dtype=np.int64).reshape(self.shape)

    def taken(
        self, entries: NDArray[np.int64], compute: Callable[..., Array], source: SourceLine
    ) -> Self:
        """Returns an array of entries of this one.

        Args:
            entries: The number of the entry in the flat array, for each of the result.
            compute: The same on arrays.
            source: The user's line.
        """
        content = seen_as(self._content, entries, self._trace)
        if content is None:
            flat = entries.reshape(-1)
            terms = Listed(np.arange(flat.size, dtype=np.int64), flat)
            content = moved_entries([self._content], [terms], entries.shape, self._trace, source)
            if np.array_equal(flat, np.arange(self.size)):
                content = replace(content, unshaped=self._content)
        return self.made(content, compute)

    def slots(self) -> EncryptedVector:
        """Returns the entries as a vector, row by row in its first slots, which can be rotated.

        Raises:
            ProgramError: When they are more than a ciphertext holds.
        """
        source, space = caller(), self._trace.space
        if self.size > space.slots:
            raise source.error(
                f"{self.size} entries exceed a ciphertext of {space.slots} slots: take fewer, or "
                "raise N"
            )
        flat = self.ravel()
        layout = Layout.dense(flat.shape, space.slot_bits, rest=GAP)
        (part,) = placed(flat.content, layout, self._trace, source)
        if isinstance(part, np.ndarray):
            raise source.error("no entry depends on the inputs: use the numbers that are known")
        node = ArrayNode(self.size, np.ravel, (self._node,))
        return EncryptedVector(self._trace, part.index, node)

    # ---- sums --------------------------------------------------------------------------------

    def sum(self, axis: Axis = None, *, keepdims: bool = False) -> Self:
        """Returns sums over axes, as ``numpy.sum``: log2(length) rotations for each axis."""
        source = caller()
        axes = checked_axes(axis, self.shape, source)
        content = self._content
        for each in axes:
            content = summed(content, each, self._trace, source)
        total = self.made(content, lambda a: np.sum(a, axis=axes, keepdims=True))
        if keepdims or not axes:
            return total
        return total.rearranged(lambda a: np.squeeze(a, axes))

    def mean(self, axis: Axis = None, *, keepdims: bool = False) -> Self:
        """Returns means over axes, as ``numpy.mean``; in CKKS only."""
        axes = checked_axes(axis, self.shape, caller())
        count = math.prod(self.shape[each] for each in axes)
        return self.sum(axes, keepdims=keepdims) / count

    def var(self, axis: Axis = None, *, keepdims: bool = False) -> Self:
        """Returns variances over axes, as ``numpy.var``; in CKKS only."""
        axes = checked_axes(axis, self.shape, caller())
        centred = self - self.mean(axes, keepdims=True)
        other = centred if centred._is_real() else centred.conjugate()
        return (centred * other).mean(axes, keepdims=keepdims)

    def std(
        self, axis: Axis = None, *, keepdims: bool = False, error: float | None = None
    ) -> "EncryptedArray":
        """Returns about the standard deviations over axes; see ``ndarray.axes.std``."""
        return _computed("axes", "std", self, axis, keepdims=keepdims, error=error)

    def max(
        self,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        error: float | None = None,
        margin: float | None = None,
        precision: float = 8,
    ) -> "EncryptedArray":
        """Returns about the largest entries along axes; see ``ndarray.axes.amax``."""
        options = {"keepdims": keepdims, "error": error, "margin": margin}
        return _computed("axes", "amax", self, axis, precision=precision, **options)

    def min(
        self,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        error: float | None = None,
        margin: float | None = None,
        precision: float = 8,
    ) -> "EncryptedArray":
        """Returns about the smallest entries along axes; see ``ndarray.axes.amax``."""
        options = {"keepdims": keepdims, "error": error, "margin": margin}
        return _computed("axes", "amin", self, axis, precision=precision, **options)

    def _is_real(self) -> bool:
        parts = (part for part in self._content.parts if not isinstance(part, np.ndarray))
        return all(self._trace.span(part.index).real for part in parts)

    # ---- functions of every entry ------------------------------------------------------------

    def span(self) -> Span:
        """Returns the range that holds all entries."""
        low, high, disc = [], [], False
        for part, where in zip(self._content.parts, self._content.layout.entries, strict=True):
            if not where.any():
                continue
            if isinstance(part, np.ndarray):
                values = np.broadcast_to(part, where.shape)[where]
                span = Span(values, values)
            else:
                span = self._trace.span(part.index)
                low_ends, high_ends = (_picked(end, where) for end in (span.low, span.high))
                span = Span(low_ends, high_ends, span.disc)
            if np.iscomplexobj(span.low) or span.disc:
                span, disc = Span.of_magnitude(span.magnitudes), True
            low.append(span.low.min())
            high.append(span.high.max())
        return Span(np.asarray(min(low)), np.asarray(max(high)), disc)

    def _map(
        self,
        function: Callable[[EncryptedVector], EncryptedVector],
        compute: Callable[[Array], Array],
        range_of_others: Span | None = None,
    ) -> Self:
        """Returns a function of every entry.

        Args:
            function: Of all slots of a ciphertext.
            compute: The same of an array of numbers.
            range_of_others: The range that slots without entries are moved into before; None: that
                of the entries.
        """
        source = caller()
        span = self.span() if range_of_others is None else range_of_others
        parts: list[Part] = []
        for part, where in zip(self._content.parts, self._content.layout.entries, strict=True):
            if not where.any():
                parts.append(NOTHING)
            elif isinstance(part, np.ndarray):
                values = np.broadcast_to(part, where.shape)
                parts.append(np.asarray(np.where(where, compute(values), 0)))
            else:
                parts.append(function(self._all_slots(part, ~where, span, source)).slots_of())
        return self.made(replace(self._content, parts=parts, unshaped=None), compute)

    def bounded(self, bound: Bound) -> Self:
        """Returns the array with the promise that its entries lie in a range."""
        low, high = np.asarray(bound.low), np.asarray(bound.high)

        def promise(x: EncryptedVector) -> EncryptedVector:
            self._trace.annotate(x.index, bound=bound)
            return x

        return self._map(promise, bound.checked, Span(low, high))

    def _all_slots(
        self, part: EncryptedVector, others: NDArray[np.bool_], span: Span, source: SourceLine
    ) -> EncryptedVector:
        """A ciphertext as a vector of slots, all in the range of the entries."""
        space = self._trace.space
        index = part.index
        if not span.disc:
            low, high = float(span.low), float(span.high)
            index = clearing.moved_into(
                self._trace, index, others, low, high, source, "slots without entries"
            )
        node = ArrayNode(space.slots, lambda a: a, all_slots=True)
        return EncryptedVector(self._trace, index, node)


def _later(module: str, name: str) -> Callable[..., Any]:
    """A function of a module that imports this one."""
    found = getattr(import_module(f"ringsmith.program.ndarray.{module}"), name)
    return cast("Callable[..., Any]", found)


def _computed(module: str, name: str, *args: object, **options: object) -> EncryptedArray:
    found = _later(module, name)(*args, **options)
    assert isinstance(found, EncryptedArray), "it computes on arrays"
    return found


COMPUTE: dict[Op, Callable[..., Array]] = {
    Op.ADD: np.add,
    Op.SUB: np.subtract,
    Op.MULTIPLY: np.multiply,
}


def _present(layout: Layout) -> list[bool]:
    """Which ciphertexts hold entries."""
    found: list[bool] = layout.entries.max(axis=1).tolist()
    return found


def _one(given: Sequence[Any]) -> Any:  # noqa: ANN401
    """The one argument, or all of them: ``reshape(2, 3)`` or ``reshape((2, 3))``."""
    return given[0] if len(given) == 1 else tuple(given)


def _picked(end: NDArray[Any], where: NDArray[np.bool_]) -> NDArray[Any]:
    return np.broadcast_to(end, (max(end.size, where.size),))[: where.size][where]


def broadcast_shape(
    left: tuple[int, ...], right: tuple[int, ...], source: SourceLine
) -> tuple[int, ...]:
    """Returns the shape of a result, as NumPy.

    Raises:
        ProgramError: When the shapes do not fit; names both.
    """
    try:
        return np.broadcast_shapes(left, right)
    except ValueError:
        raise source.error(
            f"shapes {left} and {right} do not fit, as in NumPy: from the last axis on, lengths "
            "must be equal, or one of them 1"
        ) from None


def checked_axes(axis: object, shape: tuple[int, ...], source: SourceLine) -> tuple[int, ...]:
    """Returns axes from 0, ascending.

    Raises:
        ProgramError: When there is no such axis, or one is named twice.
    """
    if axis is None or (not shape and axis in (0, -1)):  # NumPy takes these, too
        return tuple(range(len(shape)))
    given = axis if isinstance(axis, tuple) else (axis,)
    found = []
    for each in given:
        number = whole_number(each)
        if number is None or not -len(shape) <= number < len(shape):
            raise source.error(
                f"axis = {axis!r:.40} of an array of shape {shape}: there is no such"
            )
        found.append(number % len(shape))
    if len(set(found)) < len(found):
        raise source.error(f"axis = {axis!r:.40} names an axis twice")
    return tuple(sorted(found))
