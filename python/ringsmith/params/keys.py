"""Which evaluation keys a program needs: what a planner writes and a key generator reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from ringsmith.python_numbers import make_python_numbers, python_number
from ringsmith.short_repr import short_repr

if TYPE_CHECKING:
    from ringsmith.params.ring import RlweParameters

RELIN_KEY = "relin"
TO_SPARSE_KEY = "to_sparse"
FROM_SPARSE_KEY = "from_sparse"
"""The keys to and from the sparse secret of bootstrapping."""


SINGLE_KEYS = (RELIN_KEY, TO_SPARSE_KEY, FROM_SPARSE_KEY)
"""The names of keys without an element, in graphs and as fields of sets of keys."""
_GALOIS = "galois:"


def galois_key_name(element: int) -> str:
    """Returns the name of the Galois key of an element, as graphs and runs use it."""
    return f"{_GALOIS}{element}"


def galois_element_of(name: str) -> int:
    """Returns the element of a Galois key's name."""
    return int(name.removeprefix(_GALOIS))


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
        raised: Limbs to which bootstrapping raises a ciphertext, by the keys to and from a sparse
            secret; None: it is not bootstrapped.
    """

    relin: int | None = None
    galois: Mapping[int, int] = field(default_factory=dict)
    raised: int | None = None

    def __post_init__(self) -> None:
        make_python_numbers(self)
        galois = sorted(python_number(list(self.galois.items())))
        object.__setattr__(self, "galois", MappingProxyType(dict(galois)))

    @property
    def count(self) -> int:
        """The number of keys."""
        return len(self.galois) + (self.relin is not None) + 2 * (self.raised is not None)

    def shapes(self, parameters: "RlweParameters") -> dict[str, KeyShape]:
        """Returns the smallest shape that serves of each key, by its name in graphs.

        Raises:
            ParameterError: When the parameters have fewer limbs, or do not bootstrap.
        """
        found = {} if self.relin is None else {RELIN_KEY: parameters.key_shape(self.relin)}
        for element, limbs in self.galois.items():
            found[galois_key_name(element)] = parameters.key_shape(limbs)
        if self.raised is not None:
            found[TO_SPARSE_KEY] = parameters.sparse_key_shape
            found[FROM_SPARSE_KEY] = parameters.key_shape(self.raised)
        return found

    def bytes(self, parameters: "RlweParameters") -> int:
        """Bytes of all keys of these shapes; with seeds in place of their a parts, half of them."""
        return sum(shape.bytes(parameters.n) for shape in self.shapes(parameters).values())

    @property
    def limbs(self) -> tuple[int, ...]:
        """The limbs of every key."""
        single = (self.relin, self.raised)
        return (*(limbs for limbs in single if limbs is not None), *self.galois.values())

    def __reduce__(self) -> tuple[object, ...]:
        """Pickles and copies by the constructor: a read-only mapping cannot be pickled."""
        return KeyNeeds, (self.relin, dict(self.galois), self.raised)

    def __or__(self, other: "KeyNeeds") -> "KeyNeeds":
        """Returns what two programs need together."""
        relin = max((limbs for limbs in (self.relin, other.relin) if limbs), default=None)
        raised = max((limbs for limbs in (self.raised, other.raised) if limbs), default=None)
        galois = dict(self.galois)
        for element, limbs in other.galois.items():
            galois[element] = max(limbs, galois.get(element, 0))
        return KeyNeeds(relin, galois, raised)
