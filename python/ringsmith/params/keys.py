"""Which evaluation keys a program needs: what a planner writes and a key generator reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from ringsmith.python_numbers import make_python_numbers, python_number
from ringsmith.short_repr import short_repr

if TYPE_CHECKING:
    from ringsmith.params.ring import RlweParameters


@dataclass(frozen=True)
class KeyShape:
    """The digits and the primes of a key-switching key, an array (digits, 2, limbs, N).

    Attributes:
        digits: How many digits it has.
        base: Ascending indices of the primes of its limbs. Empty, for the keys of a graph only: all
            primes that keys of the graph can have.
    """

    digits: int
    base: tuple[int, ...] = ()

    @classmethod
    def full(cls, digits: int, primes: int) -> "KeyShape":
        """Returns the shape of a key over all of that many primes."""
        return cls(digits, tuple(range(primes)))

    def bytes(self, n: int) -> int:
        """Bytes of a key of ring degree N; with a seed in place of its a part, half of them."""
        return self.digits * 2 * len(self.base) * 8 * n


@short_repr
@dataclass(frozen=True)
class KeyNeeds:
    """Evaluation keys, each with the largest number of limbs that it is used at.

    A key needs only the digits of that many limbs, and their primes and the special primes:
    ``RlweParameters.key_shape(limbs)``. A run takes keys of more digits and primes, too.

    Attributes:
        relin: Limbs at which a ciphertext of three polynomials is relinearized; None: never.
        galois: Limbs by Galois element (odd, in 3 … 2N - 1), for rotations and conjugation.
    """

    relin: int | None = None
    galois: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        make_python_numbers(self)
        galois = sorted(python_number(list(self.galois.items())))
        object.__setattr__(self, "galois", MappingProxyType(dict(galois)))

    @property
    def count(self) -> int:
        """The number of keys."""
        return len(self.galois) + (self.relin is not None)

    def shapes(self, parameters: "RlweParameters") -> "tuple[KeyShape | None, dict[int, KeyShape]]":
        """Returns the smallest shapes that serve: of the relinearization key, and by element."""
        relin = None if self.relin is None else parameters.key_shape(self.relin)
        return relin, {e: parameters.key_shape(limbs) for e, limbs in self.galois.items()}

    def bytes(self, parameters: "RlweParameters") -> int:
        """Bytes of all keys of these shapes; with seeds in place of their a parts, half of them."""
        relin, galois = self.shapes(parameters)
        shapes = [*galois.values(), *([] if relin is None else [relin])]
        return sum(shape.bytes(parameters.n) for shape in shapes)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickles and copies by the constructor: a read-only mapping cannot be pickled."""
        return KeyNeeds, (self.relin, dict(self.galois))

    def __or__(self, other: "KeyNeeds") -> "KeyNeeds":
        """Returns what two programs need together."""
        relin = max((limbs for limbs in (self.relin, other.relin) if limbs), default=None)
        galois = dict(self.galois)
        for element, limbs in other.galois.items():
            galois[element] = max(limbs, galois.get(element, 0))
        return KeyNeeds(relin, galois)
