"""What an encrypted classification gave, compared with the network in the clear."""

from dataclasses import dataclass

import numpy as np

from ringsmith.apps.mnist.images import Labels
from ringsmith.apps.mnist.network import Reals


@dataclass(frozen=True, eq=False)
class Predictions:
    """Scores of the same images, each (images, 10); the largest names the digit.

    Attributes:
        digits: The truth, (images,); -1 where it is not known.
        encrypted: From the encrypted program, decrypted.
        clear: From the network in the clear: what ``encrypted`` should be.
    """

    digits: Labels
    encrypted: Reals
    clear: Reals

    def summary(self) -> "Quality":
        """Returns accuracies and errors."""
        encrypted, clear = self.encrypted.argmax(axis=1), self.clear.argmax(axis=1)
        second, best = np.sort(self.clear, axis=1)[:, -2:].T
        return Quality(
            images=len(self.digits),
            right_encrypted=int(np.count_nonzero(encrypted == self.digits)),
            right_clear=int(np.count_nonzero(clear == self.digits)),
            same_digit=int(np.count_nonzero(encrypted == clear)),
            largest_error=float(np.abs(self.encrypted - self.clear).max()),
            smallest_lead=float((best - second).min()),
        )


@dataclass(frozen=True)
class Quality:
    """Figures of merit; scores are near [-1, 1].

    Attributes:
        images: How many were classified.
        right_encrypted: Whose digit is right by the decrypted scores.
        right_clear: Whose digit is right by the network in the clear.
        same_digit: Whose encrypted and clear scores name the same digit.
        largest_error: Between a decrypted score and the clear one: what encryption cost.
        smallest_lead: The least by which a clear best score exceeds the second best: errors below
            half of it change no digit.
    """

    images: int
    right_encrypted: int
    right_clear: int
    same_digit: int
    largest_error: float
    smallest_lead: float
