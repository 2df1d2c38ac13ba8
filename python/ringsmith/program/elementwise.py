"""Functions of one number in every slot, applied to vectors and to what consists of vectors."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from ringsmith.program.arrays import Array
from ringsmith.program.ranges import Interval, numbers_range
from ringsmith.program.recorded import check_encrypted
from ringsmith.program.source import SourceLine
from ringsmith.program.vector import EncryptedVector

VectorFunction = Callable[[EncryptedVector], EncryptedVector]
Compute = Callable[[Array], Array]
"""What a function means in NumPy, element by element."""


@runtime_checkable
class Mapped(Protocol):
    """A value that consists of encrypted vectors."""

    def _map(self, function: VectorFunction, compute: Compute, /) -> Any:  # noqa: ANN401
        """Returns the value with a function applied to each of its vectors.

        Args:
            function: Applied to each vector, at once.
            compute: What it means in NumPy.
        """
        ...


Value = TypeVar("Value")
"""An encrypted vector, or a value that is ``Mapped``."""


def each(x: Value, function: VectorFunction, compute: Compute) -> Value:
    """Returns a function of x in every slot; arguments are those of ``Mapped._map``."""
    if isinstance(x, EncryptedVector):
        return cast(Value, function(x))
    return cast(Value, cast(Mapped, x)._map(function, compute))


def vectors_of(x: object, call: str, source: SourceLine) -> list[EncryptedVector]:
    """Returns the encrypted vectors that a value consists of.

    Args:
        x: The value, as a user gave it.
        call: How the function is called, for the error.
        source: The user's line.

    Raises:
        ProgramError: When x is neither an encrypted vector nor made of such.
    """
    if not isinstance(x, Mapped):
        check_encrypted(x, call, source)
    found: list[EncryptedVector] = []

    def look(vector: EncryptedVector) -> EncryptedVector:
        found.append(vector)
        return vector

    each(x, look, lambda a: a)
    return found


def range_of_all(vectors: list[EncryptedVector]) -> Interval | None:
    """Returns the range of the numbers of vectors; None: they are not real, or not bounded."""
    ranges = [numbers_range(vector) for vector in vectors]
    known = [each for each in ranges if each is not None]
    if len(known) < len(ranges):
        return None
    return Interval(min(each.low for each in known), max(each.high for each in known))
