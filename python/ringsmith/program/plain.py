"""Plain operands: numbers and vectors that are known when a program is traced."""

import hashlib
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ringsmith.program.costs import CPU, Costs
from ringsmith.program.source import SourceLine

PlainValues = NDArray[np.number]
"""Shape () for one number in every slot, or (slots,). Approximate: float64, or complex128 where
needed. Exact: int64."""


T = TypeVar("T")
_remembered: dict[int, tuple[weakref.ref[PlainValues], dict[object, Any]]] = {}


@dataclass(frozen=True)
class Space:
    """The slots of a scheme's ciphertext.

    Attributes:
        slots: The number of slots.
        row: The length of a row: a rotation rotates each row of ``row`` slots by itself.
        exact: Whether slots hold integers modulo t, as in BFV; else real or complex numbers.
        chosen: Whether N is chosen automatically, so that nothing may depend on it.
        shared_rotations: Whether rotations of one value share their digits.
        costs: What operations cost on the device that the program is planned for.
    """

    slots: int
    row: int
    exact: bool
    chosen: bool = False
    shared_rotations: bool = True
    costs: Costs = CPU

    @property
    def slot_bits(self) -> int:
        """Bits of the number of a slot; in BFV the highest one is that of the row."""
        return self.slots.bit_length() - 1

    @property
    def rotation_cost(self) -> float:
        """What a rotation costs whose digits another one of the same value cuts already."""
        return 1.0 if self.shared_rotations else self.costs.rotation

    def numbers(
        self, value: object, source: SourceLine, what: str = "a plain operand"
    ) -> PlainValues:
        """Returns a fresh array of shape () or (length,), or refuses the value, called ``what``."""
        array = self.array(value, source, what)
        if array.ndim > 1 or array.size == 0:
            raise source.error(
                f"an array of shape {array.shape} is no vector: use one dimension and at least 1 "
                "number"
            )
        return array

    def matrix(self, value: object, source: SourceLine) -> PlainValues:
        """Returns a fresh array of shape (rows, columns), or refuses the value."""
        array = self.array(value, source)
        if array.ndim != 2 or array.size == 0:
            raise source.error(
                f"an array of shape {array.shape} is no matrix: use two dimensions, rows first, "
                "and at least 1 number"
            )
        return array

    def vector(
        self,
        value: object,
        source: SourceLine,
        arrange: Callable[[PlainValues], PlainValues] | None = None,
    ) -> PlainValues:
        """Returns a plain operand in its one stored form, read-only.

        Args:
            value: A number, or a sequence or one-dimensional array of numbers. A number fills all
                slots; a vector shorter than ``slots`` is padded with zeros.
            source: The user's line, for errors.
            arrange: Applied to a vector before zeros are appended.

        Raises:
            ProgramError: When the value is not of the scheme's numbers, not finite, empty, of more
                than one dimension, or longer than ``slots``.
        """
        array = self.numbers(value, source)
        if array.ndim == 1:
            array = array if arrange is None else arrange(array)
            if array.size > self.slots:
                raise source.error(
                    f"a vector of {array.size} numbers exceeds the {self.slots} slots of a "
                    "ciphertext: split it, or raise N"
                )
            if array.size < self.slots:
                array = np.concatenate([array, np.zeros(self.slots - array.size, array.dtype)])
        array.setflags(write=False)
        return array

    def in_every_row(self, values: NDArray[Any]) -> NDArray[Any]:
        """Returns the same ``row`` numbers for every row, shape (slots,)."""
        return values if values.size == self.slots else np.tile(values, self.slots // self.row)

    def array(
        self, value: object, source: SourceLine, what: str = "a plain operand"
    ) -> PlainValues:
        """Returns a fresh array of the scheme's numbers, of any shape."""
        if isinstance(value, np.ma.MaskedArray):
            raise source.error(
                f"{what} is a masked array, whose hidden numbers would be used: give "
                "values.filled(0), or values.compressed()"
            )
        try:
            array: NDArray[Any] = np.asarray(value)
        except ValueError:
            array = np.asarray(None)
        if array.dtype.kind == "b" and array.ndim:
            array = array.astype(np.int64)  # a mask
        return _whole(array, value, source) if self.exact else _finite(array, value, source, what)


def _finite(array: NDArray[Any], value: object, source: SourceLine, what: str) -> PlainValues:
    """Returns finite real or complex numbers."""
    if array.dtype.kind not in "iufc":
        raise source.error(
            f"{value!r:.60} ({type(value).__name__}) is not numeric: "
            "use encrypted vectors, numbers or arrays of numbers"
        )
    if not np.isfinite(array).all():
        position = np.argwhere(~np.isfinite(array))[0]
        where = f" at {', '.join(map(str, position))}" if position.size else ""
        raise source.error(f"{what} holds NaN or infinity{where}: use finite numbers")
    kind = np.complex128 if array.dtype.kind == "c" else np.float64
    return array.astype(kind)


def _whole(array: NDArray[Any], value: object, source: SourceLine) -> PlainValues:
    """Returns whole numbers."""
    if array.dtype.kind == "O" and all(whole_number(item) is not None for item in array.flat):
        raise source.error(
            f"{value!r:.60} has more than 64 bits: a program computes modulo t, so reduce it "
            "modulo t"
        )
    if array.dtype.kind not in "iu":
        raise source.error(
            f"{value!r:.60} ({type(value).__name__}) is not a whole number: BFV computes exactly "
            "on whole numbers modulo t: scale fractions up and round them, or take CKKS"
        )
    if array.size and int(array.max()) >= 1 << 63:
        raise source.error(f"{value!r:.60} does not fit 64 bits with a sign: reduce it modulo t")
    return array.astype(np.int64)


def whole_number(value: object) -> int | None:
    """Returns a Python or NumPy integer as an int, and None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return None
    return int(value)


def checked_power_of_two(what: str, value: object, high: int, source: SourceLine) -> int:
    """Returns a value that must be a power of two in 1 … ``high``.

    Raises:
        ProgramError: When it is no power of two; calls it ``what``, at the user's line.
    """
    number = whole_number(value)
    if number is None or not 1 <= number <= high or number & (number - 1):
        fitting = ""
        if number is not None and 1 <= number < high:
            fitting = f": pad to {1 << (number - 1).bit_length()}"
        raise source.error(f"{what} = {value!r:.60} is not a power of two in 1 … {high}{fitting}")
    return number


def digest(values: PlainValues) -> bytes:
    """Returns 32 bytes that stand for an array's numbers in keys: a program may have gigabytes."""
    return remembered(values, _digest)


def largest(values: PlainValues) -> float:
    """Returns the largest magnitude of an array's numbers."""
    return remembered(values, _largest)


def root_mean_square(values: PlainValues) -> float:
    """Returns the root mean square of an array's magnitudes; neither overflows nor underflows."""
    return remembered(values, _root_mean_square)


def remembered(values: PlainValues, compute: Callable[[PlainValues], T]) -> T:
    """Returns a function of an array's numbers, and keeps the result as long as the array lives.

    A program is planned several times with the same plain operands. Arrays that may change are
    computed anew.
    """
    if not isinstance(values, np.ndarray) or values.flags.writeable or not values.flags.owndata:
        return compute(values)
    identity = id(values)
    if identity not in _remembered:
        ref = weakref.ref(values, lambda _: _remembered.pop(identity, None))
        _remembered[identity] = ref, {}
    results = _remembered[identity][1]
    if compute not in results:
        results[compute] = compute(values)
    found: T = results[compute]
    return found


def _digest(values: PlainValues) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(values).data).digest()


def _largest(values: PlainValues) -> float:
    return float(np.abs(values).max())


def _root_mean_square(values: PlainValues) -> float:
    most = _largest(values)
    if not 0 < most < np.inf:
        return most
    return most * float(np.sqrt(np.mean(np.abs(values / most) ** 2)))


def turns(values: PlainValues) -> bool:
    """Whether plain numbers are i, -i, i, …, or their negatives: the slots of X^(N/2)."""
    if values.ndim != 1 or not np.iscomplexobj(values):
        return False
    first = values[0]
    if first not in (1j, -1j):
        return False
    return bool((values[::2] == first).all() and (values[1::2] == -first).all())
