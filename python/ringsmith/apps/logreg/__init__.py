"""Logistic regression on encrypted patient records.

docs/guide/logreg.md has the sizes, the circuits and a comparison with the Medha paper.

**Packing.** Records are an array (patients, features) in one ciphertext, if both axes, with lengths
rounded up to powers of two, fit its slots. Those of the Medha paper do not: they are a vector, in
which slot f*P + p holds feature f of patient p, of P patients.

**Regularization** is strong on purpose. It holds the logits of the training set within about
[-7.5, 7.5], where an odd cubic stays within 0.09 of the sigmoid, and degree 7 within 0.02; weaker
regularization widens the range, and the polynomial then follows the sigmoid less well.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from ringsmith.apps.application import Application, Numbers, Server
from ringsmith.apps.report import against, figures_table, rows_table, some
from ringsmith.backends.base import Design
from ringsmith.backends.registry import named_design
from ringsmith.errors import ParameterError, ToolError
from ringsmith.params import CkksParameters, ckks_set
from ringsmith.program import (
    CkksProgram,
    EncryptedArray,
    EncryptedVector,
    InputSpec,
    polynomial,
    sum_rotations,
    trace,
)

Reals = NDArray[np.float64]
Labels = NDArray[np.int64]

INPUT, OUTPUT = "records", "probability"
"""The encrypted program's input and output."""
SPLIT_SEED: Final = 2026
CLIP: Final = 2.0
"""Standardized features are limited to [-CLIP, CLIP]: one outlier then cannot drive a logit far out
of the range on which the sigmoid's polynomial is good."""
INVERSE_REGULARIZATION: Final = 9.1
"""scikit-learn's C times the patients: its loss is a sum over them, its penalty is not."""
GRID: Final = 4096
MAX_EXCHANGES: Final = 20
"""Remez's exchange converges in about five."""
THRESHOLD: Final = 0.5
"""A tumour counts as malignant when its probability is above it."""
DIAGNOSES: Final = ("benign", "malignant")


# ---- sizes ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Size:
    """One size of the application.

    Attributes:
        name: What ``--size`` calls it.
        parameter_set: HE parameters.
        held_out: Patients kept from training, of 569, who are then classified in one ciphertext.
        features: Features of a patient that the model sees, of 30.
        degree: Of the odd polynomial in place of the sigmoid: 3, 5, 7, ….
        margin: The polynomial is good for logits up to this multiple of the largest in training.
        monic: Whether encrypted logits are scaled so that the polynomial's leading coefficient is
            1, which saves a product; else to [-1, 1].
        counts: Whether the circuit has the Medha paper's operations (``medha_circuit``), in place
            of the fewest; it is for a block of 18 and degree 7.
    """

    name: str
    parameter_set: str
    held_out: int
    features: int
    degree: int
    margin: float
    monic: bool
    counts: bool = False

    @property
    def limbs(self) -> int:
        """Limbs to encrypt over: one, and one for each level that the program takes."""
        return 2 + self.degree.bit_length() + self.counts

    @property
    def parameters(self) -> CkksParameters:
        """The HE parameters."""
        return ckks_set(self.parameter_set)

    @property
    def in_array(self) -> bool:
        """Whether the encrypted program takes an array (patients, features), or a vector."""
        bits = (self.held_out - 1).bit_length() + (self.features - 1).bit_length()
        return 1 << bits <= self.parameters.slots

    def packed(self, inputs: Reals) -> Reals:
        """Returns inputs (patients, features) as the encrypted program takes them."""
        if self.in_array:
            return inputs
        flat = inputs.T.ravel()
        return np.pad(flat, (0, self.parameters.slots - flat.size))


DEMO: Final = Size("demo", "nano", 114, 30, 3, 1.0, monic=False)
"""What ``ringsmith demo`` shows: N = 2^13, one patient in five, all features, a cubic."""

PAPER: Final = Size("paper", "medha21-set1", 455, 18, 7, 1.15, monic=True)
"""The Medha paper's (section 5, "Benchmarking of homomorphic applications"): N = 2^14, 384 bits of
modulus; 455 samples of 18 features fill the 8,192 slots; degree 7. Its genomic data (iDASH 2017)
are not ours: 455 of the 569 patients are classified by a model that was trained on the other 114.
So few say less of how large a logit can be, hence the margin."""

PAPER_COUNTS: Final = replace(PAPER, name="paper-counts", monic=False, counts=True)
"""The same by a circuit with the operation counts that the paper states."""

SIZES: Final = MappingProxyType({size.name: size for size in (DEMO, PAPER, PAPER_COUNTS)})


def size_for(name: str | None, design: str | Design) -> Size:
    """Returns the named size; without a name, the largest whose ring a design is built for.

    Raises ParameterError when there is no such size or design.
    """
    if name is None:
        n = named_design(design).n
        return PAPER if n >= PAPER.parameters.n else DEMO
    if name not in SIZES:
        raise ParameterError(f"there is no size {name!r}: choose one of {', '.join(SIZES)}")
    return SIZES[name]


# ---- data ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """How raw features become model inputs: standardized by the training set, then clipped.

    Public: the server publishes it with its model's interface, the client applies it.
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

    Returns training records and held-out records (569 together). Raises ToolError when
    scikit-learn, which carries the data, is not installed.
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


# ---- the model in the clear ----------------------------------------------------------------------


def sigmoid(x: Reals) -> Reals:
    """Returns 1 / (1 + e^-x)."""
    return 1.0 / (1.0 + np.exp(-x))


def fit_sigmoid(bound: float, degree: int) -> tuple[float, ...]:
    """Fits 1/2 + c1*x + c3*x^3 + … to the sigmoid on [-bound, bound], for the least largest error.

    sigmoid - 1/2 is odd, so the fit has odd powers only and (0, bound] is enough. There k odd
    powers obey Haar's condition: the best fit's error has k + 1 alternating extrema of one
    magnitude. Remez's exchange finds them on a grid of ``GRID`` points, from those of Chebyshev's
    polynomial of degree 2k + 1.

    Returns coefficients of 1, x, …, x^degree.
    """
    powers = np.arange(1, degree + 1, 2)
    x = np.arange(1, GRID + 1) / GRID
    basis = x[:, None] ** powers
    target = sigmoid(bound * x) - 0.5
    angles = np.arange(powers.size, -1, -1) * np.pi / (degree + 2)
    extrema = np.rint(np.cos(angles) * GRID).astype(np.int64) - 1
    signs = (-1.0) ** np.arange(powers.size + 1)
    for _ in range(MAX_EXCHANGES):
        *fitted, level = np.linalg.solve(np.column_stack([basis[extrema], signs]), target[extrema])
        error = target - basis @ fitted
        # As many sign changes as powers divide the interval into parts with one extremum each.
        changes = np.flatnonzero(np.sign(error[:-1]) != np.sign(error[1:])) + 1
        parts = np.split(np.arange(GRID), changes)
        extrema = np.array([part[np.argmax(np.abs(error[part]))] for part in parts])
        if np.abs(error).max() <= abs(level) * (1 + 1e-9):
            break
    coefficients = np.zeros(degree + 1)
    coefficients[0] = 0.5
    coefficients[powers] = fitted / bound**powers
    return tuple(coefficients.tolist())


@dataclass(frozen=True, eq=False)
class Model:
    """A trained model: what the server owns.

    Attributes:
        preprocessing: How raw features become inputs.
        weights: One a feature.
        bias: Added to the weighted sum.
        logit_bound: Logits up to this magnitude are expected.
        sigmoid_coefficients: Of 1, x, x^2, …, fitted on [-logit_bound, logit_bound].
    """

    preprocessing: Preprocessing
    weights: Reals
    bias: float
    logit_bound: float
    sigmoid_coefficients: tuple[float, ...]

    def unit(self, monic: bool) -> float:
        """Returns the factor of logits x when they are encrypted: 1/bound, or the monic one.

        With the monic one, u, the sigmoid's polynomial in u*x has the leading coefficient 1. Its
        magnitude is that of the leading coefficient c, to the power 1/degree, and its sign c's.
        """
        if not monic:
            return 1 / self.logit_bound
        leading = self.sigmoid_coefficients[-1]
        degree = len(self.sigmoid_coefficients) - 1
        return math.copysign(abs(leading) ** (1 / degree), leading)

    def scaled_coefficients(self, monic: bool) -> list[float]:
        """Returns the coefficients of the sigmoid's polynomial in encrypted logits, 1's first."""
        unit = self.unit(monic)
        *lower, leading = (c / unit**power for power, c in enumerate(self.sigmoid_coefficients))
        return [*lower, 1.0 if monic else leading]

    def logits(self, inputs: Reals) -> Reals:
        """Returns weighted sums plus bias, (patients,), for inputs (patients, features)."""
        return np.asarray(inputs @ self.weights + self.bias, dtype=np.float64)

    def probabilities(self, inputs: Reals) -> Reals:
        """Returns the probability that each tumour is malignant, by the true sigmoid."""
        return sigmoid(self.logits(inputs))

    def polynomial_probabilities(self, inputs: Reals) -> Reals:
        """Returns the same by the polynomial: what the encrypted program computes."""
        values = np.polynomial.polynomial.polyval(self.logits(inputs), self.sigmoid_coefficients)
        return np.asarray(values, dtype=np.float64)


def train(records: Records, size: Size) -> Model:
    """Trains a model in the clear."""
    from sklearn.linear_model import LogisticRegression as Fit

    preprocessing = Preprocessing.fit(records, size.features)
    inputs = preprocessing(records.features)
    fitted = Fit(C=INVERSE_REGULARIZATION / len(records), max_iter=1000).fit(
        inputs, records.malignant
    )
    weights = np.asarray(fitted.coef_[0], dtype=np.float64)
    bias = float(fitted.intercept_[0])
    bound = size.margin * float(np.abs(inputs @ weights + bias).max())
    return Model(preprocessing, weights, bias, bound, fit_sigmoid(bound, size.degree))


# ---- outcome -------------------------------------------------------------------------------------


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
        """Compares the decrypted results with those of the model in the clear."""
        inputs = model.preprocessing(records.features)
        return cls(
            records.malignant,
            encrypted,
            model.polynomial_probabilities(inputs),
            model.probabilities(inputs),
        )

    def quality(self) -> dict[str, float]:
        """Returns accuracies, shares in [0, 1], and largest errors of probabilities."""

        def accuracy(probabilities: Reals) -> float:
            return float(np.mean(classes(probabilities) == self.malignant))

        same = classes(self.encrypted) == classes(self.polynomial)
        return {
            "patients": len(self.malignant),
            "accuracy_encrypted": accuracy(self.encrypted),
            "accuracy_polynomial": accuracy(self.polynomial),
            "accuracy_clear": accuracy(self.clear),
            "same_class_as_polynomial": int(np.sum(same)),
            "largest_error_to_polynomial": float(np.abs(self.encrypted - self.polynomial).max()),
            "largest_error_to_sigmoid": float(np.abs(self.encrypted - self.clear).max()),
        }


def classes(probabilities: Reals) -> NDArray[np.bool_]:
    """Returns True for malignant."""
    return probabilities > THRESHOLD


# ---- encrypted -----------------------------------------------------------------------------------


def plan(model: Model, size: Size, *, fused_rescale: bool = False) -> CkksProgram:
    """Returns the encrypted program, planned: records in, probabilities out.

    Weighted sum, bias, and the polynomial in place of the sigmoid. The records are
    encrypted over ``Size.limbs``. Weights and bias are multiplied by ``Model.unit``, and the
    polynomial's coefficients divided by its powers: every encrypted number then stays near [-2, 2],
    so that the scale is used fully and no product comes near the modulus.

    Raises ProgramError when the parameters have fewer levels.

    Args:
        model: The trained model.
        size: What it was trained for.
        fused_rescale: Whether products are relinearized and rescaled by one division: ``trace``.
    """
    unit, patients = model.unit(size.monic), size.held_out
    weights, bias = model.weights * unit, model.bias * unit
    coefficients = model.scaled_coefficients(size.monic)
    shape = (patients, size.features) if size.in_array else size.parameters.slots

    def of_array(records: EncryptedArray) -> dict[str, EncryptedArray]:
        return {OUTPUT: polynomial(records @ weights + bias, coefficients)}

    def of_vector(records: EncryptedVector) -> dict[str, EncryptedVector]:
        weighted = records * size.packed(np.tile(weights, (patients, 1)))
        if size.counts:
            return {OUTPUT: _medha_circuit(weighted, bias, coefficients, patients)}
        logits = sum_rotations(weighted, size.features, patients) + bias
        return {OUTPUT: polynomial(logits, coefficients)}

    return trace(
        of_array if size.in_array else of_vector,
        size.parameters,
        {INPUT: InputSpec(shape, size.limbs, bound=CLIP)},
        fused_rescale=fused_rescale,
        lazy_rescale=not size.counts,
        rotations="seal",  # the paper's operations, and SEAL's bits
    )


def _medha_circuit(
    weighted: EncryptedVector, bias: float, coefficients: Sequence[float], stride: int
) -> EncryptedVector:
    """Takes the Medha paper's counts: 7 rotations, 5 products of ciphertexts, 11 rescalings.

    The paper states the counts, the modulus, which leaves five levels, and that the keys stay on
    the chip. It has no circuit. Inferred here is one that meets all three: the 18 features are
    added as 3 groups of 6; a mask sets the slots to 0 that hold no patient's sum; and the
    polynomial of the logit x is

        c0 + c1*x + c3*(x*x^2) + (c5*x + (c7*x)*x^2) * x^4.

    Rescaled are the 6 products with plaintexts (weights, mask, 4 coefficients) and the 5 others.
    """
    sums = _rotated(_rotated(weighted, 6, stride), 3, 6 * stride)
    x = sums * np.ones(stride) + bias
    c0, c1, _, c3, _, c5, _, c7 = coefficients
    square = x * x
    inner = x * c7 * square + x * c5
    return inner * (square * square) + (x * square) * c3 + x * c1 + c0


def _rotated(x: EncryptedVector, count: int, step: int) -> EncryptedVector:
    """Adds x and x rotated by step, 2*step, …: ``count`` terms, each the one before it, rotated.

    All rotations are by one step and take one key: that is why the keys stay on the chip.
    """
    total = rotated = x
    for _ in range(1, count):
        rotated = rotated.rotate(step)
        total = total + rotated
    return total


@dataclass(frozen=True)
class LogisticRegression(Application[Predictions]):
    """The held-out patients, in one ciphertext."""

    name: ClassVar[str] = "logreg"
    encrypted: ClassVar[str] = "the patients"

    size: Size = DEMO
    fused_rescale: bool = False

    @cached_property
    def records(self) -> tuple[Records, Records]:
        """Training records, and those that are classified."""
        return load_records(self.size.held_out)

    @cached_property
    def model(self) -> Model:
        """The trained model; the server's."""
        return train(self.records[0], self.size)

    def prepare(self) -> str:
        """Trains the model."""
        count = self.model.preprocessing.columns.size
        return f"{len(self.records[0])} patients, {count} features"

    def programs(self, design: str | Design | None, *, accelerated: bool) -> list[CkksProgram]:
        """Returns the program, the same for every design."""
        return [plan(self.model, self.size, fused_rescale=self.fused_rescale)]

    def vectors(self, server: Server) -> list[Numbers]:
        """Returns the held-out patients' features, preprocessed."""
        inputs = self.model.preprocessing(self.records[1].features)
        return [{INPUT: self.size.packed(inputs)}]

    def outcome(self, server: Server, decrypted: Sequence[Numbers]) -> Predictions:
        """Returns the probabilities."""
        held_out = self.records[1]
        found = decrypted[0][OUTPUT][: len(held_out)]
        return Predictions.compare(self.model, held_out, found)

    def show(self, outcome: Predictions) -> Iterator[Table]:
        """Shows some patients, and how well all were classified."""
        numbers = ("patient", "P(malignant) encrypted", "clear, polynomial", "clear, sigmoid")
        text = ("class", "truth")
        rows = []
        for patient in some(len(outcome.malignant)):
            guess = DIAGNOSES[int(classes(outcome.encrypted)[patient])]
            probabilities = (outcome.encrypted, outcome.polynomial, outcome.clear)
            cells = [f"{each[patient]:.6f}" for each in probabilities]
            truth = against(DIAGNOSES[outcome.malignant[patient]], guess)
            rows.append((str(patient), *cells, guess, truth))
        yield rows_table("Some held-out patients", (*numbers, *text), rows, text)
        worth = outcome.quality()
        patients, same = int(worth["patients"]), int(worth["same_class_as_polynomial"])
        error = "largest error of a probability to the"
        figures = [
            ("accuracy, encrypted", f"{worth['accuracy_encrypted']:.1%}"),
            ("accuracy, clear model with the polynomial", f"{worth['accuracy_polynomial']:.1%}"),
            ("accuracy, clear model with the sigmoid", f"{worth['accuracy_clear']:.1%}"),
            ("same class as the clear polynomial", f"{same} of {patients}"),
            (f"{error} clear polynomial", f"{worth['largest_error_to_polynomial']:.2e}"),
            (f"{error} sigmoid", f"{worth['largest_error_to_sigmoid']:.2e}"),
        ]
        yield figures_table(f"{patients} held-out patients", figures)

    def numbers(self, outcome: Predictions) -> dict[str, object]:
        """Returns accuracies and errors."""
        return {"quality": outcome.quality()}

    def typed(self) -> str:
        """Returns size and rescaling."""
        return f" --size {self.size.name}" + " --fused-rescale" * self.fused_rescale
