"""What client and server of an application agree on, all of it public."""

from collections.abc import Mapping
from dataclasses import dataclass

from ringsmith.objects import Ciphertext
from ringsmith.params import BfvParameters, CkksParameters, KeyNeeds

Inputs = Mapping[str, Ciphertext]
"""The ciphertexts that one run of a program computes on, by the input's name."""
PIXELS = (0.0, 1.0)
"""The least and the greatest pixel of an image, as networks take them."""


@dataclass(frozen=True, eq=False)
class Interface:
    """What a client must know to be served; a server publishes it.

    Attributes:
        parameters: HE parameters to make keys for.
        key_needs: Evaluation keys to hand over.
        seeded_keys: Whether to make half of them from seeds, which the server's device expands.
    """

    parameters: CkksParameters | BfvParameters
    key_needs: KeyNeeds
    seeded_keys: bool


@dataclass(frozen=True, eq=False)
class VectorInterface(Interface):
    """The same of one CKKS program that computes on encrypted vectors of one kind.

    Attributes:
        input_scale: Scale to encrypt at.
        input_limbs: Limbs to encrypt with.
        input_range: The least and the greatest number that a vector may hold.
    """

    parameters: CkksParameters
    input_scale: float
    input_limbs: int
    input_range: tuple[float, float]
