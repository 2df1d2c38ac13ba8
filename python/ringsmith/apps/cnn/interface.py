"""What the images' owner and the service agree on, all of it public."""

from dataclasses import dataclass

from ringsmith.apps.cnn.packing import Layout
from ringsmith.apps.interface import VectorInterface

INPUT = "images"
"""The encrypted program's input."""
OUTPUT = "scores"
"""The encrypted program's output."""


@dataclass(frozen=True, eq=False)
class Interface(VectorInterface):
    """What the owner must know to be served.

    Attributes:
        layout: Where images lie in a ciphertext.
    """

    layout: Layout
