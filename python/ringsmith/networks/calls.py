"""A node of a network at work: what it takes, its attributes, and the ranges of its numbers."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import ProgramError
from ringsmith.networks.graph import MAX_COMPUTED, NetworkNode
from ringsmith.program.ndarray.array import EncryptedArray
from ringsmith.program.ranges import bounded

BROADCASTING = frozenset({"Add", "Div", "Max", "Mean", "Min", "Mul", "Pow", "PRelu", "Sub", "Sum"})
"""Operators whose operands broadcast."""
Value = Any
"""An encrypted array, or one of NumPy: both have its methods."""


def encrypted(value: object) -> bool:
    """Whether a value is an encrypted array."""
    return isinstance(value, EncryptedArray)


class Ranges:
    """Ranges of the numbers of a network, by the name of the tensor.

    Args:
        margin: Part of its width by which a range of samples is widened at each end.
    """

    def __init__(self, margin: float) -> None:
        self._margin = margin
        self._found: dict[str, tuple[float, float]] = {}

    def add(self, name: str, values: NDArray[Any]) -> None:
        """Widens the range of a tensor so that it holds numbers."""
        low, high = float(values.min()), float(values.max())
        known = self._found.get(name, (low, high))
        self._found[name] = (min(low, known[0]), max(high, known[1]))

    def of(self, name: str) -> tuple[float, float] | None:
        """Returns the range of a tensor, widened; None if it was not seen, or is one number."""
        if name not in self._found:
            return None
        low, high = self._found[name]
        if not low < high:
            return None
        slack = self._margin * (high - low)
        return low - slack, high + slack

    def above_zero(self, name: str) -> tuple[float, float] | None:
        """Returns the range of numbers that are above 0 by what they are, widened by factors."""
        if name not in self._found or self._found[name][0] <= 0:
            return None
        low, high = self._found[name]
        return low / (1 + 2 * self._margin), high * (1 + 2 * self._margin)


@dataclass(frozen=True)
class Settings:
    """How functions that are no polynomials are approximated.

    Attributes:
        error: Part of the width of a function's range by which a result may be wrong; None:
            each function's default.
        degree: The degree of one polynomial for each function, in place of an error.
    """

    error: float | None = None
    degree: int | None = None


@dataclass(frozen=True, eq=False)
class Call:
    """A node and what it takes.

    Attributes:
        node: The node.
        operands: Its inputs; None stands for one that is left out.
        opset: The version of ONNX's operators.
        settings: How functions are approximated.
        ranges: Ranges from samples; None: there are no samples.
        recording: Whether samples are computed, and their ranges recorded.
    """

    node: NetworkNode
    operands: tuple[Value, ...]
    opset: int
    settings: Settings = field(default_factory=Settings)
    ranges: Ranges | None = None
    recording: bool = False

    def error(self, message: str) -> ProgramError:
        """Returns (does not raise) an error that names the node."""
        return ProgramError(f"{self.node}: {message}")

    @property
    def x(self) -> Value:
        """The first operand."""
        return self.take(0)

    def take(self, index: int) -> Value:
        """Returns an operand that must be there."""
        value = self.optional(index)
        if value is None:
            raise self.error(f"input {index + 1} is missing")
        return value

    def optional(self, index: int) -> Value | None:
        """Returns an operand, or None."""
        return self.operands[index] if index < len(self.operands) else None

    def plain(self, index: int) -> NDArray[Any]:
        """Returns an operand that must be known when the program is made."""
        value = self.take(index)
        if encrypted(value):
            raise self.error(
                f"input {index + 1}, {self.node.inputs[index]!r:.60}, is encrypted: it must be a "
                "constant of the network"
            )
        return np.asarray(value)

    def attribute(self, name: str, default: Any = None) -> Any:  # noqa: ANN401
        """Returns an attribute."""
        return self.node.attributes.get(name, default)

    def whole_numbers(self, name: str, index: int | None = None) -> tuple[int, ...] | None:
        """Returns whole numbers of an attribute or, in newer versions, of an operand."""
        found = self.attribute(name)
        if found is None and index is not None and self.optional(index) is not None:
            found = self.plain(index).reshape(-1).tolist()
        if found is None:
            return None
        listed = found if isinstance(found, list) else [found]
        if not all(isinstance(each, int) and not isinstance(each, bool) for each in listed):
            raise self.error(f"{name} = {found!r:.60}: whole numbers are expected")
        return (*listed,)

    def checked(self, *lengths: int) -> None:
        """Refuses a result of more numbers than a tensor may have."""
        if math.prod(lengths) > MAX_COMPUTED:
            raise self.error(f"a result of shape {lengths!r:.80}: {MAX_COMPUTED} numbers at most")

    def check_growth(self) -> None:
        """Refuses results that outgrow a tensor, before they are computed."""
        shapes = [np.shape(each) for each in self.operands if each is not None]
        if self.node.operator in BROADCASTING:
            self.checked(*np.broadcast_shapes(*shapes))
        elif self.node.operator == "Concat":
            self.checked(sum(map(math.prod, shapes)))
        elif self.node.operator in ("MatMul", "Gemm") and len(shapes) > 1:
            a, b = shapes[:2]
            batch = math.prod(np.broadcast_shapes(a[:-2], b[:-2]))
            self.checked(batch, *(max(each[-2:], default=1) for each in (a, b)))

    @property
    def x_above_zero(self) -> Value:
        """The first operand, promised to be above 0 if it is in all samples."""
        if self.ranges is None or not encrypted(self.x):
            return self.x
        found = self.ranges.above_zero(self.node.inputs[0])
        return self.x if found is None else bounded(self.x, found)

    def range_of(self, what: str, values: Value, *, above_zero: bool = False) -> Any:  # noqa: ANN401
        """Records a range, or returns what samples showed; None without samples.

        Args:
            what: The tensor's name, or that of a number inside of a node.
            values: Its values.
            above_zero: Whether the numbers are above 0 by what they are.
        """
        if self.ranges is None:
            return None
        if self.recording and not encrypted(values):
            self.ranges.add(what, np.asarray(values))
            return None
        return self.ranges.above_zero(what) if above_zero else self.ranges.of(what)
