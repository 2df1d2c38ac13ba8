"""Random legal programs of a cluster on the RTL: contents and cycles are the model's."""

import pytest
from tests.rtl.test_vector_core import FULL, QUICK

from ringsmith.backends.vector.debug.compare import compare
from ringsmith.backends.vector.debug.random_program import random_program
from ringsmith.backends.vector.design.design import VectorDesign

LENGTH = 40


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("design", QUICK, ids=lambda design: design.name)
def test_random_programs_run_as_the_model_says(design: VectorDesign, seed: int) -> None:
    made = random_program(design, seed, LENGTH)
    assert compare(made.executable, made.fetch, assertions=True).limbs > 0


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6, 60))
@pytest.mark.parametrize("design", QUICK + FULL, ids=lambda design: design.name)
def test_many_random_programs_run_as_the_model_says(design: VectorDesign, seed: int) -> None:
    made = random_program(design, seed, 2 * LENGTH)
    assert compare(made.executable, made.fetch, assertions=True).limbs > 0
