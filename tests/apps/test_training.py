"""The example examples/bootstrapping/training.py: logistic regression on encrypted records."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "bootstrapping" / "training.py"

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    pytest.importorskip("sklearn")
    return runpy.run_path(str(EXAMPLE))


def test_a_few_iterations_are_those_in_the_clear(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Of one ciphertext of records; the clear training has no polynomial in place of a function."""
    found, clear, accuracies = names["main"](64, 9, "boot-test")
    assert np.abs(found - clear).max() < 0.1 * np.abs(clear).max()
    assert abs(accuracies[0] - accuracies[1]) <= 0.01
    assert accuracies[0] > 0.9
    assert "in a loop" in capsys.readouterr().out


@pytest.mark.full
def test_thirty_iterations_on_all_records(names: dict[str, Any]) -> None:
    _, clear, accuracies = names["main"](455, 30, "boot-test")
    assert abs(accuracies[0] - accuracies[1]) <= 0.005
    assert np.abs(clear).max() < 2
