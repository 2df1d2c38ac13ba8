"""Sizes of the application: which records, how many features, how good a sigmoid."""

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from ringsmith.apps.logreg.circuits import CIRCUITS, MEDHA_BLOCK, MEDHA_DEGREE
from ringsmith.backends.base import Design
from ringsmith.backends.registry import named_design
from ringsmith.errors import ParameterError
from ringsmith.params import CkksParameters, ckks_set

RECORDS: Final = 569
"""Patients in the data."""
FEATURES: Final = 30
"""Features of a patient in the data."""


@dataclass(frozen=True)
class Size:
    """One size of the application.

    Attributes:
        name: What ``--size`` calls it.
        parameter_set: HE parameters.
        held_out: Patients kept from training, who are then classified in one ciphertext.
        features: Features of a patient that the model sees, from 1 to ``FEATURES``.
        block: Places for features in a ciphertext, at least ``features``. What is added up by
            rotations; a power of two takes the fewest.
        degree: Of the odd polynomial in place of the sigmoid: 3, 5, 7, ….
        margin: The polynomial is good for logits up to so many times the largest in training.
        monic: Whether encrypted logits are scaled so that the polynomial's leading coefficient is
            1, which saves a product; else to [-1, 1].
        circuit: How the encrypted program computes: one of ``circuits.CIRCUITS``.

    Raises:
        ParameterError: When the numbers contradict the data or each other.
    """

    name: str
    parameter_set: str
    held_out: int
    features: int
    block: int
    degree: int
    margin: float
    monic: bool
    circuit: str = "fewest"

    def __post_init__(self) -> None:
        if not 1 <= self.features <= min(self.block, FEATURES):
            raise ParameterError(
                f"features = {self.features} of size {self.name}: take 1 … "
                f"{min(self.block, FEATURES)}, which the data and block = {self.block} have"
            )
        if not 2 <= self.held_out <= RECORDS - 2:
            raise ParameterError(
                f"held_out = {self.held_out} of size {self.name}: take 2 … {RECORDS - 2}, so that "
                f"each half of the {RECORDS} records has both diagnoses"
            )
        if self.degree < 3 or self.degree % 2 == 0:
            raise ParameterError(
                f"degree = {self.degree} of size {self.name}: take an odd number from 3; the "
                "sigmoid is 1/2 and an odd function"
            )
        if self.margin < 1:
            raise ParameterError(f"margin = {self.margin} of size {self.name}: take 1 or more")
        if self.circuit not in CIRCUITS:
            raise ParameterError(
                f"circuit = {self.circuit!r} of size {self.name}: choose one of "
                f"{', '.join(CIRCUITS)}"
            )
        if self.circuit == "medha" and (self.block, self.degree) != (MEDHA_BLOCK, MEDHA_DEGREE):
            raise ParameterError(
                f"block = {self.block} and degree = {self.degree} of size {self.name}: circuit "
                f"medha is written for {MEDHA_BLOCK} and {MEDHA_DEGREE}"
            )

    @property
    def limbs(self) -> int:
        """Limbs to encrypt over: one, and one for each level that the program takes."""
        return 2 + self.degree.bit_length() + CIRCUITS[self.circuit].extra_levels

    @property
    def parameters(self) -> CkksParameters:
        """The HE parameters."""
        return ckks_set(self.parameter_set)


DEMO: Final = Size(
    name="demo",
    parameter_set="nano",
    held_out=114,
    features=30,
    block=32,
    degree=3,
    margin=1.0,
    monic=False,
)
"""What ``ringsmith demo`` shows: N = 2^13, one patient in five, all features, a cubic."""

PAPER: Final = Size(
    name="paper",
    parameter_set="medha21-set1",
    held_out=455,
    features=18,
    block=18,
    degree=7,
    margin=1.15,
    monic=True,
)
"""The Medha paper's (section 5, "Benchmarking of homomorphic applications"): N = 2^14, 384 bits of
modulus; 455 samples of 18 features fill the 8,192 slots; degree 7. Its genomic data (iDASH 2017)
are not ours: 455 of the 569 patients are classified by a model that was trained on the other 114.
So few say less of how large a logit can be, hence the margin."""

PAPER_COUNTS: Final = replace(PAPER, name="paper-counts", monic=False, circuit="medha")
"""The same by a circuit with the operation counts that the paper states."""

SIZES: Final = MappingProxyType({size.name: size for size in (DEMO, PAPER, PAPER_COUNTS)})


def size_for(name: str | None, design: str | Design) -> Size:
    """Returns the named size; without a name, the largest whose ring a design is built for.

    Raises:
        ParameterError: When there is no such size or design.
    """
    if name is None:
        n = named_design(design).n
        return PAPER if n >= PAPER.parameters.n else DEMO
    if name not in SIZES:
        raise ParameterError(f"there is no size {name!r}: choose one of {', '.join(SIZES)}")
    return SIZES[name]
