"""What an encrypted classification was worth: accuracy and errors, beside the clear network's."""

from dataclasses import dataclass

import numpy as np

from ringsmith.apps.cnn.images import Images, Labels, Reals
from ringsmith.apps.cnn.network import Network


@dataclass(frozen=True, eq=False)
class Predictions:
    """Scores of the same images, each (images, 10); the largest names the digit.

    Attributes:
        digits: The truth, (images,).
        encrypted: From the encrypted program, decrypted.
        clear: From the network in the clear: what ``encrypted`` should be.
    """

    digits: Labels
    encrypted: Reals
    clear: Reals

    @classmethod
    def compare(cls, network: Network, images: Images, encrypted: Reals) -> "Predictions":
        """Sets the decrypted scores beside what the network says in the clear."""
        return cls(images.digits, encrypted, network.scores(images.pixels))

    def accuracy(self, scores: Reals) -> float:
        """Returns the share of images whose digit is right, in [0, 1]."""
        return float(np.mean(scores.argmax(axis=1) == self.digits))

    def summary(self) -> "Quality":
        """Returns accuracies and errors."""
        same = self.encrypted.argmax(axis=1) == self.clear.argmax(axis=1)
        second, best = np.sort(self.clear, axis=1)[:, -2:].T
        return Quality(
            images=len(self.digits),
            accuracy_encrypted=self.accuracy(self.encrypted),
            accuracy_clear=self.accuracy(self.clear),
            same_digit=int(np.count_nonzero(same)),
            largest_error=float(np.abs(self.encrypted - self.clear).max()),
            smallest_lead=float((best - second).min()),
        )


@dataclass(frozen=True)
class Quality:
    """Figures of merit; accuracies are shares in [0, 1], scores are near [-1, 1].

    Attributes:
        images: How many were classified.
        accuracy_encrypted: Of the decrypted scores.
        accuracy_clear: Of the network in the clear.
        same_digit: Images whose encrypted and clear scores name the same digit.
        largest_error: Between a decrypted score and the clear one: what encryption cost.
        smallest_lead: The least by which a clear best score exceeds the second best: errors below
            half of it change no digit.
    """

    images: int
    accuracy_encrypted: float
    accuracy_clear: float
    same_digit: int
    largest_error: float
    smallest_lead: float
