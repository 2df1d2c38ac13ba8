"""What client and server agree on, all of it public."""

from dataclasses import dataclass

from ringsmith.apps.logreg.records import Preprocessing
from ringsmith.params import CkksParameters, KeyNeeds

INPUT = "records"
"""The encrypted program's input."""
OUTPUT = "probability"
"""The encrypted program's output."""


@dataclass(frozen=True, eq=False)
class Interface:
    """What a client must know to be served; a server publishes it.

    Attributes:
        parameters: HE parameters to make keys for.
        key_needs: Evaluation keys to hand over.
        seeded_keys: Whether to make half of them from seeds, which the server's device expands.
        block: Places for features in a ciphertext (``packing``).
        preprocessing: How raw features become model inputs.
        input_scale: Scale to encrypt at.
        input_limbs: Limbs to encrypt with.
    """

    parameters: CkksParameters
    key_needs: KeyNeeds
    seeded_keys: bool
    block: int
    preprocessing: Preprocessing
    input_scale: float
    input_limbs: int
