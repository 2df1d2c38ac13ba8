"""The application without encryption: data, model, program."""

import numpy as np
import pytest

from ringsmith.apps.logreg import (
    CLIP,
    DEMO,
    INPUT,
    OUTPUT,
    PAPER,
    SIZES,
    Model,
    Predictions,
    Records,
    Size,
    fit_sigmoid,
    load_records,
    plan,
    sigmoid,
    size_for,
    train,
)
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.errors import ParameterError

Trained = tuple[Size, Records, Records, Model]


@pytest.fixture(scope="module", params=SIZES.values(), ids=SIZES)
def trained(request: pytest.FixtureRequest) -> Trained:
    """A size, its training records, its held-out records and its model."""
    training, held_out = load_records(request.param.held_out)
    return request.param, training, held_out, train(training, request.param)


def test_the_split_is_complete_stratified_and_always_the_same(trained: Trained) -> None:
    size, training, held_out, _ = trained
    assert (len(training), len(held_out)) == (569 - size.held_out, size.held_out)
    assert abs(training.malignant.mean() - held_out.malignant.mean()) < 0.01
    assert np.array_equal(load_records(size.held_out)[1].features, held_out.features)
    known = {row.tobytes() for row in training.features}
    assert not any(row.tobytes() in known for row in held_out.features)


def test_the_clear_model_classifies_held_out_patients(trained: Trained) -> None:
    size, _, held_out, model = trained
    inputs = model.preprocessing(held_out.features)
    assert inputs.shape == (size.held_out, size.features)
    assert np.abs(inputs).max() <= CLIP
    probabilities = model.polynomial_probabilities(inputs)
    predicted = Predictions.compare(model, held_out, probabilities).quality()
    assert predicted["accuracy_clear"] > (0.95 if size is DEMO else 0.94)
    assert predicted["accuracy_polynomial"] >= predicted["accuracy_clear"] - 0.01
    assert predicted["largest_error_to_polynomial"] == 0
    assert np.abs(model.logits(inputs)).max() <= model.logit_bound


def test_the_chosen_features_are_those_that_a_variance_analysis_ranks_first(
    trained: Trained,
) -> None:
    from sklearn.feature_selection import f_classif

    size, training, _, model = trained
    statistic, _ = f_classif(training.features, training.malignant)
    best = np.argsort(-statistic)[: size.features]
    assert np.array_equal(model.preprocessing.columns, np.sort(best))


def test_the_polynomial_follows_the_sigmoid_where_logits_lie(trained: Trained) -> None:
    size, _, _, model = trained
    x = np.linspace(-model.logit_bound, model.logit_bound, 1001)
    value = np.polynomial.polynomial.polyval(x, model.sigmoid_coefficients)
    assert np.abs(value - sigmoid(x)).max() < {3: 0.09, 7: 0.02}[size.degree]
    assert np.all((value > 0.5) == (x > 0))


@pytest.mark.parametrize("degree", [3, 5, 7])
@pytest.mark.parametrize("bound", [0.5, 4.0, 8.0, 40.0])
def test_no_odd_polynomial_has_a_smaller_largest_error_than_the_fit(
    bound: float, degree: int
) -> None:
    """The error's alternating extrema, one more than powers, have one magnitude: it is optimal."""
    x = np.linspace(0, bound, 3001)[1:]
    error = np.polynomial.polynomial.polyval(x, fit_sigmoid(bound, degree)) - sigmoid(x)
    parts = np.split(error, np.flatnonzero(np.diff(np.sign(error)) != 0) + 1)
    extrema = [np.abs(part).max() for part in parts]
    assert len(extrema) == (degree + 3) // 2
    assert max(extrema) < 1.001 * min(extrema)


def test_the_encrypted_program_computes_every_patients_polynomial(
    trained: Trained, rng: np.random.Generator
) -> None:
    size, _, _, model = trained
    inputs = rng.uniform(-1, 1, (size.held_out, size.features))
    inputs *= model.logit_bound / np.abs(model.logits(inputs)).max()
    found = plan(model, size).evaluate({INPUT: size.packed(inputs.clip(-CLIP, CLIP))})[OUTPUT]
    expected = model.polynomial_probabilities(inputs.clip(-CLIP, CLIP))
    assert np.abs(found[: size.held_out] - expected).max() < 1e-9


def test_the_papers_batch_fills_a_ciphertext_of_the_papers_parameters() -> None:
    parameters = PAPER.parameters
    bits = sum(prime.bit_length() for prime in parameters.primes)
    assert (parameters.n, bits, PAPER.features, PAPER.degree) == (1 << 14, 384, 18, 7)
    assert parameters.slots // PAPER.features == PAPER.held_out == 455
    assert parameters.security >= 128


def test_a_design_chooses_the_size_that_its_ring_is_for() -> None:
    assert size_for(None, "nano") is DEMO
    assert size_for(None, load_design("octo")) is PAPER
    assert size_for("demo", "octo") is DEMO
    with pytest.raises(
        ParameterError, match=r"no size 'huge': choose one of demo, paper, paper-counts"
    ):
        size_for("huge", "nano")
