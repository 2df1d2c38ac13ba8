"""What hospital and laboratory agree on, all of it public."""

from dataclasses import dataclass

from ringsmith.apps.interface import VectorInterface
from ringsmith.apps.logreg.records import Preprocessing

INPUT = "records"
"""The encrypted program's input."""
OUTPUT = "probability"
"""The encrypted program's output."""


@dataclass(frozen=True, eq=False)
class Interface(VectorInterface):
    """What a hospital must know to be served, and how records lie in a ciphertext.

    Attributes:
        block: Places for features in a ciphertext (``packing``).
        preprocessing: How raw features become model inputs.
    """

    block: int
    preprocessing: Preprocessing
