"""The Medha paper's logistic regression: 455 patients of 18 features, degree 7, N = 2^14."""

from collections import Counter

import numpy as np
import pytest
from rich.console import Console
from tests.apps.seal_logreg import assert_equals_seal_from_seals_ciphertext

from ringsmith import runtime
from ringsmith.apps.logreg import OUTPUT, PAPER, PAPER_COUNTS, LogisticRegression, Predictions, Size
from ringsmith.apps.session import Session, begin, open_device
from ringsmith.apps.stages import Stages
from ringsmith.program import Op

STAGES = Stages(Console(quiet=True))


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
    expected = (5, 7, 4) if size is PAPER else (7, 11, 5)
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
    assert (counts[Op.RELINEARIZE_RESCALE], counts[Op.RELINEARIZE], counts[Op.RESCALE]) == (4, 0, 3)
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
