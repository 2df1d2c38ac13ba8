"""What client and server agree on, all of it public."""

from dataclasses import dataclass

from ringsmith.apps.cnn.packing import Layout
from ringsmith.params import CkksParameters, KeyNeeds

INPUT = "images"
"""The encrypted program's input."""
OUTPUT = "scores"
"""The encrypted program's output."""


@dataclass(frozen=True, eq=False)
class Interface:
    """What a client must know to be served; a server publishes it.

    Attributes:
        parameters: HE parameters to make keys for.
        key_needs: Evaluation keys to hand over.
        seeded_keys: Whether to make half of them from seeds, which the server's device expands.
        layout: Where images lie in a ciphertext.
        input_scale: Scale to encrypt at.
        input_limbs: Limbs to encrypt with.
    """

    parameters: CkksParameters
    key_needs: KeyNeeds
    seeded_keys: bool
    layout: Layout
    input_scale: float
    input_limbs: int
