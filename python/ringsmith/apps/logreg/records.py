"""The data: scikit-learn's breast-cancer records, split and made ready for a linear model."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import ToolError

Reals = NDArray[np.float64]
Labels = NDArray[np.int64]

HELD_OUT = 114
"""Patients kept from training: one in five."""
SPLIT_SEED = 2026
CLIP = 2.0
"""Standardized features are limited to [-CLIP, CLIP]: one outlier then cannot drive a logit far out
of the range on which the sigmoid's polynomial is good."""


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """How raw features become model inputs: standardized by the training set, then clipped.

    Public: the server publishes it with its model's interface, the client applies it.

    Attributes:
        mean: Training mean of each feature.
        deviation: Training standard deviation of each feature.
    """

    mean: Reals
    deviation: Reals

    @classmethod
    def fit(cls, features: Reals) -> "Preprocessing":
        """Takes mean and deviation from raw training features (patients, features)."""
        return cls(features.mean(axis=0), features.std(axis=0))

    def __call__(self, features: Reals) -> Reals:
        """Returns the model inputs, in [-CLIP, CLIP], for raw features (patients, features)."""
        return np.clip((features - self.mean) / self.deviation, -CLIP, CLIP)


@dataclass(frozen=True, eq=False)
class Records:
    """Patients' records: ``features`` (patients, 30) raw; ``malignant`` (patients,) 0 or 1."""

    features: Reals
    malignant: Labels

    def __len__(self) -> int:
        return len(self.malignant)


def load_records() -> tuple[Records, Records]:
    """Loads the records and splits them, stratified by diagnosis, always the same way.

    Returns:
        Training records and held-out records (569 together).

    Raises:
        ToolError: When scikit-learn, which carries the data, is not installed.
    """
    try:
        from sklearn.datasets import load_breast_cancer
        from sklearn.model_selection import train_test_split
    except ImportError as error:
        raise ToolError(
            "scikit-learn is missing; it carries the records and trains the model: "
            "pip install 'ringsmith[apps]'"
        ) from error
    features, benign = load_breast_cancer(return_X_y=True)
    train, held_out, train_benign, held_out_benign = train_test_split(
        features, benign, test_size=HELD_OUT, random_state=SPLIT_SEED, stratify=benign
    )
    return (
        Records(train, (1 - train_benign).astype(np.int64)),
        Records(held_out, (1 - held_out_benign).astype(np.int64)),
    )
