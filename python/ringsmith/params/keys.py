"""Which evaluation keys a program needs: what a planner writes and a key generator reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ringsmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class KeyNeeds:
    """Evaluation keys, each with the largest number of limbs that it is used at.

    Keys always have all dnum digits: a run refuses a key of any other shape. The limbs
    say which digits it will read.

    Attributes:
        relin: Limbs at which a ciphertext of three polynomials is relinearized; None: never.
        galois: Limbs by Galois element (odd, in 3 … 2N - 1), for rotations and conjugation.
    """

    relin: int | None = None
    galois: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "galois", MappingProxyType(dict(sorted(self.galois.items()))))

    @property
    def count(self) -> int:
        """The number of keys."""
        return len(self.galois) + (self.relin is not None)

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
