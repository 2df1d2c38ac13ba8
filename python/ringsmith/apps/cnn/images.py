"""The data: scanned digits of 8 x 8 pixels, which scikit-learn ships.

They are the test part of "Optical Recognition of Handwritten Digits" (Alpaydin and Kaynak 1998; UCI
Machine Learning Repository, CC BY 4.0): 1,797 digits of 13 people.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import ToolError

Reals = NDArray[np.float64]
Labels = NDArray[np.int64]

SIDE = 8
"""Pixels of an image's side."""
DIGITS = 10
"""Classes: 0 … 9."""
BLACK = 16
"""The largest pixel in the data."""
HELD_OUT = 352
"""Images kept from training: eleven ciphertexts of 32."""
SPLIT_SEED = 2026


@dataclass(frozen=True, eq=False)
class Images:
    """Images of digits: ``pixels`` (images, 8, 8) from 0 to 1; ``digits`` (images,) 0 … 9."""

    pixels: Reals
    digits: Labels

    def __len__(self) -> int:
        return len(self.digits)

    def first(self, count: int) -> "Images":
        """Returns the first ``count`` images, or all if there are fewer."""
        return Images(self.pixels[:count], self.digits[:count])


def load_images() -> tuple[Images, Images]:
    """Loads the images and splits them, stratified by digit, always the same way.

    Returns:
        1,445 images to train on, and ``HELD_OUT`` that are kept from training.

    Raises:
        ToolError: When scikit-learn, which carries the data, is not installed.
    """
    try:
        from sklearn.datasets import load_digits
        from sklearn.model_selection import train_test_split
    except ModuleNotFoundError as error:
        raise ToolError(
            "scikit-learn is missing; it carries the images: pip install 'ringsmith[apps]'"
        ) from error
    raw, digits = load_digits(return_X_y=True)
    pixels = raw.reshape(-1, SIDE, SIDE) / BLACK
    train, kept, train_digits, kept_digits = train_test_split(
        pixels, digits, test_size=HELD_OUT, random_state=SPLIT_SEED, stratify=digits
    )
    return Images(train, train_digits), Images(kept, kept_digits)
