"""The clear side of the application: data, model, packing."""

import numpy as np
import pytest

from ringsmith.apps.logreg import packing
from ringsmith.apps.logreg.model import Model, fit_sigmoid, sigmoid, train
from ringsmith.apps.logreg.outcome import Predictions
from ringsmith.apps.logreg.records import CLIP, HELD_OUT, Records, load_records
from ringsmith.errors import ParameterError

SLOTS = 4096


@pytest.fixture(scope="module")
def split() -> tuple[Records, Records]:
    return load_records()


@pytest.fixture(scope="module")
def model(split: tuple[Records, Records]) -> Model:
    return train(split[0])


def test_the_split_is_complete_stratified_and_always_the_same(
    split: tuple[Records, Records],
) -> None:
    training, held_out = split
    assert (len(training), len(held_out)) == (569 - HELD_OUT, HELD_OUT)
    assert abs(training.malignant.mean() - held_out.malignant.mean()) < 0.01
    assert np.array_equal(load_records()[1].features, held_out.features)
    known = {row.tobytes() for row in training.features}
    assert not any(row.tobytes() in known for row in held_out.features)


def test_the_clear_model_classifies_held_out_patients(
    split: tuple[Records, Records], model: Model
) -> None:
    inputs = model.preprocessing(split[1].features)
    assert np.abs(inputs).max() <= CLIP
    predicted = Predictions.compare(model, split[1], model.cubic_probabilities(inputs)).summary()
    assert predicted.accuracy_clear > 0.95
    assert predicted.accuracy_cubic >= predicted.accuracy_clear - 0.01
    assert predicted.largest_error_to_cubic == 0


def test_the_cubic_follows_the_sigmoid_where_training_logits_lie(model: Model) -> None:
    x = np.linspace(-model.logit_bound, model.logit_bound, 1001)
    cubic = np.polynomial.polynomial.polyval(x, model.sigmoid_coefficients)
    assert np.abs(cubic - sigmoid(x)).max() < 0.09
    assert np.all((cubic > 0.5) == (x > 0))


@pytest.mark.parametrize("bound", [0.5, 4.0, 8.0, 40.0])
def test_no_odd_cubic_has_a_smaller_largest_error_than_the_fit(bound: float) -> None:
    """The error has three alternating extrema of one magnitude on (0, bound], which is optimal."""
    x = np.linspace(0, bound, 3001)[1:]
    error = np.polynomial.polynomial.polyval(x, fit_sigmoid(bound)) - sigmoid(x)
    pieces = np.split(error, np.flatnonzero(np.diff(np.sign(error)) != 0) + 1)
    extrema = [np.abs(piece).max() for piece in pieces]
    assert len(extrema) == 3
    assert max(extrema) < 1.001 * min(extrema)


def test_cyclic_sums_of_packed_records_give_every_patients_logit_in_every_block(
    rng: np.random.Generator,
) -> None:
    inputs, weights = rng.normal(size=(100, 30)), rng.normal(size=30)
    everyone = np.tile(weights, (packing.patients_per_ciphertext(SLOTS), 1))
    total = packing.pack(inputs, SLOTS) * packing.pack(everyone, SLOTS)
    step = packing.patients_per_ciphertext(SLOTS)
    while step < SLOTS:
        total = total + np.roll(total, -step)
        step *= 2
    blocks = total.reshape(packing.BLOCK, -1)
    assert np.allclose(packing.unpack(total, 100), inputs @ weights)
    assert np.allclose(blocks, blocks[0])


@pytest.mark.parametrize(
    ("patients", "features", "slots"), [(129, 30, 4096), (5, 33, 4096), (1, 1, 16)]
)
def test_what_does_not_fit_a_ciphertext_is_refused(
    patients: int, features: int, slots: int
) -> None:
    with pytest.raises(ParameterError, match=r"raise N|split the batch"):
        packing.pack(np.zeros((patients, features)), slots)
