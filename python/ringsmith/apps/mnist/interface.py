"""What the image's owner and the server agree on, all of it public."""

from dataclasses import dataclass
from typing import Final

from ringsmith.apps.interface import VectorInterface
from ringsmith.apps.mnist.packing import ELEMENTS, Layout

INPUTS: Final = tuple(f"element{index:02}" for index in range(ELEMENTS))
"""The encrypted program's inputs: the pixels that each element of a kernel meets."""
OUTPUT: Final = "scores"
"""The encrypted program's output."""


@dataclass(frozen=True, eq=False)
class Interface(VectorInterface):
    """What the owner must know to be served.

    Attributes:
        layout: Where an image and its scores lie in ciphertexts.
    """

    layout: Layout
