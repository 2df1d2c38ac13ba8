"""The programs that the service is measured with, and what they compute in the clear."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ringsmith.apps.logreg import PAPER_COUNTS, load_records, plan, train
from ringsmith.program import Program, inner_product
from ringsmith.program.vector import EncryptedVector
from ringsmith.tracing import trace

Numbers = NDArray[np.float64]
WEIGHTS = (0.5, -1.25, 2.0, 0.75)


T = TypeVar("T")


@dataclass(frozen=True)
class Load(Generic[T]):
    """A program to measure with.

    Attributes:
        name: Its name.
        text: What it is, for conditions.
        make: Makes the program, or its subroutine graph.
    """

    name: str
    text: str
    make: Callable[[], T]


def _small() -> Program:
    def small(x: EncryptedVector) -> EncryptedVector:
        return inner_product(x, list(WEIGHTS), 4) + 0.25

    return trace(small, "auto", {"x": 4})


def _classifier() -> Program:
    training, _ = load_records(PAPER_COUNTS.held_out)
    return plan(train(training, PAPER_COUNTS), PAPER_COUNTS)


SMALL = Load("small", "inner product with 4 constants, N = 2^12", _small)
CLASSIFIER = Load(
    "classifier", "the breast-cancer classifier of size paper-counts, N = 2^14", _classifier
)
LOADS = {one.name: one for one in (SMALL, CLASSIFIER)}
