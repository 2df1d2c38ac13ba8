"""The data: scikit-learn's breast-cancer records, split and made ready for a linear model."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import ToolError

Reals = NDArray[np.float64]
Labels = NDArray[np.int64]

SPLIT_SEED = 2026
CLIP = 2.0
"""Standardized features are limited to [-CLIP, CLIP]: one outlier then cannot drive a logit far out
of the range on which the sigmoid's polynomial is good."""


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """How raw features become model inputs: standardized by the training set, then clipped.

    Public: the server publishes it with its model's interface, the client applies it.

    Attributes:
        columns: The features that the model sees, ascending columns of the raw ones.
        mean: Training mean of each of these.
        deviation: Training standard deviation of each.
    """

    columns: Labels
    mean: Reals
    deviation: Reals

    @classmethod
    def fit(cls, training: "Records", count: int) -> "Preprocessing":
        """Chooses ``count`` features and takes their means and deviations from training records.

        Chosen are those whose magnitude of correlation with the diagnosis is largest: the order
        that a one-way analysis of variance gives, too.
        """
        features, malignant = training.features, training.malignant
        deviations = features.std(axis=0)
        covariance = (features - features.mean(axis=0)).T @ (malignant - malignant.mean())
        ranked = np.argsort(-np.abs(covariance) / deviations, kind="stable")
        columns = np.sort(ranked[:count])
        return cls(columns, features[:, columns].mean(axis=0), deviations[columns])

    def __call__(self, features: Reals) -> Reals:
        """Returns the model inputs, in [-CLIP, CLIP], for raw features (patients, features)."""
        chosen = features[:, self.columns]
        return np.clip((chosen - self.mean) / self.deviation, -CLIP, CLIP)


@dataclass(frozen=True, eq=False)
class Records:
    """Patients' records: ``features`` (patients, 30) raw; ``malignant`` (patients,) 0 or 1."""

    features: Reals
    malignant: Labels

    def __len__(self) -> int:
        return len(self.malignant)


def load_records(held_out: int) -> tuple[Records, Records]:
    """Loads the records and splits them, stratified by diagnosis, always the same way.

    Args:
        held_out: Patients to keep from training, of 569.

    Returns:
        Training records and held-out records (569 together).

    Raises:
        ToolError: When scikit-learn, which carries the data, is not installed.
    """
    try:
        from sklearn.datasets import load_breast_cancer
        from sklearn.model_selection import train_test_split
    except ModuleNotFoundError as error:
        raise ToolError(
            "scikit-learn is missing; it carries the records and trains the model: "
            "pip install 'ringsmith[apps]'"
        ) from error
    features, benign = load_breast_cancer(return_X_y=True)
    train, kept, train_benign, kept_benign = train_test_split(
        features, benign, test_size=held_out, random_state=SPLIT_SEED, stratify=benign
    )
    return (
        Records(train, (1 - train_benign).astype(np.int64)),
        Records(kept, (1 - kept_benign).astype(np.int64)),
    )
