"""Encrypted logistic regression, from training to decryption, on every device."""

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tests.apps.commands import run
from tests.apps.seal_logreg import assert_equals_seal_from_seals_ciphertext
from typer.testing import CliRunner

from ringsmith import runtime
from ringsmith.apps.conditions import conditions
from ringsmith.apps.logreg import (
    CLIP,
    DEMO,
    INPUT,
    OUTPUT,
    PAPER,
    PAPER_COUNTS,
    SIZES,
    LogisticRegression,
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
from ringsmith.apps.operations import OPERATIONS
from ringsmith.apps.report import breakdown
from ringsmith.apps.session import Session, begin, open_device
from ringsmith.apps.stages import Stages
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.cli.main import app
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.objects import EvaluationKeys
from ringsmith.program import Op

STAGES = Stages(Console(quiet=True))


@pytest.fixture(scope="module")
def current() -> Session[Predictions]:
    """The program compiled for nano, keys, and the held-out patients encrypted."""
    return begin(STAGES, LogisticRegression(), "nano")


@pytest.mark.parametrize("kind", ["cpu", "model"])  # and rtl in the demo's test below
def test_decrypted_probabilities_are_the_clear_polynomials(
    current: Session[Predictions], kind: str
) -> None:
    device = open_device(STAGES, kind, "nano")
    answer = current.answer(STAGES, device)
    quality = answer.outcome.quality()
    assert quality["patients"] == 114
    assert quality["largest_error_to_polynomial"] < 1e-5
    assert quality["largest_error_to_sigmoid"] < 0.09
    assert quality["same_class_as_polynomial"] == 114
    assert quality["accuracy_encrypted"] > 0.95
    executable = current.server.executable
    assert executable is not None
    if kind == "cpu":
        assert (answer.equal_bits, answer.results[0].cycles) == (None, None)
    else:
        assert answer.equal_bits is True
        assert answer.results[0].cycles == executable.cycles
        assert answer.results[0].report.instructions == len(executable.words)


def test_a_device_that_expands_keys_is_given_seeds_and_loads_half_the_keys(
    current: Session[Predictions],
) -> None:
    expander = replace(load_design("nano"), name="expander", prng="trivium", seeds=8)
    seeded = begin(STAGES, LogisticRegression(), expander)
    assert (seeded.server.seeded, current.server.seeded) == (True, False)
    answers = [
        each.answer(STAGES, open_device(STAGES, "model", design))
        for each, design in ((seeded, expander), (current, "nano"))
    ]
    executable = seeded.server.executable
    assert executable is not None
    assert answers[0].equal_bits is True
    assert answers[0].results[0].cycles == executable.cycles
    assert answers[0].results[0].report.host_transfers == 0
    forms = [
        conditions("", DEMO.parameters, seeded_keys=each.server.seeded)["keys"]
        for each in (seeded, current)
    ]
    assert [str(form).split()[0] for form in forms] == ["half", "whole"]
    whole = answers[1].results[0].report.key_words
    assert whole // 2 < answers[0].results[0].report.key_words < whole // 2 + 1000


def test_shares_of_the_breakdown_add_up_to_the_program(current: Session[Predictions]) -> None:
    executable = current.server.executable
    assert executable is not None
    shares = breakdown(executable)
    assert sum(share.cycles for share in shares) == executable.cycles
    assert sum(share.instructions for share in shares) == len(executable.words) - 1  # halt
    counts = {share.operation: share.count for share in shares}
    assert (counts["rotate"], counts["relinearize"], counts["rescale"]) == (5, 2, 4)


def test_the_program_uses_every_level_and_no_key_too_many(current: Session[Predictions]) -> None:
    program = current.server.program
    assert program.outputs[OUTPUT].limbs == 1
    assert len(program.key_needs.galois) == math.log2(32)


def test_a_server_without_the_needed_keys_says_so(current: Session[Predictions]) -> None:
    with pytest.raises(ProgramError, match=r"key .* is missing"):
        current.server.run(runtime.open_device("cpu"), current.inputs, EvaluationKeys())


def test_the_whole_program_equals_seals_residue_for_residue(current: Session[Predictions]) -> None:
    device = runtime.open_device("model", "nano")
    assert_equals_seal_from_seals_ciphertext(current, device)


def test_the_demo_classifies_on_the_rtl_with_the_predicted_cycles(tmp_path: Path) -> None:
    numbers, said = run(["demo"], tmp_path)
    program, quality = numbers["program"], numbers["quality"]
    assert program["equal_bits_with_cpu"] is True
    assert program["cycles"] == program["predicted_cycles"]
    assert quality["same_class_as_polynomial"] == quality["patients"] == 114
    assert quality["largest_error_to_polynomial"] < 1e-5
    assert {row["name"] for row in numbers["operations"]} == set(OPERATIONS)
    assert all(row["cycles"] > 0 < row["seal_seconds"] for row in numbers["operations"])
    assert f"{program['cycles']:,}" in said
    assert "assumed" in said


@pytest.mark.parametrize("fused", [False, True])
def test_run_logreg_prints_its_figures_and_writes_them(fused: bool, tmp_path: Path) -> None:
    arguments = ["run", "logreg", "--device", "model", *["--fused-rescale"] * fused]
    numbers, said = run(arguments, tmp_path)
    assert ("--fused-rescale" in numbers["command"]) is fused
    assert numbers["program"]["equal_bits_with_cpu"] is True
    assert numbers["program"]["cycles"] == numbers["program"]["predicted_cycles"]
    assert numbers["quality"]["patients"] == 114
    assert f"{numbers['program']['cycles']:,}" in said
    assert "200 MHz (assumed)" in said


def test_an_output_file_in_no_folder_is_refused_before_anything_runs() -> None:
    done = CliRunner().invoke(app, ["run", "logreg", "--output", "/no/such/folder/x.json"])
    assert done.exit_code != 0
    assert "✓" not in done.stdout


# ---- The application without encryption: data, model, program ------------------------------------


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


# ---- The Medha paper's logistic regression: 455 patients of 18 features, degree 7, N = 2^14 ------


@pytest.fixture(scope="module", params=[PAPER, PAPER_COUNTS], ids=["fewest", "counts"])
def size(request: pytest.FixtureRequest) -> Size:
    """The paper's size, by our circuit and by the one with the paper's operation counts."""
    chosen: Size = request.param
    return chosen


@pytest.fixture(scope="module")
def on_cpu(size: Size) -> Session[Predictions]:
    """Client and server without an accelerator."""
    return begin(STAGES, LogisticRegression(size))


def test_the_papers_batch_is_classified_as_in_the_clear(on_cpu: Session[Predictions]) -> None:
    answer = on_cpu.answer(STAGES, runtime.open_device("cpu"))
    quality = answer.outcome.quality()
    assert quality["patients"] == 455
    assert quality["largest_error_to_polynomial"] < 1e-5
    assert quality["largest_error_to_sigmoid"] < 0.02
    assert quality["same_class_as_polynomial"] == 455
    assert quality["accuracy_encrypted"] > 0.94


def test_the_programs_take_fewer_operations_than_the_papers_and_as_many(
    on_cpu: Session[Predictions], size: Size
) -> None:
    """The paper: 7 rotations, 11 rescalings, 5 multiplications with relinearization."""
    program = on_cpu.server.program
    counts = Counter(node.op for node in program.nodes)
    products = counts[Op.MULTIPLY] + counts[Op.SQUARE]
    assert products == counts[Op.RELINEARIZE]
    expected = (5, 6, 4) if size is PAPER else (7, 11, 5)
    assert (counts[Op.ROTATE], counts[Op.RESCALE], products) == expected
    assert program.outputs[OUTPUT].limbs == 1


def test_no_slot_but_the_patients_keeps_a_sum_in_the_circuit_of_the_papers_counts() -> None:
    current = begin(STAGES, LogisticRegression(PAPER_COUNTS))
    values = current.server.program.evaluate(current.vectors[0])[OUTPUT]
    others = values[455:]
    assert len(others) == 8192 - 455
    assert np.ptp(others) < 1e-12
    assert np.ptp(values[:455]) > 0.9


def test_the_papers_program_from_seals_ciphertext_gives_seals_bits(
    on_cpu: Session[Predictions],
) -> None:
    assert_equals_seal_from_seals_ciphertext(on_cpu, runtime.open_device("cpu"))


def test_fused_rescaling_divides_once_for_a_product_and_keeps_the_classes() -> None:
    current = begin(STAGES, LogisticRegression(PAPER, fused_rescale=True), "medha")
    counts = Counter(node.op for node in current.server.program.nodes)
    assert (counts[Op.RELINEARIZE_RESCALE], counts[Op.RELINEARIZE], counts[Op.RESCALE]) == (4, 0, 2)
    answer = current.answer(STAGES, open_device(STAGES, "model", "medha"))
    assert answer.equal_bits is True
    assert answer.results[0].cycles is not None
    assert answer.results[0].cycles < 560_000
    assert answer.results[0].report.host_transfers == 0
    quality = answer.outcome.quality()
    assert quality["largest_error_to_polynomial"] < 1e-5
    assert quality["same_class_as_polynomial"] == 455


def test_the_papers_counts_take_fewer_cycles_than_the_papers() -> None:
    """The paper: about 1.3 million cycles, and nothing but operands crosses to the host."""
    current = begin(STAGES, LogisticRegression(PAPER_COUNTS), "medha")
    answer = current.answer(STAGES, open_device(STAGES, "model", "medha"))
    assert answer.equal_bits is True
    assert answer.results[0].cycles is not None
    assert answer.results[0].cycles < 1_300_000
    assert answer.results[0].report.host_transfers == 0
    assert answer.outcome.quality()["largest_error_to_polynomial"] < 1e-5


@pytest.fixture(scope="module")
def on_medha(size: Size) -> Session[Predictions]:
    """Client and server with the paper's accelerator."""
    return begin(STAGES, LogisticRegression(size), "medha")


@pytest.mark.full
@pytest.mark.parametrize("device", ["model", "rtl"])
def test_the_papers_program_runs_within_the_cycles_of_its_goal(
    on_medha: Session[Predictions], size: Size, device: str
) -> None:
    goal = 630_000 if size is PAPER else 1_000_000
    answer = on_medha.answer(STAGES, open_device(STAGES, device, "medha"))
    executable = on_medha.server.executable
    assert executable is not None
    assert answer.equal_bits is True
    assert answer.results[0].cycles == executable.cycles < goal
    assert answer.outcome.quality()["same_class_as_polynomial"] == 455


@pytest.mark.full
@pytest.mark.parametrize("device", ["model", "rtl"])
def test_the_papers_program_from_seals_ciphertext_gives_seals_bits_on_medha(
    on_medha: Session[Predictions], device: str
) -> None:
    """SEAL's keys have no seeds that the device could expand: they are loaded whole."""
    assert_equals_seal_from_seals_ciphertext(on_medha, open_device(STAGES, device, "medha"))
