"""What an encrypted classification was worth: accuracy and errors, beside the clear models'."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.apps.logreg.model import Model
from ringsmith.apps.logreg.records import Labels, Reals, Records

THRESHOLD = 0.5
"""A tumour counts as malignant when its probability is above it."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Probabilities of malignancy of the same patients, each array (patients,).

    Attributes:
        malignant: The truth, 0 or 1.
        encrypted: From the encrypted program, decrypted.
        polynomial: From the model with the sigmoid's polynomial, in the clear: what ``encrypted``
            should be.
        clear: From the model with the true sigmoid, in the clear.
    """

    malignant: Labels
    encrypted: Reals
    polynomial: Reals
    clear: Reals

    @classmethod
    def compare(cls, model: Model, records: Records, encrypted: Reals) -> "Predictions":
        """Sets the decrypted results beside what the model says in the clear."""
        inputs = model.preprocessing(records.features)
        return cls(
            records.malignant,
            encrypted,
            model.polynomial_probabilities(inputs),
            model.probabilities(inputs),
        )

    def accuracy(self, probabilities: Reals) -> float:
        """Returns the share of patients whose class is right, in [0, 1]."""
        return float(np.mean(classes(probabilities) == self.malignant))

    def summary(self) -> "Quality":
        """Returns accuracies and largest errors."""
        return Quality(
            patients=len(self.malignant),
            accuracy_encrypted=self.accuracy(self.encrypted),
            accuracy_polynomial=self.accuracy(self.polynomial),
            accuracy_clear=self.accuracy(self.clear),
            same_class_as_polynomial=int(
                np.sum(classes(self.encrypted) == classes(self.polynomial))
            ),
            largest_error_to_polynomial=float(np.abs(self.encrypted - self.polynomial).max()),
            largest_error_to_sigmoid=float(np.abs(self.encrypted - self.clear).max()),
        )


@dataclass(frozen=True)
class Quality:
    """Figures of merit; accuracies are shares in [0, 1], errors are absolute probabilities.

    Attributes:
        patients: How many were classified.
        accuracy_encrypted: Of the decrypted results.
        accuracy_polynomial: Of the clear model with the polynomial.
        accuracy_clear: Of the clear model with the true sigmoid.
        same_class_as_polynomial: Patients whose encrypted and clear polynomial's classes agree.
        largest_error_to_polynomial: What encryption cost.
        largest_error_to_sigmoid: What encryption and the polynomial cost together.
    """

    patients: int
    accuracy_encrypted: float
    accuracy_polynomial: float
    accuracy_clear: float
    same_class_as_polynomial: int
    largest_error_to_polynomial: float
    largest_error_to_sigmoid: float


def classes(probabilities: Reals) -> NDArray[np.bool_]:
    """Returns True for malignant."""
    return probabilities > THRESHOLD
